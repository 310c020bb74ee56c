/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick's client: one thread per connection, payloads of 240 bytes, ids made here in time order as an engine would
 * make them. Its SQL is fixed, like bare.sql.
 */
#include "bare.h"

#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char trigger_sql[] = "insert into bare.active (run_id, workflow_id, input) "
                                  "select i, 1, x::jsonb "
                                  "from unnest($1::uuid[], $2::text[]) t (i, x)";

static const char trigger_key_sql[] = "insert into bare.active (run_id, workflow_id, input, key) "
                                      "select i, 1, x::jsonb, k "
                                      "from unnest($1::uuid[], $2::text[], $3::text[]) t (i, x, k)";

static const char claim_sql[] =
    "with q as (select run_id from bare.active where workflow_id = 1 and priority = 100 "
    "and visible_at <= now() order by visible_at limit $1 for update skip locked) "
    "update bare.active r set status = 1, attempt = attempt + 1, visible_at = now() + '30 s', "
    "worker_id = 7, started_at = now() "
    "from q where r.run_id = q.run_id returning r.run_id, r.input";

static const char step_sql[] = "insert into bare.step "
                               "select i, s, 2, o::jsonb, null, 1, now(), now() "
                               "from unnest($1::uuid[], $2::text[], $3::text[]) t (i, s, o)";

static const char finish_sql[] =
    "with d as (delete from bare.active a using unnest($1::uuid[], $2::text[]) t (i, o) "
    "where a.run_id = t.i returning a.*, t.o) "
    "insert into bare.history select run_id, workflow_id, 2, worker_id, attempt, "
    "input, o::jsonb, null, created_at, started_at, now() from d";

static const char delete_sql[] =
    "delete from bare.active a using unnest($1::uuid[]) t (i) where a.run_id = t.i";

static const char fill_sql[] =
    "insert into bare.active (run_id, workflow_id, input) "
    "select (lpad(to_hex(g), 12, '0') || '70008000' || "
    "lpad(to_hex((random() * 1e14)::bigint), 12, '0'))::uuid, 1, "
    "jsonb_build_object('pad', repeat('x', 228)) from generate_series(1, $1::bigint) g";

/* What the threads of one call share. */
struct job {
    enum bench_bare_mode mode;
    int batch;
    long total;
    atomic_long taken; /* runs that some thread has set out to do; order does not matter */
    atomic_long done;
    const char *payload; /* an element of a text array: quoted, with its quotes escaped */
    int warm_up;         /* batches of each thread before all of them begin */
    pthread_barrier_t begins;
};

/* What one thread works with. */
struct hand {
    struct job *job;
    PGconn *conn;
    struct bench_text ids, inputs, names, outputs;
    char limit[16];
};

const char *
bench_bare_name(enum bench_bare_mode mode)
{
    static const char *const names[BENCH_BARE_MODES] = {
        [BENCH_BARE_LIFE] = "life",
        [BENCH_BARE_INSERT] = "insert",
        [BENCH_BARE_INSERT_KEY] = "insert_key",
        [BENCH_BARE_DELETE] = "delete",
        [BENCH_BARE_MOVE] = "move",
        [BENCH_BARE_DRAIN] = "drain",
    };

    return names[mode];
}

static bool
is_insert(enum bench_bare_mode mode)
{
    return mode == BENCH_BARE_INSERT || mode == BENCH_BARE_INSERT_KEY;
}

static void
hand_init(struct hand *hand, struct job *job)
{
    size_t room = (size_t)job->batch * 400 + 16;

    hand->job = job;
    hand->conn = bench_connect();
    bench_text_init(&hand->ids, room);
    bench_text_init(&hand->inputs, room);
    bench_text_init(&hand->names, room);
    bench_text_init(&hand->outputs, room);
    (void)snprintf(hand->limit, sizeof(hand->limit), "%d", job->batch); /* An int fits. */
    if (job->mode == BENCH_BARE_INSERT_KEY)
        bench_prepare(hand->conn, "trigger", trigger_key_sql, 3);
    else
        bench_prepare(hand->conn, "trigger", trigger_sql, 2);
    bench_prepare(hand->conn, "claim", claim_sql, 1);
    bench_prepare(hand->conn, "step", step_sql, 3);
    bench_prepare(hand->conn, "finish", finish_sql, 2);
    bench_prepare(hand->conn, "delete", delete_sql, 1);
}

static void
hand_done(struct hand *hand)
{
    PQfinish(hand->conn);
    bench_text_done(&hand->ids);
    bench_text_done(&hand->inputs);
    bench_text_done(&hand->names);
    bench_text_done(&hand->outputs);
}

/* Makes an array parameter of `count` times the same element. */
static void
repeat(struct bench_text *text, const char *element, int count)
{
    bench_text_clear(text);
    for (int i = 0; i < count; i++) {
        bench_text_add(text, i == 0 ? "{" : ",");
        bench_text_add(text, element);
    }
    bench_text_add(text, count == 0 ? "{}" : "}");
}

static void
trigger(struct hand *hand)
{
    int batch = hand->job->batch;
    bool with_key = hand->job->mode == BENCH_BARE_INSERT_KEY;
    const char *params[3];

    bench_text_clear(&hand->ids);
    bench_text_clear(&hand->names);
    for (int i = 0; i < batch; i++) {
        bench_text_add(&hand->ids, i == 0 ? "{" : ",");
        bench_text_add_uuid(&hand->ids);
        bench_text_add(&hand->names, i == 0 ? "{" : ",");
        if (with_key)
            bench_text_add_uuid(&hand->names);
    }
    bench_text_add(&hand->ids, "}");
    bench_text_add(&hand->names, "}");
    repeat(&hand->inputs, hand->job->payload, batch);
    params[0] = hand->ids.data;
    params[1] = hand->inputs.data;
    params[2] = hand->names.data;
    PQclear(bench_exec_prepared(hand->conn, "trigger", with_key ? 3 : 2, params));
}

