/* SPDX-License-Identifier: Apache-2.0 */
/* pawl_worker_main(): a program that is a worker. This program is one, too, if its first argument says so. */
#include "scene.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

enum {
    WORDS_MAX = 12,
};

#define READY "worker: the worker is ready; it handles main.hold, main.well\n"

static char directory[] = "/tmp/pawl_main_XXXXXX";

/* A file whose existence the test or a handler shows to the other. */
static const char *
path_of(const char *name)
{
    static _Thread_local char path[64];

    (void)snprintf(path, sizeof(path), "%s/%s", getenv("PAWL_MAIN_DIRECTORY"), name);
    return path;
}

static void
touch(const char *name)
{
    int fd = open(path_of(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    if (fd >= 0)
        (void)close(fd);
}

static bool
exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* --- the worker ---------------------------------------------------------------------------------------------------------- */

static pawl_status
well(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    *output = pawl_text("\"well\"");
    printf("well\n");
    return PAWL_OK;
}
PAWL_WORKFLOW("main.well", well);

/* Executes until the test opens the gate, whatever happens to the lease. */
static pawl_status
hold(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    *output = pawl_text("\"held\"");
    touch("arrived");
    while (!exists("open"))
        scene_breathe();
    return PAWL_OK;
}
PAWL_WORKFLOW("main.hold", hold);

/* --- the test ------------------------------------------------------------------------------------------------------------ */

/* Starts a worker, whose options end in NULL; both its outputs go to the file "output". */
static pid_t
spawn(const char *const *options)
{
    posix_spawn_file_actions_t actions;
    char *words[WORDS_MAX + 3];
    int count = 0;
    pid_t pid = -1;

    words[count++] = strdup("integration_worker_main");
    words[count++] = strdup("worker");
    for (; *options != NULL && count < WORDS_MAX + 2; options++)
        words[count++] = strdup(*options);
    words[count] = NULL;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&actions, 1, path_of("output"),
                         O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600),
        0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, 1, 2), 0);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, words, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    while (count > 0)
        free(words[--count]);
    return pid;
}

#define SPAWN(...) spawn((const char *const[]){__VA_ARGS__, NULL})

/* Waits until a process has ended. Returns its exit code, or 1000 and the number of the signal that ended it. */
static int
reap(pid_t pid)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && scene_now_ms() < deadline_ms)
        scene_breathe();
    if (ended == 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
        fail_msg("the worker has not ended in %d ms", scene_patience_ms);
    }
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *
output(void)
{
    static char text[8192];
    FILE *file = fopen(path_of("output"), "re");

    text[file == NULL ? 0 : fread(text, 1, sizeof(text) - 1, file)] = '\0';
    if (file != NULL)
        (void)fclose(file);
    return text;
}

/* Waits until the worker is registered: its name in lists ends in its process number. */
static void
await_worker(struct scene *scene, pid_t pid)
{
    char number[24];

    (void)snprintf(number, sizeof(number), "%%:%ld", (long)pid);
    scene_until(scene, "select count(*) = 1 from pawl.list_workers() where worker like $1", number);
}

/* How the session of a worker has ended, "" if it has not. */
static const char *
ended_why(struct scene *scene, pid_t pid)
{
    char number[24];

    (void)snprintf(number, sizeof(number), "%%:%ld", (long)pid);
    return scene_text(scene,
        "select ended_why from pawl.list_workers(ended => true) where worker like $1", number);
}

/* Returns true if a line that ends in a hexadecimal number has this bit of it set. */
static bool
has_bit(const char *line, int bit)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = line + strcspn(line, "\n") - 1 - bit / 4;

    return ((strchr(digits, *digit) - digits) >> bit % 4 & 1) != 0;
}

/* Waits until a process has taken a signal, so that the next one is the second. */
static void
await_taken(pid_t pid, int signal_number)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    char path[40], line[128];
    bool taken = false;

    (void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    while (!taken && scene_now_ms() < deadline_ms) {
        FILE *file = fopen(path, "re");

        assert_non_null(file);
        while (fgets(line, sizeof(line), file) != NULL)
            if (strncmp(line, "ShdPnd:", 7) == 0)
                taken = !has_bit(line, signal_number - 1);
        (void)fclose(file);
        scene_breathe();
    }
    assert_true(taken);
}

/* Triggers a run whose handler waits at the gate, and waits until it is there. */
static void
hold_run(struct scene *scene)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    scene_trigger(scene, "main.hold", "{}");
    while (!exists("arrived") && scene_now_ms() < deadline_ms)
        scene_breathe();
    assert_true(exists("arrived"));
}

