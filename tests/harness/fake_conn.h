/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection for unit tests of the client: the functions of pg/conn.h, answering by a script, for what a server says rarely and a network
 * does at will. A program that includes this has it instead of the real one.
 */
#ifndef PAWL_TESTS_FAKE_CONN_H
#define PAWL_TESTS_FAKE_CONN_H

#include "pawl/client.h"
#include "pg/conn.h"

#include <stdbool.h>
#include <stdint.h>

enum fake_what {
    FAKE_REPLY, /* rows, or an error with this sqlstate */
    FAKE_LOST,  /* the connection breaks instead of a reply */
    FAKE_LATE,  /* nothing until the deadline */
    FAKE_SEND_BROKEN,
    FAKE_SEND_NO_MEMORY,
    FAKE_SEND_TOO_LARGE,
};

/* What happens to one request that is not for the clock. */
struct fake_turn {
    enum fake_what what;
    int status;
    const char *sqlstate;
    bool retryable;
    bool unreplicated;
    const char *const *texts; /* columns of the one row; NULL: no row */
    int columns;
};

enum {
    FAKE_TURNS_MAX = 16
};

/* The script, which a test may change at any time, and what was done so far. */
extern struct fake_conn {
    struct fake_turn turns[FAKE_TURNS_MAX];
    int turn_count;
    int turn_at;
    int opens, closes, sends, clocks;
    bool acted
        [FAKE_TURNS_MAX]; /* of each request: whether pawl.act_as_token() was sent ahead of it */
    bool last_bool[FAKE_TURNS_MAX];  /* of each request: whether its last boolean is true */
    int64_t sent_us[FAKE_TURNS_MAX]; /* and when it was sent */
    int64_t id_ms[FAKE_TURNS_MAX];   /* and the time in its id, if it triggers one run */
    int fail_opens;                  /* so many attempts to connect fail */
    int open_status;                 /* what pw_conn_open() itself returns */
    bool unretryable;                /* and those that fail are not to be repeated */
    bool late_connect;               /* connecting takes until the deadline */
    bool dead_at_rest;               /* the connection is found broken before the next request */
    int clock_ends;        /* so many connections break behind their answer to the clock */
    bool no_time;          /* pawl.now() answers nonsense */
    bool unverified;       /* the server is on another host */
    int64_t clock_us;      /* what the clock of the server shows whenever it is read */
    int64_t clock_back_us; /* by how much it is set back each time it was read */
    int64_t clock_slow_us; /* how long a request for the clock takes to the server */
    int64_t clock_read_us; /* when the server has read it, by pw_now_us() */
    int epoch;             /* at most 127 */
    enum pw_conn_state state;
    bool has_reply;
    struct pw_reply reply;
    const struct fake_turn *turn;
} fake_conn;

/* A row of two columns: "ok" and a null. */
extern const char *const fake_ok[2];

/* Forgets everything. Has the type of a test's setup, and returns 0. */
int fake_conn_reset(void **state);

/* Adds a turn to the script. */
void fake_conn_add(struct fake_turn turn);

/* A client on this connection, which polls every 5 ms. */
pawl_client *fake_conn_client(const char *call_timeout);

#endif
