/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a run waits: from a trigger in SQL until its handler starts, in an idle worker that is notified and in one that only
 * polls, and what a step of a lone run adds to one commit. Bare figures are taken in turn with pawl's.
 */
#include "runtime.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 200
#define POLL_SETTING "poll=200ms"

static const double answer_s = 20;

static const char trigger_sql[] = "select run_id from pawl.trigger('" RUNTIME_WORKFLOW "', $1)";
static const char insert_sql[] = "with i as (insert into bare.active (run_id, workflow_id, input) "
                                 "values ($1::text::uuid, 1, $2)) "
                                 "select pg_notify('bench', $1)";
static const char select_sql[] = "select input from bare.active where run_id = $1";
static const char commit_sql[] =
    "insert into bare.step values ($1, 'step1', 2, $2, null, 1, now(), now())";

/* Who waits for the bare notification. */
struct listener {
    PGconn *conn;
    int tell_fd;
    _Atomic double selected_s;
    atomic_bool ends;
};

static void
sleep_ms(int ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&wait, NULL); /* Cut short by a signal, one sample is taken earlier. */
}

static void
take_notifications(struct listener *listener)
{
    PGnotify *notify;
    uint64_t one = 1;

    if (PQconsumeInput(listener->conn) != 1)
        bench_die("%s", PQerrorMessage(listener->conn));
    while ((notify = PQnotifies(listener->conn)) != NULL) {
        const char *params[] = {notify->extra};
        PGresult *res = bench_exec_prepared(listener->conn, "select", 1, params);

        if (PQntuples(res) != 1)
            bench_die("no row for a notification");
        atomic_store(&listener->selected_s, bench_now_s());
        PQclear(res);
        PQfreemem(notify);
        if (write(listener->tell_fd, &one, sizeof(one)) != sizeof(one))
            bench_die("cannot write to an eventfd: error %d", errno);
    }
}

static void *
listen_bare(void *arg)
{
    struct listener *listener = arg;

    while (!atomic_load(&listener->ends)) {
        struct pollfd poll_fd = {.fd = PQsocket(listener->conn), .events = POLLIN};

        if (poll(&poll_fd, 1, 100) == 1)
            take_notifications(listener);
    }
    return NULL;
}

/* One insert, its notification and a select, in ms. */
static double
bare_trip(PGconn *conn, struct listener *listener)
{
    struct pollfd poll_fd = {.fd = listener->tell_fd, .events = POLLIN};
    struct bench_text id;
    const char *params[2];
    double start;
    uint64_t count;

    bench_text_init(&id, 40);
    bench_text_add_uuid(&id);
    params[0] = id.data;
    params[1] = runtime_payload;
    start = bench_now_s();
    PQclear(bench_exec_prepared(conn, "insert", 2, params));
    if (poll(&poll_fd, 1, (int)(answer_s * 1000)) != 1 ||
        read(listener->tell_fd, &count, sizeof(count)) != sizeof(count))
        bench_die("no bare notification");
    bench_text_done(&id);
    return (atomic_load(&listener->selected_s) - start) * 1000;
}

static double
bare_commit(PGconn *conn)
{
    struct bench_text id;
    const char *params[2];
    double start, taken;

    bench_text_init(&id, 40);
    bench_text_add_uuid(&id);
    params[0] = id.data;
    params[1] = runtime_payload;
    start = bench_now_s();
    PQclear(bench_exec_prepared(conn, "commit", 2, params));
    taken = bench_now_s() - start;
    bench_text_done(&id);
    return taken * 1000;
}

/* One trigger from SQL until a handler is called, in ms. */
static double
pawl_trip(PGconn *conn, struct runtime_crew *crew, int number)
{
    const char *params[] = {runtime_payload};
    double start = bench_now_s();

    PQclear(bench_exec_prepared(conn, "trigger", 1, params));
    if (!runtime_crew_wait(crew, answer_s))
        bench_die("no handler was called");
    return ((double)crew->shared->called_ns[number] / 1e9 - start) * 1000;
}

