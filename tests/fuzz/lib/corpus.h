/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the inputs of a fuzz target, tests/fuzz/corpus/TARGET.txt. tests/fuzz/pack writes that file and describes its form.
 */
#ifndef PAWL_FUZZ_CORPUS_H
#define PAWL_FUZZ_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

/* One input. Both are inside the line that it was read from. */
struct fuzz_entry {
    const char *name; /* ends with a zero byte */
    const char *data;
    size_t size;
};

/*
 * Reads one line without its newline, and replaces its escapes in place. Returns false if the line is malformed; its bytes are undefined then.
 */
bool fuzz_corpus_line(char *line, size_t size, struct fuzz_entry *entry);

#endif
