/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that act on runs: signal, emit, cancel, wake. */
#include "base/uuid.h"
#include "libpawl/client/client.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <string.h>

static int
signal_run(pawl_client *client, const char *run_id, const char *name, pawl_bytes payload,
    struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_SIGNAL,
        .params = &params,
        .repeat = PW_REPEAT_NEVER, /* a second one would be another signal */
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    struct pw_uuid id;
    int status = pw_client_read_id(run_id, &id, err);

    if (status == PAWL_OK)
        status = pw_client_check_payload(client, "the payload", payload, err);
    if (status != PAWL_OK)
        return status;
    pw_params_init(&params);
    pw_params_uuid(&params, &id);
    pw_params_text(&params, name);
    pw_params_bytes(&params, payload.data, payload.size);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status == PAWL_OK)
        pw_reply_done(&reply);
    return status;
}

pawl_status
pawl_client_signal(pawl_client *client, const char *run_id, const char *name, pawl_bytes payload,
    pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)signal_run(client, run_id, name, payload, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}

/* Makes one attempt, with a new id. */
static int
emit_once(pawl_client *client, const char *topic, const char *key, const char *tenant,
    pawl_bytes payload, struct pw_ask *ask, struct pw_error *err)
{
    struct pw_params params;
    struct pw_reply reply;
    struct pw_uuid id;
    int64_t now_us;
    int status = pw_client_clock(client, ask->deadline_us, &now_us, err);

    if (status != PAWL_OK)
        return status;
    if (!pw_uuid_make_any(now_us / 1000, &id))
        return pw_client_no_id(now_us, err);
    pw_client_stamp_id(now_us, &id);
    pw_params_init(&params);
    pw_params_text(&params, topic);
    pw_params_bytes(&params, payload.data, payload.size);
    pw_params_text(&params, key);
    pw_params_text(&params, tenant);
    pw_params_uuid(&params, &id);
    ask->params = &params;
    status = pw_client_ask(client, ask, &reply, err);
    ask->params = NULL;
    if (status == PAWL_OK)
        pw_reply_done(&reply);
    return status;
}

static int
emit_event(pawl_client *client, const char *topic, const char *key, const char *tenant,
    pawl_bytes payload, struct pw_error *err)
{
    struct pw_ask ask = {
        .statement = PW_STMT_EMIT,
        .repeat = PW_REPEAT_WRITE, /* but another call makes another id, and so a second event */
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_error ignored = {0};
    bool moved = false;
    int status = pw_client_check_payload(client, "the payload", payload, err);

    if (status != PAWL_OK)
        return status;
    status = emit_once(client, topic, key, tenant, payload, &ask, err);
    /*
     * PW003 can mean that the id has an old time: if the clock was moved since the client asked, a new id is valid. A trigger does the
     * same.
     */
    if (status == PAWL_EINVAL && strcmp(err->sqlstate, "PW003") == 0 && !ask.lost &&
        pw_client_clock_again(client, ask.deadline_us, &moved, &ignored) == PAWL_OK && moved)
        status = emit_once(client, topic, key, tenant, payload, &ask, err);
    return status;
}

pawl_status
pawl_client_emit(pawl_client *client, const char *topic, const char *key, const char *tenant,
    pawl_bytes payload, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)emit_event(client, topic, key, tenant, payload, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}

/* Turns the answer to a cancel into a status. A run that was cancelled before is a success. */
static int
judge_cancel(const char *answer, const char *run_id, struct pw_error *err)
{
    if (answer == NULL) {
        pw_error_set(
            err, PAWL_ESCHEMA, "the answer of the database is not the one that was expected");
    } else if (strcmp(answer, "ok") == 0 || strcmp(answer, "already") == 0 ||
        strcmp(answer, "CANCELLED") == 0) {
        return PAWL_OK;
    } else if (strcmp(answer, "not_found") == 0) {
        pw_error_set(err, PAWL_ENOTFOUND, "no run \"%s\"", run_id);
    } else if (strcmp(answer, "busy") == 0) {
        pw_error_set(err, PAWL_EBUSY, "another transaction holds run \"%s\"", run_id);
        pw_error_hint(err, "Call again.");
        err->retryable = true;
    } else {
        pw_error_set(err, PAWL_EREFUSED, "run \"%s\" has ended or is ending: %s", run_id, answer);
    }
    return err->code;
}

static int
cancel_run(
    pawl_client *client, const char *run_id, const char *why, uint32_t flags, struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_CANCEL,
        .params = &params,
        .repeat = PW_REPEAT_WRITE,
        .repeatable = true,
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    struct pw_uuid id;
    int status = pw_client_read_id(run_id, &id, err);

    if (status == PAWL_OK && (flags & ~(uint32_t)PAWL_ROLLBACK) != 0) {
        pw_error_set(err, PAWL_EINVAL, "a flag that there is not");
        status = PAWL_EINVAL;
    }
    if (status != PAWL_OK)
        return status;
    pw_params_init(&params);
    pw_params_uuid(&params, &id);
    pw_params_text(&params, why);
    pw_params_bool(&params, (flags & PAWL_ROLLBACK) != 0);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    status = judge_cancel(pw_rows_text(&reply.rows, 0, 0), run_id, err);
    pw_reply_done(&reply);
    return status;
}

pawl_status
pawl_client_cancel(
    pawl_client *client, const char *run_id, const char *why, uint32_t flags, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)cancel_run(client, run_id, why, flags, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}

/* Turns the answer to a wake into a status. A run that is already queued is a success. */
static int
judge_wake(const char *answer, const char *reason, const char *run_id, struct pw_error *err)
{
    if (answer == NULL) {
        pw_error_set(
            err, PAWL_ESCHEMA, "the answer of the database is not the one that was expected");
    } else if (strcmp(answer, "ok") == 0 || strcmp(answer, "already") == 0) {
        return PAWL_OK;
    } else if (strcmp(answer, "not_found") == 0) {
        pw_error_set(err, PAWL_ENOTFOUND, "no run \"%s\"", run_id);
    } else if (strcmp(answer, "busy") == 0) {
        pw_error_set(err, PAWL_EBUSY, "another transaction holds run \"%s\"", run_id);
        pw_error_hint(err, "Call again.");
        err->retryable = true;
    } else if (reason != NULL) {
        pw_error_set(err, PAWL_EREFUSED, "run \"%s\" cannot be woken: %s", run_id, reason);
    } else {
        pw_error_set(err, PAWL_EREFUSED, "run \"%s\" has ended: %s", run_id, answer);
    }
    return err->code;
}

static int
wake_run(pawl_client *client, const char *run_id, const char *step, const char *why,
    struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_WAKE,
        .params = &params,
        .repeat = PW_REPEAT_NEVER, /* the second may end another backoff */
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    struct pw_uuid id;
    int status = pw_client_read_id(run_id, &id, err);

    if (status != PAWL_OK)
        return status;
    pw_params_init(&params);
    pw_params_uuid(&params, &id);
    pw_params_text(&params, step);
    pw_params_text(&params, why);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    status =
        judge_wake(pw_rows_text(&reply.rows, 0, 0), pw_rows_text(&reply.rows, 0, 1), run_id, err);
    pw_reply_done(&reply);
    return status;
}

pawl_status
pawl_client_wake(
    pawl_client *client, const char *run_id, const char *step, const char *why, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)wake_run(client, run_id, step, why, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}
