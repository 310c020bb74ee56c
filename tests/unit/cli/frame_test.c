/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of scripts as a hostile or broken one would send them: in pieces, too short, too long, no JSON. */
#include "cli/script/frame.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct frame_reader reader;
static int ends[2]; /* ours, and the script's */

static int
begin(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends);
}

static int
end(void **state)
{
    (void)state;
    frame_done(&reader);
    (void)close(ends[0]);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    return 0;
}

static void
say(const void *data, size_t size)
{
    assert_int_equal(write(ends[1], data, size), size);
}

/* A message with this text, whatever it is. */
static void
say_message(const char *text)
{
    size_t size = strlen(text);
    const unsigned char head[] = {0, 0, (unsigned char)(size >> 8), (unsigned char)size};

    say(head, sizeof(head));
    say(text, size);
}

/* The next message, or NULL if there is no whole one. */
static const char *
hear(bool *bad)
{
    struct pw_json message;
    static char text[100];

    *bad = false;
    if (!frame_next(&reader, &message, bad))
        return NULL;
    assert_in_range(message.size, 0, sizeof(text) - 1);
    memcpy(text, message.data, message.size);
    text[message.size] = '\0';
    return text;
}

static void
what_is_written_is_read(void **state)
{
    struct pw_json_writer writer;
    struct pw_json message;
    struct pw_buf buf;
    bool bad = true;

    (void)state;
    pw_buf_init(&buf, FRAME_MAX);
    for (int i = 0; i < 2; i++) {
        size_t start = frame_begin(&buf, &writer);

        pw_json_key(&writer, "n");
        pw_json_add_int(&writer, i);
        frame_end(&buf, &writer, start);
    }
    say(buf.data, buf.size);
    assert_int_equal(frame_read(&reader, ends[0]), buf.size);
    for (int64_t i = 0; i < 2; i++) {
        int64_t n = -1;

        assert_true(frame_next(&reader, &message, &bad));
        assert_false(bad);
        assert_true(pw_json_to_int(pw_json_member(message, "n"), &n));
        assert_int_equal(n, i);
    }
    assert_false(frame_next(&reader, &message, &bad));
    pw_buf_done(&buf);
}

static void
a_message_may_come_byte_by_byte(void **state)
{
    const char bytes[] = "\0\0\0\7{\"a\":1}\0\0\0\2{}";
    int heard = 0;
    bool bad;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
        const char *text;

        say(bytes + i, 1);
        assert_int_equal(frame_read(&reader, ends[0]), 1);
        text = hear(&bad);
        assert_int_equal(text != NULL, i == 10 || i == 16);
        assert_false(bad);
        heard += text != NULL;
    }
    assert_int_equal(heard, 2);
}

static void
half_a_message_and_then_the_end_is_no_message(void **state)
{
    bool bad;

    (void)state;
    say("\0\0\0\7{\"a", 7);
    assert_int_equal(frame_read(&reader, ends[0]), 7);
    assert_null(hear(&bad));
    assert_int_equal(frame_read(&reader, ends[0]), -1);
    assert_int_equal(errno, EAGAIN);
    (void)close(ends[1]);
    ends[1] = -1;
    assert_int_equal(frame_read(&reader, ends[0]), 0);
    assert_null(hear(&bad));
}

static void
a_length_beyond_the_limit_is_refused_before_there_is_memory_for_it(void **state)
{
    static const unsigned char lengths[][4] = {
        {0xff, 0xff, 0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0x00, 0x20, 0x00, 0x01}};
    bool bad;

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        say(lengths[i], 4);
        assert_int_equal(frame_read(&reader, ends[0]), 4);
        assert_null(hear(&bad));
        assert_int_equal(frame_read(&reader, ends[0]), -1);
        assert_int_equal(errno, EMSGSIZE);
        assert_in_range(reader.room, 0, 4096);
        frame_done(&reader);
    }
}

