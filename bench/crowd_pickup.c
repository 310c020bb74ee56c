/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a run waits for its handler: in an idle worker; after another worker was killed while it was idle; on a slow disk while
 * transactions stay open; and while a transaction holds a snapshot. Times are counted from before the trigger, or from before the
 * commit of the transaction that it is in.
 */
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double late_s = 60;

/* The waits of the runs of one load. */
struct waited {
    long count, missing, late; /* late: over half a second */
    double p50_ms, p99_ms, longest_ms;
};

static void
measure(const struct crowd_load *load, struct waited *waited)
{
    struct crowd_loaded loaded;
    double *values;
    size_t kept;
    long numbers;

    crowd_produce(load, &loaded);
    numbers = loaded.made + (long)load->producers * load->batch; /* Some may not have been used. */
    waited->count = loaded.made;
    waited->missing = crowd_await(load->first, numbers, late_s);
    values = calloc((size_t)numbers, sizeof(*values));
    if (values == NULL)
        bench_die("out of memory");
    kept = crowd_waited(load->first, numbers, values);
    waited->p50_ms = bench_percentile(values, kept, 0.5);
    waited->p99_ms = bench_percentile(values, kept, 0.99);
    waited->longest_ms = values[kept - 1];
    waited->late = waited->missing;
    for (size_t i = 0; i < kept; i++)
        waited->late += values[i] > 500;
    free(values);
}

/* One way to wait: its bounds, and what happens. */
struct pickup_case {
    const char *name;
    double p50, p50_goal, p99, p99_goal;
    struct crowd_load load;
    long disk_us;
    const char *lease; /* of a second worker, which is killed when both are idle; NULL for none */
};

static void
say_waited(struct crowd_report *report, const struct pickup_case *bound, const struct waited *list)
{
    double p50[CROWD_ROUNDS], p99[CROWD_ROUNDS], longest[CROWD_ROUNDS], late[CROWD_ROUNDS];
    char name[100];
    struct crowd_name figure = {.name = name, .unit = "ms", .kind = BENCH_AT_MOST, .is_time = true};

    for (int r = 0; r < report->rounds; r++) {
        p50[r] = list[r].p50_ms;
        p99[r] = list[r].p99_ms;
        longest[r] = list[r].longest_ms;
        late[r] = (double)list[r].late;
    }
    (void)snprintf(name, sizeof(name), "%s_p50", bound->name);
    figure.bound = bound->p50;
    figure.goal = bound->p50_goal;
    crowd_say_median(report, &figure, p50);
    (void)snprintf(name, sizeof(name), "%s_p99", bound->name);
    figure.bound = bound->p99;
    figure.goal = bound->p99_goal;
    crowd_say_median(report, &figure, p99);
    figure.bound = figure.goal = 0;
    (void)snprintf(name, sizeof(name), "%s_longest", bound->name);
    crowd_say_median(report, &figure, longest);
    (void)snprintf(name, sizeof(name), "%s_over_500_ms", bound->name);
    figure.unit = "runs";
    crowd_say_median(report, &figure, late);
}

static void
start_worker(struct crowd_crew *crew, const char *setting)
{
    struct crowd_crew_spec spec = {
        .workers = 1, .per_process = 1, .handles = CROWD_WORKFLOW, .settings = {setting}};

    crowd_crew_start(crew, &spec);
}

/* An idle worker, and the load of the case. */
static void
measure_case(const struct pickup_case *what, struct waited *waited)
{
    struct crowd_crew live, killed;

    crowd_fresh();
    crowd_stamps_clear();
    if (what->lease != NULL)
        start_worker(&killed, what->lease);
    start_worker(&live, NULL);
    crowd_sleep_ms(1500);
    if (what->lease != NULL)
        crowd_crew_kill(&killed);
    crowd_disk(what->disk_us);
    measure(&what->load, waited);
    crowd_disk(0);
    crowd_crew_stop(&live);
}

/* The median of some lone commits on the slow disk, in ms. */
static double
slow_commit_ms(void)
{
    double values[50];
    PGconn *conn;

    crowd_fresh();
    crowd_disk(CROWD_SLOW_US);
    conn = bench_connect();
    for (int i = 0; i < 50; i++) {
        double start = bench_now_s();

        bench_do(conn, "insert into public.caller values (1, 'a commit')");
        values[i] = (bench_now_s() - start) * 1000;
    }
    PQfinish(conn);
    crowd_disk(0);
    return bench_percentile(values, 50, 0.5);
}

/* A run now and then. */
static struct crowd_load
quiet_load(double seconds)
{
    return (struct crowd_load){
        .form = CROWD_LIBPAWL,
        .producers = 1,
        .batch = 1,
        .seconds = seconds,
        .rate = 20,
        .first = 1,
    };
}

/* 200 runs a second, a twentieth of them in transactions that stay open for a second. */
static struct crowd_load
open_load(double seconds)
{
    return (struct crowd_load){
        .form = CROWD_LIBPAWL_AND_BLOCK,
        .producers = 32,
        .batch = 1,
        .seconds = seconds,
        .rate = 200,
        .open_percent = 5,
        .open_ms = 1000,
        .first = 1,
    };
}

