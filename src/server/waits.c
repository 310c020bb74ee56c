/* SPDX-License-Identifier: Apache-2.0 */
#include "server/waits.h"

#include "base/alloc.h"
#include "base/time.h"
#include "server/call.h"
#include "server/reaper.h"
#include "server/request.h"
#include "server/server.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    RUNS_MAX = 500, /* in one query */
};

/* A request asks again after a pause that grows by half each time: a run that ends soon is seen soon. */
static const int64_t pause_first_us = 10000;
static const int64_t pause_max_us = 500000;

struct waits {
    struct server *server;
    pthread_mutex_t mutex;
    struct pw_list resting; /* requests, in no order */
    size_t count;           /* also of those that are asked for */
    int64_t next_us;        /* when the first one is due */
    bool draining;
};

/* The requests of one token that are asked for by one query. */
struct round {
    struct job job;
    struct waits *waits;
    struct pw_list requests;
    size_t count;
};

struct waits *
waits_new(struct server *server)
{
    struct waits *waits = pw_calloc(1, sizeof(*waits));

    if (waits == NULL)
        return NULL;
    waits->server = server;
    waits->next_us = INT64_MAX;
    pw_list_init(&waits->resting);
    (void)pthread_mutex_init(&waits->mutex, NULL); /* cannot fail for a plain mutex */
    return waits;
}

void
waits_free(struct waits *waits)
{
    if (waits == NULL)
        return;
    (void)pthread_mutex_destroy(&waits->mutex);
    pw_free(waits);
}

static void
rest(struct waits *waits, struct request *request)
{
    bool earlier;

    (void)pthread_mutex_lock(&waits->mutex);
    if (waits->draining)
        request->due_us = 0;
    pw_list_add_tail(&waits->resting, &request->link);
    request->resting = true;
    earlier = request->due_us < waits->next_us;
    if (earlier)
        waits->next_us = request->due_us;
    (void)pthread_mutex_unlock(&waits->mutex);
    if (earlier)
        reaper_wake(waits->server->reaper);
}

void
waits_add(struct waits *waits, struct request *request, bool now)
{
    int64_t now_us = pw_now_us();

    request->pause_us = pause_first_us;
    request->due_us = now ? now_us : now_us + pause_first_us;
    request->deadline_us = now_us + (int64_t)request->wait_s * 1000000;
    (void)pthread_mutex_lock(&waits->mutex);
    waits->count++;
    (void)pthread_mutex_unlock(&waits->mutex);
    rest(waits, request);
}

/* The request is answered, or its connection ends. */
static void
leave(struct waits *waits, struct request *request)
{
    (void)pthread_mutex_lock(&waits->mutex);
    waits->count--;
    (void)pthread_mutex_unlock(&waits->mutex);
    request_finish(request);
}

/* Asks how the runs of a round have ended. rows is NULL if none has, or without an answer. */
static pawl_status
ask(struct round *round, pawl_client *client, pawl_rows **rows)
{
    struct request *first = PW_CONTAINER(pw_list_first(&round->requests), struct request, link);
    const char *const names[] = {"runs"};
    pawl_error *error = NULL;
    struct pw_buf ids;
    pawl_status status = call_act_as(first, client);

    if (status != PAWL_OK)
        return status;
    pw_buf_init(&ids, (size_t)RUNS_MAX * PAWL_ID_SIZE + 2);
    for (struct pw_list *at = pw_list_first(&round->requests); at != NULL;
         at = pw_list_next(&round->requests, at))
        pw_buf_addf(
            &ids, "%c%s", ids.size == 0 ? '{' : ',', PW_CONTAINER(at, struct request, link)->run);
    pw_buf_addc(&ids, '}');
    if (pw_buf_ok(&ids)) {
        const char *const values[] = {pw_buf_text(&ids)};

        status = pawl_client_call(client, "results", names, values, 1, rows, &error);
    } else {
        status = PAWL_ENOMEM;
    }
    if (status != PAWL_OK)
        problem_set_error(&first->problem, status, error);
    pawl_error_free(error);
    pw_buf_done(&ids);
    return status;
}

/* Returns the row of a run, or -1. */
static long
find_row(const pawl_rows *rows, const char *run)
{
    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        const char *id = pawl_rows_text(rows, i, "run_id");

        if (id != NULL && strcasecmp(id, run) == 0)
            return (long)i;
    }
    return -1;
}

