/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 is held against a count over all sequences, not against samples. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* Writes a code point as UTF-8 and returns its bytes. */
static size_t
encode(uint32_t point, char out[4])
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    if (length == 1) {
        out[0] = (char)point;
        return 1;
    }
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    out[0] = (char)(leads[length] | point);
    return length;
}

static void
every_code_point_but_surrogates_is_a_character(void **state)
{
    char text[4];

    (void)state;
    for (uint32_t point = 0; point < 0x110400; point++) {
        size_t length = encode(point, text);
        bool good = point < 0x110000 && (point < 0xd800 || point > 0xdfff);

        if (pw_utf8_length(text, length) != (good ? length : 0))
            fail_msg("U+%04X", point);
    }
}

/* All code points are accepted, so equal counts mean that nothing else is. */
static void
nothing_else_of_up_to_three_bytes_is_a_character(void **state)
{
    unsigned counts[5] = {0};
    char text[3];

    (void)state;
    for (uint32_t bytes = 0; bytes < 1 << 24; bytes++) {
        text[0] = (char)(bytes >> 16);
        text[1] = (char)(bytes >> 8);
        text[2] = (char)bytes;
        counts[pw_utf8_length(text, 3)]++;
    }
    assert_int_equal(counts[1], 0x80 << 16);
    assert_int_equal(counts[2], (0x800 - 0x80) << 8);
    assert_int_equal(counts[3], 0x10000 - 0x800 - 0x800);
    assert_int_equal(counts[4], 0);
}

static void
of_four_bytes_only_those_up_to_the_last_code_point(void **state)
{
    static const unsigned char tails[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    char text[4];

    (void)state;
    for (unsigned lead = 0xf0; lead <= 0xff; lead++)
        for (unsigned second = 0; second <= 0xff; second++)
            for (unsigned tail = 0; tail < 36; tail++) {
                unsigned char third = tails[tail / 6], fourth = tails[tail % 6];
                unsigned point = (lead & 7) << 18 | (second & 0x3f) << 12;
                bool good = lead < 0xf8 && second >> 6 == 2 && third >> 6 == 2 &&
                    fourth >> 6 == 2 && point >= 0x10000 && point < 0x110000;

                text[0] = (char)lead;
                text[1] = (char)second;
                text[2] = (char)third;
                text[3] = (char)fourth;
                assert_int_equal(pw_utf8_length(text, 4), good ? 4 : 0);
            }
}

static void
a_character_that_is_cut_off_is_none(void **state)
{
    (void)state;
    assert_int_equal(pw_utf8_length("", 0), 0);
    assert_int_equal(pw_utf8_length("\0", 1), 1);
    for (size_t size = 1; size < 4; size++)
        assert_int_equal(pw_utf8_length("\xf0\x9f\x98\x80", size), 0);
    assert_int_equal(pw_utf8_length("\xe6\x97", 2), 0);
    assert_int_equal(pw_utf8_length("\xc3", 1), 0);
}

static void
a_text_is_valid_if_all_of_it_is(void **state)
{
    static const char text[] = "a\xc3\xb6\xe6\x97\xa5\xf0\x9f\x98\x80z";

    (void)state;
    assert_true(pw_utf8_valid(text, strlen(text)));
    assert_true(pw_utf8_valid(NULL, 0));
    assert_true(pw_utf8_valid("a\0b", 3));
    assert_false(pw_utf8_valid(text, strlen(text) - 2));
    assert_false(pw_utf8_valid("ab\x80", 3));
    assert_false(pw_utf8_valid("\xc0\x80", 2));
    assert_false(pw_utf8_valid("\xed\xa0\x80", 3));
}

static void
a_terminal_obeys_controls_and_directions(void **state)
{
    static const char *const obeyed[] = {"\n", "\x1b", "\x7f", "\x80", "\xc2\x9b", "\xd8\x9c",
        "\xe2\x80\x8f", "\xe2\x80\xae", "\xe2\x81\xa6"};
    static const char *const shown[] = {
        " ", "~", "\xc2\xa0", "\xc3\xb6", "\xe2\x80\xa6", "\xe2\x81\xaa", "\xf0\x9f\x98\x80"};

    (void)state;
    for (size_t i = 0; i < sizeof(obeyed) / sizeof(obeyed[0]); i++)
        assert_true(pw_utf8_is_control(obeyed[i], strlen(obeyed[i])));
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        assert_false(pw_utf8_is_control(shown[i], strlen(shown[i])));
}

static void
a_cut_falls_between_two_characters(void **state)
{
    static const char text[] = "a\xc3\xb6\xe6\x97\xa5\xf0\x9f\x98\x80z";
    static const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};

    (void)state;
    for (size_t size = 0; size <= strlen(text); size++)
        assert_int_equal(pw_utf8_cut(text, size), cuts[size]);
    /* What is no UTF-8 is left alone, as long as it may not be the beginning of a character. */
    assert_int_equal(pw_utf8_cut("\x80\x80\x80\x80\x80", 5), 5);
    assert_int_equal(pw_utf8_cut("\x80\x80", 2), 2);
    assert_int_equal(pw_utf8_cut("a\xff", 2), 2);
    assert_int_equal(pw_utf8_cut("\xf0\x80\x80", 3), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_but_surrogates_is_a_character),
        cmocka_unit_test(nothing_else_of_up_to_three_bytes_is_a_character),
        cmocka_unit_test(of_four_bytes_only_those_up_to_the_last_code_point),
        cmocka_unit_test(a_character_that_is_cut_off_is_none),
        cmocka_unit_test(a_text_is_valid_if_all_of_it_is),
        cmocka_unit_test(a_terminal_obeys_controls_and_directions),
        cmocka_unit_test(a_cut_falls_between_two_characters),
    };

    return cmocka_run_group_tests_name("base utf8", tests, NULL, NULL);
}
