/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between a script's calls (pawl step and its kin) and the worker: four bytes of length, then a JSON object. And the two
 * forms in which a program's output becomes JSON: a string if it is text, else {"base64": …}.
 */
#ifndef PW_CLI_SCRIPT_FRAME_H
#define PW_CLI_SCRIPT_FRAME_H

#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The largest message: an output of 1 MB, escaped, and what stands around it. */
enum {
    FRAME_MAX = 2 * 1024 * 1024
};

/* Begins and ends a message at the end of buf. What is written in between is one JSON object. */
size_t frame_begin(struct pw_buf *buf, struct pw_json_writer *writer);
void frame_end(struct pw_buf *buf, struct pw_json_writer *writer, size_t start);

/* What was read and not yet taken. All zero is an empty one. */
struct frame_reader {
    char *data;
    size_t size;
    size_t room;
    size_t taken; /* bytes of the message that was returned last */
};

/* Reads what there is, once. Bytes, 0 at the end, -1 with errno; too long a message or no memory is EMSGSIZE or ENOMEM. */
ssize_t frame_read(struct frame_reader *reader, int fd);

/* The next whole message, borrowed until the next call. bad: it is no JSON. */
bool frame_next(struct frame_reader *reader, struct pw_json *message, bool *bad);
void frame_done(struct frame_reader *reader);

/* Writes an output. */
void frame_add_output(struct pw_json_writer *writer, const char *data, size_t size);

/* What an output in one of the two forms was; other JSON is its own text. Malloced; NULL: out of memory. */
char *frame_output_of(struct pw_json value, size_t *size);

#endif
