/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/list.h"

#include "base/text.h"
#include "cli/command/rows.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 1000,      /* rows in one call */
    EXAMINED = 10000, /* runs that one call examines */
    CURSOR_SIZE = 64,
};

static const int64_t rows_by_default = 50;
static const int64_t rows_max = 1000000;
static const int64_t examined_by_default = 1000000;

/* The pages of a search, and the rows of the pages that are shown. */
struct search {
    pawl_rows **pages;
    size_t page_count;
    struct rows_place *places;
    size_t count;
    size_t wanted;
    size_t early_from; /* the first of the rows that are listed ahead of their turn */
    size_t early;
    int64_t effort; /* number of calls that are left */
    bool stopped;   /* the last page is not the end of the search */
    char cursor[CURSOR_SIZE];
};

static int64_t
number_of(const struct invocation *invocation, const char *name, int64_t otherwise, int64_t max)
{
    int64_t number = otherwise;

    if (invocation_has(invocation, name) &&
        !pw_parse_i64(invocation_option(invocation, name), 1, max, &number))
        number = max; /* it was checked to be a number, so it is larger than max */
    return number;
}

/* Returns true if a row is shown already. The first page may list the run of a key ahead of its turn, and a later page lists it again. */
static bool
is_listed(const struct search *search, const char *id)
{
    for (size_t i = 0; i < search->early; i++) {
        const struct rows_place *place = &search->places[search->early_from + i];

        if (strcmp(pawl_rows_text(place->rows, place->row, pawl_rows_column_name(place->rows, 0)),
                id) == 0)
            return true;
    }
    return false;
}

/* Adds a row to those that are shown, unless it is there already. next: the cursor that continues after the row. */
static void
add_row(struct search *search, const pawl_rows *page, size_t row, const char *id, const char *next)
{
    if (is_listed(search, id))
        return;
    if (search->page_count == 1 && next != NULL && strcmp(id, next) != 0) {
        if (search->early == 0)
            search->early_from = search->count;
        search->early++;
    }
    search->places[search->count++] = (struct rows_place){page, row};
}

/* Adds the rows of a page to those that are shown, and stores where the next page begins. */
static int
add_page(struct search *search, pawl_rows *page, size_t asked)
{
    size_t count = pawl_rows_count(page);
    void *pages = realloc(search->pages, (search->page_count + 1) * sizeof(*search->pages));
    void *places;

    if (pages == NULL) {
        pawl_rows_free(page);
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    search->pages = pages;
    search->pages[search->page_count++] = page;
    places = realloc(search->places, (search->count + count + 1) * sizeof(*search->places));
    if (places == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    search->places = places;
    search->stopped = count == asked;
    for (size_t i = 0; i < count; i++) {
        const char *id = pawl_rows_text(page, i, pawl_rows_column_name(page, 0));
        const char *next = pawl_rows_text(page, i, "next_cursor");

        (void)snprintf(search->cursor, sizeof(search->cursor), "%s", next != NULL ? next : "");
        if (id == NULL)
            search->stopped = true; /* the row has only a cursor */
        else
            add_row(search, page, i, id, next);
    }
    return EXIT_OK;
}

static int
find(struct invocation *invocation, struct search *search)
{
    int code = EXIT_OK;

    do {
        size_t left = search->wanted - search->count;
        size_t asked = left < PAGE ? left : PAGE;
        const char *cursor =
            search->cursor[0] != '\0' ? search->cursor : invocation_option(invocation, "cursor");
        pawl_rows *page = NULL;
        char most[24];

        (void)snprintf(most, sizeof(most), "%zu", asked);
        code = invocation_ask_page(invocation, cursor, most, &page);
        if (code == EXIT_OK)
            code = add_page(search, page, asked);
        search->effort--;
    } while (
        code == EXIT_OK && search->stopped && search->effort > 0 && search->count < search->wanted);
    return code;
}

/* Reports that the list is not complete. It does so on standard error, because programs would take a line of the output for a row. */
static int
tell(const struct invocation *invocation, const struct search *search)
{
    char hint[200];

    if (!search->stopped)
        return EXIT_OK;
    if (search->count < search->wanted) {
        (void)snprintf(hint, sizeof(hint),
            "Continue with --cursor %s, examine more with --examine, or narrow the search with "
            "--since.",
            search->cursor);
        return exit_saying(EXIT_STOPPED, hint,
            "the search stopped before its end: %zu found so far", search->count);
    }
    if (!invocation_has(invocation, "limit"))
        (void)exit_saying(EXIT_OK, NULL,
            "only the newest %zu are listed; -n lists more, --cursor %s older ones", search->count,
            search->cursor);
    return EXIT_OK;
}

int
list_found(struct invocation *invocation)
{
    int64_t examined = number_of(invocation, "examine", examined_by_default, INT64_MAX - EXAMINED);
    struct search search = {
        .wanted = (size_t)number_of(invocation, "limit", rows_by_default, rows_max),
        .effort = (examined + EXAMINED - 1) / EXAMINED,
    };
    int code = find(invocation, &search);

    if (code == EXIT_OK)
        code = rows_show_places(invocation, search.pages[0], search.places, search.count);
    if (code == EXIT_OK)
        code = tell(invocation, &search);
    for (size_t i = 0; i < search.page_count; i++)
        pawl_rows_free(search.pages[i]);
    free(search.pages);
    free(search.places);
    return code;
}
