/* SPDX-License-Identifier: Apache-2.0 */
/* The killer hurts as it says, counts it, and leaves no process behind. Started with a word, this program is a child. */
#include "killer.h"

#include "race.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const double patience_s = 20;

static void
leave(int signal)
{
    (void)signal;
    _exit(0);
}

/* The parent of children, until it is killed: tells their ids on its standard output. */
static void
be_parent(const char *self)
{
    const char *const argv[] = {self, "patient", NULL};
    struct killer_command command = {.argv = argv};
    struct killer *killer = killer_new(1);

    (void)killer_spawn(killer, &command, 3);
    (void)killer_hit(killer, 2, KILLER_STOP_CONT, 0);
    for (int i = 0; i < 3; i++)
        (void)printf("%d\n", (int)killer_pid(killer, i));
    (void)fflush(stdout);
}

static int
be_child(const char *self, const char *word)
{
    const char *number = getenv("KILLER_CHILD");
    const char *given = getenv("KILLER_TEST_GIVEN");

    if (strcmp(word, "parent") == 0)
        be_parent(self);
    if (strcmp(word, "brief") == 0)
        return 0;
    if (strcmp(word, "broken") == 0)
        return 3;
    if (strcmp(word, "telling") == 0)
        return printf("child %s was given %s\n", number, given) > 0 ? 0 : 1;
    if (strcmp(word, "polite") == 0 && signal(SIGTERM, leave) == SIG_ERR)
        return 4;
    if (strcmp(word, "deaf") == 0 && signal(SIGTERM, SIG_IGN) == SIG_ERR)
        return 4;
    for (;;)
        (void)pause();
}

struct test {
    struct race race;
    char self[256];
};

/* Children that live as the word says. */
static struct killer_command
command_of(struct test *test, const char **argv, const char *word, bool restart)
{
    argv[0] = test->self;
    argv[1] = word;
    argv[2] = NULL;
    return (struct killer_command){.argv = argv, .restart = restart};
}

static bool
is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* The state of a process as the system shows it: T is stopped. */
static char
state_of(pid_t pid)
{
    char path[64], text[512];
    FILE *file;
    const char *end = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return '?';
    if (fgets(text, sizeof(text), file) != NULL)
        end = strrchr(text, ')');
    (void)fclose(file);
    return end != NULL ? end[2] : '?';
}

/* Waits until a child has been started so often in all. */
static bool
await_spawned(struct killer *killer, long count)
{
    double until_s = bench_limit_s(patience_s);

    while (killer_counts(killer).spawned < count) {
        if (bench_now_s() > until_s)
            return false;
        race_breathe();
    }
    return true;
}

/* A polite child must have got as far as being polite before it is told to end. */
static void
await_ready(struct killer *killer, int child)
{
    double until_s = bench_limit_s(patience_s);

    while (state_of(killer_pid(killer, child)) != 'S' && bench_now_s() < until_s)
        race_breathe();
}

static void
a_killed_child_is_waited_for_and_started_again(struct test *test)
{
    const char *argv[3];
    struct killer_command command = command_of(test, argv, "patient", true);
    struct killer *killer = killer_new(test->race.seed);
    pid_t old, new;
    int child;

    (void)killer_spawn(killer, &command, 1);
    old = killer_pid(killer, 0);
    child = killer_kill_random(killer, KILLER_KILL, 0);
    race_ok(&test->race, child == 0 && is_gone(old), "a killed child has been waited for");
    race_ok(&test->race, await_spawned(killer, 2) && killer_pid(killer, 0) != old,
        "it is started again");
    new = killer_pid(killer, 0);
    race_ok(&test->race, killer_counts(killer).killed == 1 && killer_counts(killer).failed == 0,
        "one kill is counted");
    killer_free(killer);
    race_ok(&test->race, is_gone(new), "nothing is left when the killer goes");
}

