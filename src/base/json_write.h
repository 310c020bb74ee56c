/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON into a buffer: single values, and a small writer that sets commas itself. Errors are sticky: those of
 * memory and size in the buffer, those of use in the writer. Reads no JSON; Postgres does that. */
#ifndef PW_BASE_JSON_WRITE_H
#define PW_BASE_JSON_WRITE_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Single values. */

/* A string with quotes and escapes. A byte that belongs to no UTF-8 character becomes U+FFFD; a NUL becomes \u0000,
 * which Postgres' json keeps but cannot turn into text. */
void pw_json_string(struct pw_buf *buf, const char *data, size_t size);
void pw_json_int(struct pw_buf *buf, int64_t value);

/* The shortest form that reads back as the same number, in any locale. What JSON cannot say (infinite, not a number)
 * is written as null. */
void pw_json_double(struct pw_buf *buf, double value);

/* The writer. */

enum {
    PW_JSON_WRITER_DEPTH = 16
};

/* All fields are the writer's own. */
struct pw_json_writer {
    struct pw_buf *buf;
    unsigned depth;                  /* objects and arrays that are open */
    bool comma;                      /* something stands before in what is open */
    bool keyed;                      /* a key was written and waits for its value */
    bool misused;                    /* sticky: what was asked for would not be JSON */
    char open[PW_JSON_WRITER_DEPTH]; /* '{' or '[' */
};

/* Writes at the end of buf, which must live as long as the writer. Makes one value: usually an object. */
void pw_json_writer_init(struct pw_json_writer *w, struct pw_buf *buf);

/* kind is '{' or '['; close writes the other half of what was opened last. */
void pw_json_open(struct pw_json_writer *w, char kind);
void pw_json_close(struct pw_json_writer *w);

/* The name of the next value; required inside an object, and not allowed elsewhere. */
void pw_json_key(struct pw_json_writer *w, const char *name);

/* Values: in an object after a key, in an array at any time, or a single one outside both. */
void pw_json_add_string(struct pw_json_writer *w, const char *data, size_t size);
void pw_json_add_text(struct pw_json_writer *w, const char *text); /* NULL is written as null */
void pw_json_add_int(struct pw_json_writer *w, int64_t value);
void pw_json_add_double(struct pw_json_writer *w, double value);
void pw_json_add_bool(struct pw_json_writer *w, bool value);
void pw_json_add_null(struct pw_json_writer *w);

/* Bytes that are JSON already; they are not looked at, but there must be some. */
void pw_json_add_raw(struct pw_json_writer *w, const char *data, size_t size);

/* True if one whole value was written, everything is closed, and the buffer is well. */
bool pw_json_ok(const struct pw_json_writer *w);

#endif
