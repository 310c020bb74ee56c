/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/top_look.h"

#include "base/json_read.h"
#include "base/pg_text/interval.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/command/why_text.h"
#include "cli/show/time_text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NEWEST = 500, /* runs from which rates are computed */
    REST = 40,    /* a question rests for this many times its own duration */
    TEXTS = 64,   /* errors that are kept */
    TEXTS_AT_ONCE = 10,
    NAME_SIZE = 320, /* of a step */
};

/* The longest rest of a question, because a user watches the view. */
static const int64_t rest_most_us = (int64_t)20 * 1000000;

enum question {
    ASK_NOW, /* its time is that of the connection, including reconnecting */
    ASK_PAUSES,
    ASK_QUEUES,
    ASK_WORKERS,
    ASK_HOUR,
    ASK_NEWEST,
    ASK_RUNNING,
    ASK_QUEUED,
    ASK_PAUSED,
    ASK_FAILED,
    QUESTIONS,
};

static const struct {
    const char *verb;
    const char *names[2];
    const char *values[2];
    int64_t least_ms; /* between two calls, even if the view is drawn more often */
    bool live_only;   /* only the list of live runs needs it */
} questions[] = {
    [ASK_NOW] = {.verb = "now"},
    [ASK_PAUSES] = {.verb = "list_pauses"},
    [ASK_QUEUES] = {.verb = "list_queues"},
    [ASK_WORKERS] = {.verb = "list_workers"},
    /* The engine counts once a minute. */
    [ASK_HOUR] = {.verb = "metrics", .least_ms = 10000},
    [ASK_NEWEST] = {.verb = "list_runs", .names = {"max_rows"}, .values = {"500"}},
    [ASK_RUNNING] = {.verb = "list_runs",
        .names = {"only_status", "max_rows"},
        .values = {"RUNNING", "200"},
        .live_only = true},
    [ASK_QUEUED] = {.verb = "list_runs",
        .names = {"only_status", "max_rows"},
        .values = {"QUEUED", "200"},
        .live_only = true},
    [ASK_PAUSED] = {.verb = "list_runs",
        .names = {"only_status", "max_rows"},
        .values = {"PAUSED", "200"}},
    /* This call reads ended runs, at most 10,000. */
    [ASK_FAILED] = {.verb = "list_runs",
        .names = {"only_status", "max_rows"},
        .values = {"ERROR", "200"},
        .least_ms = 5000},
};

/* The text of the last error of a run. */
struct text {
    char id[TOP_ID_SIZE];
    int64_t at_us; /* the end or the next attempt that it belongs to */
    char text[TOP_TEXT_SIZE];
};

struct top_look {
    pawl_client *client;
    int64_t every_us;
    enum top_list list;
    pawl_rows *answers[QUESTIONS];
    pawl_rows *fresh[QUESTIONS]; /* top_look_take() has not taken them yet */
    int64_t due_us[QUESTIONS];
    int64_t cost_us[QUESTIONS]; /* of the last call */
    char (*steps)[NAME_SIZE];   /* of each worker */
    struct text texts[TEXTS];
    size_t text_next;
    struct top_view view;
};

struct top_look *
top_look_new(pawl_client *client, int64_t every_us)
{
    struct top_look *look = calloc(1, sizeof(*look));

    if (look != NULL) {
        look->client = client;
        look->every_us = every_us;
    }
    return look;
}

void
top_look_free(struct top_look *look)
{
    if (look == NULL)
        return;
    for (size_t i = 0; i < QUESTIONS; i++) {
        pawl_rows_free(look->answers[i]);
        pawl_rows_free(look->fresh[i]);
    }
    free(look->steps);
    free(look->view.queues);
    free(look->view.workers);
    free(look->view.runs);
    free(look);
}