static void
a_stopped_child_stays_stopped_for_its_time(struct test *test)
{
    const char *argv[3];
    struct killer_command command = command_of(test, argv, "patient", false);
    struct killer *killer = killer_new(test->race.seed);
    double start_s, until_s, stopped_s;
    bool stopped, refused;
    pid_t pid;

    (void)killer_spawn(killer, &command, 1);
    pid = killer_pid(killer, 0);
    start_s = bench_now_s();
    stopped = killer_hit(killer, 0, KILLER_STOP_CONT, 300) && state_of(pid) == 'T';
    refused = !killer_hit(killer, 0, KILLER_KILL, 0);
    until_s = bench_limit_s(patience_s);
    while (state_of(pid) == 'T' && bench_now_s() < until_s)
        race_breathe();
    stopped_s = bench_now_s() - start_s;
    race_ok(&test->race, stopped && refused, "a child has stopped when the call returns");
    race_ok(&test->race, stopped_s >= 0.3 && bench_now_s() < until_s,
        "it goes on after its time, not before");
    stopped = killer_hit(killer, 0, KILLER_STOP_CONT, 0) && state_of(pid) == 'T';
    killer_continue(killer, 0);
    race_ok(&test->race,
        stopped && state_of(pid) != 'T' && killer_counts(killer).stopped == 2 &&
            killer_counts(killer).continued == 2,
        "one that was stopped for good goes on when it is told to");
    (void)killer_hit(killer, 0, KILLER_STOP_CONT, 0);
    killer_free(killer);
    race_ok(&test->race, is_gone(pid), "a stopped child goes with the killer too");
}

static void
children_end_when_they_are_told_to(struct test *test)
{
    const char *argv[3];
    struct killer_command polite = command_of(test, argv, "polite", true);
    struct killer *killer = killer_new(test->race.seed);
    struct killer_counts counts;
    pid_t first;

    (void)killer_spawn(killer, &polite, 3);
    for (int i = 0; i < 3; i++)
        await_ready(killer, i);
    first = killer_pid(killer, 0);
    race_ok(&test->race,
        killer_roll(killer, 10000) == 0 && is_gone(first) && killer_pid(killer, 0) > 0 &&
            killer_counts(killer).termed == 3 && killer_counts(killer).spawned == 6,
        "a rolling restart ends and starts each child once");
    race_ok(&test->race, killer_end_all(killer, 10000) == 0 && killer_pid(killer, 0) == 0,
        "all end when they are told to, and none is started again");
    counts = killer_counts(killer);
    race_ok(&test->race, counts.termed == 6 && counts.failed == 0 && counts.spawned == 6,
        "each of these ends is counted");
    killer_free(killer);
}

static void
a_child_that_does_not_end_is_killed_after_its_time(struct test *test)
{
    const char *argv[3];
    struct killer_command deaf = command_of(test, argv, "deaf", false);
    struct killer *killer = killer_new(test->race.seed);
    double start_s;
    bool done;

    (void)killer_spawn(killer, &deaf, 2);
    await_ready(killer, 0);
    await_ready(killer, 1);
    start_s = bench_now_s();
    done = killer_hit(killer, 0, KILLER_TERM, 80);
    race_ok(&test->race, done && bench_now_s() - start_s >= 0.08 && killer_pid(killer, 0) == 0,
        "a child that is deaf to SIGTERM is killed after its time");
    race_ok(&test->race,
        killer_end_all(killer, 50) == 1 && killer_counts(killer).overdue == 2 &&
            killer_counts(killer).killed == 0,
        "those are counted as overdue");
    killer_free(killer);
}

static void
children_that_end_by_themselves_are_told_apart(struct test *test)
{
    const char *brief_argv[3], *broken_argv[3];
    struct killer_command brief = command_of(test, brief_argv, "brief", false);
    struct killer_command broken = command_of(test, broken_argv, "broken", false);
    struct killer *killer = killer_new(test->race.seed);

    broken.output = "/dev/null";
    (void)killer_spawn(killer, &brief, 3);
    (void)killer_spawn(killer, &broken, 2);
    race_ok(&test->race,
        killer_wait_all(killer, 20000) && killer_counts(killer).finished == 3 &&
            killer_counts(killer).failed == 2 && killer_kill_random(killer, KILLER_KILL, 0) == -1,
        "children that end by themselves are counted as finished or failed");
    killer_free(killer);
    killer = killer_new(test->race.seed);
    brief.restart = true;
    (void)killer_spawn(killer, &brief, 1);
    race_ok(&test->race, await_spawned(killer, 3), "one that ends by itself is started again");
    killer_free(killer);
}

static void
children_get_a_number_an_environment_and_a_file(struct test *test)
{
    const char *argv[3];
    const char *const env[] = {"KILLER_TEST_GIVEN=this", NULL};
    struct killer_command telling = command_of(test, argv, "telling", false);
    struct killer *killer = killer_new(test->race.seed);
    char path[] = "/tmp/pawl-killer-test.XXXXXX", text[100] = "";
    int fd = mkstemp(path);

    if (fd < 0 || setenv("KILLER_TEST_GIVEN", "that", 1) != 0)
        bench_die("cannot make a file");
    telling.env = env;
    telling.output = path;
    (void)killer_spawn(killer, &telling, 1);
    (void)killer_wait_all(killer, 20000);
    race_ok(&test->race,
        read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, "child 0 was given this\n") == 0,
        "a child gets its number, its environment and its file");
    (void)close(fd);
    (void)unlink(path);
    killer_free(killer);
}