/* Claims up to a batch, leaves the ids in hand->ids and returns how many. */
static int
claim(struct hand *hand)
{
    const char *params[1] = {hand->limit};
    PGresult *res = bench_exec_prepared(hand->conn, "claim", 1, params);
    int count = PQntuples(res);

    bench_text_clear(&hand->ids);
    bench_text_add(&hand->ids, "{");
    for (int i = 0; i < count; i++) {
        bench_text_add(&hand->ids, i == 0 ? "" : ",");
        bench_text_add(&hand->ids, PQgetvalue(res, i, 0));
    }
    bench_text_add(&hand->ids, "}");
    PQclear(res);
    return count;
}

static void
record_steps(struct hand *hand, int count)
{
    static const char *const steps[] = {"step1", "step2", "step3"};
    const char *params[3];

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        repeat(&hand->names, steps[i], count);
        repeat(&hand->outputs, hand->job->payload, count);
        params[0] = hand->ids.data;
        params[1] = hand->names.data;
        params[2] = hand->outputs.data;
        PQclear(bench_exec_prepared(hand->conn, "step", 3, params));
    }
}

static void
finish(struct hand *hand, int count)
{
    const char *params[2];

    params[0] = hand->ids.data;
    if (hand->job->mode == BENCH_BARE_DELETE) {
        PQclear(bench_exec_prepared(hand->conn, "delete", 1, params));
        return;
    }
    repeat(&hand->outputs, hand->job->payload, count);
    params[1] = hand->outputs.data;
    PQclear(bench_exec_prepared(hand->conn, "finish", 2, params));
}

/* One batch; returns how many runs it was. */
static int
do_batch(struct hand *hand)
{
    enum bench_bare_mode mode = hand->job->mode;
    int count = hand->job->batch;

    if (mode == BENCH_BARE_LIFE || is_insert(mode))
        trigger(hand);
    if (!is_insert(mode)) {
        count = claim(hand);
        if (mode == BENCH_BARE_LIFE || mode == BENCH_BARE_DRAIN)
            record_steps(hand, count);
        finish(hand, count);
    }
    return count;
}

static void *
work(void *arg)
{
    struct job *job = arg;
    struct hand hand;

    hand_init(&hand, job);
    for (int i = 0; i < job->warm_up; i++)
        (void)do_batch(&hand);
    if (job->warm_up > 0)
        bench_meet(&job->begins);
    while (atomic_fetch_add_explicit(&job->taken, job->batch, memory_order_relaxed) < job->total)
        (void)atomic_fetch_add_explicit(&job->done, do_batch(&hand), memory_order_relaxed);
    hand_done(&hand);
    return NULL;
}

/* Fresh tables, with rows for the modes that begin with a claim. */
static void
prepare_tables(enum bench_bare_mode mode, long total)
{
    PGconn *conn = bench_connect();
    char count[24];
    const char *params[1] = {count};

    bench_do(conn, "set client_min_messages to warning");
    bench_do_file(conn, "bench/bare.sql");
    /* What a key costs: a column and a unique index. */
    if (mode == BENCH_BARE_INSERT_KEY)
        bench_do(conn,
            "alter table bare.active add key text not null, "
            "add constraint active_key unique (workflow_id, key)");
    if (mode != BENCH_BARE_LIFE && !is_insert(mode)) {
        (void)snprintf(count, sizeof(count), "%ld", total); /* A long fits. */
        PQclear(bench_exec_params(conn, fill_sql, 1, params));
        bench_do(conn, "vacuum analyze bare.active");
    }
    bench_do(conn, "checkpoint");
    PQfinish(conn);
}

int
bench_warm_up(int batch)
{
    return batch < 1000 ? 6 : 2;
}

static double
run(enum bench_bare_mode mode, int batch, int connections, long total, int warm_up)
{
    pthread_t threads[BENCH_BARE_CONNECTIONS_MAX];
    struct job job = {.mode = mode, .batch = batch, .total = total, .warm_up = warm_up};
    struct bench_text payload;
    double start, seconds;

    bench_text_init(&payload, 400);
    bench_text_add(&payload, "\"{\\\"pad\\\":\\\"");
    for (int i = 0; i < 228; i++)
        bench_text_add(&payload, "x");
    bench_text_add(&payload, "\\\"}\"");
    job.payload = payload.data;
    prepare_tables(mode, total + (long)warm_up * batch * connections);

    if (pthread_barrier_init(&job.begins, NULL, (unsigned)connections + 1) != 0)
        bench_die("cannot make a barrier");
    start = bench_now_s();
    for (int i = 0; i < connections; i++)
        if (pthread_create(&threads[i], NULL, work, &job) != 0)
            bench_die("cannot start a thread");
    if (warm_up > 0) {
        bench_meet(&job.begins);
        start = bench_now_s();
    }
    for (int i = 0; i < connections; i++)
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
    seconds = bench_now_s() - start;
    (void)pthread_barrier_destroy(&job.begins); /* No thread waits there any more. */
    bench_text_done(&payload);
    return (double)atomic_load(&job.done) / seconds;
}

double
bench_bare_run(enum bench_bare_mode mode, int batch, int connections, long total)
{
    return run(mode, batch, connections, total, 0);
}

double
bench_bare_run_warm(enum bench_bare_mode mode, int batch, int connections, long total)
{
    return run(mode, batch, connections, total, bench_warm_up(batch));
}
