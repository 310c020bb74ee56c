/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bulk.h"

#include "base/buf.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 1000, /* runs in one call */
    SHOWN = 5,
    RUNS_MAX = 1000000, /* more runs are left to another call of the command */
    ANSWERS_MAX = 12,
};

static const char page_text[] = "1000";

/* Runs that were found. */
struct found {
    char (*ids)[PAWL_ID_SIZE];
    size_t count;
    size_t room;
    bool more;
};

struct answers {
    struct {
        char name[24];
        size_t count;
    } each[ANSWERS_MAX];
    size_t count;
};

/* Set by Ctrl-C or SIGTERM. A second signal ends the program at once. */
static volatile sig_atomic_t interrupted;

static void
note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void
take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
}

/* Returns true if the verb applies to a run in this state. */
static bool
applies(const char *verb, const char *status)
{
    bool ended = strcmp(status, "SUCCESS") == 0 || strcmp(status, "ERROR") == 0 ||
        strcmp(status, "CANCELLED") == 0;

    if (strcmp(verb, "retry") == 0)
        return ended && strcmp(status, "SUCCESS") != 0;
    if (strcmp(verb, "purge") == 0)
        return ended;
    if (strcmp(verb, "resume") == 0 || strcmp(verb, "wake") == 0)
        return strcmp(status, "PAUSED") == 0;
    return !ended;
}

static int
add_found(struct found *found, const char *id)
{
    if (found->count == RUNS_MAX) {
        found->more = true;
        return EXIT_OK;
    }
    if (found->count == found->room) {
        size_t room = found->room == 0 ? PAGE : 2 * found->room;
        void *larger = realloc(found->ids, room * sizeof(*found->ids));

        if (larger == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
        found->ids = larger;
        found->room = room;
    }
    (void)snprintf(found->ids[found->count], PAWL_ID_SIZE, "%s", id);
    found->count++;
    return EXIT_OK;
}

/* Adds one page to the runs that were found. Sets cursor to where the next page begins, or "" at the end. Shows the first runs, too. */
static int
add_page(
    const struct invocation *invocation, struct found *found, const pawl_rows *rows, char *cursor)
{
    size_t count = pawl_rows_count(rows);
    int code = EXIT_OK;

    for (size_t i = 0; i < count && code == EXIT_OK; i++) {
        const char *id = pawl_rows_text(rows, i, "run_id");
        const char *status = pawl_rows_text(rows, i, "status");

        if (id == NULL || status == NULL || !applies(invocation->command->verb, status))
            continue;
        if (found->count < SHOWN && !invocation_has(invocation, "yes")) {
            (void)fprintf(stderr, "  %s  %-9s  ", id, status);
            term_print(stderr, pawl_rows_text(rows, i, "workflow"));
            (void)fputc('\n', stderr);
        }
        code = add_found(found, id);
    }
    cursor[0] = '\0';
    /* A short page is the last one, unless the search only reached its limit of examined runs. */
    if (count > 0 && (count == PAGE || pawl_rows_text(rows, count - 1, "run_id") == NULL))
        (void)snprintf(cursor, PAWL_ID_SIZE, "%s", pawl_rows_text(rows, count - 1, "next_cursor"));
    return code;
}

static int
find_between(
    struct invocation *invocation, struct found *found, const char *since, const char *before)
{
    char cursor[PAWL_ID_SIZE] = "";
    int code = EXIT_OK;

    do {
        pawl_rows *rows = NULL;

        code = invocation_verb(invocation, &rows, "list_runs", "only_workflow",
            invocation_option(invocation, "workflow"), "only_status",
            invocation_option(invocation, "status"), "only_tenant",
            invocation_option(invocation, "tenant"), "since", since, "before", before, "cursor",
            cursor[0] == '\0' ? NULL : cursor, "max_rows", page_text, NULL);
        if (code == EXIT_OK)
            code = add_page(invocation, found, rows, cursor);
        pawl_rows_free(rows);
    } while (code == EXIT_OK && cursor[0] != '\0' && !found->more && !interrupted);
    return code;
}

static int
find_runs(struct invocation *invocation, struct found *found)
{
    char *since = NULL;
    char *before = NULL;
    int code = EXIT_OK;

    if (invocation_has(invocation, "since"))
        since = invocation_time(invocation, invocation_option(invocation, "since"), &code);
    if (code == EXIT_OK && invocation_has(invocation, "before"))
        before = invocation_time(invocation, invocation_option(invocation, "before"), &code);
    if (code == EXIT_OK)
        code = find_between(invocation, found, since, before);
    free(since);
    free(before);
    return code;
}

static int
confirm(const struct invocation *invocation, const struct found *found)
{
    if (found->count > SHOWN)
        (void)fprintf(stderr, "  ... and %zu more\n", found->count - SHOWN);
    if (found->more)
        (void)fprintf(stderr, "  There are more; this is done for %d of them.\n", RUNS_MAX);
    return invocation_confirm(invocation, "%s %zu run%s", invocation->command->verb, found->count,
        found->count == 1 ? "" : "s");
}

static void
count_answer(struct answers *answers, const char *name)
{
    size_t i = 0;

    while (i < answers->count && strcmp(answers->each[i].name, name) != 0)
        i++;
    if (i == ANSWERS_MAX)
        return;
    if (i == answers->count) {
        (void)snprintf(answers->each[i].name, sizeof(answers->each[i].name), "%s", name);
        answers->count++;
    }
    answers->each[i].count++;
}

/* Writes "{id,id}" of one page. */
static void
list_page(struct pw_buf *list, const struct found *found, size_t from, size_t count)
{
    pw_buf_init(list, (size_t)PAGE * (PAWL_ID_SIZE + 1) + 2);
    pw_buf_addc(list, '{');
    for (size_t i = from; i < from + count; i++) {
        pw_buf_adds(list, i > from ? "," : "");
        pw_buf_adds(list, found->ids[i]);
    }
    pw_buf_addc(list, '}');
}

static int
do_page(struct invocation *invocation, const char *list, struct answers *answers)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask_with(invocation, "runs", list, &rows);

    for (size_t i = 0; code == EXIT_OK && i < pawl_rows_count(rows); i++) {
        const char *answer = pawl_rows_text(rows, i, "answer");
        const char *id = pawl_rows_text(rows, i, "run_id");

        count_answer(answers, answer != NULL ? answer : "");
        if (invocation->output == OUTPUT_IDS && answer != NULL && strcmp(answer, "ok") == 0)
            (void)puts(id != NULL ? id : "");
    }
    pawl_rows_free(rows);
    return code;
}

