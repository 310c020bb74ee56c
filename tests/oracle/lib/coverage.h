/* SPDX-License-Identifier: Apache-2.0 */
/* Which verbs have given which answers. A comparison counts only when each has given every one it can give. */
#ifndef PAWL_ORACLE_COVERAGE_H
#define PAWL_ORACLE_COVERAGE_H

#include <stdbool.h>

enum {
    COVERAGE_ANSWERS_MAX = 512,
};

struct coverage_line {
    char verb[24];
    char answer[24];
    long count;
};

struct coverage {
    struct coverage_line lines[COVERAGE_ANSWERS_MAX];
    int lines_count;
    long calls;
};

void coverage_count(struct coverage *coverage, const char *verb, const char *answer);
void coverage_add(struct coverage *sum, const struct coverage *part);

/* How many kinds of answers have not come. */
int coverage_missing(const struct coverage *coverage);

/* Prints a line for each verb. */
void coverage_print(const struct coverage *coverage);

#endif