static bool
is_needed(size_t question, enum top_list list)
{
    return list == TOP_LIVE || !questions[question].live_only;
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

pawl_status
top_look_ask(struct top_look *look, enum top_list list, pawl_error **error)
{
    pawl_status status = PAWL_OK;

    look->list = list;
    for (size_t i = 0; i < QUESTIONS && status == PAWL_OK; i++) {
        int64_t begin_us = pw_now_us();
        int64_t rest_us = look->every_us;
        size_t count = 0;

        if (!is_needed(i, list) || look->due_us[i] > begin_us)
            continue;
        while (count < 2 && questions[i].names[count] != NULL)
            count++;
        pawl_rows_free(look->fresh[i]);
        look->fresh[i] = NULL;
        status = pawl_client_call(look->client, questions[i].verb, questions[i].names,
            questions[i].values, count, &look->fresh[i], error);
        if (status != PAWL_OK)
            break;
        look->cost_us[i] = pw_now_us() - begin_us;
        if (rest_us < questions[i].least_ms * 1000)
            rest_us = questions[i].least_ms * 1000;
        if (rest_us < REST * look->cost_us[i] && i != ASK_NOW)
            rest_us = least(REST * look->cost_us[i], rest_most_us);
        look->due_us[i] = begin_us + rest_us;
    }
    return status;
}

static const char *
text_at(const pawl_rows *rows, size_t row, const char *column)
{
    const char *text = pawl_rows_text(rows, row, column);

    return text != NULL ? text : "";
}

static int64_t
number_at(const pawl_rows *rows, size_t row, const char *column)
{
    int64_t number = 0;

    return pw_parse_i64(pawl_rows_text(rows, row, column), INT64_MIN, INT64_MAX, &number) ? number
                                                                                          : 0;
}

static double
real_at(const pawl_rows *rows, size_t row, const char *column)
{
    double number = 0;

    return pw_parse_double(pawl_rows_text(rows, row, column), -DBL_MAX, DBL_MAX, &number) ? number
                                                                                          : 0;
}

static int64_t
time_at(const pawl_rows *rows, size_t row, const char *column)
{
    const char *text = pawl_rows_text(rows, row, column);
    int64_t us = -1;

    return text != NULL && time_text_read_stamp(text, &us) ? us : -1;
}

static bool
is_at(const pawl_rows *rows, size_t row, const char *column)
{
    return text_at(rows, row, column)[0] == 't';
}

static size_t
count_of(const pawl_rows *rows)
{
    return rows == NULL ? 0 : pawl_rows_count(rows);
}

/* Everything is the first row, if it is paused. */
static void
read_pause(struct top_look *look)
{
    const pawl_rows *rows = look->answers[ASK_PAUSES];
    struct top_view *view = &look->view;

    view->pause_by = NULL;
    if (count_of(rows) == 0 || strcmp(text_at(rows, 0, "subject"), "all") != 0)
        return;
    view->pause_by = text_at(rows, 0, "paused_by");
    view->pause_why = text_at(rows, 0, "why");
    view->refuses_triggers = is_at(rows, 0, "refuses_triggers");
}

/* Allocates count zeroed elements, and frees the old ones. */
static bool
make_room(void **room, size_t count, size_t size)
{
    void *made = calloc(count + 1, size);

    if (made == NULL)
        return false;
    free(*room);
    *room = made;
    return true;
}

static bool
read_queues(struct top_look *look)
{
    const pawl_rows *rows = look->answers[ASK_QUEUES];
    struct top_view *view = &look->view;

    if (!make_room((void **)&view->queues, count_of(rows), sizeof(*view->queues)))
        return false;
    for (size_t i = 0; i < count_of(rows); i++) {
        struct top_queue *queue = &view->queues[view->queue_count++];
        const char *oldest = pawl_rows_text(rows, i, "oldest_ready");

        queue->name = text_at(rows, i, "queue");
        queue->ready_shown = text_at(rows, i, "ready_shown");
        queue->ready = number_at(rows, i, "ready");
        queue->held = number_at(rows, i, "held");
        queue->workers = number_at(rows, i, "workers");
        queue->paused = is_at(rows, i, "paused");
        if (oldest == NULL || !pw_interval_read(oldest, &queue->oldest_us))
            queue->oldest_us = -1;
    }
    top_order_queues(view->queues, view->queue_count);
    return true;
}

/* Finds the step that the worker has executed for the longest time, among those that it reports. */
static void
read_step(struct top_worker *worker, const char *running, char name[static NAME_SIZE])
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;

    name[0] = '\0';
    pw_json_walk(&walk, (struct pw_json){running, strlen(running)});
    while (pw_json_walk_next(&walk, &key, &value)) {
        pawl_bytes json = {value.data, value.size};
        int64_t ms = 0;
        char step[NAME_SIZE];

        if (pawl_json_text(json, "/step", step, sizeof(step)) != PAWL_OK)
            continue;
        if (pawl_json_int(json, "/started_ms", &ms) != PAWL_OK)
            ms = 0;
        worker->steps++;
        if (worker->steps == 1 || ms * 1000 > worker->step_us) {
            memcpy(name, step, sizeof(step));
            worker->step_us = ms * 1000;
            worker->step = name;
        }
    }
}

