/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes, and the error object that explains one. */
#ifndef PAWL_ERROR_H
#define PAWL_ERROR_H

#include <pawl/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a call came to: 0 or one of the codes below. Codes are added in later releases and never change; treat one that you do
 * not know like PAWL_EDATABASE. An int, so that its size never depends on the list.
 */
typedef int pawl_status;

/*
 * Two codes have several meanings, one for each kind of call:
 *   PAWL_ETIMEOUT   pawl_wait_event() and its like: nothing came. pawl_client_wait(): the run has not ended. pawl_worker_next():
 *                   no run yet. pawl_worker_stop(), pawl_worker_run(): runs were still executing, or not written down.
 *                   pawl_run_check(): the step or the run has used up its time; pawl_step() and its like: the run has. In a
 *                   handler that wants to do something else after a wait, pawl_run_check() tells the two apart: if the run
 *                   has used up its time it says so, else PAWL_OK.
 *   PAWL_EREFUSED   pawl_wait_approval(): a person has rejected it. Of a client: the run is not in a state that allows this,
 *                   mostly because it has ended.
 */
enum {
    PAWL_OK = 0,
    PAWL_EINVAL = 1,      /* a bad argument, a wrong order, or an object from before a fork */
    PAWL_ENOMEM = 2,      /* out of memory: nothing was sent or recorded */
    PAWL_ECONN = 3,       /* no connection to the database */
    PAWL_ETIMEOUT = 4,    /* the time given is over; see above */
    PAWL_ENOTFOUND = 5,   /* no such run, workflow, queue or worker; no such place in JSON */
    PAWL_ECONFLICT = 6,   /* the key was used with another input */
    PAWL_EREFUSED = 7,    /* a person rejected it, or the run is in another state; see above */
    PAWL_ELEASE_LOST = 8, /* the run belongs to another worker now; drop it */
    PAWL_ECANCELLED = 9,  /* the run was cancelled */
    PAWL_ETOOLARGE = 10,  /* a payload, name or list is over its limit, or a value does not fit */
    PAWL_EBUSY = 11,      /* somebody else's transaction holds it; call again */
    PAWL_EFORBIDDEN = 12, /* the database role may not do this */
    PAWL_ESCHEMA = 13,    /* pawl is not installed there, or speaks another protocol */
    PAWL_EUNKNOWN = 14,   /* it may have happened; ask, or repeat it with the same id or key */
    PAWL_EDATABASE = 15,  /* another error of the database */
    PAWL_ERUN = 16,       /* the run, or the child, ended with an error of its own */
    /* For handlers. */
    PAWL_EFAILED = 20,    /* the step, or the run, failed; the retry policy decides what follows */
    PAWL_EPERMANENT = 21, /* it failed, and is not to be tried again */
    PAWL_SUSPENDED = 22,  /* the run waits for something; return this from the handler */
    PAWL_EXECUTE = 23,    /* the step has no record yet: do it, then finish it */
    PAWL_PENDING = 24,    /* not durable yet: pawl_worker_next() will return this run again */
    PAWL_DRAINED = 25     /* the worker is drained: there will be no more runs */
};

/*
 * Explains a status. Made by a call that fails, if the caller passes the address of a pawl_error pointer as the last argument;
 * the caller frees it. Such a pointer may be NULL, and what it points to need not be set before the call; it is set to NULL if
 * the call succeeds. Not shared between threads.
 */
typedef struct pawl_error pawl_error;

/*
 * The status that came with it, but PAWL_ENOMEM if there was no memory for the object itself: decide by the status. PAWL_OK for
 * NULL.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_error_code(const pawl_error *error);

/* What failed: lower case, no full stop, never a payload or a password. Borrowed; "" for NULL. */
PAWL_API PAWL_MUST_USE const char *pawl_error_message(const pawl_error *error);

/* What to do next, as a sentence, or "". Borrowed. */
PAWL_API PAWL_MUST_USE const char *pawl_error_hint(const pawl_error *error);

/* The five characters of PostgreSQL or pawl (PW001 …), or "". Borrowed. */
PAWL_API PAWL_MUST_USE const char *pawl_error_sqlstate(const pawl_error *error);

/* The JSON error of a run or step that failed (PAWL_ERUN, PAWL_EFAILED), or no bytes. Borrowed. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_error_detail(const pawl_error *error);

/* 1 if the same call may succeed later without a change and without doing anything twice, else 0. */
PAWL_API PAWL_MUST_USE int pawl_error_retryable(const pawl_error *error);

/* Frees it; NULL is fine. */
PAWL_API void pawl_error_free(pawl_error *error);

/* The name of a status, "PAWL_EINVAL"; "unknown" for others. Static; any thread. */
PAWL_API PAWL_MUST_USE const char *pawl_status_name(pawl_status status);

/* A few words about a status, such as "a bad argument, or calls in a wrong order". Static; any thread. */
PAWL_API PAWL_MUST_USE const char *pawl_status_text(pawl_status status);

#ifdef __cplusplus
}
#endif

#endif
