/* SPDX-License-Identifier: Apache-2.0 */
/* The pull interface: one thread, a descriptor to poll, and calls that never block. */
#include "proxy.h"
#include "scene.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    MANY = 1000,
    BRANCHES = 5
};

static bool
is_readable(int fd, int timeout_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    return poll(&ready, 1, timeout_ms) == 1 && (ready.revents & POLLIN) != 0;
}

/* What pawl_worker_next() says, without its error. */
static pawl_status
take(struct scene *scene, int64_t timeout_ms, pawl_run **run)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_worker_next(scene->worker, timeout_ms, run, &error);

    assert_int_equal(pawl_error_code(error), status == PAWL_EINVAL ? status : PAWL_OK);
    pawl_error_free(error);
    return status;
}

static pawl_status
one(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text("1");
    return PAWL_OK;
}

static void
the_descriptor_is_readable_while_there_is_something_to_take(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL, *came = NULL;
    int fd;

    scene_handle(scene, "pull.fd", NULL, NULL);
    assert_int_equal(pawl_worker_fd(scene->worker), -1);
    scene_start(scene);
    fd = pawl_worker_fd(scene->worker);
    assert_true(fd >= 0);
    assert_false(is_readable(fd, 0));
    assert_int_equal(take(scene, 0, &run), PAWL_ETIMEOUT);
    for (int i = 0; i < 2; i++) {
        scene_trigger(scene, "pull.fd", "{}");
        assert_true(is_readable(fd, scene_patience_ms));
        assert_int_equal(take(scene, 0, &run), PAWL_OK);
        pawl_run_set_nonblocking(run);
        assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_PENDING);
        assert_true(is_readable(fd, scene_patience_ms));
        assert_int_equal(take(scene, 0, &came), PAWL_OK);
        assert_ptr_equal(came, run);
        assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_OK);
        pawl_run_finish(run, PAWL_OK, pawl_text("7"));
    }
    assert_int_equal(take(scene, 0, &run), PAWL_ETIMEOUT);
    assert_false(is_readable(fd, 0));
    pawl_worker_drain(scene->worker);
    assert_true(is_readable(fd, scene_patience_ms));
    assert_int_equal(take(scene, 0, &run), PAWL_DRAINED);
    assert_true(is_readable(fd, 0));
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "7");
}

