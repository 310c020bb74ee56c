/* SPDX-License-Identifier: Apache-2.0 */
/* The error that functions inside the library fill: it lives on the caller's stack, so failing never allocates. The
 * public error object is another thing and made of this one at the border. */
#ifndef PW_BASE_ERROR_H
#define PW_BASE_ERROR_H

#include <stdbool.h>

/* All zero is "no error". Texts are cut to fit, between two characters. */
struct pw_error {
    int code;         /* one of the status codes of pawl/error.h */
    char sqlstate[6]; /* five characters, or empty if the error is not the server's */
    bool retryable;   /* the same call may succeed later */
    char message[512];
    char hint[256];
};

/* In all of these err may be NULL: the caller does not want to know. Arguments may point into *err itself, so an
 * error can be put into other words. Messages are lower case, without full stop, and never hold a payload or a
 * password; a hint is a sentence. */

/* Sets code and message and clears the rest. */
void pw_error_set(struct pw_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a hint to an error that is set. */
void pw_error_hint(struct pw_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "what: text of the error number". */
void pw_error_errno(struct pw_error *err, int code, int errnum, const char *what);

/* Out of memory; retryable. */
void pw_error_oom(struct pw_error *err);

/* Back to "no error". */
void pw_error_clear(struct pw_error *err);

#endif
