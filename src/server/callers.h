/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that call the database, with one client each, and the bounded queue of what they have to do. */
#ifndef PW_SERVER_CALLERS_H
#define PW_SERVER_CALLERS_H

#include "base/list.h"

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Something to do for a thread. act is called once. client is NULL if the database cannot be reached at the moment, and act then answers
 * that. It returns the status of what it called, from which the pool sees whether the database answers.
 */
struct job {
    struct pw_list link;
    pawl_status (*act)(struct job *job, pawl_client *client);
};

struct callers;

/* Makes threads that connect as config says when they have something to do. NULL: no memory, or no threads. */
struct callers *callers_new(const pawl_config *config, unsigned threads);

/* Ends the threads after what they do now. Jobs that wait get no client. Takes NULL. */
void callers_free(struct callers *callers);

/* Adds a job. Returns false if as many jobs as may wait do so. Safe with threads. */
bool callers_add(struct callers *callers, struct job *job);

/* How many jobs wait, and when the database has answered last, on the clock of pw_now_us(); 0: never. */
size_t callers_waiting(struct callers *callers);
int64_t callers_answered_us(struct callers *callers);

/* Whether a job waits or is in progress. */
bool callers_busy(struct callers *callers);

#endif