/* Event loops that register the descriptor once and hear only of edges, as tokio and libev do. */
static void
every_arrival_is_an_edge(void **state)
{
    struct scene *scene = *state;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    pawl_run *runs[2] = {NULL, NULL}, *came = NULL;
    int poller = epoll_create1(EPOLL_CLOEXEC);
    int reason = 0;

    scene_handle(scene, "pull.edge", NULL, NULL);
    scene_start(scene);
    assert_int_equal(epoll_ctl(poller, EPOLL_CTL_ADD, pawl_worker_fd(scene->worker), &event), 0);
    assert_int_equal(pawl_worker_notice(scene->worker, &came, &reason), PAWL_ETIMEOUT);
    assert_int_equal(epoll_wait(poller, &event, 1, 0), 0);
    /* A second run is an edge while the first one has not been taken. A claim that found none may have been another. */
    for (int i = 0; i < 2; i++) {
        scene_trigger(scene, "pull.edge", "{}");
        assert_int_equal(epoll_wait(poller, &event, 1, scene_patience_ms), 1);
    }
    for (int i = 0; i < 2; i++) {
        while (take(scene, 0, &runs[i]) == PAWL_ETIMEOUT)
            assert_int_equal(epoll_wait(poller, &event, 1, scene_patience_ms), 1);
        assert_non_null(runs[i]);
        pawl_run_set_nonblocking(runs[i]);
    }
    assert_int_equal(take(scene, 0, &came), PAWL_ETIMEOUT);
    assert_int_equal(epoll_wait(poller, &event, 1, 0), 0);
    /* An answer is one, and a notice is. */
    assert_int_equal(pawl_step(runs[0], "one", one, NULL, NULL), PAWL_PENDING);
    assert_int_equal(epoll_wait(poller, &event, 1, scene_patience_ms), 1);
    pawl_run_set_option(runs[1], "timeout_ms", "20");
    assert_int_equal(pawl_step_begin(runs[1], "late", NULL), PAWL_EXECUTE);
    assert_int_equal(epoll_wait(poller, &event, 1, scene_patience_ms), 1);
    assert_int_equal(take(scene, 0, &came), PAWL_OK);
    assert_int_equal(pawl_step(runs[0], "one", one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_worker_notice(scene->worker, &came, &reason), PAWL_OK);
    assert_ptr_equal(came, runs[1]);
    pawl_run_finish(runs[0], PAWL_OK, pawl_text("1"));
    pawl_run_finish(runs[1], PAWL_EPERMANENT, (pawl_bytes){0});
    assert_int_equal(take(scene, 0, &came), PAWL_ETIMEOUT);
    (void)epoll_wait(poller, &event, 1, 0);
    pawl_worker_drain(scene->worker);
    assert_int_equal(epoll_wait(poller, &event, 1, scene_patience_ms), 1);
    assert_int_equal(close(poller), 0);
}

/* The database cannot be reached for longer than the lease: nobody knows whether the run is still the worker's. */
static void
no_call_waits_for_the_lease(void **state)
{
    struct scene *scene = *state;
    struct proxy *proxy = proxy_new(&(struct proxy_options){0});
    pawl_run *run = NULL, *came = NULL;
    pawl_status status = PAWL_PENDING;
    char database[200];
    int64_t began_ms;
    int fd, pending = 0;

    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, "database", database);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "pull.lease", NULL, NULL);
    scene_start(scene);
    fd = pawl_worker_fd(scene->worker);
    scene_trigger(scene, "pull.lease", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    proxy_mode(proxy, PROXY_BLACKHOLE, 0);
    began_ms = scene_now_ms();
    while (scene_now_ms() - began_ms < 3200)
        scene_breathe();
    began_ms = scene_now_ms();
    assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_PENDING);
    scene_in_time(scene_now_ms() - began_ms, 300);
    assert_false(is_readable(fd, 100));
    proxy_mode(proxy, PROXY_NORMAL, 0);
    assert_true(is_readable(fd, scene_patience_ms));
    /* Once for the lease and once for the record; once more if this process stands still for a lease. */
    while (status == PAWL_PENDING) {
        assert_int_equal(take(scene, scene_patience_ms, &came), PAWL_OK);
        assert_ptr_equal(came, run);
        status = pawl_step(run, "one", one, NULL, NULL);
        pending += status == PAWL_PENDING;
    }
    assert_int_equal(status, PAWL_OK);
    assert_true(pending >= 1);
    pawl_run_finish(run, PAWL_OK, pawl_text("7"));
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "7");
    assert_string_equal(scene_steps(scene, scene->run_id), "one#1 SUCCESS 1");
    pawl_worker_free(scene->worker);
    scene->worker = NULL;
    proxy_free(proxy);
}

static void
next_waits_as_long_as_it_is_told(void **state)
{
    struct scene *scene = *state;
    int64_t began_ms;
    pawl_run *run = NULL;

    scene_handle(scene, "pull.next", NULL, NULL);
    assert_int_equal(take(scene, 0, &run), PAWL_EINVAL);
    scene_start(scene);
    began_ms = scene_now_ms();
    assert_int_equal(take(scene, 50, &run), PAWL_ETIMEOUT);
    assert_true(scene_now_ms() - began_ms >= 49);
    scene_in_time(scene_now_ms() - began_ms, 2000);
    scene_trigger(scene, "pull.next", "{}");
    assert_int_equal(take(scene, -1, &run), PAWL_OK);
    assert_string_equal(pawl_run_id(run), scene->run_id);
    pawl_run_finish(run, PAWL_OK, (pawl_bytes){0});
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "null");
}

/* Takes and finishes runs until the worker is drained. Returns how many had lost their lease. */
static int
take_until_drained(struct scene *scene, pawl_status *last)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    pawl_run *run = NULL;
    int lost = 0;

    while ((*last = take(scene, 100, &run)) != PAWL_DRAINED && scene_now_ms() < deadline_ms) {
        pawl_status status;

        if (*last != PAWL_OK)
            continue;
        status = pawl_step(run, "one", one, NULL, NULL);
        lost += status == PAWL_ELEASE_LOST;
        if (status != PAWL_PENDING)
            pawl_run_finish(run, status, (pawl_bytes){0});
    }
    return lost;
}

