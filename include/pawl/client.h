/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of producers and operators: trigger runs, wait for them, signal them, inspect them. All block. */
#ifndef PAWL_CLIENT_H
#define PAWL_CLIENT_H

#include <pawl/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A connection to one database. One thread at a time may use it; a call while another call is in
 * flight returns PAWL_EINVAL. The next call reopens a broken connection.
 *
 * Lost replies: the library resends some calls until the setting call_timeout has passed, and they
 * take effect once. These are triggers and events, whose ids the client makes before it sends them,
 * cancels, and all calls that only read. Signals, and verbs of pawl_client_call() that change
 * something, are sent once.
 *
 * Repeated calls are different. A cancel, and a trigger with a key or an id, may be repeated. A
 * trigger without either makes a second run. An emit, a signal, an approval or a rejection makes a
 * second event, signal or decision, which the next wait of that name takes.
 *
 * Every call can return PAWL_ECONN (no connection within call_timeout), PAWL_EFORBIDDEN,
 * PAWL_ESCHEMA, PAWL_ENOMEM, PAWL_EDATABASE or PAWL_EUNKNOWN.
 *
 * PAWL_EUNKNOWN means that the call was sent and its outcome is unknown. Or the server committed it
 * and warned that its standby may not have it. pawl_error_retryable() then returns 1 only if the call
 * may be repeated. Other errors are named at each call.
 */
typedef struct pawl_client pawl_client;

/*
 * Connects. config may be NULL for default settings. Unlike later calls it tries once, for at most the
 * setting connect_timeout, so that wrong settings are reported at once. The caller closes the client.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_open(
    const pawl_config *config, pawl_client **client, pawl_error **error);

/* Disconnects and frees client, which may be NULL. In a child process after fork() it only frees. */
PAWL_API void pawl_client_close(pawl_client *client);

/*
 * Makes all later calls of this client act as a token: with the rights and the tenant of the token, which
 * narrow those of the database role. For servers that call on behalf of others. digest is the SHA-256 of
 * the text of the token, 32 bytes, and is copied; an empty digest ends the acting. Sends nothing.
 *
 * Each later call sends pawl.act_as_token() with its statement, in the same transaction and round trip,
 * also when the library resends it. So the database decides at each call: a token that was revoked is
 * refused from then on. The call then returns PAWL_EFORBIDDEN with the SQLSTATE 28000; a token without
 * the right for a call gets PAWL_EFORBIDDEN with another SQLSTATE. The verb tick returns PAWL_EINVAL.
 *
 * Returns PAWL_EINVAL if digest has another size; the client then acts as before.
 *
 * Tests: tests/integration/tokens
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_act_as_token(
    pawl_client *client, pawl_bytes digest, pawl_error **error);

/*
 * The arguments of a trigger: a workflow, and one input or many. One thread at a time may use it, for
 * any number of calls.
 */
typedef struct pawl_trigger pawl_trigger;

/* Makes a trigger of this workflow; returns NULL if out of memory. Free it with pawl_trigger_free(). */
PAWL_API PAWL_MUST_USE pawl_trigger *pawl_trigger_new(const char *workflow);

/* Frees trigger, which may be NULL. */
PAWL_API void pawl_trigger_free(pawl_trigger *trigger);

/*
 * Sets an option. value is copied; NULL unsets the option. The call that uses the trigger reports an
 * invalid option:
 *   key                 1 to 500 characters, at most 1,000 bytes
 *   tenant              at most 200 bytes
 *   priority            0 to 32767
 *   delay_ms            at most ten years
 *   metadata            JSON
 *   id                  a run id that you made or that a call returned; within an hour
 *   key_ttl_ms          how long the key holds
 *   key_while_active    on or off
 *   limit_key           at most 500 characters; only so many runs with the same key are held
 *                       at a time as the workflow's key_limit says
 *   tags                JSON array of up to 8 texts of up to 100 bytes, which runs are found by
 *   expires_ms          end the run as expired if no worker claims it within this time of being due
 *   replace             on: if a run with this key has not begun, it gets this input; if it has, it
 *                       is cancelled, and a new run begins
 *   debounce_ms         wait this long for a later trigger with this key, whose input counts then
 *   debounce_max_ms     how long the run waits for later triggers at most
 */
