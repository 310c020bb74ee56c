/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of pawl top that calls the database, so that the program answers keys while the thread waits. A descriptor is readable when
 * there is something new. The caller reads the results between lock and unlock. Neither the thread nor the caller waits for the database
 * while it holds the lock.
 */
#ifndef PW_CLI_TOP_TOP_ASKER_H
#define PW_CLI_TOP_TOP_ASKER_H

#include "cli/top/top_look.h"

struct top_asker;

/* The results to draw. Borrowed until top_asker_unlock(). */
struct top_found {
    const struct top_view *view;
    const pawl_rows *run; /* the open run; NULL: none, or not asked yet */
    const pawl_rows *why;
    const char *trouble; /* the error of the database, or "" */
    int64_t trouble_us;  /* since when, on the clock of pw_now_us() */
    const char *answer;  /* to the last action, or "" */
    int64_t asking_us;   /* since when the thread waits for the database; -1: it does not */
};

/* Starts the thread, which then owns the client and the look. The look must have its first view. Returns NULL if that fails. */
struct top_asker *top_asker_start(pawl_client *client, struct top_look *look);

/* Readable when there is something new. */
int top_asker_fd(const struct top_asker *asker);

void top_asker_lock(struct top_asker *asker, struct top_found *found);
void top_asker_unlock(struct top_asker *asker);

/* Sets the list and the open run (NULL: none). Both are asked for at once. */
void top_asker_want(struct top_asker *asker, enum top_list list, const char *run_id);

/* Stops or resumes asking. */
void top_asker_pause(struct top_asker *asker, bool paused);

/* Calls a verb for a run: cancel or retry. */
void top_asker_do(struct top_asker *asker, const char *verb, const char *run_id);

/* Ends the thread and frees everything. Returns false if a call hangs: the thread still runs, and the program must end without it. */
bool top_asker_stop(struct top_asker *asker);

#endif
