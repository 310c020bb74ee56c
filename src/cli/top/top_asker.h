/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of pawl top that talks to the database, so that keys are answered while it waits. It says by a descriptor that there is
 * something new. What it found is read between lock and unlock; neither it nor the reader waits for the database meanwhile.
 */
#ifndef PW_CLI_TOP_TOP_ASKER_H
#define PW_CLI_TOP_TOP_ASKER_H

#include "cli/top/top_look.h"

struct top_asker;

/* What there is to draw. Borrowed, until unlock. */
struct top_found {
    const struct top_view *view;
    const pawl_rows *run; /* the run that is open, or NULL: not yet known */
    const pawl_rows *why;
    const char *trouble; /* what is wrong with the database, or "" */
    int64_t trouble_us;  /* since when, on the clock of pw_now_us() */
    const char *answer;  /* to the last thing that was to be done, or "" */
    int64_t asking_us;   /* since when it waits for the database; -1: it does not */
};

/* Begins to ask. The client and the look, which has its first view, belong to it from now on. NULL: it could not. */
struct top_asker *top_asker_start(pawl_client *client, struct top_look *look);

/* Readable when there is something new. */
int top_asker_fd(const struct top_asker *asker);

void top_asker_lock(struct top_asker *asker, struct top_found *found);
void top_asker_unlock(struct top_asker *asker);

/* Which list, and which run is open (NULL: none); both are asked for at once. */
void top_asker_want(struct top_asker *asker, enum top_list list, const char *run_id);

/* Asks for nothing more, or goes on. */
void top_asker_pause(struct top_asker *asker, bool paused);

/* Does a verb to a run: cancel or retry. */
void top_asker_do(struct top_asker *asker, const char *verb, const char *run_id);

/* Ends and frees it. False: a call hangs, so that it is still there, and the program must end without it. */
bool top_asker_stop(struct top_asker *asker);

#endif
