/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the end of a run: asks at once, then less and less often. The engine does not know which clients wait, so it notifies none of
 * them.
 */
#include "base/arena.h"
#include "base/json_read.h"
#include "base/rand.h"
#include "base/time.h"
#include "libpawl/client/client.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <poll.h>
#include <string.h>

enum {
    FIRST_PAUSE_US = 2000,
    /* The minimum time for one request, even at the end of a wait. */
    ASK_MIN_US = 1000000,
    MESSAGE_BYTES_MAX = 64 * 1024,
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

/* Asks once. Returns PAWL_ETIMEOUT if the run has not ended. */
static int
ask_result(pawl_client *client, const struct pw_uuid *id, int64_t deadline_us, pawl_bytes *output,
    pawl_bytes *detail, struct pw_error *err)
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
    pw_params_uuid(&params, id);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    if (pw_rows_count(&reply.rows) == 0) {
        pw_error_set(err, PAWL_ETIMEOUT, "the run has not ended");
        err->retryable = true;
        status = PAWL_ETIMEOUT;
    } else {
        status = judge_result(&reply.rows, output, detail, err);
        pw_client_keep(client, &reply.rows);
    }
    pw_reply_done(&reply);
    return status;
}

static int
wait_for_run(pawl_client *client, const char *run_id, int64_t timeout_ms, pawl_bytes *output,
    pawl_bytes *detail, struct pw_error *err)
{
    const struct pw_settings *settings = pw_client_settings(client);
    int64_t until_us = pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms));
    int64_t pause_us = FIRST_PAUSE_US;
    int64_t now_us;
    struct pw_uuid id;
    struct pw_rand rand;
    int status = pw_client_read_id(run_id, &id, err);

    if (status == PAWL_OK && timeout_ms < 0) {
        pw_error_set(err, PAWL_EINVAL, "the time to wait is negative");
        pw_error_hint(err, "Wait for as long as makes sense, and again if need be.");
        status = PAWL_EINVAL;
    }
    if (status != PAWL_OK)
        return status;
    pw_rand_init_any(&rand);
    for (;;) {
        int64_t deadline_us = pw_client_deadline(client);

        now_us = pw_now_us();
        if (timeout_ms > 0 && deadline_us > until_us)
            deadline_us =
                least(deadline_us, pw_add_us(until_us > now_us ? until_us : now_us, ASK_MIN_US));
        status = ask_result(client, &id, deadline_us, output, detail, err);
        now_us = pw_now_us();
        /* A database that is unreachable for a while does not end the wait. */
        if ((status != PAWL_ETIMEOUT && !(status == PAWL_ECONN && err->retryable)) ||
            now_us >= until_us)
            return status;
        now_us = pw_now_us();
        (void)poll(NULL, 0,
            pw_poll_timeout_ms(
                now_us, least(until_us, pw_add_us(now_us, pw_jitter(&rand, pause_us, 0.2)))));
        pause_us = least(pause_us + pause_us / 2, pw_ms_to_us(settings->wait_poll_ms));
    }
}

pawl_status
pawl_client_wait(pawl_client *client, const char *run_id, int64_t timeout_ms, pawl_bytes *output,
    pawl_error **error)
{
    pawl_bytes found = {NULL, 0};
    pawl_bytes detail = {NULL, 0};
    struct pw_error err = {0};
    pawl_status status = pw_client_begin(client, &err);

    if (status == PAWL_OK) {
        status = wait_for_run(client, run_id, timeout_ms, &found, &detail, &err);
        if (status == PAWL_OK && output != NULL)
            *output = found;
        /* The detail is copied while it is still there: the next call frees it. */
        status = pw_error_export(&err, detail, error);
        pw_client_end(client);
        return status;
    }
    return pw_error_export(&err, detail, error);
}
