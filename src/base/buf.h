/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer of bytes that grows by doubling up to a maximum that must be given. Its error is sticky: add freely, ask
 * pw_buf_ok once at the end. One thread at a time. */
#ifndef PW_BASE_BUF_H
#define PW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pw_buf_failure {
    PW_BUF_NONE = 0,
    PW_BUF_OOM,   /* no memory */
    PW_BUF_LIMIT, /* the maximum was reached, or bytes outside the content were to be patched */
};

/* data and size may be read; all else is the buffer's own. data is NULL as long as nothing was added; after that a
 * NUL that size does not count follows the content. */
struct pw_buf {
    char *data;
    size_t size;
    size_t room; /* bytes allocated, the NUL included */
    size_t max;  /* the most that size may become */
    enum pw_buf_failure failure;
};

/* Allocates nothing. */
void pw_buf_init(struct pw_buf *buf, size_t max);

/* Frees the memory and leaves the buffer as after init, ready for use. */
void pw_buf_done(struct pw_buf *buf);

/* Empties the buffer and forgets its error; the memory is kept for what comes next. */
void pw_buf_clear(struct pw_buf *buf);

/* These add all of what is given, or nothing and set the failure. After a failure they do nothing. Data may be NULL
 * if size is 0, and must not be part of the buffer itself. */
void pw_buf_add(struct pw_buf *buf, const void *data, size_t size);
void pw_buf_adds(struct pw_buf *buf, const char *text);
void pw_buf_addc(struct pw_buf *buf, char c);

/* Works like printf, so the locale of the program affects floating-point numbers: add those with pw_json_double. */
void pw_buf_addf(struct pw_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a number in network byte order, as libpq's binary parameters want it. */
void pw_buf_add_be32(struct pw_buf *buf, uint32_t value);

/* Overwrites four bytes that were added before, for a length that is known only later. */
void pw_buf_put_be32(struct pw_buf *buf, size_t offset, uint32_t value);

/* True if everything that was to be added since init or clear is there. */
bool pw_buf_ok(const struct pw_buf *buf);

/* The content as a string: never NULL, valid until the next change. It ends early if a NUL was added. */
const char *pw_buf_text(const struct pw_buf *buf);

#endif
