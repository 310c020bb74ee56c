/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of a client: one connection, one call at a time, and the repetition of requests that may be repeated. */
#ifndef PW_LIBPAWL_CLIENT_H
#define PW_LIBPAWL_CLIENT_H

#include "base/error.h"
#include "base/uuid.h"
#include "libpawl/common/config.h"
#include "pawl/client.h"
#include "pg/conn.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a request whose reply was lost may be sent again. */
enum pw_repeat {
    PW_REPEAT_READ,  /* it changes nothing: send it again */
    PW_REPEAT_WRITE, /* idempotent: send it again; without any reply the outcome is unknown */
    PW_REPEAT_NEVER, /* never sent again: the outcome is unknown */
};

/* One request. */
struct pw_ask {
    int statement; /* enum pw_stmt_number */
    const struct pw_params *params;
    const struct pw_params *params_again; /* params calls ids new; NULL: it does not */
    int64_t made_at_us; /* when these ids were made, by the clock of the database */
    enum pw_repeat repeat;
    bool repeatable; /* idempotent even in another call, so the caller may call again */
    int64_t deadline_us;
    /* Set by pw_client_ask(). */
    bool lost; /* it was sent at least once without a reply */
    bool cut;  /* or a reply of a pooler said that its connection to the server is gone */
};

/*
 * Begins a call: checks that the client belongs to this process and that no other call uses it. Frees the rows that the last call lent.
 * After PAWL_OK the caller must call pw_client_end().
 */
int pw_client_begin(pawl_client *client, struct pw_error *err);
void pw_client_end(pawl_client *client);

/* Returns the deadline of a call that begins now. */
int64_t pw_client_deadline(const pawl_client *client);

const struct pw_settings *pw_client_settings(const pawl_client *client);

/*
 * Sends a request and waits for its reply, over as many connections as needed. After PAWL_OK the caller must call pw_reply_done().
 * PAWL_EUNKNOWN: the outcome is unknown. That includes a commit that may not have reached its standby, and an error after a lost reply.
 * Parameters that call ids new are sent once at most. From the second time on, or if ids may not be called new, params_again is sent.
 * PAWL_EUNKNOWN is not returned before the caller may send these ids again.
 */
int pw_client_ask(
    pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err);

/*
 * Sets *now_us to microseconds since 1970 by the clock of the database, as far as the client knows it. Each call returns a later time. The
 * time may be earlier than that of the clock, by as long as a reply takes, but not later, unless the clock was moved backward in the last minute.
 */
int pw_client_clock(
    pawl_client *client, int64_t deadline_us, int64_t *now_us, struct pw_error *err);

/* Asks the database for its time again. Sets *moved if the clock differs from the expected time by more than a minute. */
int pw_client_clock_again(
    pawl_client *client, int64_t deadline_us, bool *moved, struct pw_error *err);

/* Forgets the clock, because a test has moved it: the next pw_client_clock() asks the database. */
void pw_client_clock_forget(pawl_client *client);

/* Takes over the rows of a reply, and keeps them until the next call begins. */
void pw_client_keep(pawl_client *client, struct pw_rows *rows);

/*
 * Checks that bytes can be sent as a payload; what names the payload in the error. Returns PAWL_OK, PAWL_EINVAL or PAWL_ETOOLARGE. Bytes
 * with data NULL are valid.
 */
int pw_client_check_payload(
    const pawl_client *client, const char *what, pawl_bytes payload, struct pw_error *err);

/*
 * Writes the fraction of the millisecond into the 12 bits that follow an id's milliseconds, as the engine does for events. So the ids of
 * one client keep their order.
 */
void pw_client_stamp_id(int64_t now_us, struct pw_uuid *id);

/*
 * Sets the error for an id that could not be made of this time. Returns PAWL_EDATABASE if no id can have this time, PAWL_ENOMEM if there
 * are no random bytes.
 */
int pw_client_no_id(int64_t now_us, struct pw_error *err);

/* Reads a run's id. Returns PAWL_OK or PAWL_EINVAL. */
int pw_client_read_id(const char *text, struct pw_uuid *out, struct pw_error *err);

#endif