/* Calls are in flight when the database goes: their answers never come. */
static void
check_drain_without_database(struct scene *scene, enum proxy_mode mode, bool cut)
{
    struct proxy *proxy = proxy_new(&(struct proxy_options){0});
    pawl_run *runs[3] = {NULL};
    pawl_status last = PAWL_OK;
    char database[200];
    int64_t began_ms;

    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, "database", database);
    scene_set(scene, "drain_timeout", "24h");
    scene_handle(scene, "pull.gone", NULL, NULL);
    scene_start(scene);
    for (int i = 0; i < 3; i++) {
        scene_trigger(scene, "pull.gone", "{}");
        assert_int_equal(take(scene, scene_patience_ms, &runs[i]), PAWL_OK);
        pawl_run_set_nonblocking(runs[i]);
    }
    proxy_mode(proxy, mode, 0);
    if (cut)
        proxy_cut_all(proxy);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pawl_step(runs[i], "one", one, NULL, NULL), PAWL_PENDING);
    began_ms = scene_now_ms();
    pawl_worker_drain_within(scene->worker, 2000);
    assert_int_equal(take_until_drained(scene, &last), 3);
    assert_int_equal(last, PAWL_DRAINED);
    (void)printf("# drained after %ld ms\n", (long)(scene_now_ms() - began_ms));
    pawl_worker_free(scene->worker);
    scene->worker = NULL;
    /* drain_timeout is not waited for on top of it. */
    assert_in_range(scene_now_ms() - began_ms, 1000, scene_patience_ms);
    proxy_free(proxy);
}

static void
a_drain_with_a_limit_ends_while_the_database_is_silent(void **state)
{
    check_drain_without_database(*state, PROXY_BLACKHOLE, false);
}

static void
a_drain_with_a_limit_ends_while_the_database_refuses_connections(void **state)
{
    check_drain_without_database(*state, PROXY_REFUSE, true);
}

static void
a_drain_with_a_limit_lets_runs_end_before_it_has_passed(void **state)
{
    struct scene *scene = *state;
    pawl_status last = PAWL_OK;
    pawl_run *run = NULL;

    scene_handle(scene, "pull.limit", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.limit", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    /* The earliest counts, and no limit is none. */
    pawl_worker_drain_within(scene->worker, 3600 * 1000);
    pawl_worker_drain_within(scene->worker, -1);
    assert_int_equal(take(scene, 50, &run), PAWL_ETIMEOUT);
    assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_PENDING);
    assert_int_equal(take_until_drained(scene, &last), 0);
    assert_int_equal(last, PAWL_DRAINED);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "null");
    pawl_worker_drain_within(NULL, 1);
}

static void
a_run_that_outlives_the_limit_of_a_drain_is_released(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL, *none = NULL;

    scene_handle(scene, "pull.over", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.over", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_worker_drain_within(scene->worker, 0);
    assert_int_equal(take(scene, scene_patience_ms, &none), PAWL_DRAINED);
    /* At once, and not when its lease has expired; without counting a crash. */
    scene_until(scene, "select status = 'QUEUED' from pawl.get_run($1)", scene->run_id);
    assert_int_equal(
        scene_number(scene, "select crashes from pawl_data.task where run_id = $1", scene->run_id),
        0);
    assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_ELEASE_LOST);
    pawl_run_finish(run, PAWL_ELEASE_LOST, (pawl_bytes){0});
}