static void
listener_start(struct listener *listener, pthread_t *thread)
{
    listener->conn = bench_connect();
    bench_prepare(listener->conn, "select", select_sql, 1);
    bench_do(listener->conn, "listen bench");
    listener->tell_fd = eventfd(0, EFD_CLOEXEC);
    if (listener->tell_fd < 0 || pthread_create(thread, NULL, listen_bare, listener) != 0)
        bench_die("cannot start a listener");
}

static void
listener_stop(struct listener *listener, pthread_t thread)
{
    atomic_store(&listener->ends, true);
    if (pthread_join(thread, NULL) != 0)
        bench_die("cannot join a thread");
    (void)close(listener->tell_fd); /* It cannot fail on an eventfd. */
    PQfinish(listener->conn);
}

/* A connection to a fresh database of the yardstick. */
static PGconn *
connect_bare(void)
{
    PGconn *conn;

    runtime_bare();
    conn = bench_connect();
    bench_do(conn, "set client_min_messages to warning");
    bench_do_file(conn, "bench/bare.sql");
    bench_prepare(conn, "insert", insert_sql, 2);
    bench_prepare(conn, "commit", commit_sql, 2);
    return conn;
}

/* Three values at a time: bare trip, pawl's trip, bare commit; the first turns, which warm up, are not kept. */
static void
take_samples(PGconn *bare, struct listener *listener, PGconn *conn, struct runtime_crew *crew,
    int count, int gap_ms, double *samples[3])
{
    const int warm_up = 5;

    for (int i = 0; i < count + warm_up; i++) {
        int at = i < warm_up ? 0 : i - warm_up;

        sleep_ms(gap_ms);
        samples[0][at] = bare_trip(bare, listener);
        samples[2][at] = bare_commit(bare);
        sleep_ms(gap_ms);
        samples[1][at] = pawl_trip(conn, crew, i);
    }
    sleep_ms(gap_ms);
}

static void
keep_steps(const struct runtime_shared *shared, struct runtime_pickup *pickup)
{
    static double steps[RUNTIME_STAMPS_MAX];
    long count = atomic_load(&shared->steps);

    if (count > RUNTIME_STAMPS_MAX)
        count = RUNTIME_STAMPS_MAX;
    for (long i = 0; i < count; i++)
        steps[i] = (double)shared->steps_ns[i] / 1e6;
    pickup->step_p50_ms = bench_percentile(steps, (size_t)count, 0.5);
    pickup->step_p99_ms = bench_percentile(steps, (size_t)count, 0.99);
}

void
runtime_pickup(
    const struct runtime_report *report, int count, int gap_ms, struct runtime_pickup *pickup)
{
    struct runtime_spec spec = {.steps = RUNTIME_STEPS, .tell = true, .processes = 1};
    struct listener listener = {.tell_fd = -1};
    static double values[3][RUNTIME_STAMPS_MAX];
    double *samples[3] = {values[0], values[1], values[2]};
    struct runtime_crew crew;
    size_t size = (size_t)count;
    PGconn *bare, *conn;
    pthread_t thread;
    struct runtime_used used;

    bare = connect_bare();
    listener_start(&listener, &thread);
    runtime_fresh();
    conn = bench_connect();
    bench_prepare(conn, "trigger", trigger_sql, 1);
    runtime_crew_start(&crew, report, &spec);
    if (!runtime_crew_wait(&crew, answer_s))
        bench_die("the worker did not start");
    take_samples(bare, &listener, conn, &crew, count, gap_ms, samples);
    keep_steps(crew.shared, pickup);
    runtime_crew_drain(&crew);
    (void)runtime_crew_join(&crew, &used); /* Only its samples count. */
    listener_stop(&listener, thread);
    PQfinish(conn);
    PQfinish(bare);
    pickup->bare_p50_ms = bench_percentile(samples[0], size, 0.5);
    pickup->bare_p99_ms = bench_percentile(samples[0], size, 0.99);
    pickup->p50_ms = bench_percentile(samples[1], size, 0.5);
    pickup->p95_ms = bench_percentile(samples[1], size, 0.95);
    pickup->p99_ms = bench_percentile(samples[1], size, 0.99);
    pickup->commit_p50_ms = bench_percentile(samples[2], size, 0.5);
}

