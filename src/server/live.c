/* SPDX-License-Identifier: Apache-2.0 */
#include "server/live.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"
#include "base/text.h"
#include "base/time.h"
#include "server/api/show.h"
#include "server/call.h"
#include "server/reaper.h"
#include "server/request.h"
#include "server/server.h"
#include "server/stream.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    RUNS_MAX = 1000, /* of the streams of one token, in one question */
    NOTES_MAX = 1000,
    STREAMS_MAX = 10000,
    BEHIND = 65536, /* bytes that a client has not taken: no further notes for it until then */
};

/* While something changes the runs are asked for this often; each time without a change the pause grows by half. */
static const int64_t pause_least_us = 700000;
static const int64_t pause_most_us = 5000000;
static const int64_t comment_every_us = 15000000;

/* The streams of one token. It lives as long as there is one, or a question in progress. */
struct group {
    struct job job;
    struct pw_list link;
    struct pw_list streams;
    struct live *live;
    uint8_t digest[TOKEN_DIGEST_SIZE];
    bool asking;
    int64_t due_us;
    int64_t pause_us;
};

struct live {
    struct server *server;
    pthread_mutex_t mutex; /* guards groups and streams */
    struct pw_list groups;
    size_t count;
    bool draining;
};

/* A run that is asked for, by one stream or many. */
struct asked {
    char run[PAWL_ID_SIZE];
    bool with_notes;
    int64_t after; /* the lowest number of a note that one of the streams has seen */
    long row;      /* in the rows of states; -1: none */
    pawl_rows *notes;
};

struct question {
    struct pw_map map;
    struct asked *runs;
    size_t count;
    pawl_rows *states;
};

struct live *
live_new(struct server *server)
{
    struct live *live = pw_calloc(1, sizeof(*live));

    if (live == NULL)
        return NULL;
    live->server = server;
    pw_list_init(&live->groups);
    (void)pthread_mutex_init(&live->mutex, NULL); /* cannot fail for a plain mutex */
    return live;
}

void
live_free(struct live *live)
{
    if (live == NULL)
        return;
    (void)pthread_mutex_destroy(&live->mutex);
    pw_free(live);
}

/* Adds a run to a question, once. Returns false if there is no room. */
static bool
ask_for(struct question *question, const struct watch *watch, bool with_notes, int64_t after)
{
    struct pw_uuid id;
    struct asked *asked;

    if (!pw_uuid_parse(watch->run, &id))
        return false;
    asked = pw_map_get(&question->map, &id, 0);
    if (asked == NULL) {
        if (question->count == RUNS_MAX ||
            !pw_map_put(&question->map, &id, 0, &question->runs[question->count]))
            return false;
        asked = &question->runs[question->count++];
        memcpy(asked->run, watch->run, sizeof(asked->run));
        asked->row = -1;
        asked->after = INT64_MAX;
    }
    if (with_notes) {
        asked->with_notes = true;
        if (after < asked->after)
            asked->after = after;
    }
    return true;
}

static bool
question_init(struct question *question)
{
    *question = (struct question){.runs = pw_calloc(RUNS_MAX, sizeof(struct asked))};
    pw_map_init(&question->map, RUNS_MAX);
    return question->runs != NULL;
}

static void
question_done(struct question *question)
{
    for (size_t i = 0; i < question->count; i++)
        pawl_rows_free(question->runs[i].notes);
    pawl_rows_free(question->states);
    pw_map_done(&question->map);
    pw_free(question->runs);
}

/* Asks for the states of all runs, and for the notes of some. */
static pawl_status
ask(struct question *question, pawl_client *client, pawl_error **error)
{
    const char *const names[] = {"runs"};
    struct pw_buf ids;
    pawl_status status = PAWL_ENOMEM;

    pw_buf_init(&ids, (size_t)RUNS_MAX * PAWL_ID_SIZE + 2);
    for (size_t i = 0; i < question->count; i++)
        pw_buf_addf(&ids, "%c%s", i == 0 ? '{' : ',', question->runs[i].run);
    pw_buf_addc(&ids, '}');
    if (pw_buf_ok(&ids)) {
        const char *const values[] = {pw_buf_text(&ids)};

        status =
            pawl_client_call(client, "list_states", names, values, 1, &question->states, error);
    }
    pw_buf_done(&ids);
    for (size_t i = 0; i < pawl_rows_count(question->states); i++) {
        const char *run = pawl_rows_text(question->states, i, "run_id");
        struct pw_uuid id;
        struct asked *asked = pw_uuid_parse(run, &id) ? pw_map_get(&question->map, &id, 0) : NULL;

        if (asked != NULL)
            asked->row = (long)i;
    }
    for (size_t i = 0; i < question->count && status == PAWL_OK; i++) {
        static const char *const note_names[] = {"run", "after"};
        struct asked *asked = &question->runs[i];
        char after[24];
        const char *const values[] = {asked->run, after};

        if (!asked->with_notes || asked->row < 0)
            continue;
        (void)snprintf(after, sizeof(after), "%lld", (long long)asked->after);
        status = pawl_client_call(client, "follow", note_names, values, 2, &asked->notes, error);
    }
    return status;
}

