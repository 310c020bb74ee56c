/* SPDX-License-Identifier: Apache-2.0 */
/* The client of bench/engine: calls pawl's functions in batches, as a worker library would. It names no table. */
#include "bare.h"
#include "engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Resends of busy items; each is a call, so this is far beyond what any other transaction may take. */
static const int resends_max = 20000;

static const char trigger_sql[] = "select run_id from pawl.trigger($1, $2)";
static const char trigger_key_sql[] = "select run_id from pawl.trigger($1, $2, key => $3)";
/* As libpawl sends it; the database makes the id here, so that it costs a little more. */
static const char trigger_new_sql[] = "select run_id, created, handled from pawl.trigger($1, $2, "
                                      "$3, '', null, null, null, pawl.make_id(), "
                                      "null, false, null, true)";
static const char trigger_many_sql[] = "select run_id from pawl.trigger_many($1, $2)";
static const char trigger_many_keys_sql[] = "select run_id from pawl.trigger_many($1, $2, $3)";
static const char claim_sql[] = "select run_id, fence, input from pawl.claim($1, $2, $3)";
static const char commit_sql[] =
    "select item, answer, reason from pawl.commit($1, $2, $3, $4, $5, $6, $7)";
static const char register_sql[] =
    "select session from pawl.register('bench', $1::text[], lease => '1 hour')";

/* What the threads of one engine_run() share. */
struct job {
    enum engine_mode mode;
    int batch;
    long total;
    atomic_long taken; /* runs that some thread has set out to do */
    atomic_long done;
    pthread_barrier_t begins;
};

/* 240 bytes of JSON, as the yardstick's, as an element of an array and on its own. */
static const char pad[] =
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

