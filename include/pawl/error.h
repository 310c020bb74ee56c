/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes, and the error object that explains one. */
#ifndef PAWL_ERROR_H
#define PAWL_ERROR_H

#include <pawl/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The result of a call: 0 or one of the codes below. Later releases add codes and never change one;
 * treat an unknown code like PAWL_EDATABASE. An int, so that its size never depends on the list.
 */
typedef int pawl_status;

/*
 * Two codes have several meanings, one for each kind of call.
 *
 * PAWL_ETIMEOUT:
 *   pawl_wait_event(), pawl_wait_signal() and pawl_wait_approval()   the wait timed out
 *   pawl_client_wait(), pawl_client_wait_any()                       the run has not ended
 *   pawl_client_follow()                                             the run has no new notes
 *   pawl_worker_next(), pawl_worker_notice(),                        no run, no notice, no line yet
 *   pawl_worker_log_next()
 *   pawl_worker_stop(), pawl_worker_run()                            runs were still executing, or
 *                                                                    not recorded
 *   pawl_run_check()                                                 the step or the run exceeded
 *                                                                    its time limit
 *   pawl_step() and the other calls that begin a step                the run exceeded its time limit
 *
 * A handler that does something else after a timed-out wait must know which of the two has timed out.
 * pawl_run_check() returns PAWL_ETIMEOUT if the run did, else PAWL_OK.
 *
 * PAWL_EREFUSED:
 *   pawl_wait_approval()   a person rejected the approval
 *   calls of a client      the run is in another state, mostly because it has ended; or an operator
 *                          refuses triggers for a while: then pawl_error_retryable() is true
 */
enum {
    PAWL_OK = 0,
    PAWL_EINVAL = 1,      /* a bad argument, a wrong order, or an object from before a fork */
    PAWL_ENOMEM = 2,      /* out of memory: nothing was sent or recorded */
    PAWL_ECONN = 3,       /* no connection to the database */
    PAWL_ETIMEOUT = 4,    /* the time has passed; see above */
    PAWL_ENOTFOUND = 5,   /* no such run, workflow, queue or worker; no such JSON value */
    PAWL_ECONFLICT = 6,   /* the key was used with another input */
    PAWL_EREFUSED = 7,    /* rejected by a person, or the run is in another state; see above */
    PAWL_ELEASE_LOST = 8, /* the run belongs to another worker now; drop it */
    PAWL_ECANCELLED = 9,  /* the run was cancelled */
    PAWL_ETOOLARGE = 10,  /* a payload, name or list is over its limit, or a value does not fit */
    PAWL_EBUSY = 11,      /* another transaction holds it; call again */
    PAWL_EFORBIDDEN = 12, /* the database role may not do this */
    PAWL_ESCHEMA = 13,    /* pawl is not installed there, or speaks another protocol */
    PAWL_EUNKNOWN = 14,   /* the outcome is unknown; ask, or repeat with the same id or key */
    PAWL_EDATABASE = 15,  /* another error of the database */
    PAWL_ERUN = 16,       /* the run, or the child, ended with its own error */
    /* For handlers. */
    PAWL_EFAILED = 20,    /* the step, or the run, failed; the retry policy decides what follows */
    PAWL_EPERMANENT = 21, /* it failed, and must not be retried */
    PAWL_SUSPENDED = 22,  /* the run waits for something; return this from the handler */
    PAWL_EXECUTE = 23,    /* the step has no record yet: execute it, then finish it */
    PAWL_PENDING = 24,    /* not durable yet: pawl_worker_next() will return this run again */
    PAWL_DRAINED = 25     /* the worker is drained: there will be no more runs */
};

/*
 * Explains a status. A call that fails makes it, if the caller passes the address of a pawl_error
 * pointer as the last argument. The caller frees it. That address may be NULL; the pointer need not
 * be set before the call, and is NULL after a call that succeeds. Threads must not share it.
 */
typedef struct pawl_error pawl_error;

/*
 * Returns the status of the error; PAWL_OK for NULL. It is PAWL_ENOMEM if there was no memory for the
 * object itself: decide by the status that the call returned.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_error_code(const pawl_error *error);

/*
 * Returns what failed: lower case, no full stop, never a payload or a password. Borrowed; "" for
 * NULL.
 */
PAWL_API PAWL_MUST_USE const char *pawl_error_message(const pawl_error *error);

/* Returns what to do next, as a sentence, or "". Borrowed. */
PAWL_API PAWL_MUST_USE const char *pawl_error_hint(const pawl_error *error);

/* Returns the five characters of PostgreSQL or pawl (PW001 …), or "". Borrowed. */
PAWL_API PAWL_MUST_USE const char *pawl_error_sqlstate(const pawl_error *error);

/* Returns the JSON error of a failed run or step (PAWL_ERUN, PAWL_EFAILED), or empty. Borrowed. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_error_detail(const pawl_error *error);

/*
 * Returns 1 if the same call can succeed later without a change and without taking effect twice, else
 * 0.
 */
PAWL_API PAWL_MUST_USE int pawl_error_retryable(const pawl_error *error);

/* Frees error, which may be NULL. */
PAWL_API void pawl_error_free(pawl_error *error);

/* Returns the name of a status, "PAWL_EINVAL"; "unknown" for other numbers. Static; thread-safe. */
PAWL_API PAWL_MUST_USE const char *pawl_status_name(pawl_status status);

/* Returns a short description of a status, such as "out of memory". Static; thread-safe. */
PAWL_API PAWL_MUST_USE const char *pawl_status_text(pawl_status status);

#ifdef __cplusplus
}
#endif

#endif
