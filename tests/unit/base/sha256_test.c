/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the vectors of the standard, and around the borders of its blocks. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void
check_digest(const uint8_t digest[PW_SHA256_SIZE], const char *expected)
{
    char text[2 * PW_SHA256_SIZE + 1];

    for (size_t i = 0; i < PW_SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void
digest_of(const void *data, size_t size, uint8_t out[PW_SHA256_SIZE])
{
    struct pw_sha256_state sum;

    pw_sha256_init(&sum);
    pw_sha256_add(&sum, data, size);
    pw_sha256_end(&sum, out);
}

static void
check_text(const char *text, const char *expected)
{
    uint8_t digest[PW_SHA256_SIZE];

    digest_of(text, strlen(text), digest);
    check_digest(digest, expected);
}

static void
the_vectors_of_the_standard_come_out(void **state)
{
    struct pw_sha256_state sum;
    uint8_t digest[PW_SHA256_SIZE];

    (void)state;
    digest_of(NULL, 0, digest);
    check_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_text("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_text("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
               "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    pw_sha256_init(&sum);
    for (int i = 0; i < 1000000 / 50; i++)
        pw_sha256_add(&sum, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 50);
    pw_sha256_end(&sum, digest);
    check_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void
sizes_around_a_block_come_out(void **state)
{
    static const struct {
        size_t size;
        const char *expected;
    } cases[] = {
        {55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59"},
        {56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562"},
        {63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488"},
        {64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108"},
        {65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781"},
        {119, "da18797ed7c3a777f0847f429724a2d8cd5138e6ed2895c3fa1a6d39d18f7ec6"},
        {120, "f52b23db1fbb6ded89ef42a23ce0c8922c45f25c50b568a93bf1c075420bbb7c"},
        {128, "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5"},
    };
    uint8_t data[128], digest[PW_SHA256_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        digest_of(data, cases[i].size, digest);
        check_digest(digest, cases[i].expected);
    }
}

static void
pieces_give_what_the_whole_gives(void **state)
{
    uint8_t data[200], whole[PW_SHA256_SIZE], pieces[PW_SHA256_SIZE];
    struct pw_sha256_state sum;

    (void)state;
    memset(data, 0xa5, sizeof(data));
    digest_of(data, sizeof(data), whole);
    for (size_t step = 1; step <= sizeof(data); step++) {
        pw_sha256_init(&sum);
        for (size_t at = 0; at < sizeof(data); at += step)
            pw_sha256_add(&sum, data + at, at + step < sizeof(data) ? step : sizeof(data) - at);
        pw_sha256_add(&sum, NULL, 0);
        pw_sha256_end(&sum, pieces);
        assert_memory_equal(pieces, whole, sizeof(whole));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_standard_come_out),
        cmocka_unit_test(sizes_around_a_block_come_out),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
    };

    return cmocka_run_group_tests_name("base sha256", tests, NULL, NULL);
}