static void
a_schedule_does_what_its_seed_says(struct test *test)
{
    const char *argv[3];
    struct killer_command polite = command_of(test, argv, "polite", true);
    struct killer_schedule schedule = {.pause_max_ms = 4,
        .kill = 2,
        .stop_cont = 2,
        .term = 1,
        .stop_min_ms = 1,
        .stop_max_ms = 20,
        .term_grace_ms = 10000,
        .age_min_ms = 5,
        .acts_max = race_share(&test->race, 2000)};
    struct killer *killer = killer_new(test->race.seed);
    double until_s = bench_limit_s(10 * patience_s);
    pid_t pids[8];
    struct killer_counts counts;
    bool gone = true;

    (void)killer_spawn(killer, &polite, 8);
    killer_start(killer, &schedule);
    while (killer_counts(killer).acts < schedule.acts_max && bench_now_s() < until_s)
        race_breathe();
    killer_stop(killer);
    for (int i = 0; i < 8; i++)
        pids[i] = killer_pid(killer, i);
    (void)killer_end_all(killer, 10000);
    counts = killer_counts(killer);
    race_note("%ld acts: %ld killed, %ld stopped, %ld ended by SIGTERM, %ld processes in all",
        counts.acts, counts.killed, counts.stopped, counts.termed, counts.spawned);
    race_ok(&test->race,
        counts.acts == schedule.acts_max && counts.killed > 0 && counts.stopped > 0 &&
            counts.termed > 8 && counts.failed == 0 && counts.overdue == 0,
        "a schedule does all that it is told to");
    /* A stopped child can be killed only when the killer goes, and none of these was. */
    race_ok(&test->race, counts.continued == counts.stopped, "each that was stopped was continued");
    /* The last ends are of those that nothing was done to at that moment. */
    race_ok(&test->race,
        counts.killed + counts.stopped + counts.termed >= counts.acts &&
            counts.killed + counts.stopped + counts.termed <= counts.acts + 8,
        "each act is counted once");
    killer_free(killer);
    for (int i = 0; i < 8; i++)
        gone = gone && (pids[i] == 0 || is_gone(pids[i]));
    race_ok(&test->race, gone, "no process is left");
}

static void
children_die_with_the_program_that_started_them(struct test *test)
{
    double until_s = bench_limit_s(patience_s);
    int fds[2], left = 3;
    FILE *told;
    pid_t pid;

    /* Orphans come to us, so that their end can be seen. */
    if (pipe(fds) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        bench_die("cannot make a pipe or adopt processes");
    pid = fork();
    if (pid == 0) {
        if (dup2(fds[1], STDOUT_FILENO) >= 0)
            (void)execl(test->self, test->self, "parent", (char *)NULL);
        _exit(127);
    }
    (void)close(fds[1]);
    told = fdopen(fds[0], "r");
    for (int i = 0; i < 3; i++) {
        char line[32];

        if (told == NULL || fgets(line, sizeof(line), told) == NULL)
            bench_die("no children");
    }
    if (kill(pid, SIGKILL) != 0 || waitpid(pid, NULL, 0) != pid)
        bench_die("cannot kill the parent");
    while (left > 0 && bench_now_s() < until_s) {
        if (waitpid(-1, NULL, WNOHANG) > 0)
            left--;
        else
            race_breathe();
    }
    race_ok(&test->race, left == 0, "children die with a program that is killed, stopped ones too");
    (void)fclose(told);
}

int
main(int argc, char **argv)
{
    struct test test = {0};
    ssize_t length;

    length = readlink("/proc/self/exe", test.self, sizeof(test.self) - 1);
    if (length < 0)
        bench_die("this program has no name");
    if (argc == 2 && argv[1][0] != '-')
        return be_child(test.self, argv[1]);
    race_start(&test.race, argc, argv);
    a_killed_child_is_waited_for_and_started_again(&test);
    a_stopped_child_stays_stopped_for_its_time(&test);
    children_end_when_they_are_told_to(&test);
    a_child_that_does_not_end_is_killed_after_its_time(&test);
    children_that_end_by_themselves_are_told_apart(&test);
    children_get_a_number_an_environment_and_a_file(&test);
    a_schedule_does_what_its_seed_says(&test);
    children_die_with_the_program_that_started_them(&test);
    return race_end(&test.race);
}
