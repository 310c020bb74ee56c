/* SPDX-License-Identifier: Apache-2.0 */
/* How the I/O thread ends, without a database. */
#include "base/alloc.h"
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

enum {
    NOTES = 100000,
};

static struct pw_task
    *talker; /* posts notes at the next log line, after the thread has gathered what there was */

/* The thread says that it has no connection, in the middle of its turn. */
static void
talk(void *userdata, int level, const char *event, const char *message, const char *const *names,
    const char *const *values, size_t count)
{
    struct pw_task *task = talker;

    (void)userdata;
    (void)level;
    (void)event;
    (void)message;
    (void)names;
    (void)values;
    (void)count;
    talker = NULL;
    for (int i = 0; task != NULL && i < NOTES; i++) {
        struct pw_item *note = pw_calloc(1, sizeof(*note));

        assert_non_null(note);
        note->kind = PW_KIND_NOTE;
        note->task = task;
        pw_list_init(&note->link);
        pw_task_post(note);
    }
}

static int
set_up(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    if (config == NULL)
        return -1;
    pawl_config_set_log(config, PAWL_LOG_WARNING, talk, NULL);
    if (pawl_config_set(config, "database", "host=/nowhere", NULL) != PAWL_OK ||
        pawl_worker_new(config, &worker, NULL) != PAWL_OK)
        return -1;
    pawl_config_free(config);
    worker->inbox.started = true;
    *state = worker;
    return 0;
}

/* The thread was joined: there is nothing left to stop. */
static int
tear_down(void **state)
{
    pawl_worker *worker = *state;

    worker->inbox.started = false;
    pawl_worker_free(worker);
    return 0;
}

/* A run that a handler has, as if it had been claimed. */
static struct pw_task *
hand_out(pawl_worker *worker)
{
    struct pw_task *task = pw_calloc(1, sizeof(*task));

    assert_non_null(task);
    task->worker = worker;
    pw_arena_init(&task->arena, 1000000);
    pw_list_init(&task->link);
    pw_list_init(&task->parked_link);
    pw_list_init(&task->items);
    pw_list_init(&task->last.link);
    task->run = pw_run_new(task);
    assert_non_null(task->run);
    assert_true(pw_map_put(&worker->tasks, &task->id, 0, task));
    worker->writers[0].active++;
    worker->inbox.active++;
    worker->inbox.held++;
    return task;
}

/* From then on a handler that finishes frees its run, so the thread may not have anything left that belongs to it. */
static void
a_worker_has_not_stopped_before_all_that_was_posted_is_answered(void **state)
{
    pawl_worker *worker = *state;
    struct pw_task *task = hand_out(worker);
    pawl_run *run = NULL;
    pthread_t thread;

    talker = task;
    worker->inbox.stopping = true;
    assert_int_equal(pthread_create(&thread, NULL, pw_io_main, worker), 0);
    /* The run executes, so the worker has drained only when it has stopped. */
    while (pawl_worker_next(worker, 0, &run, NULL) != PAWL_DRAINED)
        ;
    assert_int_equal(pawl_worker_counter(worker, "lease_lost"), NOTES);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pawl_run_check(task->run), PAWL_ELEASE_LOST);
    pawl_run_finish(task->run, PAWL_ELEASE_LOST, (pawl_bytes){0});
    assert_int_equal(pawl_worker_counter(worker, "held"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_worker_has_not_stopped_before_all_that_was_posted_is_answered),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
