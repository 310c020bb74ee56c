/* SPDX-License-Identifier: Apache-2.0 */
/* The text of access tokens, compared with texts that another program has made. */
#include "base/token.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
a_secret_has_one_text_and_one_digest(void **state)
{
    static const struct {
        int first, step; /* bytes of the secret */
        const char *text;
        const char *digest;
    } cases[] = {
        {0, 0, "pawl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA_0f0073",
            "b4fd8b3163651ba1f7fe519b32828b63fa4cda9d430c59d6ee80edec58dbf00a"},
        {0, 1, "pawl_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_ea866a",
            "cee2c7bf5005d297b95002524511df88adffd9b6fb5240289a397069efc352c8"},
        {255, 0, "pawl___________________________________________8_225f7e",
            "c8730979c27c157d49402c71f07992a7ef96050813144031687437f5dea03dcd"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t secret[PW_TOKEN_SECRET];
        uint8_t digest[PW_SHA256_SIZE];
        char text[PW_TOKEN_LENGTH + 1];
        char hex[2 * PW_SHA256_SIZE + 1];

        for (int j = 0; j < PW_TOKEN_SECRET; j++)
            secret[j] = (uint8_t)(cases[i].first + j * cases[i].step);
        pw_token_write(secret, text);
        assert_string_equal(text, cases[i].text);
        assert_true(pw_token_valid(text, PW_TOKEN_LENGTH));
        pw_token_digest(text, digest);
        for (size_t j = 0; j < sizeof(digest); j++)
            (void)snprintf(hex + 2 * j, 3, "%02x", digest[j]);
        assert_string_equal(hex, cases[i].digest);
    }
}

static void
a_text_with_any_other_character_or_size_is_invalid(void **state)
{
    static const char text[] = "pawl_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_ea866a0";
    static const char others[] = {'\0', 'x', '+', '=', '.', '_', 'f'};

    (void)state;
    assert_false(pw_token_valid(NULL, 0));
    for (size_t size = 0; size < sizeof(text); size++)
        assert_int_equal(pw_token_valid(text, size), size == PW_TOKEN_LENGTH);
    for (size_t at = 0; at < PW_TOKEN_LENGTH; at++)
        for (size_t i = 0; i < sizeof(others); i++) {
            char changed[sizeof(text)];

            memcpy(changed, text, sizeof(changed));
            changed[at] = others[i];
            assert_int_equal(pw_token_valid(changed, PW_TOKEN_LENGTH), others[i] == text[at]);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_has_one_text_and_one_digest),
        cmocka_unit_test(a_text_with_any_other_character_or_size_is_invalid),
    };

    return cmocka_run_group_tests_name("base/token", tests, NULL, NULL);
}
