/* SPDX-License-Identifier: Apache-2.0 */
/* The connection that answers by a script. */
#include "fake_conn.h"

#include "base/time.h"
#include "libpawl/common/statements.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fake_conn fake_conn;
const char *const fake_ok[2] = {"ok", NULL};

int
fake_conn_reset(void **state)
{
    (void)state;
    memset(&fake_conn, 0, sizeof(fake_conn));
    fake_conn.clock_us = INT64_C(1700000000000000);
    fake_conn.epoch = 1;
    return 0;
}

void
fake_conn_add(struct fake_turn turn)
{
    assert_true(fake_conn.turn_count < FAKE_TURNS_MAX);
    fake_conn.turns[fake_conn.turn_count++] = turn;
}

pawl_client *
fake_conn_client(const char *call_timeout)
{
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;

    assert_int_equal(pawl_config_set(config, "call_timeout", call_timeout, NULL), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "wait_poll", "5ms", NULL), PAWL_OK);
    assert_int_equal(pawl_client_open(config, &client, NULL), PAWL_OK);
    pawl_config_free(config);
    return client;
}

int
pw_conn_open(const struct pw_conn_spec *spec, struct pw_conn **out, struct pw_error *err)
{
    (void)spec;
    fake_conn.opens++;
    if (fake_conn.open_status != PAWL_OK) {
        pw_error_set(err, fake_conn.open_status, "no");
        return fake_conn.open_status;
    }
    fake_conn.state = PW_CONN_CONNECTING;
    *out = (struct pw_conn *)(uintptr_t)1;
    return PAWL_OK;
}

void
pw_conn_close(struct pw_conn *conn)
{
    fake_conn.closes += conn != NULL;
    if (fake_conn.has_reply)
        pw_reply_done(&fake_conn.reply);
    fake_conn.has_reply = false;
}

int
pw_conn_fd(const struct pw_conn *conn)
{
    (void)conn;
    return -1;
}

bool
pw_conn_pooled(const struct pw_conn *conn)
{
    (void)conn;
    return false;
}

bool
pw_conn_unverified(const struct pw_conn *conn)
{
    (void)conn;
    return fake_conn.unverified;
}

void
pw_conn_pump(struct pw_conn *conn)
{
    (void)conn;
    if (fake_conn.dead_at_rest)
        fake_conn.state = PW_CONN_BROKEN;
    fake_conn.dead_at_rest = false;
}

enum pw_conn_state
pw_conn_state(const struct pw_conn *conn)
{
    (void)conn;
    return fake_conn.state;
}

/* A row of texts; one of a byte 1 is a true. */
static void *
make_row(const char *const *texts, int columns)
{
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc descriptions[8] = {{0}};
    char names[8][16];

    for (int i = 0; i < columns; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "c%d", i);
        descriptions[i] = (PGresAttDesc){.name = names[i], .typid = PW_TYPE_TEXT, .format = 1};
        if (columns == 1 && texts != NULL && texts[0] != NULL && texts[0][0] == '\1')
            descriptions[i].typid = PW_TYPE_BOOL;
    }
    assert_int_equal(PQsetResultAttrs(result, columns, descriptions), 1);
    for (int i = 0; texts != NULL && i < columns; i++)
        assert_int_equal(PQsetvalue(result, 0, i, (char *)(uintptr_t)texts[i],
                             texts[i] != NULL ? (int)strlen(texts[i]) : -1),
            1);
    return result;
}

static void *
make_clock(void)
{
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    char names[2][2] = {"t", "e"};
    char bytes[8], epoch[4] = {0, 0, 0, (char)fake_conn.epoch};
    PGresAttDesc columns[] = {
        {.name = names[0], .typid = fake_conn.no_time ? 25 : PW_TYPE_INT8, .format = 1},
        {.name = names[1], .typid = PW_TYPE_INT4, .format = 1},
    };

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(fake_conn.clock_us >> (56 - 8 * i));
    assert_int_equal(PQsetResultAttrs(result, 2, columns), 1);
    assert_int_equal(PQsetvalue(result, 0, 0, bytes, 8), 1);
    assert_int_equal(PQsetvalue(result, 0, 1, epoch, 4), 1);
    return result;
}

/* Notes what a test asks about a request. */
static void
note_request(const struct pw_stmt *stmt, const struct pw_params *params, int turn)
{
    int last = -1;

    for (int i = 0; i < params->count; i++)
        if (stmt->types[i] == PW_TYPE_BOOL)
            last = i;
    fake_conn.sent_us[turn] = pw_now_us();
    fake_conn.last_bool[turn] =
        last >= 0 && params->sizes[last] == 1 && params->values[last][0] == 1;
    for (int i = 0; stmt->number == PW_STMT_TRIGGER && i < 6; i++)
        fake_conn.id_ms[turn] = fake_conn.id_ms[turn] << 8 | (unsigned char)params->values[7][i];
}

