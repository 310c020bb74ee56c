/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/run_id.h"

#include "base/uuid.h"
#include "cli/command/check.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 32,      /* of an id */
    TIME_DIGITS = 12, /* of these, the milliseconds */
    VERSION_AT = 12,  /* the digit of the version, and that of the variant */
    VARIANT_AT = 16,
    CANDIDATES_MAX = 10, /* that are shown of an ambiguous beginning */
    PAGES_MAX = 20,      /* each examines up to 10,000 runs, of which a role may see none */
};

static const char ellipsis[] = "…";
static const char hex[] = "0123456789abcdef";

/* Copies the digits without dashes, in lower case. Returns how many; 0: it is not the beginning of an id. */
static size_t
read_digits(const char *text, char digits[static DIGITS + 1])
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    bool dashes = strchr(text, '-') != NULL;
    size_t count = 0;

    for (size_t i = 0; text[i] != '\0' && strcmp(text + i, ellipsis) != 0; i++) {
        if (dashes && i < sizeof(form) - 1 && form[i] == '-') {
            if (text[i] != '-')
                return 0;
            continue;
        }
        if (count == DIGITS || isxdigit((unsigned char)text[i]) == 0)
            return 0;
        digits[count++] = (char)tolower((unsigned char)text[i]);
    }
    digits[count] = '\0';
    return count;
}

bool
run_id_is_beginning(const char *text)
{
    char digits[DIGITS + 1];

    return read_digits(text, digits) >= RUN_ID_LEAST;
}

/* Writes 32 digits with dashes. */
static void
write_id(char out[static PW_UUID_TEXT_SIZE], const char digits[static DIGITS])
{
    (void)snprintf(out, PW_UUID_TEXT_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", digits, digits + 8,
        digits + 12, digits + 16, digits + 20);
}

/* The ids that begin with some digits: from a time on, and below an id. */
struct range {
    char since[TIME_TEXT_SIZE];
    char below[PW_UUID_TEXT_SIZE];
};

/* Returns false if no run can have such an id. */
static bool
find_range(const char *digits, size_t count, struct range *range)
{
    char padded[DIGITS + 1];
    int64_t ms = 0;

    if ((count > VERSION_AT && digits[VERSION_AT] != '7') ||
        (count > VARIANT_AT && strchr("89ab", digits[VARIANT_AT]) == NULL))
        return false;
    for (size_t i = 0; i < TIME_DIGITS; i++)
        ms = ms * 16 + (i < count ? strchr(hex, digits[i]) - hex : 0);
    time_text_write_stamp(range->since, ms * 1000);
    /* Below the variant, whose first bit is 1, no id has only the digit f. */
    memset(padded, count > VARIANT_AT ? '0' : 'f', DIGITS);
    padded[DIGITS] = '\0';
    memcpy(padded, digits, count);
    for (size_t i = count; count > VARIANT_AT && i > VARIANT_AT; i--) {
        const char *next = strchr(hex, padded[i - 1]) + 1;

        padded[i - 1] = *next != '\0' ? *next : '0';
        if (*next != '\0')
            break;
    }
    write_id(range->below, padded);
    return true;
}

int
run_id_search(struct invocation *invocation, const char *beginning, size_t most,
    void (*found)(void *context, const pawl_rows *rows, size_t row), void *context, bool *whole)
{
    char digits[DIGITS + 1];
    size_t count = read_digits(beginning, digits);
    struct range range = {"", ""};
    char id[PW_UUID_TEXT_SIZE];
    char left[24];
    int code = EXIT_OK;

    if (whole != NULL)
        *whole = true;
    if (count > 0 && !find_range(digits, count, &range))
        return EXIT_OK;
    memset(digits + count, '0', DIGITS - count);
    write_id(id, digits);
    /* The beginning as ids are printed: its digits and the dashes between them. */
    id[count + (count > 8) + (count > 12) + (count > 16) + (count > 20)] = '\0';
    for (int page = 0; page < PAGES_MAX && most > 0 && code == EXIT_OK; page++) {
        pawl_rows *rows = NULL;
        const char *next = NULL;

        (void)snprintf(left, sizeof(left), "%zu", most);
        code = invocation_verb(invocation, &rows, "list_runs", "cursor",
            range.below[0] != '\0' ? range.below : NULL, "since",
            range.since[0] != '\0' ? range.since : NULL, "max_rows", left, NULL);
        for (size_t row = 0; row < pawl_rows_count(rows); row++) {
            const char *run_id = pawl_rows_text(rows, row, "run_id");

            next = run_id == NULL ? pawl_rows_text(rows, row, "next_cursor") : NULL;
            if (run_id == NULL || strncmp(run_id, id, strlen(id)) != 0)
                continue;
            found(context, rows, row);
            most--;
        }
        (void)snprintf(range.below, sizeof(range.below), "%s", next != NULL ? next : "");
        pawl_rows_free(rows);
        if (range.below[0] == '\0')
            break;
    }
    if (whole != NULL)
        *whole = most == 0 || range.below[0] == '\0';
    return code;
}

