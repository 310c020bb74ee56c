/* SPDX-License-Identifier: Apache-2.0 */
/* Who is woken: the I/O thread by what handlers post, and threads that wait for runs; without a database. */
#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

enum {
    THREADS = 12,
    ROUNDS = 300,
    NOTES = 5,
};

/* Finds threads that sleep for ever, and nothing else. */
static const int64_t patience_us = 20000000;

static int
set_up(void **state)
{
    pawl_worker *worker = NULL;

    if (pawl_worker_new(NULL, &worker, NULL) != PAWL_OK)
        return -1;
    pw_inbox_set_lease(&worker->inbox, INT64_MAX);
    pw_inbox_start(&worker->inbox);
    *state = worker;
    return 0;
}

/* There is no I/O thread that could be stopped. */
static int
tear_down(void **state)
{
    pawl_worker *worker = *state;

    worker->inbox.started = false;
    pawl_worker_free(worker);
    return 0;
}

static void
init_task(pawl_worker *worker, struct pw_task *task)
{
    task->worker = worker;
    pw_arena_init(&task->arena, 1000000);
    pw_list_init(&task->link);
    pw_list_init(&task->items);
    pw_list_init(&task->last.link);
    task->last.task = task;
    task->run = pw_run_new(task);
    assert_non_null(task->run);
}

static void
done_task(struct pw_task *task)
{
    pw_run_free(task->run);
    pw_arena_done(&task->arena);
}

static void
a_post_wakes_the_thread_once_and_only_if_it_is_worth_it(void **state)
{
    pawl_worker *worker = *state;
    struct pw_inbox *inbox = &worker->inbox;
    struct pw_worth worth = {.posts = 3, .ends = SIZE_MAX};
    struct pw_task task = {0};
    struct pw_item notes[NOTES] = {0};
    int64_t until_us = INT64_MAX;
    struct pw_list posted;

    init_task(worker, &task);
    assert_false(pw_inbox_sleep(inbox, worth, &until_us));
    for (size_t i = 0; i < NOTES; i++) {
        notes[i] = (struct pw_item){.kind = PW_KIND_NOTE, .task = &task};
        pw_list_init(&notes[i].link);
        assert_true(pw_inbox_post(inbox, &notes[i], false));
        assert_int_equal(pw_wake_clear(&inbox->wake), i == 2);
    }
    /* What was posted before it slept counts, too. */
    assert_true(pw_inbox_sleep(inbox, worth, &until_us));
    pw_list_init(&posted);
    assert_true(pw_inbox_take_posted(inbox, &posted, INT64_MAX) <= pw_now_us());
    assert_false(pw_inbox_sleep(inbox, worth, &until_us));
    /* The end of a run makes room for another. */
    worth.ends = 1;
    assert_false(pw_inbox_sleep(inbox, worth, &until_us));
    pw_inbox_count_task(inbox);
    assert_true(pw_inbox_post(inbox, &task.last, true));
    assert_true(pw_wake_clear(&inbox->wake));
    assert_int_equal(pw_inbox_load(inbox).ended, 1);
    pw_inbox_drop_task(inbox, task.unwritten);
    done_task(&task);
}

/* Threads that take runs and keep them until all have been taken: so each run needs a thread of its own. */
struct crew {
    pawl_worker *worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t taken;
    size_t rounds;
    bool over;
};

static void *
take_runs(void *argument)
{
    struct crew *crew = argument;
    pawl_run *run = NULL;

    while (pawl_worker_next(crew->worker, -1, &run, NULL) == PAWL_OK) {
        size_t round;

        (void)pthread_mutex_lock(&crew->lock);
        round = crew->rounds;
        crew->taken++;
        (void)pthread_cond_broadcast(&crew->changed);
        while (crew->rounds == round && !crew->over)
            (void)pthread_cond_wait(&crew->changed, &crew->lock);
        (void)pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

/* Offers runs and waits until each is taken. */
static bool
play_round(struct crew *crew, struct pw_task *tasks, size_t count)
{
    int64_t deadline_us = pw_now_us() + patience_us;
    struct pw_list offered;
    bool all;

    pw_list_init(&offered);
    for (size_t i = 0; i < count; i++)
        pw_list_add_tail(&offered, &tasks[i].link);
    pw_inbox_add_tasks(&crew->worker->inbox, &offered);
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->taken < count && pw_cond_wait_until(&crew->changed, &crew->lock, deadline_us))
        ;
    all = crew->taken == count;
    crew->taken = 0;
    crew->rounds++;
    (void)pthread_cond_broadcast(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
    return all;
}

static void
each_run_that_is_offered_wakes_a_thread(void **state)
{
    struct crew crew = {.worker = *state, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct pw_task tasks[THREADS] = {0};
    pthread_t threads[THREADS];
    bool all = true;

    assert_int_equal(pw_cond_init_clock(&crew.changed), 0);
    for (size_t i = 0; i < THREADS; i++)
        init_task(crew.worker, &tasks[i]);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_runs, &crew), 0);
    for (size_t round = 0; all && round < ROUNDS; round++)
        all = play_round(&crew, tasks, round % THREADS + 1);
    (void)pthread_mutex_lock(&crew.lock);
    crew.over = true;
    (void)pthread_cond_broadcast(&crew.changed);
    (void)pthread_mutex_unlock(&crew.lock);
    (void)pthread_mutex_lock(&crew.worker->inbox.lock);
    crew.worker->inbox.active = 0;
    (void)pthread_mutex_unlock(&crew.worker->inbox.lock);
    pw_inbox_drain(&crew.worker->inbox);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(all);
    assert_int_equal(crew.worker->inbox.sleepers, 0);
    assert_int_equal(crew.worker->inbox.woken, 0);
    for (size_t i = 0; i < THREADS; i++)
        done_task(&tasks[i]);
    (void)pthread_cond_destroy(&crew.changed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_post_wakes_the_thread_once_and_only_if_it_is_worth_it),
        TEST(each_run_that_is_offered_wakes_a_thread),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
