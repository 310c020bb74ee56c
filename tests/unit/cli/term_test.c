/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of others: neither control characters nor those that change the direction of a text reach a terminal, and each takes a column. */
#include "cli/show/term.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

/* What a terminal is sent. Malloced. */
static char *
printed(const char *text)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);

    assert_non_null(out);
    term_print(out, text);
    assert_int_equal(fclose(out), 0);
    return bytes;
}

/* A character in UTF-8. */
static void
encode(char *text, wchar_t wide)
{
    mbstate_t state = {0};
    size_t size = wcrtomb(text, wide, &state);

    assert_true(size <= 4);
    text[size] = '\0';
}

static void
directions_are_shown_as_a_dot_in_one_column(void **state)
{
    static const wchar_t directions[] = {0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d,
        0x202e, 0x2066, 0x2067, 0x2068, 0x2069};
    char character[8];
    char text[16];

    (void)state;
    for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
        wchar_t glyph = 0;
        size_t columns = 0;
        char *shown;

        encode(character, directions[i]);
        (void)snprintf(text, sizeof(text), "a%sb", character);
        shown = printed(text);
        assert_string_equal(shown, "a.b");
        free(shown);
        assert_int_equal(term_columns(text), 3);
        assert_int_equal(term_next(character, &glyph, &columns), strlen(character));
        assert_true(glyph == L'.' && columns == 1);
    }
}

static void
their_neighbours_are_shown_as_they_are(void **state)
{
    static const wchar_t others[] = {
        0x61b, 0x61d, 0x200d, 0x2010, 0x2029, 0x202f, 0x2065, 0x206a, 0x2190, 0xe9, 0x4e2d, 0x5d0};
    char character[8];

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char *shown;

        encode(character, others[i]);
        shown = printed(character);
        assert_string_equal(shown, character);
        free(shown);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_are_shown_as_a_dot_in_one_column),
        cmocka_unit_test(their_neighbours_are_shown_as_they_are),
    };

    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        return 1;
    return cmocka_run_group_tests_name("cli/term", tests, NULL, NULL);
}