static void
remove_files(void)
{
    static const char *const files[] = {"output", "arrived", "open"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        (void)unlink(path_of(files[i]));
}

static int
set_up(void **state)
{
    remove_files();
    return scene_set_up(state);
}

static void
runs_are_executed_until_a_signal(void **state)
{
    static const int signals[] = {SIGTERM, SIGINT};
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        pid_t pid = SPAWN("--concurrency", "2");

        await_worker(scene, pid);
        scene_trigger(scene, "main.well", "{}");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
        assert_string_equal(output(), READY "well\n");
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(reap(pid), 0);
        assert_string_equal(ended_why(scene, pid), "left");
    }
}

/* A script starts "./worker &" with SIGINT ignored, so that Ctrl-C ends the script and leaves the worker. */
static void
a_signal_that_was_ignored_at_the_start_ends_nothing(void **state)
{
    struct scene *scene = *state;
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    pid_t pid = SPAWN("--concurrency", "2");

    (void)signal(SIGINT, before);
    await_worker(scene, pid);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(kill(pid, SIGINT), 0);
    scene_trigger(scene, "main.well", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(reap(pid), 0);
    assert_string_equal(output(), READY "well\n");
}

static void
the_first_signal_lets_a_run_end(void **state)
{
    struct scene *scene = *state;
    pid_t pid = SPAWN("--lease=30s");

    await_worker(scene, pid);
    hold_run(scene);
    assert_int_equal(kill(pid, SIGTERM), 0);
    await_taken(pid, SIGTERM);
    touch("open");
    assert_int_equal(reap(pid), 0);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"held\"");
    assert_string_equal(output(), READY);
}

static void
the_second_signal_leaves_at_once(void **state)
{
    struct scene *scene = *state;
    pid_t pid = SPAWN("--lease=30m", "--drain-timeout=1h");

    await_worker(scene, pid);
    hold_run(scene);
    assert_int_equal(kill(pid, SIGTERM), 0);
    await_taken(pid, SIGTERM);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(reap(pid), 1000 + SIGINT);
    scene_has(output(), "they are released");
    assert_string_equal(ended_why(scene, pid), "left");
    /* Released, not crashed: another worker has it without waiting for the lease. */
    touch("open");
    pid = SPAWN("--lease=30s");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"held\"");
    assert_int_equal(
        scene_number(scene, "select count(*) from pawl.history($1) where what = 'lease_lost'",
            scene->run_id),
        0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(reap(pid), 0);
}

static void
handlers_that_do_not_return_in_time_are_left(void **state)
{
    struct scene *scene = *state;
    pid_t pid = SPAWN("--drain-timeout=100ms");

    await_worker(scene, pid);
    hold_run(scene);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(reap(pid), 5);
    scene_has(output(), "still executing after drain_timeout");
    assert_string_equal(ended_why(scene, pid), "left");
}

static void
an_operator_can_end_the_worker(void **state)
{
    struct scene *scene = *state;
    pid_t pid = SPAWN("--log-level=error");

    await_worker(scene, pid);
    scene_do(scene, "select pawl.drain_worker(session) from pawl.list_workers()", NULL);
    assert_int_equal(reap(pid), 0);
}

/* A role with the rights of a worker, which can be locked out. Returns its name. */
static const char *
make_role(struct scene *scene)
{
    static char role[40];
    char sql[200];

    (void)snprintf(role, sizeof(role), "worker_main_%ld", (long)getpid());
    (void)snprintf(sql, sizeof(sql), "create role %s login", role);
    scene_do(scene, sql, NULL);
    scene_do(scene, "select pawl.grant_role($1, 'worker')", role);
    return role;
}

/* Ends all connections of a role, after its logins were allowed or forbidden. */
static void
set_login(struct scene *scene, const char *role, const char *login)
{
    char sql[200];

    (void)snprintf(sql, sizeof(sql), "alter role %s %s", role, login);
    scene_do(scene, sql, NULL);
    scene_do(
        scene, "select pg_terminate_backend(pid) from pg_stat_activity where usename = $1", role);
}

static void
a_lost_database_does_not_end_the_worker(void **state)
{
    struct scene *scene = *state;
    const char *role = make_role(scene);
    char option[80], sql[200];
    pid_t pid;

    (void)snprintf(option, sizeof(option), "--database=user=%s", role);
    scene_do(scene, "select pawl.create_workflow('main.well')", NULL);
    scene_do(scene, "select pawl.create_workflow('main.hold')", NULL);
    pid = SPAWN(option, "--drain-timeout=200ms");
    await_worker(scene, pid);
    set_login(scene, role, "nologin");
    scene_trigger(scene, "main.well", "{}");
    set_login(scene, role, "login");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    scene_has(output(), "warning: connection_lost: ");

    /* While it is away, the record of a run that has ended cannot be written. */
    hold_run(scene);
    set_login(scene, role, "nologin");
    assert_int_equal(kill(pid, SIGTERM), 0);
    touch("open");
    assert_int_equal(reap(pid), 5);
    scene_has(output(), "not written down");
    scene_do(scene, "select pawl.revoke_role($1, 'worker')", role);
    (void)snprintf(sql, sizeof(sql), "drop owned by %s", role);
    scene_do(scene, sql, NULL);
    (void)snprintf(sql, sizeof(sql), "drop role %s", role);
    scene_do(scene, sql, NULL);
}

