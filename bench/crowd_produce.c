/* SPDX-License-Identifier: Apache-2.0 */
/* Producers: threads with a connection each that trigger runs as a C program does, alone or inside a transaction of their own. */
#include "crowd.h"

#include <pawl/pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* After so many calls of a function the server has made its plans. */
static const int warm_up_calls = 6;

static const char insert_sql[] = "insert into public.caller values ($1, 'a row of the caller')";
static const char trigger_sql[] = "select run_id from pawl.trigger($1, $2)";

/* So that an input has 240 bytes, as the yardstick's. */
static const char pad[] =
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/* Shared by the threads of one load. */
struct job {
    const struct crowd_load *load;
    pthread_barrier_t ready, go, over, leave;
    double start_s;
    atomic_long next; /* the next number */
    atomic_long made;
    double ended_s[CROWD_PRODUCERS_MAX];
};

struct producer {
    struct job *job;
    int number;
    pthread_t thread;
    pawl_client *client;
    PGconn *conn;
    struct bench_text input, key;
};

static void
die_of(const char *what, pawl_error *error)
{
    bench_die("%s: %s %s", what, pawl_error_message(error), pawl_error_hint(error));
}

static void
make_input(struct bench_text *text, long number)
{
    bench_text_clear(text);
    bench_text_addf(text, "{\"n\":%ld,\"pad\":\"%s\"}", number, pad);
}

static void
make_workflow(const struct crowd_load *load, long number, char *name, size_t size)
{
    if (load->queues == 0)
        (void)snprintf(name, size, "%s", CROWD_WORKFLOW); /* All names fit. */
    else
        (void)snprintf(name, size, "bench.q%ld", number % load->queues);
}

static void
stamp(long number)
{
    if (crowd_shared != NULL && number > 0 && number < CROWD_STAMPS_MAX)
        crowd_shared->sent_ns[number] = crowd_now_ns();
}

/* Through libpawl: one run, or a batch of them with numbers that follow each other; 0 for runs without a stamp. */
static void
trigger_by_libpawl(struct producer *producer, long number, const char *workflow)
{
    const struct crowd_load *load = producer->job->load;
    pawl_trigger *trigger = pawl_trigger_new(workflow);
    bool with_key = load->form == CROWD_LIBPAWL_KEY;
    pawl_error *error;
    pawl_status status;

    if (trigger == NULL)
        bench_die("out of memory");
    for (int i = 0; i < load->batch; i++) {
        long one = number == 0 ? 0 : number + i;

        make_input(&producer->input, one);
        bench_text_clear(&producer->key);
        bench_text_add_uuid(&producer->key);
        if (load->batch > 1) {
            pawl_trigger_add(
                trigger, pawl_text(producer->input.data), with_key ? producer->key.data : NULL);
        } else {
            pawl_trigger_set_input(trigger, pawl_text(producer->input.data));
            if (with_key)
                pawl_trigger_set(trigger, "key", producer->key.data);
        }
        stamp(one);
    }
    if (load->batch > 1) {
        status = pawl_client_trigger_many(producer->client, trigger, NULL, NULL, &error);
    } else {
        char id[PAWL_ID_SIZE];

        status = pawl_client_trigger(producer->client, trigger, id, NULL, &error);
    }
    if (status != PAWL_OK)
        die_of("trigger", error);
    pawl_trigger_free(trigger);
}

/* In one transaction with an insert of the caller. Its stamp is taken before the commit. */
static void
trigger_in_block(struct producer *producer, long number, const char *workflow, int open_ms)
{
    char text[24];
    const char *row[] = {text};
    const char *run[2];

    (void)snprintf(text, sizeof(text), "%ld", number); /* A long fits. */
    make_input(&producer->input, number);
    run[0] = workflow;
    run[1] = producer->input.data;
    bench_do(producer->conn, "begin");
    PQclear(bench_exec_prepared(producer->conn, "insert", 1, row));
    PQclear(bench_exec_prepared(producer->conn, "trigger", 2, run));
    if (open_ms > 0)
        crowd_sleep_ms(open_ms);
    stamp(number);
    bench_do(producer->conn, "commit");
}

static void
trigger(struct producer *producer, long number)
{
    const struct crowd_load *load = producer->job->load;
    bool blocks = load->form == CROWD_BLOCK ||
        (load->form == CROWD_LIBPAWL_AND_BLOCK && number * 37 % 100 < load->open_percent);
    char workflow[40];

    make_workflow(load, number, workflow, sizeof(workflow));
    if (blocks)
        trigger_in_block(producer, number, workflow, number > 0 ? load->open_ms : 0);
    else
        trigger_by_libpawl(producer, number, workflow);
}