static bool
read_workers(struct top_look *look)
{
    const pawl_rows *rows = look->answers[ASK_WORKERS];
    struct top_view *view = &look->view;

    if (!make_room((void **)&view->workers, count_of(rows), sizeof(*view->workers)) ||
        !make_room((void **)&look->steps, count_of(rows), sizeof(*look->steps)))
        return false;
    for (size_t i = 0; i < count_of(rows); i++) {
        struct top_worker *worker = &view->workers[view->worker_count++];
        int64_t lease_us = time_at(rows, i, "lease_until");

        worker->name = text_at(rows, i, "worker");
        worker->state = text_at(rows, i, "state");
        worker->held = number_at(rows, i, "held");
        worker->lease_us = lease_us - view->now_us;
        read_step(worker, text_at(rows, i, "running"), look->steps[i]);
    }
    top_order_workers(view->workers, view->worker_count);
    return true;
}

static void
read_hour(struct top_look *look)
{
    const pawl_rows *rows = look->answers[ASK_HOUR];
    struct top_hour *hour = &look->view.hour;
    double ended = 0;

    *hour = (struct top_hour){.counted_us = -1};
    if (count_of(rows) > 0 && pawl_rows_text(rows, 0, "counted_until") != NULL)
        (void)time_text_read_stamp(pawl_rows_text(rows, 0, "counted_until"), &hour->counted_us);
    for (size_t i = 0; i < count_of(rows); i++) {
        int64_t succeeded = number_at(rows, i, "succeeded");
        int64_t failed = number_at(rows, i, "failed");
        int64_t cancelled = number_at(rows, i, "cancelled");
        double count = (double)(succeeded + failed + cancelled);

        hour->succeeded += succeeded;
        hour->failed += failed;
        hour->cancelled += cancelled;
        hour->took_s += real_at(rows, i, "mean_seconds") * count;
        hour->waited_s += real_at(rows, i, "mean_wait_seconds") * count;
        ended += count;
    }
    if (ended > 0) {
        hour->took_s /= ended;
        hour->waited_s /= ended;
    }
}

/* Reads a row. Returns false for a row without a run, with which a list ends that has examined its limit of runs. */
static bool
read_run(struct top_run *run, const pawl_rows *rows, size_t row)
{
    if (pawl_rows_text(rows, row, "run_id") == NULL)
        return false;
    run->id = text_at(rows, row, "run_id");
    run->workflow = text_at(rows, row, "workflow");
    run->status = text_at(rows, row, "status");
    run->reason = text_at(rows, row, "reason");
    run->key = text_at(rows, row, "key");
    run->worker = text_at(rows, row, "worker");
    run->triggered_us = time_at(rows, row, "triggered_at");
    run->started_us = time_at(rows, row, "started_at");
    run->ended_us = time_at(rows, row, "ended_at");
    run->due_us = time_at(rows, row, "due_at");
    run->ending = is_at(rows, row, "ending");
    run->rolling_back = is_at(rows, row, "rolling_back");
    return true;
}