static bool
has_ended(const char *status)
{
    return strcmp(status, "SUCCESS") == 0 || strcmp(status, "ERROR") == 0 ||
        strcmp(status, "CANCELLED") == 0;
}

/*
 * Sends the notes that a stream has not seen, as far as its client has room for them: a slow reader gets the others later. Returns true if
 * there were any.
 */
static bool
send_notes(struct stream *stream, const struct asked *asked)
{
    bool any = false;

    for (size_t i = 0; i < pawl_rows_count(asked->notes); i++) {
        const char *number = pawl_rows_text(asked->notes, i, "note_no");
        int64_t note;

        if (number == NULL || !pw_parse_i64(number, 0, INT64_MAX, &note) || note <= stream->note)
            continue;
        stream->behind = stream_unsent(stream) > BEHIND;
        if (stream->behind)
            return true;
        stream->note = note;
        stream_event(stream, "note", number, asked->notes, i);
        any = true;
    }
    return any;
}

/* Sends what has changed of one run. Returns true if something has. */
static bool
send_run(struct stream *stream, struct watch *watch, const struct question *question)
{
    struct pw_uuid id;
    struct asked *asked =
        pw_uuid_parse(watch->run, &id) ? pw_map_get(&question->map, &id, 0) : NULL;
    const char *mark;
    bool changed;

    if (asked == NULL)
        return false;
    if (asked->row < 0) {
        stream_text(stream, "end", "{\"run_id\":\"%s\",\"status\":\"NOT_FOUND\"}", watch->run);
        watch->ended = true;
        return true;
    }
    stream->behind = false;
    changed = send_notes(stream, asked);
    /* The end comes after the last note. */
    if (stream->behind || pawl_rows_count(asked->notes) >= NOTES_MAX)
        return changed;
    mark = pawl_rows_text(question->states, (size_t)asked->row, "mark");
    if (mark != NULL && strcmp(mark, watch->mark) != 0) {
        const char *status = pawl_rows_text(question->states, (size_t)asked->row, "status");

        (void)snprintf(watch->mark, sizeof(watch->mark), "%s", mark);
        stream_event(stream, "run", NULL, question->states, (size_t)asked->row);
        if (status != NULL && has_ended(status)) {
            stream_text(stream, "end", "{\"run_id\":\"%s\",\"status\":\"%s\"}", watch->run, status);
            watch->ended = true;
        }
        changed = true;
    }
    return changed;
}

/* Sends what has changed to one stream, and ends it if nothing can change any more. */
static bool
send_changes(struct stream *stream, const struct question *question)
{
    bool changed = false;
    bool living = false;

    for (size_t i = 0; i < stream->count; i++) {
        if (!stream->watches[i].ended && send_run(stream, &stream->watches[i], question))
            changed = true;
        living = living || !stream->watches[i].ended;
    }
    if (!living)
        stream->ending = true;
    stream_flush(stream);
    return changed;
}

/*
 * Collects the runs of a group's streams, with the mutex held. Streams take turns: those that the question has no room for are the first of the
 * next one.
 */
static void
collect(struct group *group, struct question *question)
{
    struct pw_list *begin = pw_list_first(&group->streams);
    struct pw_list *at = begin;
    bool fits = true;

    while (at != NULL) {
        struct stream *stream = PW_CONTAINER(at, struct stream, link);

        for (size_t i = 0; i < stream->count; i++)
            if (!stream->watches[i].ended &&
                !ask_for(question, &stream->watches[i], stream->with_notes, stream->note))
                fits = false;
        if (!fits)
            break;
        pw_list_remove(at);
        pw_list_add_tail(&group->streams, at);
        at = pw_list_first(&group->streams);
        if (at == begin)
            break;
    }
}

static void
free_if_empty(struct group *group)
{
    if (!pw_list_empty(&group->streams) || group->asking)
        return;
    pw_list_remove(&group->link);
    pw_free(group);
}

