/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON: where values begin and end, what makes no sense, and what simple values mean. */
#include "base/arena.h"
#include "base/json_read.h"
#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct pw_json
json(const char *text)
{
    return (struct pw_json){text, strlen(text)};
}

static void
assert_json(struct pw_json value, const char *text)
{
    assert_non_null(value.data);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

static void
a_walk_over_an_object_gives_its_members_in_order(void **state)
{
    static const char *const keys[] = {"a", "b \\\" c", "", "n"};
    static const char *const values[] = {"1", "[1, {\"x\" : \"}\"}]", "\"]\"", "null"};
    struct pw_json_walk walk;
    struct pw_json key, value;
    size_t count = 0;

    (void)state;
    pw_json_walk(&walk,
        json(" { \"a\" : 1,\"b \\\" c\":[1, {\"x\" : \"}\"}] ,\n\"\" :\t\"]\" , \"n\":null } "));
    assert_true(walk.object);
    for (; pw_json_walk_next(&walk, &key, &value); count++) {
        assert_json(key, keys[count]);
        assert_json(value, values[count]);
    }
    assert_int_equal(count, 4);
    assert_false(walk.bad);
    assert_false(pw_json_walk_next(&walk, &key, &value));
}

static void
a_walk_over_an_array_gives_its_elements_without_keys(void **state)
{
    struct pw_json_walk walk;
    struct pw_json key, value;

    (void)state;
    pw_json_walk(&walk, json("[true, -1.5e+3 ]"));
    assert_false(walk.object);
    assert_true(pw_json_walk_next(&walk, &key, &value));
    assert_null(key.data);
    assert_json(value, "true");
    assert_true(pw_json_walk_next(&walk, &key, &value));
    assert_json(value, "-1.5e+3");
    assert_false(pw_json_walk_next(&walk, &key, &value));
    assert_false(walk.bad);
    pw_json_walk(&walk, json("[]"));
    assert_false(pw_json_walk_next(&walk, &key, &value));
    assert_false(walk.bad);
    pw_json_walk(&walk, json("{ }"));
    assert_false(pw_json_walk_next(&walk, &key, &value));
    assert_false(walk.bad);
}

static void
a_walk_over_nonsense_ends_and_says_so(void **state)
{
    static const char *const texts[] = {"", " ", "1", "\"a\"", "null", "{", "[", "{\"a\"",
        "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{a:1}", "{1:1}", "{\"a\":1,}", "{\"a\":1 \"b\":2}",
        "[1 2]", "[1,]", "[,1]", "[1}", "{\"a\":1]", "[1] x", "{} {}", "[tru]", "[nul", "[\"a]",
        "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\\u123", "[\"\\", "[\"\x01\"]", "[01]", "[1.]", "[.5]",
        "[-]", "[1e]", "[+1]", "{\"a\":{\"b\":}}"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pw_json_walk walk;
        struct pw_json key, value;

        pw_json_walk(&walk, json(texts[i]));
        while (pw_json_walk_next(&walk, &key, &value))
            ;
        if (!walk.bad)
            fail_msg("%s was taken", texts[i]);
        assert_false(pw_json_walk_next(&walk, &key, &value));
    }
}

static void
nothing_is_walked_without_harm(void **state)
{
    struct pw_json_walk walk;
    struct pw_json key, value;

    (void)state;
    pw_json_walk(&walk, (struct pw_json){0});
    assert_true(walk.bad);
    assert_false(pw_json_walk_next(&walk, &key, &value));
    assert_null(pw_json_member((struct pw_json){0}, "a").data);
    assert_false(pw_json_valid((struct pw_json){0}));
}

static void
values_that_are_cut_off_anywhere_are_not_valid(void **state)
{
    static const char whole[] =
        "{\"a\":[1,{\"b\":\"c\\u00e4\\n\"},true,false,null,-0.5e-7],\"d\":{}}";

    (void)state;
    assert_true(pw_json_valid(json(whole)));
    for (size_t size = 0; size < strlen(whole); size++)
        assert_false(pw_json_valid((struct pw_json){whole, size}));
    assert_true(pw_json_valid(json(" 0 ")));
    assert_true(pw_json_valid(json("\"\"")));
    assert_false(pw_json_valid(json("1 2")));
    assert_false(pw_json_valid(json("nullx")));
    assert_false(pw_json_valid(json("")));
}

static void
nesting_has_a_limit(void **state)
{
    char text[400];

    (void)state;
    for (size_t depth = 1; depth <= 200; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(pw_json_valid((struct pw_json){text, 2 * depth}), depth <= 128);
    }
}

static void
a_member_is_found_by_its_name(void **state)
{
    struct pw_json object = json("{\"a\": {\"b\": 1}, \"b\": 2, \"b\": 3, \"c\": null}");

    (void)state;
    assert_json(pw_json_member(object, "a"), "{\"b\": 1}");
    assert_json(pw_json_member(object, "b"), "2");
    assert_json(pw_json_member(object, "c"), "null");
    assert_null(pw_json_member(object, "d").data);
    assert_null(pw_json_member(json("[\"a\"]"), "a").data);
    assert_null(pw_json_member(json("7"), "a").data);
    assert_true(pw_json_given(pw_json_member(object, "b")));
    assert_false(pw_json_given(pw_json_member(object, "c")));
    assert_false(pw_json_given(pw_json_member(object, "d")));
    assert_true(pw_json_is(json("abc"), "abc"));
    assert_false(pw_json_is(json("abc"), "ab"));
    assert_false(pw_json_is((struct pw_json){0}, ""));
}

static void
texts_lose_their_quotes_and_escapes(void **state)
{
    static const char *const pairs[][2] = {
        {"\"\"", ""},
        {"\"plain\"", "plain"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00!\"", "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80!"},
        {"\"\\u0000\"", "\xef\xbf\xbd"},
        {"\"\\ud83d\"", "\xef\xbf\xbd"},
        {"\"\\ud83dx\"", "\xef\xbf\xbdx"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd\x41"},
        {"\"\\ude00\"", "\xef\xbf\xbd"},
        {"\"\xc3\xa4\"", "\xc3\xa4"},
        {"17", "17"},
        {"{\"a\": \"b\"}", "{\"a\": \"b\"}"},
    };
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 100000);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        assert_string_equal(pw_json_text(json(pairs[i][0]), &arena), pairs[i][1]);
    assert_string_equal(pw_json_text((struct pw_json){0}, &arena), "");
    pw_arena_done(&arena);
    fail_alloc_at(1);
    assert_null(pw_json_text(json("\"a\""), &arena));
    fail_alloc_at(0);
    pw_arena_done(&arena);
}

static void
numbers_and_truth_are_read_or_refused(void **state)
{
    int64_t number = 7;
    bool truth = false;

    (void)state;
    assert_true(pw_json_to_int(json("-9223372036854775808"), &number));
    assert_true(number == INT64_MIN);
    assert_true(pw_json_to_int(json("0"), &number));
    assert_int_equal(number, 0);
    assert_false(pw_json_to_int(json("1.5"), &number));
    assert_false(pw_json_to_int(json("\"1\""), &number));
    assert_false(pw_json_to_int(json("9223372036854775808"), &number));
    assert_false(pw_json_to_int(json("1000000000000000000000000000"), &number));
    assert_false(pw_json_to_int((struct pw_json){0}, &number));
    assert_false(pw_json_to_int((struct pw_json){"1\0", 2}, &number));
    assert_int_equal(number, 0);
    assert_true(pw_json_to_bool(json("true"), &truth));
    assert_true(truth);
    assert_true(pw_json_to_bool(json("false"), &truth));
    assert_false(truth);
    assert_false(pw_json_to_bool(json("1"), &truth));
    assert_false(pw_json_to_bool((struct pw_json){0}, &truth));
}

static void
times_are_microseconds_since_1970(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } times[] = {
        {"\"1970-01-01T00:00:00+00:00\"", 0},
        {"\"2026-03-01T12:00:00+00:00\"", INT64_C(1772366400000000)},
        {"\"2026-03-01T12:00:00.123456+00:00\"", INT64_C(1772366400123456)},
        {"\"2026-03-01T12:00:00.5+00:00\"", INT64_C(1772366400500000)},
        {"\"2026-03-01T17:30:00+05:30\"", INT64_C(1772366400000000)},
        {"\"2026-03-01T05:00:00-07\"", INT64_C(1772366400000000)},
        {"\"2026-03-01T12:00:09+00:00:09\"", INT64_C(1772366400000000)},
        {"\"2026-03-01T12:00:00Z\"", INT64_C(1772366400000000)},
        {"\"2024-02-29T23:59:59.999999+00:00\"", INT64_C(1709251199999999)},
        {"\"1969-12-31T23:59:59+00:00\"", -1000000},
        {"\"12026-03-01T12:00:00+00:00\"", INT64_C(317341886400000000)},
    };
    int64_t us;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_true(pw_json_to_time_us(json(times[i].text), &us));
        if (us != times[i].us)
            fail_msg("%s is %lld", times[i].text, (long long)us);
    }
}