void
crowd_pickup(struct crowd_report *report)
{
    bool quick = report->quick;
    /* One commit more is allowed on the slow disk, because the time begins before it. */
    double commit_ms = slow_commit_ms();
    struct pickup_case cases[] = {
        {"pickup", 2.5, 2, 10, 8, quiet_load(quick ? 5 : 25), CROWD_FAST_US, NULL},
        /* Until the lease of the killed worker ends. */
        {"pickup_beside_a_killed_worker", 5, 3, 50, 15, quiet_load(quick ? 7 : 27), CROWD_FAST_US,
            quick ? "lease=10s" : "lease=30s"},
        {"pickup_slow_disk_open_transactions", 4 + commit_ms, 3 + commit_ms, 40 + commit_ms,
            20 + commit_ms, open_load(quick ? 8 : 30), CROWD_SLOW_US, NULL},
    };
    struct waited waited[3][CROWD_ROUNDS];

    for (int r = 0; r < report->rounds; r++) {
        for (int i = 0; i < 3; i++)
            measure_case(&cases[i], &waited[i][r]);
    }
    say_waited(report, &cases[0], waited[0]);
    say_waited(report, &cases[1], waited[1]);
    crowd_say_plain(report, commit_ms, "ms", "pickup_slow_disk_commit");
    say_waited(report, &cases[2], waited[2]);
}

/* --- a held snapshot --- */

enum {
    WINDOWS_MAX = 64
};

/* The longest wait of the runs that were triggered in each window of ten seconds; returns how many windows there are. */
static size_t
longest_by_window(long first, long count, double *longest)
{
    int64_t start_ns = crowd_shared->sent_ns[first];
    size_t windows = 0;

    memset(longest, 0, WINDOWS_MAX * sizeof(*longest));
    for (long i = first; i < first + count; i++) {
        int64_t sent_ns = crowd_shared->sent_ns[i];
        size_t at = (size_t)((sent_ns - start_ns) / 10000000000);
        double ms = (double)(crowd_shared->called_ns[i] - sent_ns) / 1e6;

        if (sent_ns == 0 || sent_ns < start_ns || at >= WINDOWS_MAX)
            continue;
        if (crowd_shared->called_ns[i] == 0)
            ms = late_s * 1000;
        if (ms > longest[at])
            longest[at] = ms;
        windows = at + 1 > windows ? at + 1 : windows;
    }
    return windows;
}

/* 600 runs a second for so long; the longest wait of each window. */
static size_t
measure_windows(double seconds, long first, double *longest, double *p99_ms, long *made)
{
    struct crowd_load load = {
        .form = CROWD_LIBPAWL,
        .producers = 2,
        .batch = 10,
        .seconds = seconds,
        .rate = 600,
        .first = first,
    };
    struct waited waited;

    measure(&load, &waited);
    *p99_ms = waited.p99_ms;
    *made = waited.count;
    return longest_by_window(first, waited.count, longest);
}

static void
measure_held(
    const struct crowd_report *report, double *longest_free, double *longest_held, double *p99_held)
{
    struct crowd_crew_spec spec = {
        .workers = 1,
        .per_process = 1,
        .handles = CROWD_WORKFLOW,
        .steps = 3,
        .settings = {"concurrency=256"},
    };
    double longest[WINDOWS_MAX], p99_ms;
    struct crowd_crew crew;
    PGconn *holder;
    size_t windows;
    long made, first = 1;

    crowd_fresh();
    crowd_stamps_clear();
    crowd_crew_start(&crew, &spec);
    crowd_disk(CROWD_FAST_US);
    windows = measure_windows(10, first, longest, &p99_ms, &made);
    *longest_free = bench_percentile(longest, windows, 1);
    first += made + 1000;
    holder = bench_connect();
    bench_do(holder, "begin isolation level repeatable read");
    bench_do(holder, "select count(*) from pg_class");
    windows = measure_windows(report->quick ? 20 : 60, first, longest, p99_held, &made);
    *longest_held = bench_percentile(longest, windows, 1);
    bench_do(holder, "rollback");
    PQfinish(holder);
    crowd_disk(0);
    crowd_crew_stop(&crew);
}

void
crowd_snapshot(struct crowd_report *report)
{
    double longest_free[CROWD_ROUNDS], longest_held[CROWD_ROUNDS], p99_held[CROWD_ROUNDS];
    struct crowd_name plain = {.unit = "ms", .kind = BENCH_NO_BOUND};
    struct crowd_name held = {
        .name = "snapshot_longest_wait",
        .unit = "ms, the longest of any window of 10 s",
        .kind = BENCH_AT_MOST,
        .bound = 500,
        .goal = 100,
        .is_time = true,
    };

    for (int r = 0; r < report->rounds; r++)
        measure_held(report, &longest_free[r], &longest_held[r], &p99_held[r]);
    plain.name = "snapshot_longest_wait_without_it";
    crowd_say_median(report, &plain, longest_free);
    plain.name = "snapshot_p99";
    crowd_say_median(report, &plain, p99_held);
    crowd_say_median(report, &held, longest_held);
}
