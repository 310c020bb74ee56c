/* SPDX-License-Identifier: Apache-2.0 */
/* The client: its connection, and how a request gets its one answer. */
#include "libpawl/client/client.h"

#include "base/alloc.h"
#include "base/json_scan.h"
#include "base/rand.h"
#include "base/time.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <assert.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    BACKOFF_MIN_US = 20000,
    BACKOFF_MAX_US = 2000000,
    /* Clocks drift apart; a minute is far less than the hour within which the engine takes an id. */
    CLOCK_MOVED_US = 60 * 1000000,
    /* Two clocks that are slewed in opposite directions, by 500 us in each second, drift apart by 60 ms in a minute. */
    CLOCK_KEEP_US = 60 * 1000000,
    /* How long ids that were called new are not sent again: see pawl._check_new() of the engine. */
    NEW_US = 250000,
    PAYLOAD_DEPTH_MAX = 64,
    LOOKS_MAX = 8,
    DIGEST_BYTES = 32, /* of SHA-256 */
};

struct pawl_client {
    pid_t pid;
    atomic_flag busy;
    struct pw_settings settings;
    struct pw_rand rand;
    struct pw_conn *conn;     /* NULL: to be opened by the next request */
    struct pw_rows kept;      /* rows that the last call lent */
    int64_t connect_until_us; /* when the current attempt to connect is given up */
    int32_t epoch;            /* the highest that was seen */
    bool epoch_known;         /* this server's is not lower */
    bool unverified_told;
    bool clock_known;
    int64_t clock_offset_us; /* to be added to pw_now_us() */
    int64_t clock_asked_us;
    int64_t clock_last_us; /* the last time that was returned */
    bool acting;           /* each request acts as the token with this digest */
    char digest[DIGEST_BYTES];
};

int
pw_client_begin(pawl_client *client, struct pw_error *err)
{
    if (client == NULL) {
        pw_error_set(err, PAWL_EINVAL, "no client");
        return PAWL_EINVAL;
    }
    /* guard:client_of_this_process */
    if (client->pid != getpid()) {
        pw_error_set(err, PAWL_EINVAL, "the client belongs to the process before the fork");
        pw_error_hint(err, "Open another client in the child process.");
        return PAWL_EINVAL;
    }
    /* guard:client_one_call */
    if (atomic_flag_test_and_set(&client->busy)) {
        pw_error_set(err, PAWL_EINVAL, "another call on this client is in flight");
        pw_error_hint(err, "Open a client for each thread.");
        return PAWL_EINVAL;
    }
    pw_rows_done(&client->kept);
    return PAWL_OK;
}

void
pw_client_end(pawl_client *client)
{
    atomic_flag_clear(&client->busy);
}

int64_t
pw_client_deadline(const pawl_client *client)
{
    return pw_add_us(pw_now_us(), pw_ms_to_us(client->settings.call_timeout_ms));
}

const struct pw_settings *
pw_client_settings(const pawl_client *client)
{
    return &client->settings;
}

/* Waits until a moment, but not beyond the deadline. */
static void
wait_until(int64_t until_us, int64_t deadline_us)
{
    int64_t now_us = pw_now_us();

    if (until_us > deadline_us)
        until_us = deadline_us;
    while (now_us < until_us) {
        (void)poll(NULL, 0, pw_poll_timeout_ms(now_us, until_us));
        now_us = pw_now_us();
    }
}

/* Waits a while before the next attempt, but not beyond the deadline. */
static void
back_off(pawl_client *client, unsigned tries, int64_t deadline_us)
{
    wait_until(
        pw_add_us(pw_now_us(), pw_backoff_us(&client->rand, tries, BACKOFF_MIN_US, BACKOFF_MAX_US)),
        deadline_us);
}

static void
drop_conn(pawl_client *client)
{
    pw_conn_close(client->conn);
    client->conn = NULL;
}

/*
 * Makes one attempt to connect, limited by connect_timeout. If the deadline of the call passes first, the next call continues this
 * attempt. So a silent host costs its time only once, and the next host is reached however short the calls are.
 */