/* The program does something else: its event loop is blocked. */
static void
runs_that_the_program_does_not_take_are_released(void **state)
{
    struct scene *scene = *state;
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    pawl_run *run = NULL;
    char first[PAWL_ID_SIZE];
    int64_t claims;
    int fd;

    scene_set(scene, "start_timeout", "300ms");
    scene_handle(scene, "pull.starve", NULL, NULL);
    scene_start(scene);
    fd = pawl_worker_fd(scene->worker);
    memcpy(first, scene_trigger(scene, "pull.starve", "{}"), sizeof(first));
    scene_until_logged(scene, "runs_starved");
    /* As if it had never been claimed. */
    scene_until(scene, "select status = 'QUEUED' from pawl.get_run($1)", first);
    assert_int_equal(scene_number(scene,
                         "select crashes + execution from pawl_data.task where run_id = $1", first),
        0);
    assert_int_equal(pawl_worker_counter(scene->worker, "starved"), 1);
    scene_until(
        scene, "select count(*) = 1 from pawl.list_workers() where state = 'starved'", NULL);
    scene_until(scene,
        "select count(*) = 1 from pawl.doctor() where what = 'worker' and found ~ 'does not take'",
        NULL);
    /* Nothing is claimed until the next call, and the descriptor asks for it. */
    claims = pawl_worker_counter(scene->worker, "claims");
    scene_trigger(scene, "pull.starve", "{}");
    assert_true(is_readable(fd, 0));
    for (int i = 0; i < 100; i++)
        scene_breathe();
    assert_int_equal(pawl_worker_counter(scene->worker, "claims"), claims);
    for (int left = 2; left > 0 && scene_now_ms() < deadline_ms;)
        if (take(scene, 1000, &run) == PAWL_OK) {
            pawl_run_finish(run, PAWL_OK, pawl_text("1"));
            left--;
        }
    (void)scene_wait(scene, first, PAWL_OK);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    scene_until(scene,
        "select count(pg_notify('pawl_' || w.session_id, 'drain')) < 0 or bool_and(w.starved_since "
        "is null) from pawl_data.worker w where w.ended_at is null",
        NULL);
}

