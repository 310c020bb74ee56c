/* SPDX-License-Identifier: Apache-2.0 */
/* The form of requests: first lines, headers and names of hosts that are refused, and those that are not. */
#include "server/api/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static unsigned
status_of_line(const char *method, const char *target, const char *version)
{
    struct guard guard;

    guard_init(&guard);
    guard_line(&guard, method, target, version);
    guard_header(&guard, "Host", 4, "x", 1);
    return guard_end(&guard) ? 0 : guard.status;
}

/* The status of a GET or POST with Host and these headers, "Name: value" each. */
static unsigned
status_of(const char *method, const char *const *headers)
{
    struct guard guard;

    guard_init(&guard);
    guard_line(&guard, method, "/v1/now", "HTTP/1.1");
    guard_header(&guard, "Host", 4, "x", 1);
    for (; *headers != NULL; headers++) {
        const char *colon = strstr(*headers, ": ");

        guard_header(&guard, *headers, (size_t)(colon - *headers), colon + 2, strlen(colon + 2));
    }
    return guard_end(&guard) ? 0 : guard.status;
}

static void
malformed_first_lines_are_refused(void **state)
{
    static const char *const bad[] = {"", "v1", "http://a/v1", "*", "/a b", "/a\tb", "/\xc3\xa4",
        "/a#b", "/a\\b", "/%", "/%4", "/%zz", "/%00", "/%0a", "/%7f", "/a%2fb", "/a%5Cb", "/%c0%af",
        "/%ff", "/.", "/..", "/a/../b", "/a/%2e%2E/b", "/a/.%2e", "//a", "/a//b", "/a?x=%00",
        "/a?x=%ff", "/a\"b", "/a{b", "/a|b"};
    static const char *const good[] = {"/", "/v1/runs", "/v1/runs/", "/a?b=c&d=%20+", "/a?x=/../y",
        "/a?x=%2f", "/...", "/a..b", "/%C3%A4", "/a%20b", "/v1/x:y@z;a=b,c"};
    char large[GUARD_TARGET_MAX + 3];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (status_of_line("GET", bad[i], "HTTP/1.1") != 400)
            fail_msg("%s is not refused", bad[i]);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (status_of_line("GET", good[i], "HTTP/1.1") != 0)
            fail_msg("%s is refused", good[i]);
    memset(large, 'x', sizeof(large));
    large[0] = '/';
    large[GUARD_TARGET_MAX] = '\0';
    assert_int_equal(status_of_line("GET", large, "HTTP/1.1"), 0);
    large[GUARD_TARGET_MAX] = 'x';
    large[GUARD_TARGET_MAX + 1] = '\0';
    assert_int_equal(status_of_line("GET", large, "HTTP/1.1"), 414);
    assert_int_equal(status_of_line("get", "/", "HTTP/1.1"), 501);
    assert_int_equal(status_of_line("BREW", "/", "HTTP/1.1"), 501);
    assert_int_equal(status_of_line("GET", "/", "HTTP/1.2"), 505);
    assert_int_equal(status_of_line("GET", "/", NULL), 505);
}

static void
headers_that_can_be_read_in_two_ways_are_refused(void **state)
{
    static const char *const bad[][4] = {
        {"Content-Length: 1", "Content-Length: 1"},
        {"Content-Length: 1", "Content-Length: 2"},
        {"Content-Length: 1", "Transfer-Encoding: chunked"},
        {"Transfer-Encoding: chunked", "transfer-encoding: chunked"},
        {"Transfer-Encoding: gzip, chunked"},
        {"Transfer-Encoding: xchunked"},
        {"Content-Length: +1"},
        {"Content-Length: 1, 1"},
        {"Content-Length: 0x1"},
        {"Content-Length: "},
        {"Content-Length: 99999999999999999999"},
        {"Content-Length : 1"},
        {"X Y: 1"},
        {": 1"},
        {"X(: 1"},
        {"X: a\x01"},
        {"X: a\r"},
        {"X: a\x7f"},
        {"Host: x"},
        {"Authorization: a", "authorization: b"},
        {"Idempotency-Key: a", "Idempotency-Key: a"},
        {"Content-Type: a", "Content-Type: a"},
        {"Expect: something"},
    };
    static const char *const good[][3] = {{"Content-Length: 0"}, {"Transfer-Encoding: Chunked"},
        {"X: a\tb", "X: c"}, {"Expect: 100-continue"}, {"X: \xc3\xa4"}};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (status_of("POST", bad[i]) != 400)
            fail_msg("%s is not refused", bad[i][0]);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (status_of("POST", good[i]) != 0)
            fail_msg("%s is refused", good[i][0]);
    assert_int_equal(status_of("GET", (const char *const[]){"Content-Length: 1", NULL}), 400);
    assert_int_equal(status_of("GET", (const char *const[]){"Content-Length: 0", NULL}), 0);
}

