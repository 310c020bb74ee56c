/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of pawl run-script that asks the database about the run, so that the loop that executes the script never waits for the
 * database. It answers one question at a time; a descriptor is readable when there is an answer.
 */
#ifndef PW_CLI_EXEC_RUN_ASKER_H
#define PW_CLI_EXEC_RUN_ASKER_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_asker;

/* The caller that takes an answer must call run_answer_done(). */
struct run_answer {
    /* That of pawl_client_wait(): PAWL_ETIMEOUT and PAWL_ECONN if the run has not ended, as far as is known. */
    pawl_status status;
    pawl_error *error;
    char *output; /* of a run that succeeded, as text; NULL: none */
    size_t output_size;
    /* The sentence of pawl.why(), for a run between two attempts. NULL: the run is not, or the question did not ask for it. */
    char *why;
};

void run_answer_done(struct run_answer *answer);

/* Starts the thread, which then owns the client. NULL: it could not be started, and the caller still owns the client. */
struct run_asker *run_asker_start(pawl_client *client, const char *run_id);

/* Readable when there is an answer. */
int run_asker_fd(const struct run_asker *asker);

/*
 * Asks whether the run has ended, and with also_why why it has not. Returns false if an earlier question has no answer yet, or its answer
 * was not taken.
 */
bool run_asker_ask(struct run_asker *asker, bool also_why);

/* Takes the answer. Returns false if there is none yet. */
bool run_asker_take(struct run_asker *asker, struct run_answer *answer);

/* Asks, and waits for an answer until until_us, on the clock of pw_now_us(). Returns false if there was none. */
bool run_asker_wait(struct run_asker *asker, int64_t until_us, struct run_answer *answer);

/*
 * Ends the thread and frees everything. Returns false if a call hangs: the thread still runs, and the program must end without it. asker
 * may be NULL.
 */
bool run_asker_stop(struct run_asker *asker);

#endif