/* Answers a request whose run has ended or whose time has passed; the others rest again. */
static void
settle(struct waits *waits, struct request *request, pawl_client *client, const pawl_rows *rows)
{
    int64_t now = pw_now_us();
    long row = find_row(rows, request->run);
    bool over = now >= request->deadline_us || request->due_us == 0;

    if (atomic_load(&request->gone)) {
        leave(waits, request);
        return;
    }
    if (row < 0 && !over) {
        request->pause_us += request->pause_us / 2;
        if (request->pause_us > pause_max_us)
            request->pause_us = pause_max_us;
        request->due_us = now + request->pause_us;
        if (request->due_us > request->deadline_us)
            request->due_us = request->deadline_us;
        rest(waits, request);
        return;
    }
    (void)call_act_as(request, client);
    if (request->problem.status == 0)
        (void)call_waited(request, client, row >= 0 ? rows : NULL, row >= 0 ? (size_t)row : 0);
    leave(waits, request);
}

static pawl_status
act(struct job *job, pawl_client *client)
{
    struct round *round = PW_CONTAINER(job, struct round, job);
    struct waits *waits = round->waits;
    pawl_rows *rows = NULL;
    pawl_status status = ask(round, client, &rows);
    struct problem problem =
        PW_CONTAINER(pw_list_first(&round->requests), struct request, link)->problem;
    struct pw_list *link;

    while ((link = pw_list_first(&round->requests)) != NULL) {
        struct request *request = PW_CONTAINER(link, struct request, link);

        pw_list_remove(link);
        if (status == PAWL_OK) {
            settle(waits, request, client, rows);
        } else if (problem.status == 503 && pw_now_us() < request->deadline_us &&
            request->due_us != 0) {
            /* The database may come back while there is time. */
            request->problem.status = 0;
            request->due_us = pw_now_us() + pause_max_us;
            rest(waits, request);
        } else {
            request->problem = problem;
            leave(waits, request);
        }
    }
    pawl_rows_free(rows);
    pw_free(round);
    return status;
}

/* Moves the due requests of one token to a round, at most RUNS_MAX. Returns NULL if none is due, or without memory. */
static struct round *
take_round(struct waits *waits, int64_t now_us)
{
    struct round *round = NULL;
    struct pw_list *next;
    struct request *first = NULL;

    for (struct pw_list *at = pw_list_first(&waits->resting); at != NULL; at = next) {
        struct request *request = PW_CONTAINER(at, struct request, link);

        next = pw_list_next(&waits->resting, at);
        if (request->due_us > now_us)
            continue;
        if (round == NULL) {
            round = pw_calloc(1, sizeof(*round));
            if (round == NULL)
                return NULL;
            round->waits = waits;
            round->job.act = act;
            pw_list_init(&round->requests);
            first = request;
        } else if (memcmp(first->digest, request->digest, sizeof(first->digest)) != 0 ||
            round->count == RUNS_MAX) {
            continue;
        }
        pw_list_remove(at);
        pw_list_add_tail(&round->requests, at);
        request->resting = false;
        round->count++;
    }
    return round;
}

int64_t
waits_tick(struct waits *waits, int64_t now_us)
{
    int64_t next = INT64_MAX;
    struct round *round;

    (void)pthread_mutex_lock(&waits->mutex);
    while (now_us >= waits->next_us && (round = take_round(waits, now_us)) != NULL) {
        if (callers_add(waits->server->callers, &round->job))
            continue;
        /* The queue is full: these rest until there is room. */
        for (struct pw_list *at = pw_list_first(&round->requests); at != NULL;
             at = pw_list_next(&round->requests, at))
            PW_CONTAINER(at, struct request, link)->resting = true;
        pw_list_move_all(&waits->resting, &round->requests);
        pw_free(round);
        next = now_us + pause_first_us;
        break;
    }
    for (struct pw_list *at = pw_list_first(&waits->resting); at != NULL;
         at = pw_list_next(&waits->resting, at)) {
        int64_t due = PW_CONTAINER(at, struct request, link)->due_us;

        if (due < next && due > now_us)
            next = due;
    }
    waits->next_us = next;
    (void)pthread_mutex_unlock(&waits->mutex);
    return next;
}

void
waits_gone(struct waits *waits, struct request *request)
{
    bool here;

    (void)pthread_mutex_lock(&waits->mutex);
    here = request->resting;
    if (here)
        pw_list_remove(&request->link);
    request->resting = false;
    (void)pthread_mutex_unlock(&waits->mutex);
    if (here)
        leave(waits, request);
}

void
waits_drain(struct waits *waits)
{
    (void)pthread_mutex_lock(&waits->mutex);
    waits->draining = true;
    for (struct pw_list *at = pw_list_first(&waits->resting); at != NULL;
         at = pw_list_next(&waits->resting, at))
        PW_CONTAINER(at, struct request, link)->due_us = 0;
    waits->next_us = 0;
    (void)pthread_mutex_unlock(&waits->mutex);
    reaper_wake(waits->server->reaper);
}

size_t
waits_count(struct waits *waits)
{
    size_t count;

    (void)pthread_mutex_lock(&waits->mutex);
    count = waits->count;
    (void)pthread_mutex_unlock(&waits->mutex);
    return count;
}
