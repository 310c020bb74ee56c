/* SPDX-License-Identifier: Apache-2.0 */
/* The form of tokens: what is one, what is none, and which digest the database gets. */
#include "server/api/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char token[] = "pawl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_0f0073";

static void
a_token_has_a_checksum_and_its_digest_is_of_all_of_it(void **state)
{
    static const uint8_t begin[] = {0xb4, 0xfd, 0x8b, 0x31};
    uint8_t digest[TOKEN_DIGEST_SIZE];

    (void)state;
    assert_int_equal(strlen(token), TOKEN_SIZE);
    assert_true(token_read(token, TOKEN_SIZE, digest));
    assert_memory_equal(digest, begin, sizeof(begin));
}

static void
a_changed_or_cut_token_is_none(void **state)
{
    uint8_t digest[TOKEN_DIGEST_SIZE];
    char changed[TOKEN_SIZE + 1];

    (void)state;
    for (size_t i = 0; i < TOKEN_SIZE; i++) {
        memcpy(changed, token, sizeof(changed));
        changed[i] = changed[i] == 'B' ? 'C' : 'B';
        assert_false(token_read(changed, TOKEN_SIZE, digest));
        assert_false(token_read(token, i, digest));
    }
    memcpy(changed, token, sizeof(changed));
    changed[20] = '=';
    assert_false(token_read(changed, TOKEN_SIZE, digest));
}

static void
a_header_has_the_scheme_bearer(void **state)
{
    uint8_t digest[TOKEN_DIGEST_SIZE];
    char header[200];

    (void)state;
    (void)snprintf(header, sizeof(header), "Bearer %s", token);
    assert_true(token_of_header(header, digest));
    (void)snprintf(header, sizeof(header), "bEARER   %s ", token);
    assert_true(token_of_header(header, digest));
    (void)snprintf(header, sizeof(header), "Basic %s", token);
    assert_false(token_of_header(header, digest));
    (void)snprintf(header, sizeof(header), "Bearer%s", token);
    assert_false(token_of_header(header, digest));
    (void)snprintf(header, sizeof(header), "Bearer %s, Bearer %s", token, token);
    assert_false(token_of_header(header, digest));
    assert_false(token_of_header("Bearer ", digest));
    assert_false(token_of_header("", digest));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_has_a_checksum_and_its_digest_is_of_all_of_it),
        cmocka_unit_test(a_changed_or_cut_token_is_none),
        cmocka_unit_test(a_header_has_the_scheme_bearer),
    };

    return cmocka_run_group_tests_name("server/token", tests, NULL, NULL);
}