static size_t
read_runs(struct top_run *runs, const pawl_rows *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < count_of(rows); i++)
        if (read_run(&runs[count], rows, i))
            count++;
    return count;
}

/* Reads the runs of the list from one answer after the other. A run that changed between two answers is shown once, at its last place. */
static bool
read_list(struct top_look *look)
{
    static const enum question of[TOP_LISTS][3] = {
        [TOP_LIVE] = {ASK_RUNNING, ASK_QUEUED, ASK_PAUSED},
        [TOP_FAILED] = {ASK_FAILED, QUESTIONS, QUESTIONS},
        [TOP_ALL] = {ASK_NEWEST, QUESTIONS, QUESTIONS},
    };
    struct top_view *view = &look->view;
    size_t most = 0;
    size_t kept = 0;

    for (size_t i = 0; i < 3 && of[look->list][i] != QUESTIONS; i++)
        most += count_of(look->answers[of[look->list][i]]);
    if (!make_room((void **)&view->runs, most, sizeof(*view->runs)))
        return false;
    for (size_t i = 0; i < 3 && of[look->list][i] != QUESTIONS; i++)
        view->run_count +=
            read_runs(&view->runs[view->run_count], look->answers[of[look->list][i]]);
    for (size_t i = 0; i < view->run_count; i++) {
        bool again = false;

        for (size_t j = i + 1; j < view->run_count && !again; j++)
            again = strcmp(view->runs[i].id, view->runs[j].id) == 0;
        if (!again)
            view->runs[kept++] = view->runs[i];
    }
    view->run_count = kept;
    view->list = look->list;
    return true;
}

static bool
read_rates(struct top_look *look)
{
    const pawl_rows *rows = look->answers[ASK_NEWEST];
    struct top_run *newest = NULL;
    size_t count;

    if (!make_room((void **)&newest, count_of(rows), sizeof(*newest)))
        return false;
    count = read_runs(newest, rows);
    top_rate(&look->view, newest, count, count_of(rows) >= NEWEST);
    free(newest);
    return true;
}

static void
read_failures(struct top_look *look)
{
    static const enum question of[] = {ASK_FAILED, ASK_PAUSED};
    struct top_run run;

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        const pawl_rows *rows = look->answers[of[i]];

        for (size_t row = 0; row < count_of(rows); row++)
            if (read_run(&run, rows, row))
                top_note_failure(&look->view, &run);
    }
    top_order_failures(&look->view);
}

bool
top_look_take(struct top_look *look)
{
    struct top_view *view = &look->view;

    /* If out of memory, nothing must point to old answers. */
    view->queue_count = 0;
    view->worker_count = 0;
    view->run_count = 0;
    view->failure_count = 0;
    view->calls = 0;
    view->cost_us = 0;
    for (size_t i = 0; i < QUESTIONS; i++) {
        if (look->fresh[i] != NULL) {
            pawl_rows_free(look->answers[i]);
            look->answers[i] = look->fresh[i];
            look->fresh[i] = NULL;
        }
        if (is_needed(i, look->list)) {
            view->calls++;
            view->cost_us += look->cost_us[i];
        }
    }
    view->now_us = time_at(look->answers[ASK_NOW], 0, "now");
    read_pause(look);
    read_hour(look);
    if (!read_queues(look) || !read_workers(look) || !read_rates(look) || !read_list(look))
        return false;
    read_failures(look);
    top_look_take_texts(look);
    return true;
}

static const struct text *
find_text(const struct top_look *look, const struct top_failure *failure)
{
    for (size_t i = 0; i < TEXTS; i++)
        if (strcmp(look->texts[i].id, failure->last_id) == 0 &&
            look->texts[i].at_us == failure->last_us)
            return &look->texts[i];
    return NULL;
}