static void
hand_prepare(struct engine_hand *hand, const char *handles)
{
    const char *params[] = {handles};
    PGresult *res;

    bench_prepare(hand->conn, "trigger", trigger_sql, 2);
    bench_prepare(hand->conn, "trigger_key", trigger_key_sql, 3);
    bench_prepare(hand->conn, "trigger_new", trigger_new_sql, 3);
    bench_prepare(hand->conn, "trigger_many", trigger_many_sql, 2);
    bench_prepare(hand->conn, "trigger_many_keys", trigger_many_keys_sql, 3);
    bench_prepare(hand->conn, "claim", claim_sql, 3);
    bench_prepare(hand->conn, "commit", commit_sql, 7);
    res = bench_exec_params(hand->conn, register_sql, 1, params);
    (void)snprintf(hand->session, sizeof(hand->session), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
}

struct engine_hand *
engine_hand_new(int batch, const char *handles)
{
    struct engine_hand *hand = calloc(1, sizeof(*hand));
    size_t items = (size_t)batch * 4; /* three steps and a completion in one call */

    if (hand == NULL)
        bench_die("out of memory");
    hand->batch = batch;
    hand->conn = bench_connect();
    bench_text_init(&hand->runs, items * 38 + 16);
    bench_text_init(&hand->fences, items * 12 + 16);
    bench_text_init(&hand->kinds, items * 12 + 16);
    bench_text_init(&hand->names, items * 40 + 16);
    bench_text_init(&hand->payloads, items * 260 + 16);
    bench_text_init(&hand->seqs, items * 4 + 16);
    hand_prepare(hand, handles);
    return hand;
}

void
engine_hand_done(struct engine_hand *hand)
{
    PQfinish(hand->conn);
    bench_text_done(&hand->runs);
    bench_text_done(&hand->fences);
    bench_text_done(&hand->kinds);
    bench_text_done(&hand->names);
    bench_text_done(&hand->payloads);
    bench_text_done(&hand->seqs);
    free(hand);
}

static PGresult *
call(struct engine_hand *hand, const char *name, int count, const char *const *params)
{
    double start = bench_now_s(), seconds;
    PGresult *res = bench_exec_prepared(hand->conn, name, count, params);

    seconds = bench_now_s() - start;
    if (seconds > hand->longest_s)
        hand->longest_s = seconds;
    return res;
}

/* Adds a payload, quoted as an element of an array. */
static void
add_payload(struct bench_text *text)
{
    bench_text_add(text, "\"{\\\"pad\\\":\\\"");
    bench_text_add(text, pad);
    bench_text_add(text, "\\\"}\"");
}

/* The workflow, a payload and a key. */
static void
fill_one(struct engine_hand *hand, const char **params)
{
    bench_text_clear(&hand->payloads);
    bench_text_addf(&hand->payloads, "{\"pad\":\"%s\"}", pad);
    bench_text_clear(&hand->names);
    bench_text_add_uuid(&hand->names);
    params[0] = ENGINE_WORKFLOW;
    params[1] = hand->payloads.data;
    params[2] = hand->names.data;
}

static void
trigger_one(struct engine_hand *hand, bool with_key)
{
    const char *params[3];

    fill_one(hand, params);
    PQclear(with_key ? call(hand, "trigger_key", 3, params) : call(hand, "trigger", 2, params));
}

void
engine_hand_trigger_new(struct engine_hand *hand, bool with_key)
{
    const char *params[3];

    fill_one(hand, params);
    if (!with_key)
        params[2] = NULL;
    PQclear(call(hand, "trigger_new", 3, params));
}

void
engine_hand_trigger(struct engine_hand *hand, bool with_key)
{
    const char *params[3];

    if (hand->batch == 1) {
        trigger_one(hand, with_key);
        return;
    }
    bench_text_clear(&hand->payloads);
    bench_text_clear(&hand->names);
    for (int i = 0; i < hand->batch; i++) {
        bench_text_add(&hand->payloads, i == 0 ? "{" : ",");
        add_payload(&hand->payloads);
        if (with_key) {
            bench_text_add(&hand->names, i == 0 ? "{" : ",");
            bench_text_add_uuid(&hand->names);
        }
    }
    bench_text_add(&hand->payloads, "}");
    bench_text_add(&hand->names, "}");
    params[0] = ENGINE_WORKFLOW;
    params[1] = hand->payloads.data;
    params[2] = hand->names.data;
    PQclear(with_key ? call(hand, "trigger_many_keys", 3, params)
                     : call(hand, "trigger_many", 2, params));
}

int
engine_hand_claim(struct engine_hand *hand)
{
    char most[16], request[16];
    const char *params[] = {hand->session, most, request};
    PGresult *res;

    (void)snprintf(most, sizeof(most), "%d", hand->batch); /* An int fits. */
    (void)snprintf(request, sizeof(request), "%d", ++hand->request);
    res = call(hand, "claim", 3, params);
    hand->held = PQntuples(res);
    for (int i = 0; i < hand->held; i++) {
        struct engine_task *task = &hand->tasks[i];

        (void)snprintf(task->run_id, sizeof(task->run_id), "%s", PQgetvalue(res, i, 0));
        (void)snprintf(task->fence, sizeof(task->fence), "%s", PQgetvalue(res, i, 1));
    }
    PQclear(res);
    return hand->held;
}

/* One more item of the call that is being made; step 0 is the completion. */
static void
add_item(struct engine_hand *hand, const struct engine_task *task, int step)
{
    static const char *const names[] = {"", "step1#1", "step2#1", "step3#1"};
    static const char *const seqs[] = {"0", "1", "2", "3"};
    const char *comma = hand->runs.length == 0 ? "{" : ",";

    bench_text_add(&hand->runs, comma);
    bench_text_add(&hand->runs, task->run_id);
    bench_text_add(&hand->fences, comma);
    bench_text_add(&hand->fences, task->fence);
    bench_text_add(&hand->kinds, comma);
    bench_text_add(&hand->kinds, step == 0 ? "complete" : "step");
    bench_text_add(&hand->names, comma);
    bench_text_add(&hand->names, step == 0 ? "null" : names[step]);
    bench_text_add(&hand->payloads, comma);
    add_payload(&hand->payloads);
    bench_text_add(&hand->seqs, comma);
    bench_text_add(&hand->seqs, seqs[step]);
}

static PGresult *
send_items(struct engine_hand *hand)
{
    const char *params[] = {hand->session, hand->runs.data, hand->fences.data, hand->kinds.data,
        hand->names.data, hand->payloads.data, hand->seqs.data};

    bench_text_add(&hand->runs, "}");
    bench_text_add(&hand->fences, "}");
    bench_text_add(&hand->kinds, "}");
    bench_text_add(&hand->names, "}");
    bench_text_add(&hand->payloads, "}");
    bench_text_add(&hand->seqs, "}");
    return call(hand, "commit", 7, params);
}

static void
clear_items(struct engine_hand *hand)
{
    bench_text_clear(&hand->runs);
    bench_text_clear(&hand->fences);
    bench_text_clear(&hand->kinds);
    bench_text_clear(&hand->names);
    bench_text_clear(&hand->payloads);
    bench_text_clear(&hand->seqs);
}

/* Marks the runs of which an item has to be sent again. `each` items belong to each run. */
static int
read_answers(struct engine_hand *hand, PGresult *res, int each, const int *runs, bool *again)
{
    int left = 0;

    for (int i = 0; i < PQntuples(res); i++) {
        const char *answer = PQgetvalue(res, i, 1);
        int run;

        if (strcmp(answer, "ok") == 0 || strcmp(answer, "already") == 0)
            continue;
        if (strcmp(answer, "busy") != 0)
            bench_die("commit answered \"%s\": %s", answer, PQgetvalue(res, i, 2));
        run = runs[((int)bench_number(PQgetvalue(res, i, 0), "item", 1, 1000000) - 1) / each];
        left += again[run] ? 0 : 1;
        again[run] = true;
        hand->busy++;
    }
    return left;
}

void
engine_hand_commit(struct engine_hand *hand, int first, int last, bool complete)
{
    int runs[ENGINE_BATCH_MAX]; /* the tasks of this call */
    bool again[ENGINE_BATCH_MAX];
    int left = hand->held;

    for (int i = 0; i < left; i++)
        again[i] = true;
    for (int try = 0; left > 0; try++) {
        PGresult *res;
        int count = 0;

        if (try > resends_max)
            bench_die("%d runs were busy %d times", left, try);
        clear_items(hand);
        for (int i = 0; i < hand->held; i++) {
            if (!again[i])
                continue;
            again[i] = false;
            runs[count++] = i;
            for (int step = first; step <= last; step++)
                add_item(hand, &hand->tasks[i], step);
            if (complete)
                add_item(hand, &hand->tasks[i], 0);
        }
        res = send_items(hand);
        left = read_answers(hand, res, last - first + 1 + (complete ? 1 : 0), runs, again);
        PQclear(res);
    }
}

int
engine_hand_work(struct engine_hand *hand)
{
    if (engine_hand_claim(hand) == 0)
        return 0;
    engine_hand_commit(hand, 1, 1, false);
    engine_hand_commit(hand, 2, 2, false);
    engine_hand_commit(hand, 3, 3, true);
    return hand->held;
}

/* One batch; returns how many runs it was. */
static int
do_batch(struct engine_hand *hand, enum engine_mode mode)
{
    int count = hand->batch;

    if (mode != ENGINE_NOOP)
        engine_hand_trigger(hand, mode == ENGINE_INSERT_KEY);
    if (mode == ENGINE_LIFE) {
        count = engine_hand_work(hand);
    } else if (mode == ENGINE_NOOP) {
        count = engine_hand_claim(hand);
        engine_hand_commit(hand, 1, 0, true);
    }
    return count;
}

static void *
work(void *arg)
{
    struct job *job = arg;
    struct engine_hand *hand = engine_hand_new(job->batch, "{bench.*}");

    for (int i = 0; i < bench_warm_up(job->batch); i++)
        (void)do_batch(hand, job->mode);
    bench_meet(&job->begins);
    while (atomic_fetch_add_explicit(&job->taken, job->batch, memory_order_relaxed) < job->total)
        (void)atomic_fetch_add_explicit(
            &job->done, do_batch(hand, job->mode), memory_order_relaxed);
    engine_hand_done(hand);
    return NULL;
}

/* Runs to be claimed, made beforehand. */
static void
fill(long total)
{
    struct engine_hand *hand = engine_hand_new(ENGINE_BATCH_MAX, "{none}");

    for (long made = 0; made < total; made += ENGINE_BATCH_MAX)
        engine_hand_trigger(hand, false);
    bench_do(hand->conn, "vacuum analyze pawl_data.task");
    engine_hand_done(hand);
}

double
engine_run(enum engine_mode mode, int batch, int connections, long total)
{
    pthread_t threads[64];
    struct job job = {.mode = mode, .batch = batch, .total = total};
    PGconn *conn;
    double start, seconds;

    engine_fresh("bench_pawl");
    conn = bench_connect();
    /* The yardstick's tables have stock settings. */
    bench_do(conn,
        "alter table pawl_data.task reset (autovacuum_vacuum_scale_factor, "
        "autovacuum_vacuum_threshold, "
        "autovacuum_vacuum_cost_delay, autovacuum_analyze_scale_factor, "
        "autovacuum_analyze_threshold)");
    if (mode == ENGINE_NOOP)
        fill(total + (long)bench_warm_up(batch) * batch * connections);
    bench_do(conn, "checkpoint");
    PQfinish(conn);

    if (pthread_barrier_init(&job.begins, NULL, (unsigned)connections + 1) != 0)
        bench_die("cannot make a barrier");
    for (int i = 0; i < connections; i++)
        if (pthread_create(&threads[i], NULL, work, &job) != 0)
            bench_die("cannot start a thread");
    bench_meet(&job.begins);
    start = bench_now_s();
    for (int i = 0; i < connections; i++)
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
    seconds = bench_now_s() - start;
    (void)pthread_barrier_destroy(&job.begins); /* No thread waits there any more. */
    return (double)atomic_load(&job.done) / seconds;
}