PAWL_API void pawl_trigger_set(pawl_trigger *trigger, const char *option, const char *value);

/*
 * Sets the input, which is JSON and is copied. The default is {}. The call that uses the trigger
 * reports an invalid input.
 */
PAWL_API void pawl_trigger_set_input(pawl_trigger *trigger, pawl_bytes input);

/*
 * Adds one run for pawl_client_trigger_many(). An empty input means {}; key may be NULL. Both are
 * copied. At most 10,000 runs and 512 MB of inputs and keys.
 */
PAWL_API void pawl_trigger_add(pawl_trigger *trigger, pawl_bytes input, const char *key);

/* Removes all runs that were added. */
PAWL_API void pawl_trigger_clear(pawl_trigger *trigger);

enum {
    PAWL_CREATED = 1, /* this call made the run; without it, a run with this key existed before */
    PAWL_HANDLED = 2  /* a live worker handles the workflow */
};

/*
 * Triggers one run. run_id may be NULL, or points to at least PAWL_ID_SIZE bytes. flags may be NULL,
 * or receives PAWL_CREATED and PAWL_HANDLED.
 *
 * Returns PAWL_OK if the run is durable.
 * Returns PAWL_ENOTFOUND if there is no such workflow.
 * Returns PAWL_ECONFLICT if the key was used with another input.
 * Returns PAWL_ETOOLARGE or PAWL_EINVAL for an invalid option or input. An input has at most 1 MB, 64
 * levels and 10,000 keys.
 * Returns PAWL_EUNKNOWN if the outcome is unknown. run_id is then set to the id that the run has if it
 * was made; with a key the run can have another id.
 *
 * After PAWL_EUNKNOWN, call again with that id as the option id, within an hour, or with the key: this
 * is always right. It is not enough to look for the run: while the first call is in flight, a missing run
 * can still appear. pawl_error_retryable() returns 1 if the trigger has an id, or a
 * key without key_while_active.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_trigger(pawl_client *client,
    const pawl_trigger *trigger, char *run_id, uint32_t *flags, pawl_error **error);

/*
 * Triggers all runs that were added, in one transaction: all or none. run_ids may be NULL, or points
 * to PAWL_ID_SIZE bytes for each run, one after the other, in their order. flags may be NULL, or
 * points to one number for each run. Returns errors as pawl_client_trigger() does. After
 * PAWL_EUNKNOWN run_ids is set, too, and pawl_error_retryable() returns 1 if every run has a key.
 *
 * For 100 runs, where ids[7] becomes the id of the eighth:
 *
 *   char ids[100][PAWL_ID_SIZE];
 *   uint32_t flags[100];
 *   status = pawl_client_trigger_many(client, trigger, ids[0], flags, &error);
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_trigger_many(pawl_client *client,
    const pawl_trigger *trigger, char *run_ids, uint32_t *flags, pawl_error **error);

/*
 * Blocks until a run has ended, for at most timeout_ms. 0 checks once; a negative time is PAWL_EINVAL.
 *
 * Returns PAWL_OK if the run ended SUCCESS. Sets output, which may be NULL, to its output, borrowed
 * until the next call on this client.
 * Returns PAWL_ERUN if it ended ERROR; the error has its message and, as detail, its JSON.
 * Returns PAWL_ECANCELLED if it was cancelled.
 * Returns PAWL_ETIMEOUT if it has not ended.
 * Returns PAWL_ENOTFOUND if there is no such run.
 * Returns PAWL_ECONN if the database was unavailable when timeout_ms had passed; until then, the call
 * waits for the database.
 *
 * Polls less and less often: each pause is half as long again as the last one, up to the setting
 * wait_poll.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_wait(pawl_client *client, const char *run_id,
    int64_t timeout_ms, pawl_bytes *output, pawl_error **error);

/* Rows that a call returned. They do not depend on the client; any number of threads may read them. */
typedef struct pawl_rows pawl_rows;

