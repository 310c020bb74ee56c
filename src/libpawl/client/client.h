/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a client share: one connection, one call at a time, and the sending again of what may be sent again. */
#ifndef PW_LIBPAWL_CLIENT_H
#define PW_LIBPAWL_CLIENT_H

#include "base/error.h"
#include "base/uuid.h"
#include "libpawl/common/config.h"
#include "pawl/client.h"
#include "pg/conn.h"

#include <stdbool.h>
#include <stdint.h>

/* What may be done with a request whose reply was lost. */
enum pw_repeat {
    PW_REPEAT_READ, /* it changes nothing: send it again */
    PW_REPEAT_WRITE, /* done twice it is done once: send it again; without a reply in the end, nobody knows */
    PW_REPEAT_NEVER, /* nobody knows, and it is not sent again */
};

/* One request. */
struct pw_ask {
    int statement; /* enum pw_stmt_number */
    const struct pw_params *params;
    enum pw_repeat repeat;
    bool
        repeatable; /* the caller, too, may call again: done twice it is done once, also in another call */
    int64_t deadline_us;
    bool lost; /* set by pw_client_ask(): it was sent at least once without a reply */
};

/*
 * Begins a call: the client is of this process, and nobody else uses it. What the call before lent out is freed. On PAWL_OK the
 * caller ends with pw_client_end().
 */
int pw_client_begin(pawl_client *client, struct pw_error *err);
void pw_client_end(pawl_client *client);

/* When a call that begins now must be over. */
int64_t pw_client_deadline(const pawl_client *client);

const struct pw_settings *pw_client_settings(const pawl_client *client);

/*
 * Sends a request and waits for its reply, over as many connections as it takes. On PAWL_OK the caller calls pw_reply_done().
 * PAWL_EUNKNOWN: it may have been done. That is also a commit that may not have reached its standby, and an error that came
 * after a reply was lost.
 */
int pw_client_ask(
    pawl_client *client, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err);

/* Microseconds since 1970 by the clock of the database, as far as the client knows it; each call gives a later time. */
int pw_client_clock(
    pawl_client *client, int64_t deadline_us, int64_t *now_us, struct pw_error *err);

/* Asks the database for its time again. moved says whether it is another than was thought, by a minute or more. */
int pw_client_clock_again(
    pawl_client *client, int64_t deadline_us, bool *moved, struct pw_error *err);

/* The clock was moved by hand: the next pw_client_clock() asks. */
void pw_client_clock_forget(pawl_client *client);

/* Keeps a reply's rows until the next call begins; takes them over. */
void pw_client_keep(pawl_client *client, struct pw_rows *rows);

/* Whether bytes can be sent as a payload. PAWL_EINVAL or PAWL_ETOOLARGE; what names it. No bytes are fine. */
int pw_client_check_payload(
    const pawl_client *client, const char *what, pawl_bytes payload, struct pw_error *err);

/*
 * Writes the part of the millisecond into the 12 bits behind an id's milliseconds, as the engine does for events: what one
 * client makes keeps its order.
 */
void pw_client_stamp_id(int64_t now_us, struct pw_uuid *id);

/* Says why no id could be made of this time: PAWL_EDATABASE if no id can have it, PAWL_ENOMEM if there are no random bytes. */
int pw_client_no_id(int64_t now_us, struct pw_error *err);

/* Reads a run's id. PAWL_EINVAL. */
int pw_client_read_id(const char *text, struct pw_uuid *out, struct pw_error *err);

#endif