/* Writes the message of an error with which a run has ended, or the whole error if it has no message. */
static void
write_error(char room[static TOP_TEXT_SIZE], const char *error)
{
    pawl_bytes json = pawl_text(error);

    if (pawl_json_text(json, "/message", room, TOP_TEXT_SIZE) != PAWL_OK &&
        pawl_json_text(json, "", room, TOP_TEXT_SIZE) != PAWL_OK)
        (void)snprintf(room, TOP_TEXT_SIZE, "%s", error);
}

/*
 * Writes the text in quotes of 'Attempt 2 of 5 of step pack starts in 4 s. Last error: "no paper".', or the whole of another sentence.
 * Other waits of the run may follow.
 */
static void
write_cause(char room[static TOP_TEXT_SIZE], const char *why)
{
    static const char before[] = " Last error: \"";
    static const char others[] = "\". Also open: ";
    const char *begin = strstr(why, before);
    const char *end = begin == NULL ? NULL : strstr(begin, others);

    if (end == NULL)
        end = strrchr(why, '"');

    if (begin != NULL && end > begin + strlen(before))
        (void)snprintf(room, TOP_TEXT_SIZE, "%.*s", (int)(end - begin - (long)strlen(before)),
            begin + strlen(before));
    else
        (void)snprintf(room, TOP_TEXT_SIZE, "%s", why);
}

static pawl_status
ask_text(struct top_look *look, const struct top_failure *failure, pawl_error **error)
{
    const char *verb = failure->last_ended ? "result" : "why";
    const char *names[] = {"run"};
    const char *values[] = {failure->last_id};
    struct text *text = &look->texts[look->text_next++ % TEXTS];
    pawl_rows *rows = NULL;
    pawl_status status = pawl_client_call(look->client, verb, names, values, 1, &rows, error);

    *text = (struct text){.at_us = failure->last_us};
    (void)snprintf(text->id, sizeof(text->id), "%s", failure->last_id);
    if (status == PAWL_OK && failure->last_ended) {
        write_error(text->text, text_at(rows, 0, "error"));
    } else if (status == PAWL_OK) {
        char *why = why_text(text_at(rows, 0, "why"), failure->last_id);

        write_cause(text->text, why != NULL ? why : "");
        free(why);
    }
    pawl_rows_free(rows);
    if (status == PAWL_ENOTFOUND) { /* the run was purged */
        pawl_error_free(*error);
        *error = NULL;
        status = PAWL_OK;
    }
    return status;
}

pawl_status
top_look_ask_texts(struct top_look *look, pawl_error **error)
{
    pawl_status status = PAWL_OK;
    size_t asked = 0;

    for (size_t i = 0; i < look->view.failure_count && asked < TEXTS_AT_ONCE && status == PAWL_OK;
         i++)
        if (find_text(look, &look->view.failures[i]) == NULL) {
            status = ask_text(look, &look->view.failures[i], error);
            asked++;
        }
    return status;
}

void
top_look_take_texts(struct top_look *look)
{
    for (size_t i = 0; i < look->view.failure_count; i++) {
        struct top_failure *failure = &look->view.failures[i];
        const struct text *text = find_text(look, failure);

        (void)snprintf(failure->text, sizeof(failure->text), "%s", text != NULL ? text->text : "");
    }
}

const struct top_view *
top_look_view(const struct top_look *look)
{
    return &look->view;
}

int64_t
top_look_due_us(const struct top_look *look)
{
    int64_t due_us = INT64_MAX;

    for (size_t i = 0; i < QUESTIONS; i++)
        if (is_needed(i, look->list) && look->due_us[i] < due_us)
            due_us = look->due_us[i];
    return due_us;
}

void
top_look_hurry(struct top_look *look)
{
    memset(look->due_us, 0, sizeof(look->due_us));
}
