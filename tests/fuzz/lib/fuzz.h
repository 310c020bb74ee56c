/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz targets are made of. A target is one function that is given bytes, lets a parser of ours read them, and checks what came
 * of it; tests/fuzz/run lets libFuzzer find bytes, and suite fuzz gives it those that were found before.
 */
#ifndef PAWL_FUZZ_H
#define PAWL_FUZZ_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The target. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A wrong answer ends the program, so that whoever calls it keeps the bytes. */
void fuzz_check(bool good, const char *what);

/* The bytes of one input that have not been taken yet. */
struct fuzz_input {
    const char *at;
    const char *end;
};

struct fuzz_input fuzz_input(const uint8_t *data, size_t size);

/* The next byte; 0 beyond the end. */
unsigned char fuzz_byte(struct fuzz_input *input);

/* The next line without its end, and all that is left, as texts that the caller frees. A line beyond the end is NULL. */
char *fuzz_line(struct fuzz_input *input);
char *fuzz_rest(struct fuzz_input *input);

/*
 * Rows as the database could answer, with these columns, all text; names ends with NULL. Each line is the next value, \N is null, and a line
 * that is only a dot ends the rows. The caller calls pawl_rows_free().
 */
pawl_rows *fuzz_rows(struct fuzz_input *input, const char *const *names);

/* The same with columns that the first line names, as "name:type name:type", types as PostgreSQL numbers them. */
pawl_rows *fuzz_typed_rows(struct fuzz_input *input);

/* What is printed from now on to standard output and standard error is kept; then what that was, which nobody may obey: see below. */
struct fuzz_printed {
    FILE *out;
    FILE *was_out;
    FILE *was_err;
    char *text;
    size_t size;
};

void fuzz_print_begin(struct fuzz_printed *printed);
void fuzz_print_end(struct fuzz_printed *printed);
/* The same, and nothing is looked at. */
void fuzz_print_drop(struct fuzz_printed *printed);

/* Text for a terminal has no bytes that it would obey: lines end, and that is all. */
void fuzz_check_printable(const char *text, size_t size);

#endif