static size_t
times_in(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        text += strlen(part);
        count++;
    }
    return count;
}

static void
the_exit_code_says_what_is_missing(void **state)
{
    (void)state;
    assert_int_equal(reap(SPAWN("--database=dbname=not_there", "--connect-timeout=1s")), 7);
    scene_has(output(), "\"not_there\" does not exist");
    /* Of several attempts in this second, which all failed in the same way. */
    assert_int_equal(times_in(output(), "warning: connection_lost: "), 1);
    assert_int_equal(reap(SPAWN("--database=host=/nowhere", "--connect-timeout=200ms")), 7);
    scene_has(output(), "worker: ");
    scene_has(output(), "/nowhere");
    scene_has(output(), "worker: hint: Name the database with --database");
    assert_int_equal(reap(SPAWN("--database=dbname=postgres")), 8);
    scene_has(output(), "pawl");
    scene_has(
        output(), "worker: hint: The owner of the database installs the engine: pawl install\n");
    assert_int_equal(reap(SPAWN("--lease=never")), 2);
    scene_has(output(), "worker: --lease: setting \"lease\" cannot have this value\n");
    assert_int_equal(reap(SPAWN("--leese=1s")), 2);
    scene_has(output(), "worker: unknown option \"--leese\"\n");
    scene_has(output(), "Run \"worker --help\"");
}

static void
a_role_without_rights_is_told_so(void **state)
{
    struct scene *scene = *state;
    char option[80], sql[120];

    (void)snprintf(sql, sizeof(sql), "create role worker_main_none_%ld login", (long)getpid());
    scene_do(scene, sql, NULL);
    (void)snprintf(option, sizeof(option), "--database=user=worker_main_none_%ld", (long)getpid());
    assert_int_equal(reap(SPAWN(option)), 9);
    scene_has(output(), "permission denied");
    scene_has(output(),
        "worker: hint: The owner of the engine grants the right: pawl grant ROLE worker\n");
    (void)snprintf(sql, sizeof(sql), "drop role worker_main_none_%ld", (long)getpid());
    scene_do(scene, sql, NULL);
}

/* The server takes the connection and is silent. */
static void
a_signal_ends_a_worker_that_connects(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char option[80];
    pid_t pid;
    int taken;

    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(option, sizeof(option), "--database=host=127.0.0.1 port=%d sslmode=disable",
        ntohs(address.sin_port));
    pid = SPAWN(option, "--connect-timeout=1h");
    taken = accept(fd, NULL, NULL);
    assert_true(taken >= 0);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(reap(pid), 1000 + SIGTERM);
    (void)close(taken);
    (void)close(fd);
}

/* A worker that leaves without its handlers has threads when it exits, which the checker for threads would report. */
static void
allow_threads_at_exit(void)
{
    const char *before = getenv("TSAN_OPTIONS");
    char options[1000];

    (void)snprintf(options, sizeof(options), "%s%sreport_thread_leaks=0",
        before == NULL ? "" : before, before == NULL ? "" : ":");
    (void)setenv("TSAN_OPTIONS", options, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_are_executed_until_a_signal, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            a_signal_that_was_ignored_at_the_start_ends_nothing, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(the_first_signal_lets_a_run_end, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(the_second_signal_leaves_at_once, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            handlers_that_do_not_return_in_time_are_left, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(an_operator_can_end_the_worker, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            a_lost_database_does_not_end_the_worker, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            the_exit_code_says_what_is_missing, set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(a_role_without_rights_is_told_so, set_up, scene_tear_down),
        cmocka_unit_test(a_signal_ends_a_worker_that_connects),
    };
    int failed;

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return pawl_worker_main(argc - 1, argv + 1);
    if (mkdtemp(directory) == NULL || setenv("PAWL_MAIN_DIRECTORY", directory, 1) != 0)
        return 1;
    allow_threads_at_exit();
    failed = cmocka_run_group_tests_name("worker_main", tests, NULL, NULL);
    remove_files();
    (void)rmdir(directory);
    return failed;
}