/*
 * Blocks until at least one of count runs has ended, for at most timeout_ms; 0 checks once. So one client
 * waits for many runs. count is 1 to 1,000. Polls as pawl_client_wait() does, with one query for all runs.
 *
 * Returns PAWL_OK and sets rows to one row for each run that has ended, with the columns run_id, status
 * (SUCCESS, ERROR or CANCELLED), output and error. An id without a run has the status NOT_FOUND, so that
 * no caller waits for it. Rows have at most 64 MB, or one run: call again without the runs that you have.
 * The caller frees rows.
 * Returns PAWL_ETIMEOUT if none of them has ended.
 * Returns PAWL_EINVAL if an id is malformed, count is out of range or timeout_ms is negative.
 * Returns PAWL_ECONN as pawl_client_wait() does.
 *
 * Tests: tests/integration/client_verbs:one_client_waits_for_many_runs
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_wait_any(pawl_client *client,
    const char *const *run_ids, size_t count, int64_t timeout_ms, pawl_rows **rows,
    pawl_error **error);

/*
 * Blocks until a run has notes after a number, or has ended, for at most timeout_ms; 0 checks once. Notes
 * are log lines, progress, and what steps stream while they are executed (pawl_step_stream()). after is
 * the last note_no that the caller has seen, 0 at the beginning: a caller that remembers it continues
 * where it was, also in another process. task is 0, or the number of a flow's task.
 *
 * Returns PAWL_OK and sets rows to at most 1,000 notes in order, with the columns of pawl.follow(). The
 * last row has no note_no, but the status of the run, if these are all notes that there are now; the run
 * has no further notes if that is SUCCESS, ERROR or CANCELLED. The caller frees rows.
 * Returns PAWL_ETIMEOUT if there is nothing new.
 * Returns PAWL_ENOTFOUND if there is no such run.
 * Returns PAWL_ECONN as pawl_client_wait() does.
 *
 * Polls 100 ms after the note that was seen last, then less and less often, down to once a second. Each
 * call starts at 100 ms, so a reader that waits gives a timeout of many seconds.
 *
 * Tests: tests/integration/streams
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_follow(pawl_client *client, const char *run_id,
    int64_t after, int task, int64_t timeout_ms, pawl_rows **rows, pawl_error **error);

/*
 * Sends a signal to a run. An empty payload means {}. Sent once; a repeated call sends a second
 * signal.
 *
 * Returns PAWL_ENOTFOUND, PAWL_EREFUSED if the run has ended, PAWL_ECANCELLED, or PAWL_ETOOLARGE.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_signal(pawl_client *client, const char *run_id,
    const char *name, pawl_bytes payload, pawl_error **error);

/*
 * Emits an event under topic (1 to 200 characters) and key (at most 500 characters). key may be "" or
 * NULL for none; tenant may be NULL. An empty payload means {}. The event is stored once, even if the
 * library sends the call twice; a repeated call stores a second event.
 *
 * Returns PAWL_EINVAL or PAWL_ETOOLARGE for invalid arguments.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_emit(pawl_client *client, const char *topic,
    const char *key, const char *tenant, pawl_bytes payload, pawl_error **error);

enum {
    PAWL_ROLLBACK = 1 /* execute the undos of the cancelled run */
};

