/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention beside load: a day of history is dropped while two workers go on and runs that are older than the
 * retention still live. Nobody may wait long, and the old runs end well. Housekeeping is done by a connection of its own, so
 * that the workers' longest call is one that waited for it, not one that did it.
 */
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    WORKERS = 2,
    OLD_RUNS = 400,
};

struct load {
    atomic_bool stop;
    atomic_long done;
};

struct worker {
    struct load *load;
    double longest_s;
};

static void *
work(void *arg)
{
    struct worker *worker = arg;
    struct engine_hand *hand = engine_hand_new(20, "{bench.*}");

    /* Plans are made before it counts. */
    for (int i = 0; i < 10; i++) {
        engine_hand_trigger(hand, false);
        (void)engine_hand_work(hand);
    }
    hand->longest_s = 0;
    while (!atomic_load(&worker->load->stop)) {
        engine_hand_trigger(hand, false);
        (void)atomic_fetch_add(&worker->load->done, engine_hand_work(hand));
    }
    worker->longest_s = hand->longest_s;
    engine_hand_done(hand);
    return NULL;
}

/* Runs of the day that is to go: each has a record in it, and gets ready within the next seconds. */
static void
fill_old(PGconn *conn, long rows)
{
    struct bench_text sql;

    bench_text_init(&sql, 1000);
    bench_do(conn,
        "select pawl._make_partition(t, current_date - 20) "
        "from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag']) t");
    bench_text_addf(&sql,
        "select bench.fill_runs(current_date - 20, %d, %ld), bench.fill_steps(current_date - 20, "
        "1, %ld)",
        OLD_RUNS + 1, rows, rows + OLD_RUNS);
    bench_do(conn, sql.data);
    bench_text_clear(&sql);
    bench_text_addf(&sql,
        "insert into pawl_data.task (run_id, task_no, queue_id, place, priority, execution, fence, "
        "recorded, reason, due_at, "
        "triggered_at, tenant, input) "
        "select bench.id((current_date - 20)::timestamp at time zone 'UTC' + n * interval '1 ms', "
        "n), 0, "
        "bench.queue('bench.run'), 'w', 100, 1, 1, true, 'sleep', now() + n * interval '10 ms', "
        "current_date - 20, '', '{}' "
        "from generate_series(1, %d) n",
        OLD_RUNS);
    bench_do(conn, sql.data);
    bench_do(conn, "vacuum analyze");
    bench_do(conn, "checkpoint");
    bench_text_done(&sql);
}

static void
start(struct load *load, struct worker *workers, pthread_t *threads)
{
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.load = load};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            bench_die("cannot start a thread");
    }
}

static double
stop(struct load *load, const struct worker *workers, const pthread_t *threads)
{
    double longest = 0;

    atomic_store(&load->stop, true);
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
        longest = workers[i].longest_s > longest ? workers[i].longest_s : longest;
    }
    return longest;
}

/* The longest call of the same load with no retention beside it: what the machine does on its own. */
static double
longest_alone(double seconds)
{
    struct load load = {.stop = false};
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];

    start(&load, workers, threads);
    bench_pause_ms((long)(seconds * 1000));
    return stop(&load, workers, threads);
}

static void
say_old(struct bench_report *report, PGconn *conn)
{
    static const char old[] =
        "bench.id((current_date - 20)::timestamp at time zone 'UTC' + n * interval '1 ms', n)";
    struct bench_text sql;

    bench_text_init(&sql, 1000);
    bench_text_addf(&sql,
        "select count(*) from generate_series(1, %d) n cross join lateral pawl.get_run(%s) r "
        "where r.status = 'SUCCESS'",
        OLD_RUNS, old);
    bench_say_plain(report, "retention_old_runs_that_ended_well", bench_value(conn, sql.data),
        "of 400 runs", BENCH_AT_LEAST, OLD_RUNS);
    bench_text_clear(&sql);
    bench_text_addf(&sql,
        "select count(*) from generate_series(1, %d) n cross join lateral pawl._steps(array[%s]) s "
        "where s.state = 's'",
        OLD_RUNS, old);
    bench_say_plain(report, "retention_old_steps_that_are_there", bench_value(conn, sql.data),
        "of 1,600 steps", BENCH_AT_LEAST, 4.0 * OLD_RUNS);
    bench_text_done(&sql);
}

/* One round of retention, by somebody who is not one of the workers; returns how long it took. */
static double
retain(PGconn *conn)
{
    double start_s;

    bench_do(conn, "select bench.set_tick(false)");
    bench_do(conn,
        "update pawl_data.chore set due_at = '-infinity' where chore in ('retention', 'tables')");
    start_s = bench_now_s();
    bench_do(conn, "call pawl.tick(true)");
    return bench_now_s() - start_s;
}

/* Every second until the old day is gone and its runs have ended. Returns how long the longest round took. */
static double
retain_until_over(PGconn *conn, double *dropped_s)
{
    double begun = bench_now_s(), longest = 0;

    *dropped_s = 0;
    for (bool over = false; !over;) {
        double round = retain(conn);

        if (bench_now_s() - begun > 120)
            bench_die("the old day was not dropped, or its runs did not end");
        longest = round > longest ? round : longest;
        if (*dropped_s == 0 &&
            bench_value(conn,
                "select count(*) from pawl._partitions(pawl._run_tables()) p where p.day = "
                "current_date - 20") == 0)
            *dropped_s = bench_now_s() - begun;
        over = *dropped_s != 0 &&
            bench_value(conn,
                "select count(*) from pawl_data.task where run_id < "
                "pawl._id_floor(now() - interval '10 days')") == 0;
        bench_pause_ms(over ? 0 : 1000);
    }
    return longest;
}

void
engine_retention(struct bench_report *report)
{
    struct load load = {.stop = false};
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    struct bench_figure longest = {
        .name = "retention_longest_call_of_others",
        .unit = "ms",
        .bound_kind = BENCH_AT_MOST,
    };
    struct bench_text note;
    PGconn *conn;
    double dropped, round, alone;

    engine_fresh("bench_retention");
    conn = bench_connect();
    fill_old(conn, report->quick ? 50000 : 1000000);
    bench_do(conn, "select bench.set_tick(false)");
    alone = longest_alone(report->quick ? 2 : 4);
    start(&load, workers, threads);
    round = retain_until_over(conn, &dropped);
    bench_text_init(&note, 200);
    longest.value = stop(&load, workers, threads) * 1000;
    /* What a call takes on a busy machine when nothing is dropped is not retention's doing. */
    longest.bound = 100 + alone * 1000;
    longest.gate = bench_time_gate(report->quick);
    bench_text_addf(&note, "%.0f ms without retention; 100 more are allowed", alone * 1000);
    longest.note = note.data;
    bench_say(report, &longest);
    bench_say_plain(report, "retention_longest_round", round * 1000, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(report, "retention_runs_beside_it", (double)atomic_load(&load.done), "runs",
        BENCH_AT_LEAST, 1);
    bench_say_plain(report, "retention_day_dropped_after", dropped, "s", BENCH_NO_BOUND, 0);
    say_old(report, conn);
    bench_text_done(&note);
    PQfinish(conn);
}
