/* SPDX-License-Identifier: Apache-2.0 */
/* The script that the program has packed: whole, or not at all. */
#include "cli/unpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
the_engines_script_is_unpacked(void **state)
{
    char *text = unpack_install();

    (void)state;
    assert_non_null(text);
    assert_int_equal(strlen(text) + 1, script_install.text_size);
    assert_true(script_install.size < script_install.text_size / 3);
    assert_non_null(strstr(text, "create schema"));
    free(text);
}

static void
assert_refused(const struct packed *packed)
{
    const char *why = NULL;

    assert_null(unpack(packed, &why));
    assert_string_equal(why, "this program is damaged");
}

static void
a_script_that_is_damaged_is_refused(void **state)
{
    unsigned char *bytes = malloc(script_install.size);
    struct packed packed = script_install;

    (void)state;
    assert_non_null(bytes);
    memcpy(bytes, script_install.bytes, script_install.size);
    packed.bytes = bytes;
    bytes[script_install.size / 2] ^= 1;
    assert_refused(&packed);
    bytes[script_install.size / 2] ^= 1;
    packed.size--;
    assert_refused(&packed);
    packed.size++;
    packed.text_size--;
    assert_refused(&packed);
    packed.text_size += 2;
    assert_refused(&packed);
    free(bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engines_script_is_unpacked),
        cmocka_unit_test(a_script_that_is_damaged_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