int
pw_conn_send_with(struct pw_conn *conn, const struct pw_conn_first *first,
    const struct pw_stmt *stmt, const struct pw_params *params, void *tag, struct pw_error *err)
{
    (void)conn;
    memset(&fake_conn.reply, 0, sizeof(fake_conn.reply));
    fake_conn.reply.tag = tag;
    if (stmt->number == PW_STMT_CLOCK) {
        fake_conn.clock_read_us = pw_now_us() + fake_conn.clock_slow_us;
        while (pw_now_us() < fake_conn.clock_read_us)
            ;
        fake_conn.clocks++;
        fake_conn.reply.rows.result = make_clock();
        fake_conn.clock_us -= fake_conn.clock_back_us;
        fake_conn.has_reply = true;
        if (fake_conn.clock_ends > 0) {
            fake_conn.clock_ends--;
            fake_conn.state = PW_CONN_BROKEN;
        }
        return PAWL_OK;
    }
    if (fake_conn.state != PW_CONN_READY) {
        pw_error_set(err, PAWL_ECONN, "not ready");
        err->retryable = true;
        return PAWL_ECONN;
    }
    assert_true(fake_conn.turn_at < fake_conn.turn_count);
    note_request(stmt, params, fake_conn.turn_at);
    fake_conn.acted[fake_conn.turn_at] =
        first != NULL && first->stmt->number == PW_STMT_ACT_AS_TOKEN;
    fake_conn.sends++;
    fake_conn.turn = &fake_conn.turns[fake_conn.turn_at++];
    if (fake_conn.turn->what == FAKE_SEND_NO_MEMORY) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    if (fake_conn.turn->what == FAKE_SEND_TOO_LARGE) {
        pw_error_set(err, PAWL_ETOOLARGE, "too large");
        return PAWL_ETOOLARGE;
    }
    if (fake_conn.turn->what == FAKE_SEND_BROKEN) {
        pw_error_set(err, PAWL_ECONN, "broken");
        return PAWL_ECONN;
    }
    if (fake_conn.turn->what != FAKE_REPLY)
        return PAWL_OK;
    fake_conn.has_reply = true;
    fake_conn.reply.status = fake_conn.turn->status;
    fake_conn.reply.unreplicated = fake_conn.turn->unreplicated;
    if (fake_conn.turn->status == PAWL_OK) {
        fake_conn.reply.rows.result = make_row(fake_conn.turn->texts, fake_conn.turn->columns);
    } else {
        pw_error_set(&fake_conn.reply.error, fake_conn.turn->status, "said the server");
        fake_conn.reply.error.retryable = fake_conn.turn->retryable;
        (void)snprintf(fake_conn.reply.error.sqlstate, sizeof(fake_conn.reply.error.sqlstate), "%s",
            fake_conn.turn->sqlstate != NULL ? fake_conn.turn->sqlstate : "");
    }
    return PAWL_OK;
}

int
pw_conn_wait(struct pw_conn *conn, int64_t deadline_us, struct pw_error *err)
{
    (void)conn;
    if (fake_conn.state == PW_CONN_CONNECTING && !fake_conn.late_connect) {
        if (fake_conn.fail_opens == 0) {
            fake_conn.state = PW_CONN_READY;
            return PAWL_OK;
        }
        fake_conn.fail_opens--;
        pw_error_set(err, PAWL_ECONN, "refused");
        err->retryable = !fake_conn.unretryable;
        return PAWL_ECONN;
    }
    if (fake_conn.has_reply)
        return PAWL_OK;
    if (fake_conn.late_connect || fake_conn.turn->what == FAKE_LATE) {
        while (pw_now_us() < deadline_us)
            ;
        pw_error_set(err, PAWL_ETIMEOUT, "late");
        return PAWL_ETIMEOUT;
    }
    pw_error_set(err, PAWL_ECONN, "lost");
    err->retryable = true;
    return PAWL_ECONN;
}

bool
pw_conn_take(struct pw_conn *conn, struct pw_reply *reply)
{
    (void)conn;
    assert_true(fake_conn.has_reply);
    *reply = fake_conn.reply;
    fake_conn.has_reply = false;
    return true;
}

void
pw_reply_done(struct pw_reply *reply)
{
    pw_rows_done(&reply->rows);
}