static int
connect_once(pawl_client *client, int64_t deadline_us, struct pw_error *err)
{
    struct pw_conn_spec spec = pw_settings_spec(&client->settings);
    int64_t until_us;
    int status = PAWL_OK;

    if (client->conn == NULL) {
        client->connect_until_us =
            pw_add_us(pw_now_us(), pw_ms_to_us(client->settings.connect_timeout_ms));
        status = pw_conn_open(&spec, &client->conn, err);
    }
    if (status != PAWL_OK)
        return status;
    until_us = client->connect_until_us;
    status = pw_conn_wait(client->conn, until_us < deadline_us ? until_us : deadline_us, err);
    if (status == PAWL_ETIMEOUT) {
        pw_error_set(err, PAWL_ECONN, "the database did not answer in time");
        err->retryable = true;
        if (pw_now_us() < until_us)
            return err->code;
    }
    if (status != PAWL_OK) {
        drop_conn(client);
        pw_log_error(&client->settings.logger, PAWL_LOG_INFO, "client_connect_failed", NULL, err);
        return err->code;
    }
    pw_log_unverified(&client->settings.logger, client->conn, &client->unverified_told);
    /* It may be another server now, with another clock, or one that has lost commits. */
    client->clock_known = false;
    client->epoch_known = false;
    pw_log(&client->settings.logger, PAWL_LOG_DEBUG, "client_connected", "the client is connected",
        "pooled", pw_conn_pooled(client->conn) ? "true" : "false", NULL);
    return PAWL_OK;
}

/*
 * Returns true if the connection is still open. Reads all data that has arrived since the last call: the end of a connection follows the
 * last messages of the server.
 */
static bool
is_whole(struct pw_conn *conn)
{
    struct pollfd ready = {.events = POLLIN};
    int rounds = 0;

    do {
        pw_conn_pump(conn);
        ready.fd = pw_conn_fd(conn);
    } while (
        pw_conn_state(conn) == PW_CONN_READY && ++rounds < LOOKS_MAX && poll(&ready, 1, 0) > 0);
    return pw_conn_state(conn) == PW_CONN_READY;
}

/* Ensures that there is a connection that was open a moment ago, so that few requests are lost on a dead one. */
static int
need_conn(pawl_client *client, int64_t deadline_us, struct pw_error *err)
{
    int status;

    if (client->conn != NULL && pw_conn_state(client->conn) != PW_CONN_CONNECTING) {
        if (is_whole(client->conn))
            return PAWL_OK;
        drop_conn(client);
    }
    for (unsigned tries = 1;; tries++) {
        status = connect_once(client, deadline_us, err);
        /* PAWL_ENOMEM is returned at once, so that the caller can free memory. */
        if (status == PAWL_OK || status == PAWL_ENOMEM || !err->retryable ||
            pw_now_us() >= deadline_us)
            return status;
        back_off(client, tries, deadline_us);
    }
}

/* Returns true if the server has refused a request and rolled back, and may accept it later or over another connection. */
static bool
is_resent(const struct pw_error *err)
{
    return err->retryable &&
        (err->code == PAWL_EBUSY || err->code == PAWL_ECONN ||
            strcmp(err->sqlstate, "26000") == 0 || strcmp(err->sqlstate, "42P05") == 0 ||
            strcmp(err->sqlstate, "0A000") == 0);
}

static int ask_clock(pawl_client *client, int64_t deadline_us, struct pw_error *err);

/*
 * Returns when ids that were called new may be sent again, because the database's clock is past NEW_US after they were made. The clock of the
 * current connection counts, which may be to another server than the one for which the ids were made.
 */
static int64_t
when_old(const pawl_client *client, const struct pw_ask *ask)
{
    return ask->made_at_us + NEW_US - client->clock_offset_us;
}

/*
 * Decides, for ids that were made for this request, whether they are called new. They are if they are not ahead of the database's clock, and
 * if the caller cannot send them again too early. The second time, waits until they may be sent again, if the first request may not be over.
 */
static int
prepare_new(const pawl_client *client, struct pw_ask *ask, struct pw_error *err)
{
    int64_t old_us = when_old(client, ask);

    if (ask->params_again == NULL)
        return PAWL_OK;
    if (ask->params != ask->params_again) {
        /* guard:client_new_in_time */
        bool in_time = old_us <= ask->deadline_us;

        /* guard:client_new_by_clock */
        if (in_time && old_us <= pw_now_us() + NEW_US)
            return PAWL_OK;
        ask->params = ask->params_again;
        ask->params_again = NULL;
        return PAWL_OK;
    }
    if (!ask->lost && !ask->cut)
        return PAWL_OK;
    /* guard:client_resends_late */
    wait_until(old_us, ask->deadline_us);
    if (old_us <= ask->deadline_us)
        return PAWL_OK;
    pw_error_set(err, PAWL_ETIMEOUT, "the clock of the database was moved backward");
    return err->code;
}

/*
 * Sends a request once and waits. PAWL_OK: a reply arrived, even if it is an error. *broke is set if the connection is lost, so that
 * another one may succeed. ask->lost is set if the server may have received the request.
 */
