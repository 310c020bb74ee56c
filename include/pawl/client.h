/* SPDX-License-Identifier: Apache-2.0 */
/* Producers and operators: trigger runs, wait for them, tell them things, ask about them. Everything here blocks. */
#ifndef PAWL_CLIENT_H
#define PAWL_CLIENT_H

#include <pawl/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One connection to one database. Used by one thread at a time; a call while another is under way answers PAWL_EINVAL. A broken
 * connection is opened again by the next call.
 *
 * If a reply is lost, the library itself sends the call again until the setting call_timeout is over, and it is done once: so
 * it is for triggers and events, whose ids the client makes before it sends them, for cancels, and for everything that only
 * reads. Signals, and verbs of pawl_client_call() that change something, are sent once.
 *
 * To make a call again is another thing. A cancel, and a trigger with a key or an id, may be repeated. A trigger without either
 * makes a second run; an emit, a signal and an approval or rejection make a second event, signal or decision, which the next
 * wait of that name takes.
 *
 * Every call may answer PAWL_ECONN (no connection within call_timeout), PAWL_EFORBIDDEN, PAWL_ESCHEMA, PAWL_ENOMEM,
 * PAWL_EDATABASE, and PAWL_EUNKNOWN: it was sent and nobody knows whether it was done, or the server committed it and warned
 * that its standby may not have it. pawl_error_retryable() then is 1 only if the call may be repeated. Further errors are named
 * where they occur.
 */
typedef struct pawl_client pawl_client;

/*
 * Connects. config may be NULL: all settings have their defaults then. Unlike later calls it tries once, for as long as the
 * setting connect_timeout says, so that what is wrong with the settings is seen at once. The caller closes the client.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_open(
    const pawl_config *config, pawl_client **client, pawl_error **error);

/* Disconnects and frees; NULL is fine. In a child process after fork() it only frees. */
PAWL_API void pawl_client_close(pawl_client *client);

/* What to trigger: a workflow, and one input or many. Used by one thread at a time; can be used for any number of calls. */
typedef struct pawl_trigger pawl_trigger;

/* A trigger of this workflow, or NULL if out of memory. Free it with pawl_trigger_free(). */
PAWL_API PAWL_MUST_USE pawl_trigger *pawl_trigger_new(const char *workflow);

/* Frees it; NULL is fine. */
PAWL_API void pawl_trigger_free(pawl_trigger *trigger);

/*
 * Sets an option from text, copied: key (1 to 500 characters, at most 1,000 bytes), tenant (at most 200 bytes), priority (0 to
 * 32767), delay_ms (at most ten years), metadata (JSON), id (a run id that you made, or that a call gave; within an hour),
 * key_ttl_ms, key_while_active (on or off), limit_key (at most 500 characters; stored, no effect yet); NULL takes it back. What is wrong with it is
 * said by the call that uses the trigger.
 */
PAWL_API void pawl_trigger_set(pawl_trigger *trigger, const char *option, const char *value);

/* Sets the input, JSON, copied. Without one it is {}. A problem is said by the call that uses the trigger. */
PAWL_API void pawl_trigger_set_input(pawl_trigger *trigger, pawl_bytes input);

/*
 * Adds one run to those that pawl_client_trigger_many() triggers; no bytes are the input {}, and key may be NULL. At most
 * 10,000 runs and 512 MB of inputs and keys. Copied.
 */
PAWL_API void pawl_trigger_add(pawl_trigger *trigger, pawl_bytes input, const char *key);

/* Takes back all runs that were added. */
PAWL_API void pawl_trigger_clear(pawl_trigger *trigger);

enum {
    PAWL_CREATED = 1, /* this call made the run; without it, a run with this key was there before */
    PAWL_HANDLED = 2  /* a live worker handles the workflow */
};

/*
 * Triggers one run. When it returns PAWL_OK, the run is durable. run_id, which may be NULL, has room for PAWL_ID_SIZE bytes;
 * flags, which may be NULL, gets PAWL_CREATED and PAWL_HANDLED. PAWL_ENOTFOUND: no such workflow. PAWL_ECONFLICT: the key was
 * used with another input. PAWL_ETOOLARGE, PAWL_EINVAL: an option or the input, which has at most 1 MB, 64 levels and 10,000
 * keys.
 *
 * PAWL_EUNKNOWN: run_id is set, too, to the id that the run has if it was made; with a key it may be another one. To call again
 * with that id as the option id, within an hour, is always right, and so is to call again with a key. To ask is less: as long
 * as the first call may be under way, a run that is not found may still come. pawl_error_retryable() is 1 if the trigger has an
 * id, or a key without key_while_active.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_trigger(pawl_client *client,
    const pawl_trigger *trigger, char *run_id, uint32_t *flags, pawl_error **error);

/*
 * Triggers all runs that were added, in one transaction: all or none. run_ids has room for PAWL_ID_SIZE bytes for each, one
 * behind the other, in their order; flags for one number each. Both may be NULL. Errors as of pawl_client_trigger(); on
 * PAWL_EUNKNOWN run_ids is set likewise, and pawl_error_retryable() is 1 if every run has a key. For 100 runs:
 *
 *   char ids[100][PAWL_ID_SIZE];
 *   uint32_t flags[100];
 *   status = pawl_client_trigger_many(client, trigger, ids[0], flags, &error);    and then ids[7] is the id of the eighth
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_trigger_many(pawl_client *client,
    const pawl_trigger *trigger, char *run_ids, uint32_t *flags, pawl_error **error);

/*
 * Waits until a run has ended, at most timeout_ms; 0 only looks, and a negative time is PAWL_EINVAL. PAWL_OK: it ended SUCCESS
 * and output, which may be NULL, is its output, borrowed until the next call on this client. PAWL_ERUN: it ended ERROR; the
 * error has its message and, as detail, its JSON. PAWL_ECANCELLED. PAWL_ETIMEOUT: it has not ended. PAWL_ENOTFOUND. PAWL_ECONN:
 * the database was away when the time was over; while it is not over that is waited for. Asks less and less often, after half
 * as much again as the last pause, at the least once in the setting wait_poll.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_wait(pawl_client *client, const char *run_id,
    int64_t timeout_ms, pawl_bytes *output, pawl_error **error);

/*
 * Sends a signal to a run; no bytes are the payload {}. PAWL_ENOTFOUND, PAWL_EREFUSED if it has ended, PAWL_ECANCELLED,
 * PAWL_ETOOLARGE. Sent once; a repeated call sends a second one.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_signal(pawl_client *client, const char *run_id,
    const char *name, pawl_bytes payload, pawl_error **error);

/*
 * Emits an event under topic (1 to 200 characters) and key (at most 500 characters; "" or NULL for none); tenant may be NULL,
 * and no bytes are the payload {}. PAWL_EINVAL, PAWL_ETOOLARGE. The event is stored once, also if the library sends the call
 * twice; a repeated call is a second event.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_emit(pawl_client *client, const char *topic,
    const char *key, const char *tenant, pawl_bytes payload, pawl_error **error);

enum {
    PAWL_ROLLBACK = 1 /* run the undos of a run that is cancelled */
};

