/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as application/problem+json (RFC 9457). A client decides on the code. No payload and no token is in one. */
#ifndef PW_SERVER_API_PROBLEM_H
#define PW_SERVER_API_PROBLEM_H

#include "base/buf.h"

#include <pawl/pawl.h>
#include <stdbool.h>

struct problem {
    unsigned status; /* of HTTP; 0: there is no problem */
    const char *code;
    char sqlstate[6];
    bool retryable;
    unsigned retry_after_s; /* 0: none */
    char detail[600];
    char hint[300];
};

/* Sets a problem of the server or of the request. */
void problem_set(struct problem *problem, unsigned status, const char *code, const char *format,
    ...) __attribute__((format(printf, 4, 5)));

/* Sets the problem that a failed call means. */
void problem_set_error(struct problem *problem, pawl_status status, const pawl_error *error);

/* Sets the problem that an answer of a verb means: "refused", "busy", or the state that a run has ended in. Returns false if it is none. */
bool problem_set_answer(struct problem *problem, const char *answer, const char *reason);

/* Sets the same problem for whatever is wrong with a token, so that the answer tells nothing about it. */
void problem_set_token(struct problem *problem);

/* Sets the problem of a request that may be sent again after some seconds. */
void problem_set_later(struct problem *problem, unsigned status, const char *code, unsigned seconds,
    const char *detail);

/* Sets the problem of a request that would wait too long for the database. */
void problem_set_unavailable(struct problem *problem);

void problem_write(const struct problem *problem, struct pw_buf *out);

/* Returns what a status of HTTP is called. */
const char *problem_title(unsigned status);

#endif