static void
begin(struct producer *producer)
{
    enum crowd_form form = producer->job->load->form;
    pawl_error *error;

    bench_text_init(&producer->input, 400);
    bench_text_init(&producer->key, 40);
    if (form != CROWD_BLOCK && pawl_client_open(NULL, &producer->client, &error) != PAWL_OK)
        die_of("open", error);
    if (form == CROWD_BLOCK || form == CROWD_LIBPAWL_AND_BLOCK) {
        producer->conn = bench_connect();
        bench_prepare(producer->conn, "insert", insert_sql, 1);
        bench_prepare(producer->conn, "trigger", trigger_sql, 2);
    }
    for (int i = 0; i < warm_up_calls; i++)
        trigger(producer, 0);
}

static void
end(struct producer *producer)
{
    pawl_client_close(producer->client);
    if (producer->conn != NULL)
        PQfinish(producer->conn);
    bench_text_done(&producer->input);
    bench_text_done(&producer->key);
}

/* The number of the next run, at its time; 0 when the load is over. */
static long
next_number(struct job *job)
{
    const struct crowd_load *load = job->load;
    long number = atomic_fetch_add_explicit(&job->next, load->batch, memory_order_relaxed);
    double at_s = load->rate > 0 ? (double)(number - load->first) / load->rate : 0;
    double wait_s;

    if (load->rate > 0 && at_s > load->seconds)
        return 0;
    wait_s = job->start_s + at_s - bench_now_s();
    if (wait_s > 0)
        crowd_sleep_ms((long)(wait_s * 1000));
    return bench_now_s() > job->start_s + load->seconds ? 0 : number;
}

static void *
produce(void *arg)
{
    struct producer *producer = arg;
    struct job *job = producer->job;
    long number;

    begin(producer);
    bench_meet(&job->ready);
    bench_meet(&job->go);
    while ((number = next_number(job)) > 0) {
        trigger(producer, number);
        (void)atomic_fetch_add_explicit(&job->made, job->load->batch, memory_order_relaxed);
    }
    job->ended_s[producer->number] = bench_now_s();
    bench_meet(&job->over);
    bench_meet(&job->leave);
    end(producer);
    return NULL;
}

static void
start_threads(struct job *job, struct producer *producers)
{
    unsigned parties = (unsigned)job->load->producers + 1;

    if (pthread_barrier_init(&job->ready, NULL, parties) != 0 ||
        pthread_barrier_init(&job->go, NULL, parties) != 0 ||
        pthread_barrier_init(&job->over, NULL, parties) != 0 ||
        pthread_barrier_init(&job->leave, NULL, parties) != 0)
        bench_die("cannot make a barrier");
    for (int i = 0; i < job->load->producers; i++) {
        producers[i] = (struct producer){.job = job, .number = i};
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0)
            bench_die("cannot start a thread");
    }
}

static void
join_threads(struct job *job, struct producer *producers)
{
    for (int i = 0; i < job->load->producers; i++) {
        if (pthread_join(producers[i].thread, NULL) != 0)
            bench_die("cannot join a thread");
    }
    (void)pthread_barrier_destroy(&job->ready); /* No thread waits there any more. */
    (void)pthread_barrier_destroy(&job->go);
    (void)pthread_barrier_destroy(&job->over);
    (void)pthread_barrier_destroy(&job->leave);
}

void
crowd_produce(const struct crowd_load *load, struct crowd_loaded *loaded)
{
    static struct crowd_cpu before, after;
    struct producer producers[CROWD_PRODUCERS_MAX];
    struct job job = {.load = load};
    PGconn *conn = bench_connect();
    double ended_s = 0;

    if (load->producers > CROWD_PRODUCERS_MAX || load->first < 1)
        bench_die("too many producers, or a first number below 1");
    atomic_init(&job.next, load->first);
    start_threads(&job, producers);
    bench_meet(&job.ready);
    crowd_cpu_read(conn, &before);
    job.start_s = bench_now_s();
    bench_meet(&job.go);
    bench_meet(&job.over);
    crowd_cpu_read(conn, &after);
    bench_meet(&job.leave);
    join_threads(&job, producers);
    PQfinish(conn);
    for (int i = 0; i < load->producers; i++)
        ended_s = job.ended_s[i] > ended_s ? job.ended_s[i] : ended_s;
    loaded->made = atomic_load(&job.made);
    loaded->per_s = (double)loaded->made / (ended_s - job.start_s);
    loaded->server_us = crowd_cpu_between(&before, &after) * 1e6 / (double)loaded->made;
}
