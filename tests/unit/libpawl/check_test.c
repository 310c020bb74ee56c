/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of a worker: a whole one passes, and each planted corruption ends the process with the name of what is broken. */
#include "base/alloc.h"
#include "libpawl/worker/worker.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A worker with three runs: one executes, one waits for an item that a writer has, one is parked. */
struct scene {
    pawl_worker *worker;
    struct pw_task *tasks[3];
    struct pw_item items[2];
};

static struct pw_task *
add_task(pawl_worker *worker, uint8_t number)
{
    struct pw_task *task = pw_calloc(1, sizeof(*task));

    assert_non_null(task);
    task->worker = worker;
    task->id.bytes[0] = number;
    pw_arena_init(&task->arena, 1000000);
    pw_list_init(&task->link);
    pw_list_init(&task->parked_link);
    pw_list_init(&task->items);
    pw_list_init(&task->last.link);
    assert_true(pw_map_put(&worker->tasks, &task->id, 0, task));
    worker->writers[0].active++;
    pw_inbox_count_task(&worker->inbox);
    return task;
}

static int
set_up(void **state)
{
    struct scene *scene = pw_calloc(1, sizeof(*scene));

    if (scene == NULL || pawl_worker_new(NULL, &scene->worker, NULL) != PAWL_OK)
        return -1;
    for (uint8_t i = 0; i < 3; i++)
        scene->tasks[i] = add_task(scene->worker, i);
    for (int i = 0; i < 2; i++) {
        scene->items[i].task = scene->tasks[i + 1];
        pw_list_init(&scene->items[i].link);
        pw_item_take(&scene->items[i]);
    }
    pw_writer_add(scene->worker, &scene->items[0], 1);
    pw_list_add_tail(&scene->tasks[2]->items, &scene->items[1].link);
    pw_list_add_tail(&scene->worker->parked, &scene->tasks[2]->parked_link);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 3; i++) {
        pw_arena_done(&scene->tasks[i]->arena);
        pw_free(scene->tasks[i]);
    }
    pawl_worker_free(scene->worker);
    pw_free(scene);
    return 0;
}

static void
lose_an_item(struct scene *scene)
{
    scene->tasks[0]->pending++;
}

static void
miscount_the_items_that_wait(struct scene *scene)
{
    scene->worker->writers[0].waiting_count++;
}

static void
forget_a_held_task(struct scene *scene)
{
    scene->worker->inbox.held = 0;
}

static void
forget_a_task_that_executes(struct scene *scene)
{
    scene->worker->inbox.active--;
}

static void
give_a_task_to_no_writer(struct scene *scene)
{
    scene->tasks[0]->writer = PW_WRITERS_MAX;
}

static void
break_a_list(struct scene *scene)
{
    scene->items[0].link.prev = &scene->items[0].link;
}

static void
park_a_task_without_items(struct scene *scene)
{
    pw_list_remove(&scene->items[1].link);
}

static void
answer_an_item_that_waits(struct scene *scene)
{
    scene->items[0].answer = PW_ANSWER_OK;
}

static void
claim_without_a_connection(struct scene *scene)
{
    scene->worker->claimer.claim.sent = true;
    scene->worker->claimer.pending = true;
    scene->worker->claimer.most = 1;
}

static void
commit_without_a_connection(struct scene *scene)
{
    scene->worker->writers[1].commit.sent = true;
}

static void
register_without_a_request(struct scene *scene)
{
    scene->worker->session.state = PW_SESSION_REGISTERING;
}

static const struct {
    void (*plant)(struct scene *scene);
    const char *broken;
} corruptions[] = {
    {lose_an_item, "each item that a task waits for is in one place"},
    {miscount_the_items_that_wait, "a writer counts the items that wait"},
    {forget_a_held_task, "tasks that execute and tasks to be recorded are held"},
    {forget_a_task_that_executes, "writers and inbox count the same tasks"},
    {give_a_task_to_no_writer, "a task has this worker and one of its writers"},
    {break_a_list, "a writer counts the items that wait"},
    {park_a_task_without_items, "a parked task has items"},
    {answer_an_item_that_waits, "an item that waits is not answered"},
    {claim_without_a_connection, "a claim in flight has a connection"},
    {commit_without_a_connection, "a writer without a connection has no request in flight"},
    {register_without_a_request, "a session that registers waits for a reply"},
};

/* Calls a function in a child process, which must abort and name what is broken. */
static void
expect_death(void (*function)(pawl_worker *), pawl_worker *worker, const char *broken)
{
    const struct rlimit none = {0};
    char said[2000] = "";
    size_t size = 0;
    ssize_t got;
    int ends[2];
    int status = 0;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(ends[1], STDERR_FILENO);
        function(worker);
        _exit(0);
    }
    (void)close(ends[1]);
    while ((got = read(ends[0], said + size, sizeof(said) - 1 - size)) > 0)
        size += (size_t)got;
    (void)close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (strstr(said, broken) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", broken, said);
}

static void
a_whole_worker_passes(void **state)
{
    struct scene *scene = *state;

    pw_worker_check(scene->worker);
}

/* Each in a worker of its own, because a broken one cannot be repaired. */
static void
each_planted_corruption_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(corruptions) / sizeof(corruptions[0]); i++) {
        struct scene *scene = NULL;

        assert_int_equal(set_up((void **)&scene), 0);
        corruptions[i].plant(scene);
        expect_death(pw_worker_check, scene->worker, corruptions[i].broken);
        (void)tear_down((void **)&scene);
    }
}

#ifdef PW_CHECKED
static void
turn(pawl_worker *worker)
{
    worker->inbox.stopping = true; /* after one turn */
    (void)pw_io_main(worker);
}

static void
the_thread_finds_it_in_its_next_turn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(corruptions) / sizeof(corruptions[0]); i++) {
        struct scene *scene = NULL;

        assert_int_equal(set_up((void **)&scene), 0);
        corruptions[i].plant(scene);
        expect_death(turn, scene->worker, corruptions[i].broken);
        (void)tear_down((void **)&scene);
    }
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_worker_passes, set_up, tear_down),
        cmocka_unit_test(each_planted_corruption_is_found),
#ifdef PW_CHECKED
        cmocka_unit_test(the_thread_finds_it_in_its_next_turn),
#endif
    };

    return cmocka_run_group_tests_name("libpawl/check", tests, NULL, NULL);
}
