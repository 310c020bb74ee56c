/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of pawl run-script that asks the database how its run goes, so that the loop in which the script is executed never waits for
 * that. One question at a time; a descriptor says that there is an answer.
 */
#ifndef PW_CLI_EXEC_RUN_ASKER_H
#define PW_CLI_EXEC_RUN_ASKER_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_asker;

/* Whoever takes it calls run_answer_done(). */
struct run_answer {
    pawl_status
        status; /* as of pawl_client_wait(): PAWL_ETIMEOUT and PAWL_ECONN if the run has not ended, as far as is known */
    pawl_error *error;
    char *output; /* of a run that ended well, as text; NULL: none */
    size_t output_size;
    char *
        why; /* what a run waits for that is between two tries, in the words of the database; NULL: it is not, or nobody asked */
};

void run_answer_done(struct run_answer *answer);

/* The client belongs to it from now on. NULL: it could not be started, and the client is the caller's. */
struct run_asker *run_asker_start(pawl_client *client, const char *run_id);

/* Readable when there is an answer. */
int run_asker_fd(const struct run_asker *asker);

/* Asks whether the run has ended, and if not so why not. False: another question has not been answered, or its answer not been taken. */
bool run_asker_ask(struct run_asker *asker, bool also_why);

/* Takes the answer. False: there is none yet. */
bool run_asker_take(struct run_asker *asker, struct run_answer *answer);

/* Asks, and waits for the answer until then, on the clock of pw_now_us(). False: there was none. */
bool run_asker_wait(struct run_asker *asker, int64_t until_us, struct run_answer *answer);

/* Ends and frees it. False: a call hangs, so that it is still there, and the program must end without it. NULL is fine. */
bool run_asker_stop(struct run_asker *asker);

#endif
