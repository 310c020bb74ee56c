/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the worker and the calls of a script: pawl step, sleep, wait, child, set, get and retry-after. A message is four bytes
 * of length, then a JSON object. Also the two forms in which a program's output becomes JSON: a string if it is text, else {"base64": …}.
 */
#ifndef PW_CLI_SCRIPT_FRAME_H
#define PW_CLI_SCRIPT_FRAME_H

#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The largest message: an output of 1 MB, escaped, and the members around it. */
enum {
    FRAME_MAX = 2 * 1024 * 1024
};

/* Begin and end a message at the end of buf. The caller writes one JSON object in between. */
size_t frame_begin(struct pw_buf *buf, struct pw_json_writer *writer);
void frame_end(struct pw_buf *buf, struct pw_json_writer *writer, size_t start);

/* The bytes that were read and not yet returned. All zeros is an empty reader. */
struct frame_reader {
    char *data;
    size_t size;
    size_t room;
    size_t taken; /* bytes of the message that was returned last */
};

/* Reads once. Returns the number of bytes, 0 at the end, -1 with errno: EMSGSIZE for too long a message, ENOMEM if out of memory. */
ssize_t frame_read(struct frame_reader *reader, int fd);

/* Returns the next whole message, borrowed until the next call. Sets bad if it is not JSON. */
bool frame_next(struct frame_reader *reader, struct pw_json *message, bool *bad);
void frame_done(struct frame_reader *reader);

/* Writes an output in one of the two forms. */
void frame_add_output(struct pw_json_writer *writer, const char *data, size_t size);

/* Converts JSON in one of the two forms back to the output; other JSON is returned as text. Malloced; NULL: out of memory. */
char *frame_output_of(struct pw_json value, size_t *size);

#endif
