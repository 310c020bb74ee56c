/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one value out of JSON: pointers, kinds of values, rooms that are too small, and texts that are no JSON. */
#include "fail_alloc.h"
#include "pawl/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The example of RFC 6901, in parts, and what people write. */
static const char document[] =
    " {\"items\" : [ {\"id\":7, \"name\":\"tea \\\"pot\\\"\"} , [], {}],\n"
    "\"\": 0, \"a/b\": 1, \"c%d\": 2, \"i\\\\j\": 5, \"k\\\"l\": 6, \" \": 7, \"m~n\": 8,\n"
    "\"~1\": 9, \"0\": \"zero\", \"caf\\u00e9\": true, \"line\\nbreak\": false,\n"
    "\"\\ud83d\\ude00\": \"\\ud83d\\ude00\", \"none\": null, \"big\": 9223372036854775807 } ";

static void
assert_found(const char *json, const char *pointer, const char *expected)
{
    pawl_bytes value = {NULL, 0};
    pawl_status status = pawl_json_find(pawl_text(json), pointer, &value);

    if (status != PAWL_OK || value.size != strlen(expected) ||
        memcmp(value.data, expected, value.size) != 0)
        fail_msg("\"%s\" of %s: %s, \"%.*s\"", pointer, json, pawl_status_name(status),
            (int)value.size, value.data != NULL ? value.data : "");
    /* Borrowed, not copied. */
    assert_true(value.data >= json && value.data + value.size <= json + strlen(json));
}

static void
assert_not_found(const char *json, const char *pointer, pawl_status expected)
{
    pawl_bytes value = {"untouched", 9};
    pawl_status status = pawl_json_find(pawl_text(json), pointer, &value);

    if (status != expected)
        fail_msg(
            "\"%s\" of %s: %s", pointer != NULL ? pointer : "NULL", json, pawl_status_name(status));
    assert_string_equal(value.data, "untouched");
    assert_int_equal(pawl_json_find(pawl_text(json), pointer, NULL), expected);
}