/*
 * Cancels a run permanently. why may be NULL. flags is 0 or PAWL_ROLLBACK.
 *
 * Returns PAWL_OK, even if the run was cancelled before. The first cancel decides: PAWL_ROLLBACK then
 * changes nothing.
 * Returns PAWL_ENOTFOUND if there is no such run.
 * Returns PAWL_EREFUSED if the run has ended in another way, or has failed and is ending.
 * Returns PAWL_EBUSY if another transaction holds the run.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_cancel(
    pawl_client *client, const char *run_id, const char *why, uint32_t flags, pawl_error **error);

/*
 * Ends the backoffs, the delay and the sleeps of a run now, so that it continues at once. A sleep is
 * recorded as slept. step, which may be NULL, limits that to the step of this name; why may be NULL.
 * The role needs the privilege set operator. Sent once: a second call would end what the run waits for
 * by then.
 *
 * Returns PAWL_OK if it did, or if the run is queued already.
 * Returns PAWL_EREFUSED if a worker holds the run, or it waits for something else. The same applies
 * to a run that is paused, is ending or has ended; the error names the reason.
 * Returns PAWL_ENOTFOUND if there is no such run.
 * Returns PAWL_EBUSY if another transaction held the run for two seconds. Call again.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_wake(
    pawl_client *client, const char *run_id, const char *step, const char *why, pawl_error **error);

/*
 * Calls any other verb of the SQL interface that producers, operators and readers have. Verb and
 * arguments are given by name:
 *
 *   pawl_client_call(client, "list_runs", names, values, 2, &rows, &error);
 *
 * docs/sql-api.md has the names of verbs, arguments and columns. Values are texts as PostgreSQL reads
 * them; a list of runs is "{id,id}". Arguments that are not named, or are NULL, have their defaults.
 * A verb that returns one value returns one row with a column of the verb's name. rows may be NULL;
 * otherwise the caller frees rows.
 *
 * Returns PAWL_EINVAL if there is no such verb or argument.
 * Returns PAWL_ETOOLARGE if the values have more than 1 GB.
 * Returns other errors as the verb raises them.
 * Returns PAWL_EUNKNOWN if the reply is lost and the verb changes something: such verbs are sent once.
 * docs/sql-api.md describes a second call of each verb under "If repeated". For example, approve and
 * reject would decide the next wait of that name.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_client_call(pawl_client *client, const char *verb,
    const char *const *names, const char *const *values, size_t count, pawl_rows **rows,
    pawl_error **error);

/* Returns the number of rows. */
PAWL_API PAWL_MUST_USE size_t pawl_rows_count(const pawl_rows *rows);

/* Returns the number of columns. */
PAWL_API PAWL_MUST_USE size_t pawl_rows_column_count(const pawl_rows *rows);

/* Returns the name of a column, from 0, borrowed, or NULL beyond the last column. */
PAWL_API PAWL_MUST_USE const char *pawl_rows_column_name(const pawl_rows *rows, size_t column);

/*
 * Returns the text in a row and column, borrowed. Returns NULL for a null, an unknown column or a row
 * beyond the last.
 */
PAWL_API PAWL_MUST_USE const char *pawl_rows_text(
    const pawl_rows *rows, size_t row, const char *column);

enum {
    PAWL_TYPE_TEXT = 0, /* including ids */
    PAWL_TYPE_NUMBER = 1,
    PAWL_TYPE_BOOLEAN = 2, /* t or f */
    PAWL_TYPE_JSON = 3,
    PAWL_TYPE_TIME = 4,     /* 2026-02-03 04:05:06.789+00 */
    PAWL_TYPE_INTERVAL = 5, /* 1 day 02:03:04.5 */
    PAWL_TYPE_LIST = 6      /* of texts: {shop.*,"a b"} */
};

/*
 * Returns the type of the texts in a column: one of the above, PAWL_TYPE_TEXT for an unknown column.
 * Later releases may add types.
 */
PAWL_API PAWL_MUST_USE int pawl_rows_type(const pawl_rows *rows, const char *column);

/* Frees rows, which may be NULL. */
PAWL_API void pawl_rows_free(pawl_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