static void
say_goal(struct runtime_report *report, const char *name, double value, double goal)
{
    struct bench_figure figure = {.name = name, .value = value, .unit = "ms", .goal = goal};

    bench_say(&report->figures, &figure);
}

static void
measure_notified(struct runtime_report *report)
{
    struct runtime_pickup pickup;
    struct bench_figure ratio = {
        .name = "pickup_p50_ratio",
        .unit = "times insert, notify, select",
        .bound_kind = BENCH_AT_MOST,
        .bound = 3,
        .gate = report->figures.quick ? bench_ratio_gate(true, BENCH_AT_MOST, 3) : 5,
        .note = "known: the claim itself takes as long as the whole bare round trip",
    };
    struct bench_figure adds = {
        .name = "lone_step_adds",
        .unit = "ms over a bare commit",
        .bound_kind = BENCH_AT_MOST,
        .bound = 1,
        .gate = bench_time_gate(report->figures.quick),
    };

    runtime_pickup(
        report, report->figures.quick ? 100 : 500, report->figures.quick ? 20 : 50, &pickup);
    bench_say_plain(
        &report->figures, "pickup_bare_p50", pickup.bare_p50_ms, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(
        &report->figures, "pickup_bare_p99", pickup.bare_p99_ms, "ms", BENCH_NO_BOUND, 0);
    say_goal(report, "pickup_p50", pickup.p50_ms, 3);
    say_goal(report, "pickup_p99", pickup.p99_ms, 10);
    ratio.value = pickup.p50_ms / pickup.bare_p50_ms;
    bench_say(&report->figures, &ratio);
    bench_say_plain(
        &report->figures, "commit_bare_p50", pickup.commit_p50_ms, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(&report->figures, "lone_step_p50", pickup.step_p50_ms, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(&report->figures, "lone_step_p99", pickup.step_p99_ms, "ms", BENCH_NO_BOUND, 0);
    adds.value = pickup.step_p50_ms - pickup.commit_p50_ms;
    bench_say(&report->figures, &adds);
}

/* At random moments of the poll interval, so that no phase is preferred; the seed is fixed. */
static void
measure_polling(struct runtime_report *report)
{
    struct runtime_spec spec = {
        .tell = true, .processes = 1, .settings = {"listen=off", POLL_SETTING}};
    static double samples[RUNTIME_STAMPS_MAX];
    struct bench_figure late = {
        .name = "pickup_by_polling_p99",
        .unit = "poll intervals",
        .bound_kind = BENCH_AT_MOST,
        .bound = 2,
        .gate = bench_time_gate(report->figures.quick),
    };
    int count = report->figures.quick ? 20 : 200;
    unsigned seed = 7;
    struct runtime_crew crew;
    PGconn *conn;
    struct runtime_used used;

    runtime_fresh();
    conn = bench_connect();
    bench_prepare(conn, "trigger", trigger_sql, 1);
    runtime_crew_start(&crew, report, &spec);
    if (!runtime_crew_wait(&crew, answer_s))
        bench_die("the worker did not start");
    for (int i = 0; i < count; i++) {
        seed = seed * 1103515245 + 12345;
        sleep_ms(20 + (int)(seed >> 16) % POLL_MS);
        samples[i] = pawl_trip(conn, &crew, i);
    }
    runtime_crew_drain(&crew);
    (void)runtime_crew_join(&crew, &used); /* Only its samples count. */
    PQfinish(conn);
    bench_say_plain(&report->figures, "pickup_by_polling_p50",
        bench_percentile(samples, (size_t)count, 0.5), "ms", BENCH_NO_BOUND, 0);
    late.value = bench_percentile(samples, (size_t)count, 0.99) / POLL_MS;
    bench_say(&report->figures, &late);
}

void
runtime_latency(struct runtime_report *report)
{
    measure_notified(report);
    measure_polling(report);
}