static int
ask_once(pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, bool *broke,
    struct pw_error *err)
{
    struct pw_params digest;
    const struct pw_conn_first act = {pw_statement(PW_STMT_ACT_AS_TOKEN), &digest};
    int status = need_conn(client, ask->deadline_us, err);
    bool ready;

    *broke = false;
    if (status == PAWL_OK && !client->epoch_known && ask->statement != PW_STMT_CLOCK)
        status = ask_clock(client, ask->deadline_us, err);
    if (status == PAWL_OK)
        status = prepare_new(client, ask, err);
    if (status != PAWL_OK)
        return status;
    /* The server may have closed the connection since its reply to ask_clock(); then nothing is sent. */
    ready = pw_conn_state(client->conn) == PW_CONN_READY;
    pw_params_init(&digest);
    pw_params_bytes(&digest, client->digest, sizeof(client->digest));
    /* guard:client_acts */
    status = pw_conn_send_with(client->conn, client->acting ? &act : NULL,
        pw_statement(ask->statement), ask->params, NULL, err);
    *broke = status != PAWL_ENOMEM && status != PAWL_ETOOLARGE;
    if (status == PAWL_OK)
        status = pw_conn_wait(client->conn, ask->deadline_us, err);
    if (status == PAWL_OK) {
        bool taken = pw_conn_take(client->conn, reply);

        assert(taken);
        (void)taken;
        return PAWL_OK;
    }
    if (*broke) {
        /* The connection was ready: even if writing failed, the server may have received the whole request. */
        /* guard:client_unsent */
        ask->lost = ask->lost || ready;
        drop_conn(client);
    }
    return status;
}

/*
 * Decides the error of a failed call. After a lost reply the outcome is unknown: no error of a later attempt proves that the first one
 * had no effect.
 */
static int
conclude(const struct pw_ask *ask, struct pw_error *err)
{
    if (ask->lost && ask->repeat != PW_REPEAT_READ && err->code != PAWL_EUNKNOWN) {
        const struct pw_error last = *err;

        pw_error_set(
            err, PAWL_EUNKNOWN, "the reply was lost: the call may or may not have taken effect");
        pw_error_hint(err, "Last error: %s.", last.message);
    } else if (err->code == PAWL_ETIMEOUT) {
        pw_error_set(err, PAWL_ECONN, "no reply of the database within the time for a call");
        err->retryable = true;
    }
    if (err->code == PAWL_EUNKNOWN && ask->repeat != PW_REPEAT_READ)
        err->retryable = ask->repeatable;
    return err->code;
}

/* Returns the status of a complete reply. Frees the reply unless that is PAWL_OK. */
static int
judge_reply(pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err)
{
    if (reply->status != PAWL_OK) {
        *err = reply->error;
        pw_reply_done(reply);
        /* guard:client_cut */
        ask->cut = ask->cut || reply->status == PAWL_ECONN || reply->status == PAWL_EUNKNOWN;
        if (reply->status == PAWL_ECONN)
            drop_conn(client);
        return reply->status;
    }
    if (reply->unreplicated) {
        pw_reply_done(reply);
        pw_error_set(err, PAWL_EUNKNOWN, "committed, but the standby may not have it");
        pw_error_hint(
            err, "It is there unless this server is lost before its standby has caught up.");
        return PAWL_EUNKNOWN;
    }
    return PAWL_OK;
}

/* The loop of pw_client_ask(). */
static int
ask_often(pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err)
{
    struct pw_error said = {0}; /* the last refusal of the server */
    int status;
    bool broke;

    for (unsigned tries = 1;; tries++) {
        status = ask_once(client, ask, reply, &broke, err);
        if (status == PAWL_OK) {
            status = judge_reply(client, ask, reply, err);
            if (status == PAWL_OK) {
                pw_error_clear(err);
                return PAWL_OK;
            }
            if (!is_resent(err))
                return conclude(ask, err);
            said = *err;
        } else if (!broke) {
            /*
             * 1. The server refuses the request. 2. The client needs another connection, and the deadline passes. Return the refusal,
             * which is the cause. Without this, the caller would see only that there was no connection in time.
             */
            /* guard:client_said */
            if (said.code != PAWL_OK && err->code == PAWL_ECONN && pw_now_us() >= ask->deadline_us)
                *err = said;
            return conclude(ask, err);
        } else if (ask->lost) {
            pw_log_error(&client->settings.logger, PAWL_LOG_INFO, "client_reply_lost",
                pw_statement(ask->statement)->name, err);
            if (ask->repeat == PW_REPEAT_NEVER)
                return conclude(ask, err);
        }
        back_off(client, tries, ask->deadline_us);
        if (pw_now_us() >= ask->deadline_us)
            return conclude(ask, err);
        /* guard:client_resent_is_old */
        if (ask->params_again != NULL)
            ask->params = ask->params_again;
    }
}