static void
what_is_no_time_is_refused(void **state)
{
    static const char *const texts[] = {"", "1", "null", "\"\"", "\"infinity\"", "\"2026-03-01\"",
        "\"2026-03-01 12:00:00+00:00\"", "\"2026-13-01T12:00:00+00:00\"",
        "\"2026-00-01T12:00:00+00:00\"", "\"2026-03-32T12:00:00+00:00\"",
        "\"2026-03-01T24:00:00+00:00\"", "\"2026-03-01T12:60:00+00:00\"", "\"2026-03-01T12:00:00\"",
        "\"2026-03-01T12:00:00.+00:00\"", "\"2026-03-01T12:00:00+0\"",
        "\"2026-03-01T12:00:00+00:00 BC\"", "\"26-03-01T12:00:00+00:00\"",
        "2026-03-01T12:00:00+00:00", "\"2026-03-01T12:00:00.1234567+00:00\"",
        "\"2026-3-01T12:00:00+00:00\""};
    int64_t us = 42;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (pw_json_to_time_us(json(texts[i]), &us))
            fail_msg("%s was taken", texts[i]);
    assert_false(pw_json_to_time_us((struct pw_json){0}, &us));
    assert_int_equal(us, 42);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_over_an_object_gives_its_members_in_order),
        cmocka_unit_test(a_walk_over_an_array_gives_its_elements_without_keys),
        cmocka_unit_test(a_walk_over_nonsense_ends_and_says_so),
        cmocka_unit_test(nothing_is_walked_without_harm),
        cmocka_unit_test(values_that_are_cut_off_anywhere_are_not_valid),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(a_member_is_found_by_its_name),
        cmocka_unit_test(texts_lose_their_quotes_and_escapes),
        cmocka_unit_test(numbers_and_truth_are_read_or_refused),
        cmocka_unit_test(times_are_microseconds_since_1970),
        cmocka_unit_test(what_is_no_time_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