static void
a_run_that_was_taken_or_is_waited_for_is_not_released(void **state)
{
    struct scene *scene = *state;
    int64_t began_ms;
    pawl_run *run = NULL, *none = NULL;

    scene_set(scene, "start_timeout", "2s");
    scene_handle(scene, "pull.keep", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.keep", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    began_ms = scene_now_ms();
    while (scene_now_ms() - began_ms < 3000)
        assert_int_equal(take(scene, 10, &none), PAWL_ETIMEOUT);
    assert_int_equal(pawl_worker_counter(scene->worker, "starved"), 0);
    assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
}

/* Where a run stands. */
struct place {
    int step;
    int executed;
};

static pawl_status
tell_place(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct place *place = userdata;

    place->executed++;
    return pawl_run_printf(run, output, "%d", place->step);
}

/* Goes on with a run of three steps until it has to wait. */
static pawl_status
advance(pawl_run *run)
{
    static const char *const names[] = {"one", "two", "three"};
    struct place *place = pawl_run_context(run);
    pawl_status status = PAWL_OK;

    while (status == PAWL_OK && place->step < 3) {
        status = pawl_step(run, names[place->step], tell_place, place, NULL);
        place->step += status == PAWL_OK;
    }
    return status;
}

static void
one_thread_holds_a_thousand_runs_at_once(void **state)
{
    struct scene *scene = *state;
    struct place *places = calloc(MANY, sizeof(*places));
    int begun = 0, done = 0, most = 0;
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    assert_non_null(places);
    scene_set(scene, "concurrency", "1000");
    scene_handle(scene, "pull.many", NULL, NULL);
    scene_start(scene);
    scene_do(scene,
        "select count(*) from pawl.trigger_many('pull.many', array_fill('{}'::json, array[1000]))",
        NULL);
    while (done < MANY && scene_now_ms() < deadline_ms) {
        pawl_run *run = NULL;
        pawl_status status;

        if (take(scene, 1000, &run) != PAWL_OK)
            continue;
        if (pawl_run_context(run) == NULL) {
            pawl_run_set_nonblocking(run);
            pawl_run_set_context(run, &places[begun++]);
        }
        status = advance(run);
        most = begun - done > most ? begun - done : most;
        if (status == PAWL_PENDING)
            continue;
        assert_int_equal(status, PAWL_OK);
        done++;
        pawl_run_finish(run, status, pawl_text("\"done\""));
    }
    assert_int_equal(done, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(places[i].executed, 3);
    assert_true(most > 16);
    (void)scene_rest(scene);
    assert_int_equal(scene_number(scene,
                         "select count(*) from pawl_data.run r join pawl_data.step s using "
                         "(run_id) join pawl_data.queue q "
                         "using (queue_id) where q.name = 'pull.many' and r.status = 's'",
                         NULL),
        3 * MANY);
    free(places);
}

/* All branches of one run take their steps as answers come. */
struct fan {
    pawl_run *branches[BRANCHES];
    int left[BRANCHES]; /* steps */
    int open;           /* branches that are not through */
};

static pawl_status
advance_branch(struct fan *fan, pawl_run *branch)
{
    pawl_status status = PAWL_OK;
    int at = 0;

    while (fan->branches[at] != branch)
        at++;
    while (fan->left[at] > 0 && status == PAWL_OK) {
        status = pawl_step(branch, "turn", one, NULL, NULL);
        fan->left[at] -= status == PAWL_OK;
    }
    fan->open -= status != PAWL_PENDING;
    return status;
}

static void
branches_that_do_not_block_come_back_one_by_one(void **state)
{
    struct scene *scene = *state;
    struct fan fan = {.open = BRANCHES};
    pawl_run *run = NULL, *came = NULL;
    char name[24];

    scene_handle(scene, "pull.fan", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.fan", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    for (int i = 0; i < BRANCHES; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        assert_int_equal(pawl_run_branch(run, name, &fan.branches[i]), PAWL_OK);
        fan.left[i] = i + 1;
        assert_int_equal(advance_branch(&fan, fan.branches[i]), PAWL_PENDING);
    }
    /* The main branch is not one of them, and threads are not for those that do not block. */
    assert_int_equal(pawl_branch(run, "thread", NULL, NULL, NULL), PAWL_EINVAL);
    while (fan.open > 0) {
        assert_int_equal(take(scene, scene_patience_ms, &came), PAWL_OK);
        assert_ptr_not_equal(came, run);
        (void)advance_branch(&fan, came); /* pending or through */
    }
    pawl_run_finish(run, PAWL_OK, pawl_text("5"));
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(
        scene_number(scene, "select json_array_length(steps) from pawl.get_run($1)", scene->run_id),
        15);
}

/* The first of two waits decides: one call is the run's own, the other one that of a duplicate. */
static void
a_run_is_used_beside_its_duplicates(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL, *dup = NULL, *came = NULL;
    pawl_status statuses[2] = {PAWL_PENDING, PAWL_PENDING};

    scene_handle(scene, "pull.dup", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.dup", "{}");
    scene_do(scene, "select pawl.signal($1, 'second', '17')", scene->run_id);
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    assert_int_equal(pawl_wait_signal(run, "first", -1, NULL), PAWL_PENDING);
    assert_int_equal(pawl_run_dup(run, &dup), PAWL_OK);
    assert_int_equal(pawl_wait_signal(dup, "second", -1, NULL), PAWL_PENDING);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(scene, scene_patience_ms, &came), PAWL_OK);
        statuses[came == dup] = pawl_wait_signal(came, came == dup ? "second" : "first", -1, NULL);
    }
    assert_int_equal(statuses[0], PAWL_SUSPENDED);
    assert_int_equal(statuses[1], PAWL_OK);
    pawl_run_finish(run, PAWL_OK, pawl_text("\"second\""));
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"second\"");
}

/* The calls that write, each called until its answer is there. */
static pawl_status
until_answered(struct scene *scene, pawl_run *run, pawl_status (*call)(pawl_run *run))
{
    pawl_status status = call(run);
    pawl_run *came = NULL;

    assert_int_equal(status, PAWL_PENDING);
    while (status == PAWL_PENDING) {
        assert_int_equal(take(scene, scene_patience_ms, &came), PAWL_OK);
        assert_ptr_equal(came, run);
        status = call(run);
    }
    return status;
}

static pawl_status
do_sleep(pawl_run *run)
{
    return pawl_sleep(run, "nap", 60000);
}

static pawl_status
do_signal(pawl_run *run)
{
    return pawl_wait_signal(run, "go", -1, NULL);
}

static pawl_status
do_child(pawl_run *run)
{
    pawl_run_set_option(run, "delay_ms", "60000");
    return pawl_child_detached(run, "kid", "pull.calls", pawl_text("[]"), NULL);
}

static pawl_status
do_begin(pawl_run *run)
{
    pawl_run_set_option(run, "undo", "take_back");
    return pawl_step_begin(run, "undoable", NULL);
}