/* Reports an interruption. Runs that were handled stay so; the summary that follows has their answers. */
static int
say_interrupted(size_t done, size_t count)
{
    if (term_is_tty(TERM_ERR))
        (void)fputc('\n', stderr);
    if (done == 0)
        return exit_saying(EXIT_INTERRUPTED, NULL, "interrupted: nothing was done");
    return exit_saying(EXIT_INTERRUPTED, "The same command continues with the others.",
        "interrupted after %zu of %zu runs", done, count);
}

static int
do_all(struct invocation *invocation, const struct found *found, struct answers *answers)
{
    int code = EXIT_OK;

    for (size_t done = 0; code == EXIT_OK && done < found->count;) {
        if (interrupted)
            return say_interrupted(done, found->count);
        size_t count = found->count - done < PAGE ? found->count - done : PAGE;
        struct pw_buf list;

        list_page(&list, found, done, count);
        code = pw_buf_ok(&list) ? do_page(invocation, pw_buf_text(&list), answers)
                                : exit_saying(EXIT_OTHER, NULL, "out of memory");
        pw_buf_done(&list);
        done += count;
        if (term_is_tty(TERM_ERR))
            (void)fprintf(stderr, "\r\033[K%zu of %zu%s", done, found->count,
                done == found->count ? "\n" : "");
    }
    return code;
}

static void
summarize(const struct invocation *invocation, const struct answers *answers)
{
    bool json = invocation->output == OUTPUT_JSON || invocation->output == OUTPUT_JSONL;

    if (invocation->output == OUTPUT_IDS)
        return;
    (void)fputs(json ? "{" : "", stdout);
    for (size_t i = 0; i < answers->count; i++)
        (void)printf(json ? "%s\"%s\": %zu" : "%s%s %zu", i > 0 ? ", " : "", answers->each[i].name,
            answers->each[i].count);
    (void)fputs(json ? "}\n" : answers->count == 0 ? "nothing to do\n" : "\n", stdout);
}

int
bulk_or_named(struct invocation *invocation)
{
    static const char *const filters[] = {"workflow", "status", "tenant", "since", "before"};
    struct found found = {0};
    struct answers answers = {0};
    bool filtered = false;
    int code;

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        filtered = filtered || invocation_has(invocation, filters[i]);
    if (invocation->operand_count > 0 && filtered)
        return exit_saying(EXIT_USAGE, NULL, "give ids, or options that name runs, not both");
    if (invocation->operand_count > 0)
        return invocation_described(invocation);
    if (!filtered)
        return exit_saying(
            EXIT_USAGE, "Give ids, or for example --workflow NAME --since 2h.", "which runs?");
    take_signals();
    code = find_runs(invocation, &found);
    if (code == EXIT_OK && found.count > 0 && !invocation_has(invocation, "yes") && !interrupted)
        code = confirm(invocation, &found);
    if (interrupted)
        code = say_interrupted(0, found.count);
    if (code == EXIT_OK)
        code = do_all(invocation, &found, &answers);
    if (answers.count > 0 || code == EXIT_OK)
        summarize(invocation, &answers);
    /* A run that has ended or was purged since the search is not an error. */
    for (size_t i = 0; code == EXIT_OK && i < answers.count; i++)
        if (strcmp(answers.each[i].name, "busy") == 0 ||
            strcmp(answers.each[i].name, "refused") == 0)
            code = EXIT_REFUSED;
    free(found.ids);
    return code;
}