/* The runs whose ids have one beginning. */
struct candidates {
    size_t count;
    char ids[CANDIDATES_MAX][PW_UUID_TEXT_SIZE];
    char what[CANDIDATES_MAX][160]; /* workflow and state */
};

static void
add_candidate(void *context, const pawl_rows *rows, size_t row)
{
    struct candidates *candidates = context;
    const char *workflow = pawl_rows_text(rows, row, "workflow");
    const char *status = pawl_rows_text(rows, row, "status");

    if (candidates->count < CANDIDATES_MAX) {
        (void)snprintf(candidates->ids[candidates->count], PW_UUID_TEXT_SIZE, "%s",
            pawl_rows_text(rows, row, "run_id"));
        (void)snprintf(candidates->what[candidates->count], sizeof(candidates->what[0]), "%s  %s",
            workflow != NULL ? workflow : "", status != NULL ? status : "");
    }
    candidates->count++;
}

static int
say_ambiguous(const char *beginning, const struct candidates *candidates)
{
    int code = exit_saying(EXIT_USAGE,
        "Write more digits of the id. These runs begin so:", "\"%s\" is ambiguous", beginning);

    for (size_t i = 0; i < candidates->count && i < CANDIDATES_MAX; i++) {
        (void)fprintf(stderr, "      %s  ", candidates->ids[i]);
        term_print(stderr, candidates->what[i]);
        (void)fputc('\n', stderr);
    }
    if (candidates->count > CANDIDATES_MAX)
        (void)fputs("      and others\n", stderr);
    return code;
}

int
run_id_complete(struct invocation *invocation, const char **text)
{
    struct candidates candidates = {0};
    bool whole = true;
    int code =
        run_id_search(invocation, *text, CANDIDATES_MAX + 1, add_candidate, &candidates, &whole);

    if (code == EXIT_FORBIDDEN)
        return exit_saying(code, NULL, "a role that may not list runs needs the whole id of a run");
    if (code != EXIT_OK)
        return code;
    /* Runs of other tenants are examined as well. If there are very many, another run with this beginning may not have been examined. */
    if (!whole && candidates.count < 2)
        return exit_saying(EXIT_USAGE, "Write more digits of the id.",
            "too many runs may begin with \"%s\" to examine all", *text);
    if (candidates.count == 0)
        return exit_saying(
            EXIT_NOT_FOUND, "pawl run list shows runs.", "no run id begins with \"%s\"", *text);
    if (candidates.count > 1)
        return say_ambiguous(*text, &candidates);
    *text = invocation_keep(invocation, strdup(candidates.ids[0]));
    return *text != NULL ? EXIT_OK : exit_saying(EXIT_OTHER, NULL, "out of memory");
}

int
run_id_complete_all(struct invocation *invocation)
{
    const struct operand *operand = invocation->command->operands;
    int code = EXIT_OK;

    for (size_t i = 0; i < invocation->operand_count && code == EXIT_OK && operand != NULL &&
         operand->kind != KIND_END;
         i++) {
        if (operand->kind == KIND_RUN && !check_is_run_id(invocation->operands[i]))
            code = run_id_complete(invocation, &invocation->operands[i]);
        if (!operand->many)
            operand++;
    }
    for (size_t i = 0; i < invocation->given_count && code == EXIT_OK; i++) {
        struct given *given = &invocation->given[i];

        if (given->option->kind == KIND_RUN && !check_is_run_id(given->value))
            code = run_id_complete(invocation, &given->value);
    }
    return code;
}