static pawl_status
do_finish(pawl_run *run)
{
    return pawl_step_finish(run, PAWL_OK, pawl_text("\"made\""), NULL);
}

static pawl_status
do_fail(pawl_run *run)
{
    if (pawl_step_begin(run, "bad", NULL) != PAWL_EXECUTE && pawl_step_key(run) == NULL)
        return pawl_step_finish(run, PAWL_EPERMANENT, (pawl_bytes){0}, NULL);
    return pawl_step_finish(run, PAWL_EPERMANENT, (pawl_bytes){0}, NULL);
}

static void
every_call_can_be_made_without_blocking_and_undos_too(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL;
    const char *handler = NULL;
    pawl_bytes output = {NULL, 0};

    scene_handle(scene, "pull.calls", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.calls", "{}");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    assert_int_equal(until_answered(scene, run, do_signal), PAWL_OK);
    assert_int_equal(until_answered(scene, run, do_child), PAWL_OK);
    assert_int_equal(until_answered(scene, run, do_begin), PAWL_EXECUTE);
    assert_int_equal(until_answered(scene, run, do_finish), PAWL_OK);
    assert_int_equal(until_answered(scene, run, do_fail), PAWL_EFAILED);
    assert_int_equal(until_answered(scene, run, do_sleep), PAWL_SUSPENDED);
    /* What failed for good ends the run, whatever else was asked for: but the run waits, so it is let go of. */
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    scene_until(scene, "select t.state($1) = 'PAUSED sleep'", scene->run_id);
    scene_do(scene, "select pawl.cancel(array[$1::uuid], rollback => true)", scene->run_id);
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    assert_int_equal(pawl_run_rolling_back(run), 1);
    pawl_run_set_nonblocking(run);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, &output), PAWL_EXECUTE);
    assert_string_equal(handler, "take_back");
    assert_string_equal(output.data, "\"made\"");
    assert_int_equal(pawl_run_undo_uncertain(run), 0);
    assert_int_equal(until_answered(scene, run, do_finish), PAWL_OK);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, (pawl_bytes){0});
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
}

static void
what_was_begun_when_the_worker_is_drained_can_be_finished(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    pawl_run *run = NULL, *none = NULL;

    scene_handle(scene, "pull.drain", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "pull.drain", "{}");
    assert_int_equal(take(scene, scene_patience_ms, &run), PAWL_OK);
    pawl_worker_drain(scene->worker);
    pawl_worker_drain(scene->worker);
    assert_int_equal(take(scene, 0, &none), PAWL_ETIMEOUT);
    assert_int_equal(pawl_step(run, "one", one, NULL, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_int_equal(take(scene, scene_patience_ms, &none), PAWL_DRAINED);
    assert_int_equal(pawl_worker_stop(scene->worker, scene_patience_ms, &error), PAWL_OK);
    assert_int_equal(take(scene, 0, &none), PAWL_DRAINED);
    assert_string_equal(
        scene_text(scene, "select output from pawl.result($1)", scene->run_id), "1");
    assert_int_equal(pawl_worker_counter(scene->worker, "finished"), 1);
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), 0);
    assert_int_equal(pawl_worker_counter(scene->worker, "nonsense"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(the_descriptor_is_readable_while_there_is_something_to_take),
        TEST(every_arrival_is_an_edge),
        TEST(no_call_waits_for_the_lease),
        TEST(next_waits_as_long_as_it_is_told),
        TEST(one_thread_holds_a_thousand_runs_at_once),
        TEST(branches_that_do_not_block_come_back_one_by_one),
        TEST(a_run_is_used_beside_its_duplicates),
        TEST(every_call_can_be_made_without_blocking_and_undos_too),
        TEST(what_was_begun_when_the_worker_is_drained_can_be_finished),
        TEST(a_drain_with_a_limit_ends_while_the_database_is_silent),
        TEST(a_drain_with_a_limit_ends_while_the_database_refuses_connections),
        TEST(a_drain_with_a_limit_lets_runs_end_before_it_has_passed),
        TEST(a_run_that_outlives_the_limit_of_a_drain_is_released),
        TEST(runs_that_the_program_does_not_take_are_released),
        TEST(a_run_that_was_taken_or_is_waited_for_is_not_released),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