/* Ends the streams of a token that the database does not take any more. */
static void
end_all(struct group *group, const struct problem *problem)
{
    struct pw_buf text;

    pw_buf_init(&text, 4096);
    problem_write(problem, &text);
    for (struct pw_list *at = pw_list_first(&group->streams); at != NULL;
         at = pw_list_next(&group->streams, at)) {
        struct stream *stream = PW_CONTAINER(at, struct stream, link);

        stream_text(stream, "error", "%s", pw_buf_text(&text));
        stream->ending = true;
        stream_flush(stream);
    }
    pw_buf_done(&text);
}

/* Gives the answers to the streams of a group, and decides when to ask again. */
static void
deliver(struct group *group, const struct question *question, pawl_status status,
    const pawl_error *error)
{
    struct problem problem = {0};
    bool changed = false;

    if (status == PAWL_OK)
        for (struct pw_list *at = pw_list_first(&group->streams); at != NULL;
             at = pw_list_next(&group->streams, at))
            changed |= send_changes(PW_CONTAINER(at, struct stream, link), question);
    else
        problem_set_error(&problem, status, error);
    if (problem.status == 401 || problem.status == 403)
        end_all(group, &problem);
    group->pause_us += group->pause_us / 2;
    if (changed)
        group->pause_us = pause_least_us;
    if (group->pause_us > pause_most_us)
        group->pause_us = pause_most_us;
    group->due_us = pw_now_us() + group->pause_us;
    group->asking = false;
}

static pawl_status
act(struct job *job, pawl_client *client)
{
    struct group *group = PW_CONTAINER(job, struct group, job);
    struct live *live = group->live;
    const pawl_bytes digest = {(const char *)group->digest, sizeof(group->digest)};
    struct question question;
    pawl_error *error = NULL;
    pawl_status status = client != NULL ? PAWL_OK : PAWL_ECONN;

    if (!question_init(&question))
        status = PAWL_ENOMEM;
    if (status == PAWL_OK) {
        (void)pthread_mutex_lock(&live->mutex);
        collect(group, &question);
        (void)pthread_mutex_unlock(&live->mutex);
        status = pawl_client_act_as_token(client, digest, &error);
    }
    if (status == PAWL_OK && question.count > 0)
        status = ask(&question, client, &error);
    (void)pthread_mutex_lock(&live->mutex);
    deliver(group, &question, status, error);
    free_if_empty(group);
    (void)pthread_mutex_unlock(&live->mutex);
    pawl_error_free(error);
    question_done(&question);
    return status;
}

/* Returns the group of a token, made if there is none. NULL: no memory. */
static struct group *
group_of(struct live *live, const uint8_t digest[TOKEN_DIGEST_SIZE])
{
    struct group *group;

    for (struct pw_list *at = pw_list_first(&live->groups); at != NULL;
         at = pw_list_next(&live->groups, at)) {
        group = PW_CONTAINER(at, struct group, link);
        if (memcmp(group->digest, digest, TOKEN_DIGEST_SIZE) == 0)
            return group;
    }
    group = pw_calloc(1, sizeof(*group));
    if (group == NULL)
        return NULL;
    group->job.act = act;
    group->live = live;
    memcpy(group->digest, digest, TOKEN_DIGEST_SIZE);
    pw_list_init(&group->streams);
    pw_list_add_tail(&live->groups, &group->link);
    return group;
}

/* Joins the streams of its token. Returns false if there is no memory, or there are too many streams. */
static bool
join(struct live *live, struct stream *stream, const struct question *question,
    const uint8_t digest[TOKEN_DIGEST_SIZE])
{
    struct group *group = NULL;

    (void)pthread_mutex_lock(&live->mutex);
    if (live->count < STREAMS_MAX)
        group = group_of(live, digest);
    if (group != NULL) {
        stream->owner = group;
        stream->mutex = &live->mutex;
        pw_list_add_tail(&group->streams, &stream->link);
        live->count++;
        (void)send_changes(stream, question);
        if (live->draining)
            stream->ending = true;
        stream->comment_us = pw_now_us() + comment_every_us;
        group->pause_us = pause_least_us;
        group->due_us = pw_now_us() + pause_least_us;
    }
    (void)pthread_mutex_unlock(&live->mutex);
    if (group != NULL)
        reaper_wake(live->server->reaper);
    return group != NULL;
}