int
pw_client_ask(pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err)
{
    int status;

    ask->lost = false;
    ask->cut = false;
    /* A procedure commits: the token would act in its first transaction only. */
    /* guard:client_acts_in_no_procedure */
    if (client->acting && pw_stmt_is_call(pw_statement(ask->statement))) {
        pw_error_set(
            err, PAWL_EINVAL, "no procedure can be called while the client acts as a token");
        pw_error_hint(err, "Use another client for this call.");
        return PAWL_EINVAL;
    }
    status = ask_often(client, ask, reply, err);
    /* guard:client_unknown_late */
    if (status == PAWL_EUNKNOWN && ask->params_again != NULL && (ask->lost || ask->cut))
        wait_until(when_old(client, ask), ask->deadline_us);
    return status;
}

/* Reads the clock and the epoch of a server from its reply. Always frees the reply. */
static int
learn(pawl_client *client, struct pw_reply *reply, struct pw_error *err)
{
    int64_t after_us = pw_now_us();
    int64_t time_us = 0;
    int32_t epoch = 0;
    bool good =
        pw_rows_int8(&reply->rows, 0, 0, &time_us) && pw_rows_int4(&reply->rows, 0, 1, &epoch);

    pw_reply_done(reply);
    if (!good) {
        pw_error_set(err, PAWL_ESCHEMA, "pawl.now() gave no time, or pawl.epoch() no number");
        return PAWL_ESCHEMA;
    }
    /* guard:client_epoch */
    if (epoch < client->epoch) {
        pw_error_set(err, PAWL_ECONN, "the server's epoch is lower than one that was seen");
        pw_error_hint(err,
            "It has lost commits. Call pawl.raise_epoch() there if it is to be the one in use.");
        err->retryable = true;
        pw_log_error(&client->settings.logger, PAWL_LOG_ERROR, "old_epoch", NULL, err);
        drop_conn(client);
        return err->code;
    }
    client->epoch = epoch;
    client->epoch_known = true;
    client->clock_known = true;
    client->clock_asked_us = after_us;
    /* The server has read its clock before this moment: the client cannot be ahead of it, however long the request has taken. */
    /* guard:client_not_ahead */
    client->clock_offset_us = time_us - after_us;
    return PAWL_OK;
}

static int
ask_clock(pawl_client *client, int64_t deadline_us, struct pw_error *err)
{
    struct pw_params none;
    struct pw_ask ask = {
        .statement = PW_STMT_CLOCK,
        .params = &none,
        .repeat = PW_REPEAT_READ,
        .deadline_us = deadline_us,
    };
    struct pw_reply reply;
    int status;

    pw_params_init(&none);
    status = pw_client_ask(client, &ask, &reply, err);
    return status == PAWL_OK ? learn(client, &reply, err) : status;
}

int
pw_client_clock(pawl_client *client, int64_t deadline_us, int64_t *now_us, struct pw_error *err)
{
    int64_t time_us;
    int status;

    if (!client->clock_known || pw_now_us() - client->clock_asked_us > CLOCK_KEEP_US) {
        status = ask_clock(client, deadline_us, err);
        if (status != PAWL_OK)
            return status;
    }
    /* The result is later than the last one, at least by a microsecond, unless the clock was moved backward by a minute or more. */
    time_us = pw_now_us() + client->clock_offset_us;
    if (time_us <= client->clock_last_us && client->clock_last_us - time_us < CLOCK_MOVED_US)
        time_us = client->clock_last_us + 1;
    client->clock_last_us = time_us;
    *now_us = time_us;
    return PAWL_OK;
}

int
pw_client_clock_again(pawl_client *client, int64_t deadline_us, bool *moved, struct pw_error *err)
{
    int64_t offset_us = client->clock_offset_us;
    int status = ask_clock(client, deadline_us, err);

    if (status != PAWL_OK)
        return status;
    *moved = client->clock_offset_us - offset_us > CLOCK_MOVED_US ||
        offset_us - client->clock_offset_us > CLOCK_MOVED_US;
    return PAWL_OK;
}

void
pw_client_clock_forget(pawl_client *client)
{
    client->clock_known = false;
}