static void
a_pointer_leads_to_a_member_or_an_element(void **state)
{
    static const char *const places[][2] = {
        {"/items/0/id", "7"},
        {"/items/0/name", "\"tea \\\"pot\\\"\""},
        {"/items/0", "{\"id\":7, \"name\":\"tea \\\"pot\\\"\"}"},
        {"/items/1", "[]"},
        {"/items/2", "{}"},
        {"/", "0"},
        {"/c%d", "2"},
        {"/i\\j", "5"},
        {"/k\"l", "6"},
        {"/ ", "7"},
        {"/0", "\"zero\""},
        {"/none", "null"},
        {"/big", "9223372036854775807"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(places); i++)
        assert_found(document, places[i][0], places[i][1]);
}

static void
the_empty_pointer_is_the_whole_without_blanks_around_it(void **state)
{
    char whole[sizeof(document)];

    (void)state;
    (void)snprintf(whole, sizeof(whole), "%.*s", (int)strlen(document) - 2, document + 1);
    assert_found(document, "", whole);
    assert_found("7", "", "7");
    assert_found("\t\r\n \"a b\" \n", "", "\"a b\"");
    assert_found(" null ", "", "null");
    assert_found("[[]]", "/0", "[]");
    assert_found("[ [ 3 ] ]", "/0/0", "3");
}

static void
slashes_and_tildes_in_names_are_escaped_in_pointers(void **state)
{
    (void)state;
    assert_found(document, "/a~1b", "1");
    assert_found(document, "/m~0n", "8");
    /* ~01 is ~1, never a slash. */
    assert_found(document, "/~01", "9");
    assert_not_found(document, "/a/b", PAWL_ENOTFOUND);
    assert_not_found(document, "/~1", PAWL_ENOTFOUND);
    assert_not_found(document, "/m~n", PAWL_EINVAL);
    assert_not_found(document, "/m~", PAWL_EINVAL);
    assert_not_found(document, "/~2", PAWL_EINVAL);
    assert_not_found(document, "/items/~/id", PAWL_EINVAL);
}

static void
escapes_in_names_are_understood(void **state)
{
    (void)state;
    assert_found(document, "/caf\xc3\xa9", "true");
    assert_found(document, "/line\nbreak", "false");
    assert_found(document, "/\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\"");
    assert_found("{\"\\u0061\\u002f\\u007e\": 1}", "/a~1~0", "1");
    assert_not_found(document, "/caf\\u00e9", PAWL_ENOTFOUND);
    assert_not_found(document, "/caf", PAWL_ENOTFOUND);
    assert_not_found(document, "/caf\xc3", PAWL_ENOTFOUND);
    assert_not_found(document, "/caf\xc3\xa9s", PAWL_ENOTFOUND);
}

static void
of_members_with_one_name_the_last_counts(void **state)
{
    (void)state;
    assert_found("{\"a\":1,\"b\":2,\"\\u0061\":{\"c\":3}}", "/a", "{\"c\":3}");
    assert_found("{\"a\":1,\"b\":2,\"\\u0061\":{\"c\":3}}", "/a/c", "3");
    assert_not_found("{\"a\":{\"c\":3},\"a\":1}", "/a/c", PAWL_ENOTFOUND);
}

static void
places_that_are_not_there_are_not_found(void **state)
{
    static const char *const places[] = {"/nobody", "/items/3", "/items/-", "/items/00",
        "/items/01", "/items/+1", "/items/ 1", "/items/1e0", "/items/", "/items/id",
        "/items/18446744073709551615", "/items/18446744073709551616",
        "/items/99999999999999999999999999999999999999999", "/items/0/id/x", "/items/0/id/",
        "/items/1/0", "/none/x", "//", "/items/0/name/0"};

    (void)state;
    for (size_t i = 0; i < COUNT(places); i++)
        assert_not_found(document, places[i], PAWL_ENOTFOUND);
    assert_not_found("7", "/0", PAWL_ENOTFOUND);
    assert_not_found("\"text\"", "/0", PAWL_ENOTFOUND);
    assert_not_found("null", "/a", PAWL_ENOTFOUND);
}

static void
nothing_is_found_in_no_bytes(void **state)
{
    const pawl_bytes none = {NULL, 0};
    pawl_bytes value;
    int64_t number;
    char room[4];
    int truth;

    (void)state;
    assert_int_equal(pawl_json_find(none, "", &value), PAWL_ENOTFOUND);
    assert_int_equal(pawl_json_find(none, "/a", &value), PAWL_ENOTFOUND);
    assert_int_equal(pawl_json_find(none, "a", &value), PAWL_EINVAL);
    assert_int_equal(pawl_json_int(none, "/a", &number), PAWL_ENOTFOUND);
    assert_int_equal(pawl_json_bool(none, "/a", &truth), PAWL_ENOTFOUND);
    assert_int_equal(pawl_json_text(none, "/a", room, sizeof(room)), PAWL_ENOTFOUND);
}

static void
bad_arguments_are_refused(void **state)
{
    pawl_bytes json = pawl_text("{\"a\": \"b\"}");

    (void)state;
    assert_not_found("{}", NULL, PAWL_EINVAL);
    assert_not_found("{\"a\":1}", "a", PAWL_EINVAL);
    assert_not_found("{\"a\":1}", "#/a", PAWL_EINVAL);
    assert_int_equal(pawl_json_int(json, "/a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_json_bool(json, "/a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_json_text(json, "/a", NULL, 100), PAWL_EINVAL);
}

static void
what_is_no_json_is_said(void **state)
{
    static const char *const texts[][2] = {
        {"", ""},
        {" ", "/a"},
        {"tru", ""},
        {"nul", "/a"},
        {"'a'", "/a"},
        {"{\"a\":1", "/a"},
        {"{\"a\":1,}", "/a"},
        {"{\"a\":1} x", "/a"},
        {"{\"a\":1,\"b\":01}", "/a"},
        {"{a:1}", "/a"},
        {"{\"a\":{\"b\":}}", "/a/b"},
        {"[1,,2]", "/2"},
        {"[1 2]", "/1"},
        {"[\"\\x\"]", "/0"},
        {"[\"\\u12g4\"]", "/0"},
        {"[\"a\nb\"]", "/0"},
        {"[1}", "/1"},
        {"7 7", ""},
        {"- 1", ""},
        {"\xef\xbb\xbf{}", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_not_found(texts[i][0], texts[i][1], PAWL_EINVAL);
    /* It is no validator: behind what was asked for it does not look. */
    assert_found("[1, what", "/0", "1");
}

static void
every_beginning_of_a_text_is_read_within_its_bytes(void **state)
{
    static const char *const pointers[] = {"", "/items/0/name", "/caf\xc3\xa9", "/big", "/items/2"};
    size_t whole = strlen(document);

    (void)state;
    for (size_t size = 0; size < whole; size++) {
        /* A piece of memory of its own, so that a sanitizer sees a byte too many. */
        char *copy = malloc(size > 0 ? size : 1);
        char room[40];
        int64_t number;

        assert_non_null(copy);
        memcpy(copy, document, size);
        for (size_t i = 0; i < COUNT(pointers); i++) {
            pawl_bytes json = {copy, size};

            /* Only the blank at the end may be missing. */
            if (size < whole - 1)
                assert_int_equal(pawl_json_find(json, pointers[i], NULL), PAWL_EINVAL);
            else
                assert_int_equal(pawl_json_find(json, pointers[i], NULL), PAWL_OK);
            (void)!pawl_json_text(json, pointers[i], room, sizeof(room));
            (void)!pawl_json_int(json, pointers[i], &number);
        }
        free(copy);
    }
}

static void
any_byte_may_be_another_one(void **state)
{
    static const char others[] = "\"\\{}[]:,0-.eu~/ tn\x01\xff";
    char copy[sizeof(document)];
    char room[sizeof(document)];

    (void)state;
    for (size_t at = 0; at < strlen(document); at++) {
        for (size_t i = 0; i < sizeof(others); i++) {
            pawl_bytes value = {NULL, 0};

            memcpy(copy, document, sizeof(copy));
            copy[at] = others[i];
            if (pawl_json_find((pawl_bytes){copy, strlen(document)}, "/items/0", &value) == PAWL_OK)
                assert_int_equal(pawl_json_find(value, "", NULL), PAWL_OK);
            (void)!pawl_json_text(
                (pawl_bytes){copy, strlen(document)}, "/items/0/name", room, sizeof(room));
        }
    }
}

/* depth arrays inside each other, with a 7 in the innermost, and the pointer to it. */
static void
make_deep(size_t depth, char *json, char *pointer)
{
    memset(json, '[', depth);
    json[depth] = '7';
    memset(json + depth + 1, ']', depth);
    json[2 * depth + 1] = '\0';
    for (size_t i = 0; i < depth; i++)
        memcpy(pointer + 2 * i, "/0", 2);
    pointer[2 * depth] = '\0';
}

static void
nesting_is_followed_128_deep(void **state)
{
    char json[300], pointer[300];
    static char huge[2000001];

    (void)state;
    make_deep(128, json, pointer);
    assert_found(json, pointer, "7");
    assert_found(json, "", json);
    make_deep(129, json, pointer);
    assert_not_found(json, pointer, PAWL_EINVAL);
    assert_not_found(json, "", PAWL_EINVAL);
    assert_not_found(json, "/0", PAWL_EINVAL);
    memset(huge, '[', sizeof(huge) - 1);
    assert_not_found(huge, "", PAWL_EINVAL);
    assert_not_found(huge, "/0/0/0", PAWL_EINVAL);
    /* A pointer may be as long as it likes. */
    memset(huge, '/', sizeof(huge) - 1);
    assert_not_found("[]", huge, PAWL_ENOTFOUND);
    assert_not_found("{}", huge, PAWL_ENOTFOUND);
}

static void
whole_numbers_are_read(void **state)
{
    static const struct {
        const char *json;
        int64_t value;
    } numbers[] = {
        {"0", 0},
        {"-0", 0},
        {" 42 ", 42},
        {"-7", -7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    int64_t value = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        value = -1;
        assert_int_equal(pawl_json_int(pawl_text(numbers[i].json), "", &value), PAWL_OK);
        assert_true(value == numbers[i].value);
    }
    assert_int_equal(pawl_json_int(pawl_text(document), "/items/0/id", &value), PAWL_OK);
    assert_int_equal(value, 7);
}

static void
numbers_that_do_not_fit_and_other_values_are_refused(void **state)
{
    static const char *const others[] = {
        "1.0", "1e3", "-0.5", "null", "true", "\"7\"", "[7]", "{\"a\":7}"};
    static const char *const large[] = {"9223372036854775808", "-9223372036854775809",
        "99999999999999999999999", "999999999999999999999999999999999999999999999999"};
    static char huge[1000001];
    int64_t value = 5;

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(pawl_json_int(pawl_text(others[i]), "", &value), PAWL_EINVAL);
    for (size_t i = 0; i < COUNT(large); i++)
        assert_int_equal(pawl_json_int(pawl_text(large[i]), "", &value), PAWL_ETOOLARGE);
    memset(huge, '9', sizeof(huge) - 1);
    assert_int_equal(pawl_json_int(pawl_text(huge), "", &value), PAWL_ETOOLARGE);
    huge[500000] = '.';
    assert_int_equal(pawl_json_int(pawl_text(huge), "", &value), PAWL_EINVAL);
    assert_int_equal(pawl_json_int(pawl_text("{\"a\":1}"), "/b", &value), PAWL_ENOTFOUND);
    assert_int_equal(value, 5);
}

static void
truth_is_read(void **state)
{
    static const char *const others[] = {"null", "0", "1", "\"true\"", "[true]"};
    int value = 5;

    (void)state;
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(pawl_json_bool(pawl_text(others[i]), "", &value), PAWL_EINVAL);
    assert_int_equal(pawl_json_bool(pawl_text("{}"), "/a", &value), PAWL_ENOTFOUND);
    assert_int_equal(value, 5);
    assert_int_equal(pawl_json_bool(pawl_text("{\"a\": true}"), "/a", &value), PAWL_OK);
    assert_int_equal(value, 1);
    assert_int_equal(pawl_json_bool(pawl_text("[false]"), "/0", &value), PAWL_OK);
    assert_int_equal(value, 0);
}

static void
strings_lose_their_quotes_and_escapes(void **state)
{
    static const char *const texts[][2] = {
        {"\"\"", ""},
        {"\"tea\"", "tea"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"caf\\u00e9 \\u20ac \\ud83d\\ude00\"", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\"caf\xc3\xa9\"", "caf\xc3\xa9"},
        {"\"a\\u0000b\"",
            "a\xef\xbf\xbd"
            "b"},
        {"\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\"\\udc00!\"", "\xef\xbf\xbd!"},
        {"\"\\ud800\\n\"", "\xef\xbf\xbd\n"},
    };
    static const char *const others[] = {"7", "null", "true", "[\"a\"]", "{}"};
    char room[40];

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        memset(room, 'x', sizeof(room));
        assert_int_equal(pawl_json_text(pawl_text(texts[i][0]), "", room, sizeof(room)), PAWL_OK);
        assert_string_equal(room, texts[i][1]);
    }
    (void)snprintf(room, sizeof(room), "untouched");
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(pawl_json_text(pawl_text(others[i]), "", room, sizeof(room)), PAWL_EINVAL);
    assert_string_equal(room, "untouched");
}

static void
a_room_that_is_too_small_stays_as_it_is(void **state)
{
    pawl_bytes json = pawl_text("{\"a\":\"caf\\u00e9\",\"e\":\"\"}");
    char *room = malloc(6);

    (void)state;
    assert_non_null(room);
    memcpy(room, "stays", 6);
    for (size_t size = 0; size < 6; size++) {
        assert_int_equal(pawl_json_text(json, "/a", room, size), PAWL_ETOOLARGE);
        assert_string_equal(room, "stays");
    }
    assert_int_equal(pawl_json_text(json, "/e", room, 0), PAWL_ETOOLARGE);
    assert_int_equal(pawl_json_text(json, "/e", room, 1), PAWL_OK);
    assert_string_equal(room, "");
    assert_int_equal(pawl_json_text(json, "/a", room, 6), PAWL_OK);
    assert_string_equal(room, "caf\xc3\xa9");
    free(room);
}

static void
nothing_is_allocated(void **state)
{
    pawl_bytes value;
    int64_t number;
    char room[40];
    int truth;

    (void)state;
    fail_alloc_from(1);
    assert_int_equal(pawl_json_find(pawl_text(document), "/items/0", &value), PAWL_OK);
    assert_int_equal(pawl_json_int(pawl_text(document), "/items/0/id", &number), PAWL_OK);
    assert_int_equal(pawl_json_bool(pawl_text(document), "/caf\xc3\xa9", &truth), PAWL_OK);
    assert_int_equal(
        pawl_json_text(pawl_text(document), "/items/0/name", room, sizeof(room)), PAWL_OK);
    assert_int_equal(pawl_json_find(pawl_text("{"), "/a", &value), PAWL_EINVAL);
    assert_int_equal(fail_alloc_count(), 0);
    fail_alloc_at(0);
    assert_string_equal(room, "tea \"pot\"");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_leads_to_a_member_or_an_element),
        cmocka_unit_test(the_empty_pointer_is_the_whole_without_blanks_around_it),
        cmocka_unit_test(slashes_and_tildes_in_names_are_escaped_in_pointers),
        cmocka_unit_test(escapes_in_names_are_understood),
        cmocka_unit_test(of_members_with_one_name_the_last_counts),
        cmocka_unit_test(places_that_are_not_there_are_not_found),
        cmocka_unit_test(nothing_is_found_in_no_bytes),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(what_is_no_json_is_said),
        cmocka_unit_test(every_beginning_of_a_text_is_read_within_its_bytes),
        cmocka_unit_test(any_byte_may_be_another_one),
        cmocka_unit_test(nesting_is_followed_128_deep),
        cmocka_unit_test(whole_numbers_are_read),
        cmocka_unit_test(numbers_that_do_not_fit_and_other_values_are_refused),
        cmocka_unit_test(truth_is_read),
        cmocka_unit_test(strings_lose_their_quotes_and_escapes),
        cmocka_unit_test(a_room_that_is_too_small_stays_as_it_is),
        cmocka_unit_test(nothing_is_allocated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