static void
the_largest_message_is_taken(void **state)
{
    const unsigned char head[] = {0x00, 0x20, 0x00, 0x00}; /* FRAME_MAX */
    struct pw_json message;
    size_t left = FRAME_MAX;
    char piece[8192];
    bool bad = false;
    bool first = true;

    (void)state;
    memset(piece, ' ', sizeof(piece));
    say(head, sizeof(head));
    while (left > 0) {
        piece[0] = first ? '{' : ' ';
        first = false;
        piece[sizeof(piece) - 1] = left == sizeof(piece) ? '}' : ' ';
        say(piece, sizeof(piece));
        left -= sizeof(piece);
        while (frame_read(&reader, ends[0]) > 0)
            ;
    }
    assert_true(frame_next(&reader, &message, &bad));
    assert_false(bad);
    assert_int_equal(message.size, FRAME_MAX);
}

static void
what_is_no_object_is_bad(void **state)
{
    static const char *const texts[] = {
        "", "1", "[]", "\"{}\"", "null", "{", "{}}", "{\"a\":}", "{\"a\":\"\xff\"}", "nonsense"};
    bool bad;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        say_message(texts[i]);
        say_message("{\"next\":1}");
        assert_true(frame_read(&reader, ends[0]) > 0);
        while (frame_read(&reader, ends[0]) > 0)
            ;
        assert_string_equal(hear(&bad), texts[i]);
        assert_true(bad);
        /* It is only that message. */
        assert_string_equal(hear(&bad), "{\"next\":1}");
        assert_false(bad);
    }
}

/* What becomes of an output that is written and read again. */
static void
check_output(const char *data, size_t size, const char *json)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    size_t got = 99;
    char *back;

    pw_buf_init(&buf, 1000);
    pw_json_writer_init(&writer, &buf);
    frame_add_output(&writer, data, size);
    assert_true(pw_buf_ok(&buf));
    assert_int_equal(buf.size, strlen(json));
    assert_memory_equal(buf.data, json, buf.size);
    back = frame_output_of((struct pw_json){buf.data, buf.size}, &got);
    assert_non_null(back);
    assert_int_equal(got, size);
    if (size > 0)
        assert_memory_equal(back, data, size);
    assert_int_equal(back[got], '\0');
    free(back);
    pw_buf_done(&buf);
}

static void
an_output_is_what_it_was(void **state)
{
    (void)state;
    check_output("", 0, "\"\"");
    check_output("a\n\"b\"", 5, "\"a\\n\\\"b\\\"\"");
    check_output("\xc3\xa4\x1b", 3, "\"\xc3\xa4\\u001b\"");
    check_output("a\0b", 3, "{\"base64\":\"YQBi\"}");
    check_output("\xff", 1, "{\"base64\":\"/w==\"}");
    check_output("a\xff", 2, "{\"base64\":\"Yf8=\"}");
    check_output("\xc3", 1, "{\"base64\":\"ww==\"}");
}

static void
what_was_not_written_by_us_is_its_own_text(void **state)
{
    static const char *const same[] = {"1", "[1, 2]", "{\"a\": 1}", "{\"base64\": null}",
        "{\"base64\": 17}", "{\"base64\": {\"a\": 1}}", "{}"};
    size_t size = 99;
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        text = frame_output_of((struct pw_json){same[i], strlen(same[i])}, &size);
        assert_string_equal(text, same[i]);
        assert_int_equal(size, strlen(same[i]));
        free(text);
    }
    /* Nothing, null, and digits that are none. */
    text = frame_output_of((struct pw_json){0}, &size);
    assert_string_equal(text, "");
    free(text);
    text = frame_output_of((struct pw_json){"null", 4}, &size);
    assert_string_equal(text, "");
    free(text);
    text = frame_output_of((struct pw_json){"{\"base64\":\"Y!W Jj=\"}", 20}, &size);
    assert_string_equal(text, "abc");
    assert_int_equal(size, 3);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(what_is_written_is_read),
        TEST(a_message_may_come_byte_by_byte),
        TEST(half_a_message_and_then_the_end_is_no_message),
        TEST(a_length_beyond_the_limit_is_refused_before_there_is_memory_for_it),
        TEST(the_largest_message_is_taken),
        TEST(what_is_no_object_is_bad),
        TEST(an_output_is_what_it_was),
        TEST(what_was_not_written_by_us_is_its_own_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