/* Makes the stream of a request with the runs that it names. Sets the problem and returns NULL if there are too many. */
static struct stream *
make_stream(struct request *request)
{
    const char *run = arguments_get(&request->arguments, "run");
    const char *runs = arguments_get(&request->arguments, "runs");
    const char *last = request_header(request, "Last-Event-ID");
    struct stream *stream = stream_new(run != NULL ? run : runs);

    if (stream == NULL) {
        problem_set(&request->problem, 400, "bad_argument", "\"runs\" must be 1 to 100 ids");
        return NULL;
    }
    stream->with_notes = run != NULL;
    if (!pw_parse_i64(last, 0, INT64_MAX, &stream->note))
        stream->note = 0;
    return stream;
}

pawl_status
live_begin(struct request *request, pawl_client *client)
{
    struct live *live = request->server->live;
    struct stream *stream = make_stream(request);
    struct question question = {0};
    pawl_error *error = NULL;
    pawl_status status;

    if (stream == NULL)
        return PAWL_EUNKNOWN; /* nothing was called */
    status = call_act_as(request, client);
    if (status == PAWL_OK && !question_init(&question))
        status = PAWL_ENOMEM;
    if (status == PAWL_OK) {
        for (size_t i = 0; i < stream->count; i++)
            (void)ask_for(&question, &stream->watches[i], stream->with_notes, stream->note);
        status = ask(&question, client, &error);
    }
    if (status == PAWL_OK && stream->with_notes && question.runs[0].row < 0)
        (void)problem_set_answer(&request->problem, "not_found", NULL);
    else if (status == PAWL_OK && join(live, stream, &question, request->digest))
        request->stream = stream;
    else if (request->problem.status == 0 && status != PAWL_OK)
        problem_set_error(&request->problem, status, error);
    else if (request->problem.status == 0)
        problem_set_later(&request->problem, 503, "unavailable", 5, "there are too many streams");
    if (request->stream == NULL)
        stream_free(stream);
    pawl_error_free(error);
    question_done(&question);
    return status;
}

struct MHD_Response *
live_response(struct stream *stream, struct MHD_Connection *connection, int fd)
{
    return stream_response(stream, connection, fd);
}

void
live_end(struct live *live, struct stream *stream)
{
    if (stream == NULL)
        return;
    (void)pthread_mutex_lock(&live->mutex);
    pw_list_remove(&stream->link);
    live->count--;
    free_if_empty(stream->owner);
    (void)pthread_mutex_unlock(&live->mutex);
    stream_free(stream);
}

void
live_gone(struct live *live, struct stream *stream)
{
    (void)pthread_mutex_lock(&live->mutex);
    stream->ending = true;
    stream_flush(stream);
    (void)pthread_mutex_unlock(&live->mutex);
}

int64_t
live_tick(struct live *live, int64_t now_us)
{
    int64_t next = INT64_MAX;

    (void)pthread_mutex_lock(&live->mutex);
    for (struct pw_list *at = pw_list_first(&live->groups); at != NULL;
         at = pw_list_next(&live->groups, at)) {
        struct group *group = PW_CONTAINER(at, struct group, link);

        if (!group->asking && now_us >= group->due_us) {
            group->asking = callers_add(live->server->callers, &group->job);
            if (!group->asking)
                group->due_us = now_us + pause_least_us;
        }
        for (struct pw_list *of = pw_list_first(&group->streams); of != NULL;
             of = pw_list_next(&group->streams, of)) {
            struct stream *stream = PW_CONTAINER(of, struct stream, link);

            if (now_us < stream->comment_us)
                continue;
            stream->comment_us = now_us + comment_every_us;
            stream_comment(stream);
        }
        if (!group->asking && group->due_us < next)
            next = group->due_us;
    }
    (void)pthread_mutex_unlock(&live->mutex);
    return next;
}

void
live_drain(struct live *live)
{
    (void)pthread_mutex_lock(&live->mutex);
    live->draining = true;
    for (struct pw_list *at = pw_list_first(&live->groups); at != NULL;
         at = pw_list_next(&live->groups, at)) {
        struct group *group = PW_CONTAINER(at, struct group, link);

        for (struct pw_list *of = pw_list_first(&group->streams); of != NULL;
             of = pw_list_next(&group->streams, of)) {
            struct stream *stream = PW_CONTAINER(of, struct stream, link);

            stream->ending = true;
            stream_flush(stream);
        }
    }
    (void)pthread_mutex_unlock(&live->mutex);
}

size_t
live_count(struct live *live)
{
    size_t count;

    (void)pthread_mutex_lock(&live->mutex);
    count = live->count;
    (void)pthread_mutex_unlock(&live->mutex);
    return count;
}