static void
many_or_large_headers_are_refused(void **state)
{
    struct guard guard;
    char value[GUARD_HEADER_BYTES_MAX];

    (void)state;
    guard_init(&guard);
    guard_line(&guard, "GET", "/", "HTTP/1.1");
    guard_header(&guard, "Host", 4, "x", 1);
    for (int i = 0; i < GUARD_HEADERS_MAX - 1; i++)
        guard_header(&guard, "X", 1, "y", 1);
    assert_true(guard_end(&guard));
    guard_header(&guard, "X", 1, "y", 1);
    assert_false(guard_end(&guard));
    assert_int_equal(guard.status, 431);
    guard_init(&guard);
    memset(value, 'y', sizeof(value));
    guard_header(&guard, "X", 1, value, sizeof(value));
    assert_int_equal(guard.status, 431);
    guard_init(&guard);
    assert_false(guard_end(&guard)); /* no Host */
}

/* The texts of a request as libmicrohttpd cuts them out of its buffer: "|" is a byte that it has overwritten. */
static bool
lies_well(const char *buffer, const char *target)
{
    struct guard guard;
    char text[200];
    size_t size = strlen(buffer);
    const char *parts[20] = {NULL};
    size_t count = 0;

    memcpy(text, buffer, size + 1);
    for (char *at = text; *at != '\0' && count < 20; at += strcspn(at, "|")) {
        at += strspn(at, "|");
        parts[count++] = at;
    }
    for (size_t i = 0; i < size; i++)
        if (text[i] == '|')
            text[i] = '\0';
    guard_init(&guard);
    guard_layout(&guard, parts[0], parts[1], target, parts[2]);
    for (size_t i = 3; i + 1 < count && *parts[i] != '\0'; i += 2)
        guard_header(&guard, parts[i], strlen(parts[i]), parts[i + 1], strlen(parts[i + 1]));
    guard_layout_end(&guard, text, size);
    return guard.problem == NULL;
}

static void
a_request_that_was_read_in_another_way_than_sent_is_refused(void **state)
{
    (void)state;
    assert_true(lies_well("GET|/a|HTTP/1.1||Host||x||X||y||||", "/a"));
    assert_true(lies_well("GET|/a|HTTP/1.1||Host|x||X|||y||||", "/a"));
    assert_false(lies_well("GET||/a|HTTP/1.1||Host||x||||", "/a"));     /* two blanks */
    assert_false(lies_well("GET|/a||HTTP/1.1||Host||x||||", "/a"));     /* two blanks */
    assert_false(lies_well("GET|/a|HTTP/1.1|Host||x||||", "/a"));       /* a bare line feed */
    assert_false(lies_well("GET|/a|HTTP/1.1||Host||x|X||y||||", "/a")); /* a bare line feed */
    assert_false(lies_well("GET|/a|HTTP/1.1||Host||x|||||||", "/a"));   /* no name */
    assert_false(lies_well("GET|/a|HTTP/1.1||Host||x|||", "/a"));       /* a bare line feed */
}

static void
only_the_names_of_this_server_are_accepted(void **state)
{
    static const char *const names[] = {"pawl.example", "other.example:8443", NULL};
    static const char *const good[] = {"localhost:7295", "127.0.0.1:7295", "[::1]:7295",
        "LOCALHOST:7295", "pawl.example", "PAWL.example:443", "other.example:8443"};
    static const char *const bad[] = {"", ":7295", "localhost", "localhost:80", "localhost:7295.",
        "localhost:7295:1", "evil.example", "evil.example:7295", "x@127.0.0.1:7295",
        "127.0.0.1:7295.evil.example", "127.0.0.1:7295/x", "2130706433:7295", "127.1:7295",
        "10.0.0.1:7295", "[::1", "[::1]7295", "other.example", "pawl.example.evil", "127.0.0.1:-1",
        "127.0.0.1:99999"};
    struct guard_hosts hosts = {names, 7295, true};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!guard_host(&hosts, good[i]))
            fail_msg("%s is refused", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (guard_host(&hosts, bad[i]))
            fail_msg("%s is accepted", bad[i]);
    /* An address is no name, so a server that listens on others accepts it; on a Unix socket the port means nothing. */
    hosts.loopback = false;
    assert_true(guard_host(&hosts, "10.0.0.1:7295"));
    assert_true(guard_host(&hosts, "[fe80::1]:7295"));
    assert_false(guard_host(&hosts, "10.0.0.1:80"));
    assert_false(guard_host(&hosts, "evil.example:7295"));
    hosts = (struct guard_hosts){NULL, 0, true};
    assert_true(guard_host(&hosts, "localhost"));
    assert_false(guard_host(&hosts, "evil.example"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_first_lines_are_refused),
        cmocka_unit_test(headers_that_can_be_read_in_two_ways_are_refused),
        cmocka_unit_test(many_or_large_headers_are_refused),
        cmocka_unit_test(a_request_that_was_read_in_another_way_than_sent_is_refused),
        cmocka_unit_test(only_the_names_of_this_server_are_accepted),
    };

    return cmocka_run_group_tests_name("server/guard", tests, NULL, NULL);
}
