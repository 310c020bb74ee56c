/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a fuzz target's corpus: each byte can be written, and a malformed line is rejected. pack_test.sh tests the other direction. */
#include "corpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads a line from a block that ends with it, so that the address sanitizer sees a read beyond. */
static bool
read_line(const char *line, size_t size, struct fuzz_entry *entry, char **block)
{
    *block = malloc(size > 0 ? size : 1);
    assert_non_null(*block);
    memcpy(*block, line, size);
    return fuzz_corpus_line(*block, size, entry);
}

static void
assert_reads(const char *line, const char *name, const void *data, size_t size)
{
    struct fuzz_entry entry;
    char *block;

    assert_true(read_line(line, strlen(line), &entry, &block));
    assert_string_equal(entry.name, name);
    assert_int_equal(entry.size, size);
    assert_memory_equal(entry.data, data, size);
    free(block);
}

static void
assert_rejects(const char *line)
{
    struct fuzz_entry entry;
    char *block;

    assert_false(read_line(line, strlen(line), &entry, &block));
    free(block);
}

static void
an_input_has_a_name_and_bytes(void **state)
{
    (void)state;
    assert_reads("found-a-b \"abc\"", "found-a-b", "abc", 3);
    assert_reads("- \"\"", "-", "", 0);
    assert_reads("- \" \"", "-", " ", 1);
    assert_reads("- \"\"a\"\"", "-", "\"a\"", 3);
    assert_reads("- \"\\\\n\\n\\x00\\xff\\x0d\"", "-", "\\n\n\0\xff\r", 6);
}

static void
every_byte_can_be_escaped(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char line[16];
        char made = (char)byte;

        (void)snprintf(line, sizeof(line), "- \"\\x%02x\"", (unsigned)byte);
        assert_reads(line, "-", &made, 1);
    }
}

static void
malformed_lines_are_rejected(void **state)
{
    static const char *const lines[] = {"", "-", "- ", "- \"", "-\"\"", " \"\"", "- a\"", "- \"a",
        "- \"\\\"", "- \"\\x\"", "- \"\\x0\"", "- \"\\xg0\"", "- \"\\x0A\"", "- \"\\t\""};

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_rejects(lines[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_has_a_name_and_bytes),
        cmocka_unit_test(every_byte_can_be_escaped),
        cmocka_unit_test(malformed_lines_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