void
pw_client_keep(pawl_client *client, struct pw_rows *rows)
{
    pw_rows_done(&client->kept);
    client->kept = *rows;
    rows->result = NULL;
}

int
pw_client_check_payload(
    const pawl_client *client, const char *what, pawl_bytes payload, struct pw_error *err)
{
    enum pw_json_problem problem;
    int code;

    if (payload.data == NULL)
        return PAWL_OK;
    problem =
        pw_json_scan(payload.data, payload.size, client->settings.payload_max, PAYLOAD_DEPTH_MAX);
    if (problem == PW_JSON_OK)
        return PAWL_OK;
    code =
        problem == PW_JSON_TOO_LARGE || problem == PW_JSON_TOO_DEEP ? PAWL_ETOOLARGE : PAWL_EINVAL;
    if (problem == PW_JSON_TOO_LARGE) {
        pw_error_set(err, code, "%s has %zu bytes, the limit (payload_max) is %zu", what,
            payload.size, client->settings.payload_max);
        pw_error_hint(err, "Keep it in a table or a file, and pass its name.");
        return code;
    }
    pw_error_set(err, code, "%s %s", what, pw_json_problem_text(problem));
    return code;
}

void
pw_client_stamp_id(int64_t now_us, struct pw_uuid *id)
{
    unsigned part = (unsigned)(now_us % 1000) * 4;

    id->bytes[6] = (uint8_t)(0x70 | part >> 8);
    id->bytes[7] = (uint8_t)(part & 0xff);
}

int
pw_client_no_id(int64_t now_us, struct pw_error *err)
{
    if (now_us < 0 || now_us / 1000 >= INT64_C(1) << 48) {
        pw_error_set(
            err, PAWL_EDATABASE, "no id can be made: the clock of the database is far off");
        return PAWL_EDATABASE;
    }
    pw_error_set(err, PAWL_ENOMEM, "no id can be made: the system gives no random bytes");
    pw_error_hint(err, "This process needs the system call getrandom.");
    return PAWL_ENOMEM;
}

int
pw_client_read_id(const char *text, struct pw_uuid *out, struct pw_error *err)
{
    if (pw_uuid_parse(text, out))
        return PAWL_OK;
    pw_error_set(err, PAWL_EINVAL, "not the id of a run");
    return PAWL_EINVAL;
}

/* Opens a client. Connects once, so that an error in the settings is reported at once. */
static int
open_client(const pawl_config *config, pawl_client **out, struct pw_error *err)
{
    pawl_client *client = pw_calloc(1, sizeof(*client));
    int64_t deadline_us;
    int64_t now_us;
    int status;

    if (client == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    client->pid = getpid();
    atomic_flag_clear(&client->busy);
    pw_rand_init_any(&client->rand);
    status = pw_config_settings(config, &client->settings, err);
    if (status != PAWL_OK)
        goto out;
    /* The time for a call begins when there is a connection. */
    /* guard:client_open_time */
    status = connect_once(client, INT64_MAX, err);
    if (status != PAWL_OK)
        goto out;
    deadline_us = pw_client_deadline(client);
    /* The client makes ids by the clock of the database. The request also shows whether pawl is installed there. */
    status = pw_client_clock(client, deadline_us, &now_us, err);
    if (status != PAWL_OK)
        goto out;
    *out = client;
    client = NULL;
out:
    pawl_client_close(client);
    return status;
}

pawl_status
pawl_client_open(const pawl_config *config, pawl_client **client, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (client == NULL)
        pw_error_set(&err, PAWL_EINVAL, "no place for the client");
    else
        (void)open_client(config, client, &err); /* its status is in err */
    return pw_error_export(&err, none, error);
}

pawl_status
pawl_client_act_as_token(pawl_client *client, pawl_bytes digest, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        if (digest.size != 0 && (digest.size != DIGEST_BYTES || digest.data == NULL)) {
            pw_error_set(&err, PAWL_EINVAL, "the digest of a token has %zu bytes: it must have %d",
                digest.size, DIGEST_BYTES);
            pw_error_hint(&err, "Pass the SHA-256 of the text of the token.");
        } else {
            client->acting = digest.size != 0;
            if (client->acting)
                memcpy(client->digest, digest.data, DIGEST_BYTES);
        }
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}

void
pawl_client_close(pawl_client *client)
{
    if (client == NULL)
        return;
    /* In a child process this only frees. */
    pw_conn_close(client->conn);
    pw_rows_done(&client->kept);
    pw_settings_done(&client->settings);
    pw_free(client);
}
