/* SPDX-License-Identifier: Apache-2.0 */
/* Which connection strings have a password, and that a word of the command line is overwritten. */
#include "base/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void
a_password_is_found(void **state)
{
    static const char *const with[] = {"postgresql://u:secret@host/db", "postgres://u:secret@host",
        "postgresql://:secret@host", "postgresql://u:se@cret@host",
        "postgresql://u:se/cret@host/db", "postgresql://u@host/db?password=secret",
        "host=h password=secret", "password = 'secret'", "sslpassword=secret"};
    static const char *const without[] = {"", "db", "dbname=db host=h port=5432",
        "postgresql://host:5432/db", "postgresql://u@host/db", "postgresql:///db?host=/tmp",
        "service=shop", "postgresql://u@one,two:5433/db"};

    (void)state;
    for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
        assert_true(pw_secret_in(with[i]));
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        assert_false(pw_secret_in(without[i]));
}

static void
a_word_is_overwritten(void **state)
{
    char word[] = "password=secret";

    (void)state;
    pw_secret_hide(word);
    assert_string_equal(word, "xxxxxxxxxxxxxxx");
}

static void
a_message_is_covered(void **state)
{
    static const struct {
        const char *text;
        const char *covered;
    } cases[] = {
        {"there is no command \"postgresql://u:secret@host/db\"",
            "there is no command \"postgresql://u:***@host/db\""},
        {"postgresql://u:se@cr:et@host/db", "postgresql://u:***@host/db"},
        {"postgresql://u:x@host and postgresql://u:y@host", "postgresql://u:***@host"},
        {"postgresql://u@host:5432/db", "postgresql://u@host:5432/db"},
        {"postgresql:///db?password=secret&host=/tmp", "postgresql:///db?password=***&host=/tmp"},
        {"\"host=h password=secret\"", "\"host=h password=***\""},
        {"password = 'my \\' secret' user=u", "password = *** user=u"},
        {"sslpassword=ab", "sslpassword=**"},
        {"password=se\\ cret user=u", "password=*** user=u"},
        {"\"password=se&cr\"et\": no", "\"password=***\": no"},
        {"postgresql:///db?sslpassword=secret&host=h", "postgresql:///db?sslpassword=***&host=h"},
        {"password='open", "password=***"},
        {"password=secret\\", "password=***"},
        {"the password is missing", "the password is missing"},
        {"password=", "password="},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[100];

        (void)snprintf(text, sizeof(text), "%s", cases[i].text);
        pw_secret_cover(text);
        assert_string_equal(text, cases[i].covered);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_password_is_found),
        cmocka_unit_test(a_word_is_overwritten),
        cmocka_unit_test(a_message_is_covered),
    };

    return cmocka_run_group_tests_name("base/secret", tests, NULL, NULL);
}
