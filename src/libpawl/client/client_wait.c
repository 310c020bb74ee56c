/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the end of a run, or of one of many, or for notes of a run: asks at once, then less and less often. The engine does not know which clients wait,
 * so it notifies none of them.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/rand.h"
#include "base/time.h"
#include "libpawl/client/client.h"
#include "libpawl/client/rows.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    FIRST_PAUSE_US = 2000,
    /* A reader that follows a run asks at most once a second when nothing comes: the jitter shortens a pause by a fifth at most. */
    FOLLOW_PAUSE_US = 100000,
    FOLLOW_PAUSE_MAX_US = 1250000,
    /* The minimum time for one request, even at the end of a wait. */
    ASK_MIN_US = 1000000,
    MESSAGE_BYTES_MAX = 64 * 1024,
    IDS_MAX = 1000, /* the engine's limit */
};

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sets an error with the message of the JSON error of a run, or with fallback if it has none. */
static void
set_run_error(struct pw_error *err, int code, const char *fallback, pawl_bytes json)
{
    const struct pw_json value = {json.data, json.size};
    struct pw_arena arena;
    const char *message = NULL;

    pw_arena_init(&arena, MESSAGE_BYTES_MAX);
    if (json.data != NULL) {
        struct pw_json found = pw_json_member(value, "message");

        if (pw_json_given(found))
            message = pw_json_text(found, &arena);
    }
    pw_error_set(err, code, "%s", message != NULL ? message : fallback);
    pw_arena_done(&arena);
}

/* Reads the result of an ended run. Bytes are borrowed from the rows. */
static int
judge_result(
    const struct pw_rows *rows, pawl_bytes *output, pawl_bytes *detail, struct pw_error *err)
{
    const char *status = pw_rows_text(rows, 0, 0);
    pawl_bytes found = {NULL, 0};

    if (status != NULL && strcmp(status, "SUCCESS") == 0) {
        (void)pw_rows_bytes(rows, 0, 1, &found.data, &found.size); /* null leaves found empty */
        *output = found;
        return PAWL_OK;
    }
    (void)pw_rows_bytes(rows, 0, 2, &found.data, &found.size);
    *detail = found;
    if (status != NULL && strcmp(status, "ERROR") == 0)
        set_run_error(err, PAWL_ERUN, "the run failed", found);
    else if (status != NULL && strcmp(status, "CANCELLED") == 0)
        set_run_error(err, PAWL_ECANCELLED, "the run was cancelled", found);
    else
        pw_error_set(err, PAWL_ESCHEMA, "the run ended in a state that is not known here");
    return err->code;
}

/* The runs that a call waits for, and their results. */
struct goal {
    struct pw_uuid id;  /* of pawl_client_wait() */
    pawl_bytes output;  /* the same; borrowed from the client */
    pawl_bytes detail;  /* the same */
    const char *ids;    /* of pawl_client_wait_any(): a list, as PostgreSQL reads it */
    pawl_rows *results; /* the same, filled when a run has ended; or of pawl_client_follow() */
    int64_t after;      /* of pawl_client_follow(): the last note that was seen */
    int task;           /* the same */
    int64_t pause_us;   /* between the first two requests */
    int64_t pause_max_us;
};

/* Asks once. Returns PAWL_ETIMEOUT if nothing has ended. */
typedef int (*ask_fn)(
    pawl_client *client, struct goal *goal, int64_t deadline_us, struct pw_error *err);

static int
not_ended(struct pw_error *err)
{
    pw_error_set(err, PAWL_ETIMEOUT, "the run has not ended");
    err->retryable = true;
    return PAWL_ETIMEOUT;
}

static int
ask_result(pawl_client *client, struct goal *goal, int64_t deadline_us, struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_RESULT,
        .params = &params,
        .repeat = PW_REPEAT_READ,
        .deadline_us = deadline_us,
    };
    struct pw_reply reply;
    int status;

    pw_params_init(&params);
    pw_params_uuid(&params, &goal->id);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (pw_rows_count(&reply.rows) == 0) {
        status = not_ended(err);
    } else {
        status = judge_result(&reply.rows, &goal->output, &goal->detail, err);
        pw_client_keep(client, &reply.rows);
    }
    pw_reply_done(&reply);
    return status;
}