/*
 * Cancels a run, for good; why may be NULL. flags is 0 or PAWL_ROLLBACK. PAWL_OK also if it was cancelled before, as that call
 * wanted it: PAWL_ROLLBACK then changes nothing. PAWL_ENOTFOUND, PAWL_EREFUSED if it has ended otherwise, or has
 * failed and is ending, PAWL_EBUSY.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_cancel(
    pawl_client *client, const char *run_id, const char *why, uint32_t flags, pawl_error **error);

/*
 * Ends the backoffs, the delay and the sleeps of a run now, so that it continues at once; a sleep is recorded as slept. step, which
 * may be NULL, limits that to the step of this name; why may be NULL. The role needs the privilege set operator.
 *
 * Returns PAWL_OK if it did, or if the run is queued already.
 * Returns PAWL_EREFUSED if a worker holds the run, it is paused or ending, it waits for something else, or it has ended; the error
 * says which.
 * Returns PAWL_ENOTFOUND if there is no such run.
 * Returns PAWL_EBUSY if another transaction held the run for two seconds. Call again.
 * Sent once: a second call would end what the run waits for by then.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_wake(
    pawl_client *client, const char *run_id, const char *step, const char *why, pawl_error **error);

/* Rows that a call returned. They belong to no client any more; any number of threads may read them. */
typedef struct pawl_rows pawl_rows;

/*
 * Calls any other verb of the SQL interface that producers, operators and readers have, by its name and with arguments by name:
 * pawl_client_call(client, "list_runs", names, values, 2, &rows, &error). Names of verbs, arguments and columns are those of
 * docs/sql-api.md; values are texts as PostgreSQL reads them (a list of runs: "{id,id}"); arguments that are not named, or are
 * NULL, have their defaults. A verb that returns one value gives one row with a column of the verb's name. The caller frees
 * rows, which may be NULL if they are not wanted.
 *
 * PAWL_EINVAL: no such verb or argument. PAWL_ETOOLARGE: more than 1 GB of values. Others as the verb raises them. Verbs that
 * change something are sent once only: if the
 * reply is lost the answer is PAWL_EUNKNOWN. What a second call then does, docs/sql-api.md says for each verb under "Twice":
 * approve and reject, for one, would decide the next wait of that name.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_call(pawl_client *client, const char *verb,
    const char *const *names, const char *const *values, size_t count, pawl_rows **rows,
    pawl_error **error);

/* How many rows there are. */
PAWL_API PAWL_MUST_USE size_t pawl_rows_count(const pawl_rows *rows);

/* How many columns there are. */
PAWL_API PAWL_MUST_USE size_t pawl_rows_column_count(const pawl_rows *rows);

/* The name of a column, from 0, borrowed, or NULL beyond the last. */
PAWL_API PAWL_MUST_USE const char *pawl_rows_column_name(const pawl_rows *rows, size_t column);

/* The text in a row and column, borrowed; NULL for a null, an unknown column or a row beyond the last. */
PAWL_API PAWL_MUST_USE const char *pawl_rows_text(
    const pawl_rows *rows, size_t row, const char *column);

enum {
    PAWL_TYPE_TEXT = 0, /* also ids and lists */
    PAWL_TYPE_NUMBER = 1,
    PAWL_TYPE_BOOLEAN = 2, /* t or f */
    PAWL_TYPE_JSON = 3,
    PAWL_TYPE_TIME = 4,    /* 2026-02-03 04:05:06.789+00 */
    PAWL_TYPE_INTERVAL = 5 /* 1 day 02:03:04.5 */
};

/* What the texts of a column are: one of the above. PAWL_TYPE_TEXT for an unknown column. Later releases may know more types. */
PAWL_API PAWL_MUST_USE int pawl_rows_type(const pawl_rows *rows, const char *column);

/* Frees them; NULL is fine. */
PAWL_API void pawl_rows_free(pawl_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
