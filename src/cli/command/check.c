/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/check.h"

#include "base/text.h"
#include "base/uuid.h"
#include "cli/command/run_id.h"
#include "cli/report/exit.h"
#include "cli/show/time_text.h"

#include <float.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
    NAME_MAX_SIZE = 200, /* of a workflow's name */
    WORD_MAX = 60,       /* a longer word has no nearest */
};

bool
check_is_run_id(const char *value)
{
    struct pw_uuid id;

    return pw_uuid_parse(value, &id);
}

/* A workflow's name is dotted and in lower case; a pattern may end in *. */
static bool
is_workflow(const char *value, bool pattern)
{
    size_t size = strlen(value);
    bool begins = true; /* at the beginning of a part between dots */

    if (pattern && size > 0 && value[size - 1] == '*') {
        size--;
        if (size == 0)
            return true;
        if (value[size - 1] == '.')
            size--;
    }
    if (size > NAME_MAX_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (value[i] == '.' ? begins
                            : strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", value[i]) == NULL)
            return false;
        begins = value[i] == '.';
    }
    return !begins;
}

const char *
check_choice(const char *choices, const char *value, size_t *size)
{
    *size = strlen(value);
    while (choices != NULL && *choices != '\0') {
        size_t length = strcspn(choices, " ");

        if (length == *size && strncasecmp(choices, value, length) == 0)
            return choices;
        choices += length;
        choices += strspn(choices, " ");
    }
    return NULL;
}

static bool
is_number(const char *value, bool whole)
{
    int64_t integer;
    double real;

    return whole ? pw_parse_i64(value, INT64_MIN, INT64_MAX, &integer)
                 : pw_parse_double(value, -DBL_MAX, DBL_MAX, &real);
}

/* dashes: "--" for an option, whose value may be a pattern, too. */
static int
check(enum kind kind, const char *dashes, const char *name, const char *choices, const char *value)
{
    int64_t us; /* or a count; only read to check it */
    size_t size;

    switch ((int)kind) {
    case KIND_CHOICE:
        if (choices == NULL || check_choice(choices, value, &size) != NULL)
            return EXIT_OK;
        return exit_saying(EXIT_USAGE, NULL, "%s%s is one of: %s", dashes, name, choices);
    case KIND_NUMBER:
    case KIND_REAL:
        if (is_number(value, kind == KIND_NUMBER))
            return EXIT_OK;
        return exit_saying(
            EXIT_USAGE, NULL, "%s%s takes a number, not \"%s\"", dashes, name, value);
    case KIND_COUNT:
        if (pw_parse_i64(value, 1, INT64_MAX, &us))
            return EXIT_OK;
        return exit_saying(EXIT_USAGE, NULL, "%s%s takes a whole number of at least 1, not \"%s\"",
            dashes, name, value);
    case KIND_DURATION:
        if (time_text_duration_ms(value) >= 0)
            return EXIT_OK;
        return exit_saying(EXIT_USAGE, "Write 250ms, 30s, 10m, 1h30m or 7d.",
            "%s%s takes a duration, not \"%s\"", dashes, name, value);
    case KIND_TIME:
        if (time_text_read(value, 0, false, &us))
            return EXIT_OK;
        return exit_saying(EXIT_USAGE,
            "Write \"2026-02-03 04:05\", 04:05, yesterday, or a duration such as 2h.",
            "%s%s takes a time, not \"%s\"", dashes, name, value);
    case KIND_RUN:
        if (check_is_run_id(value) || run_id_is_beginning(value))
            return EXIT_OK;
        return exit_saying(EXIT_USAGE,
            "Write the id, or at least 6 digits that it begins with. pawl run list shows runs with "
            "their ids.",
            "not a run id: \"%s\"", value);
    case KIND_ID:
        if (check_is_run_id(value))
            return EXIT_OK;
        return exit_saying(EXIT_USAGE, "Give the id as the list printed it.",
            "%s%s takes a whole id, not \"%s\"", dashes, name, value);
    case KIND_WORKFLOW:
        if (is_workflow(value, dashes[0] != '\0'))
            return EXIT_OK;
        return exit_saying(EXIT_USAGE,
            "Names are dotted and lower case, of a-z, 0-9, _ and -, at most 200 characters: "
            "billing.invoice.v1",
            "not a workflow name: \"%s\"", value);
    default: /* the database knows what is right */
        break;
    }
    return EXIT_OK;
}

int
check_option(const struct option *option, const char *value)
{
    return check(option->kind, "--", option->name, option->choices, value);
}

int
check_operand(const struct operand *operand, const char *value)
{
    return check(operand->kind, "", operand->value, operand->choices, value);
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns how many letters must be changed, added, left out or swapped to make one word of the other. */
static size_t
distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t a_size = strlen(a);
    size_t b_size = strlen(b);

    if (a_size > WORD_MAX || b_size > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *higher = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(
                least(above[j] + 1, row[j - 1] + 1), above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], higher[j - 2] + 1);
        }
    }
    return rows[a_size % 3][b_size];
}

const char *
check_nearest(const char *word, const char *const *words)
{
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 1;

    for (; *words != NULL; words++) {
        size_t this_one = distance(word, *words);

        if (this_one < best || (this_one == best && nearest == NULL)) {
            best = this_one;
            nearest = *words;
        }
    }
    return nearest;
}