static int
ask_results(pawl_client *client, struct goal *goal, int64_t deadline_us, struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_CALL_RESULTS,
        .params = &params,
        .repeat = PW_REPEAT_READ,
        .deadline_us = deadline_us,
    };
    struct pw_reply reply;
    int status;

    pw_params_init(&params);
    pw_params_literal(&params, goal->ids);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (pw_rows_count(&reply.rows) == 0)
        status = not_ended(err);
    else
        pw_rows_fill(goal->results, &reply.rows);
    pw_reply_done(&reply);
    return status;
}

/* Returns true if the rows of a follow have no note, and the run has not ended. */
static bool
is_nothing_new(const struct pw_rows *rows)
{
    const char *status = pw_rows_text(rows, 0, 8);

    return pw_rows_count(rows) == 1 && status != NULL && strcmp(status, "SUCCESS") != 0 &&
        strcmp(status, "ERROR") != 0 && strcmp(status, "CANCELLED") != 0;
}

static int
ask_notes(pawl_client *client, struct goal *goal, int64_t deadline_us, struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_CALL_FOLLOW,
        .params = &params,
        .repeat = PW_REPEAT_READ,
        .deadline_us = deadline_us,
    };
    char id[PAWL_ID_SIZE];
    char after[32];
    char task[16];
    struct pw_reply reply;
    int status;

    pw_uuid_format(&goal->id, id);
    (void)snprintf(after, sizeof(after), "%" PRId64, goal->after);
    (void)snprintf(task, sizeof(task), "%d", goal->task);
    pw_params_init(&params);
    pw_params_literal(&params, id);
    pw_params_literal(&params, after);
    pw_params_literal(&params, task);
    pw_params_null(&params);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (is_nothing_new(&reply.rows)) {
        pw_error_set(err, PAWL_ETIMEOUT, "the run has no new notes");
        err->retryable = true;
        status = PAWL_ETIMEOUT;
    } else {
        pw_rows_fill(goal->results, &reply.rows);
    }
    pw_reply_done(&reply);
    return status;
}

/* Asks at once, and then less and less often. */
static int
wait_for(
    pawl_client *client, struct goal *goal, ask_fn ask, int64_t timeout_ms, struct pw_error *err)
{
    int64_t until_us = pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms));
    int64_t pause_us = goal->pause_us;
    int64_t now_us;
    struct pw_rand rand;
    int status;

    if (timeout_ms < 0) {
        pw_error_set(err, PAWL_EINVAL, "the time to wait is negative");
        pw_error_hint(err, "Wait for as long as makes sense, and again if need be.");
        return PAWL_EINVAL;
    }
    pw_rand_init_any(&rand);
    for (;;) {
        int64_t deadline_us = pw_client_deadline(client);

        now_us = pw_now_us();
        if (timeout_ms > 0 && deadline_us > until_us)
            deadline_us =
                least(deadline_us, pw_add_us(until_us > now_us ? until_us : now_us, ASK_MIN_US));
        status = ask(client, goal, deadline_us, err);
        now_us = pw_now_us();
        /* A database that is unreachable for a while does not end the wait. */
        if ((status != PAWL_ETIMEOUT && !(status == PAWL_ECONN && err->retryable)) ||
            now_us >= until_us)
            return status;
        now_us = pw_now_us();
        (void)poll(NULL, 0,
            pw_poll_timeout_ms(
                now_us, least(until_us, pw_add_us(now_us, pw_jitter(&rand, pause_us, 0.2)))));
        pause_us = least(pause_us + pause_us / 2, goal->pause_max_us);
    }
}

/* The pace of a wait for the end of runs. */
static void
set_pace(const pawl_client *client, struct goal *goal)
{
    goal->pause_us = FIRST_PAUSE_US;
    goal->pause_max_us = pw_ms_to_us(pw_client_settings(client)->wait_poll_ms);
}

pawl_status
pawl_client_wait(pawl_client *client, const char *run_id, int64_t timeout_ms, pawl_bytes *output,
    pawl_error **error)
{
    struct goal goal = {0};
    struct pw_error err = {0};
    pawl_status status = pw_client_begin(client, &err);

    if (status != PAWL_OK)
        return pw_error_export(&err, goal.detail, error);
    set_pace(client, &goal);
    status = pw_client_read_id(run_id, &goal.id, &err);
    if (status == PAWL_OK)
        status = wait_for(client, &goal, ask_result, timeout_ms, &err);
    if (status == PAWL_OK && output != NULL)
        *output = goal.output;
    /* The detail is copied while it is still there: the next call frees it. */
    status = pw_error_export(&err, goal.detail, error);
    pw_client_end(client);
    return status;
}

