/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn stays within the canvas, and is shown without harm. */
#include "cli/show/canvas.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

static void
assert_prints(const struct canvas *canvas, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    canvas_print(canvas, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void
a_text_is_cut_where_its_columns_end(void **state)
{
    struct canvas canvas = {0};

    (void)state;
    assert_true(canvas_resize(&canvas, 10, 3));
    assert_int_equal(canvas_put(&canvas, 0, 0, 5, TERM_PLAIN, "abc"), 3);
    assert_int_equal(canvas_put(&canvas, 0, 5, 3, TERM_PLAIN, "defg"), 3);
    assert_int_equal(canvas_put(&canvas, 1, 6, 20, TERM_PLAIN, "abcdef"), 4);
    canvas_put_right(&canvas, 2, 0, 6, TERM_PLAIN, "42");
    assert_prints(&canvas, "abc  de…\n      abc…\n    42\n");
    canvas_done(&canvas);
}

static void
what_is_outside_is_left_out(void **state)
{
    struct canvas canvas = {0};

    (void)state;
    assert_true(canvas_resize(&canvas, 4, 2));
    (void)canvas_put(&canvas, 2, 0, 4, TERM_PLAIN, "below");
    (void)canvas_put(&canvas, SIZE_MAX, 0, 4, TERM_PLAIN, "far");
    (void)canvas_put(&canvas, 0, 4, 4, TERM_PLAIN, "right");
    (void)canvas_put(&canvas, 0, 0, 4, TERM_PLAIN, NULL);
    canvas_put_right(&canvas, 0, 2, 0, TERM_PLAIN, "x");
    canvas_mark(&canvas, 2, CANVAS_REVERSE);
    assert_prints(&canvas, "");
    canvas_done(&canvas);
}

static void
control_characters_are_dots(void **state)
{
    struct canvas canvas = {0};

    (void)state;
    assert_true(canvas_resize(&canvas, 20, 1));
    (void)canvas_put(&canvas, 0, 0, 20, TERM_PLAIN, "a\033[2Jb\tc\nd\xff\xc2\x9b");
    assert_prints(&canvas, "a.[2Jb c d..\n");
    canvas_done(&canvas);
}

static void
wide_characters_are_never_halved(void **state)
{
    struct canvas canvas = {0};

    (void)state;
    assert_true(canvas_resize(&canvas, 5, 2));
    assert_int_equal(canvas_put(&canvas, 0, 0, 5, TERM_PLAIN, "漢字漢字"), 5);
    assert_int_equal(canvas_put(&canvas, 1, 0, 4, TERM_PLAIN, "e\u0301漢"), 3);
    assert_prints(&canvas, "漢字…\ne漢\n");
    canvas_done(&canvas);
}

static void
a_canvas_of_another_size_is_blank(void **state)
{
    struct canvas canvas = {0};

    (void)state;
    assert_true(canvas_resize(&canvas, 5, 2));
    (void)canvas_put(&canvas, 0, 0, 5, TERM_BAD, "abc");
    assert_true(canvas_resize(&canvas, 2000, 1));
    assert_int_equal(canvas.width, CANVAS_SIDE_MAX);
    assert_prints(&canvas, "");
    canvas_done(&canvas);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_where_its_columns_end),
        cmocka_unit_test(what_is_outside_is_left_out),
        cmocka_unit_test(control_characters_are_dots),
        cmocka_unit_test(wide_characters_are_never_halved),
        cmocka_unit_test(a_canvas_of_another_size_is_blank),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