/* Writes a list of ids as PostgreSQL reads it. Returns PAWL_OK, PAWL_EINVAL or PAWL_ENOMEM. */
static int
write_ids(const char *const *run_ids, size_t count, struct pw_buf *list, struct pw_error *err)
{
    char text[PAWL_ID_SIZE];
    struct pw_uuid id;
    int status;

    if (run_ids == NULL || count < 1 || count > IDS_MAX) {
        pw_error_set(err, PAWL_EINVAL, "%zu runs in one call: it takes 1 to %d", count, IDS_MAX);
        return PAWL_EINVAL;
    }
    for (size_t i = 0; i < count; i++) {
        status = pw_client_read_id(run_ids[i], &id, err);
        if (status != PAWL_OK)
            return status;
        pw_uuid_format(&id, text);
        pw_buf_addc(list, i == 0 ? '{' : ',');
        pw_buf_adds(list, text);
    }
    pw_buf_addc(list, '}');
    pw_buf_addc(list, '\0');
    if (pw_buf_ok(list))
        return PAWL_OK;
    pw_error_oom(err);
    return PAWL_ENOMEM;
}

pawl_status
pawl_client_wait_any(pawl_client *client, const char *const *run_ids, size_t count,
    int64_t timeout_ms, pawl_rows **rows, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct goal goal = {0};
    struct pw_buf list;
    struct pw_error err = {0};
    pawl_status status = pw_client_begin(client, &err);

    if (status != PAWL_OK)
        return pw_error_export(&err, none, error);
    pw_buf_init(&list, (size_t)IDS_MAX * (PAWL_ID_SIZE + 1) + 2);
    status = write_ids(run_ids, count, &list, &err);
    if (status == PAWL_OK && rows == NULL) {
        pw_error_set(&err, PAWL_EINVAL, "no place for the rows was given");
        status = PAWL_EINVAL;
    }
    if (status == PAWL_OK && (goal.results = pw_rows_make(&err)) == NULL)
        status = PAWL_ENOMEM;
    if (status == PAWL_OK) {
        set_pace(client, &goal);
        goal.ids = list.data;
        status = wait_for(client, &goal, ask_results, timeout_ms, &err);
    }
    if (status == PAWL_OK)
        *rows = goal.results;
    else
        pawl_rows_free(goal.results);
    pw_buf_done(&list);
    status = pw_error_export(&err, none, error);
    pw_client_end(client);
    return status;
}

pawl_status
pawl_client_follow(pawl_client *client, const char *run_id, int64_t after, int task,
    int64_t timeout_ms, pawl_rows **rows, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct goal goal = {.after = after,
        .task = task,
        .pause_us = FOLLOW_PAUSE_US,
        .pause_max_us = FOLLOW_PAUSE_MAX_US};
    struct pw_error err = {0};
    pawl_status status = pw_client_begin(client, &err);

    if (status != PAWL_OK)
        return pw_error_export(&err, none, error);
    status = pw_client_read_id(run_id, &goal.id, &err);
    if (status == PAWL_OK && rows == NULL) {
        pw_error_set(&err, PAWL_EINVAL, "no place for the rows was given");
        status = PAWL_EINVAL;
    }
    if (status == PAWL_OK && (goal.results = pw_rows_make(&err)) == NULL)
        status = PAWL_ENOMEM;
    if (status == PAWL_OK) {
        /* A reader of a fast stream calls again at once: it gets many notes with each request instead of one. */
        if (after > 0 && timeout_ms > FOLLOW_PAUSE_US / 1000)
            (void)poll(NULL, 0, FOLLOW_PAUSE_US / 1000);
        status = wait_for(client, &goal, ask_notes, timeout_ms, &err);
    }
    if (status == PAWL_OK)
        *rows = goal.results;
    else
        pawl_rows_free(goal.results);
    status = pw_error_export(&err, none, error);
    pw_client_end(client);
    return status;
}
