/* SPDX-License-Identifier: Apache-2.0 */
/* Ids: the layout that the engine makes and checks. */
#include "base/uuid.h"
#include "uuid_parts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool kernel_refuses;

/* Stands for the one of the system in this program, and has its prototype. */
ssize_t
getrandom(void *buffer, size_t length, unsigned flags)
{
    if (kernel_refuses) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, length, flags);
}

static void
every_slot_comes_back_out_of_an_id(void **state)
{
    struct pw_uuid id;

    (void)state;
    for (unsigned slot = 0; slot < PW_SLOT_COUNT; slot++) {
        assert_true(pw_uuid_make(1700000000123, slot, &id));
        assert_int_equal(uuid_slot(&id), slot);
        assert_true(uuid_time_ms(&id) == 1700000000123);
        assert_int_equal(id.bytes[6] >> 4, 7);
        assert_int_equal(id.bytes[8] >> 6, 2);
    }
}

/* The bits that are the same in all ids are those of time, version, variant and slot. */
static void
all_other_bits_are_random(void **state)
{
    struct pw_uuid all_or = {{0}}, all_and, id;
    static const uint8_t random_bits[16] = {
        0, 0, 0, 0, 0, 0, 0x0f, 0xff, 0, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

    (void)state;
    memset(&all_and, 0xff, sizeof(all_and));
    for (int n = 0; n < 200; n++) {
        assert_true(pw_uuid_make(1, 5, &id));
        for (size_t i = 0; i < 16; i++) {
            all_or.bytes[i] |= id.bytes[i];
            all_and.bytes[i] &= id.bytes[i];
        }
    }
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(all_or.bytes[i] ^ all_and.bytes[i], random_bits[i]);
}

static void
a_random_slot_is_any_of_them(void **state)
{
    bool seen[PW_SLOT_COUNT] = {false};
    struct pw_uuid id;
    int count = 0;

    (void)state;
    for (int n = 0; n < 20000; n++) {
        assert_true(pw_uuid_make_any(1700000000123, &id));
        assert_true(uuid_time_ms(&id) == 1700000000123);
        assert_int_equal(id.bytes[6] >> 4, 7);
        assert_int_equal(id.bytes[8] >> 6, 2);
        count += !seen[uuid_slot(&id)];
        seen[uuid_slot(&id)] = true;
    }
    assert_in_range(count, PW_SLOT_COUNT - 5, PW_SLOT_COUNT);
}

static void
what_fits_no_id_is_refused_and_writes_nothing(void **state)
{
    struct pw_uuid id, before;

    (void)state;
    memset(&id, 0x5a, sizeof(id));
    before = id;
    assert_false(pw_uuid_make(1, PW_SLOT_COUNT, &id));
    assert_false(pw_uuid_make(1, 4294967295U, &id));
    assert_false(pw_uuid_make(-1, 1, &id));
    assert_false(pw_uuid_make(INT64_C(1) << 48, 1, &id));
    assert_false(pw_uuid_make_any(INT64_MAX, &id));
    assert_false(pw_uuid_make_any(INT64_MIN, &id));
    kernel_refuses = true;
    assert_false(pw_uuid_make(1, 1, &id));
    assert_false(pw_uuid_make_any(1, &id));
    kernel_refuses = false;
    assert_memory_equal(&id, &before, sizeof(id));
    assert_true(pw_uuid_make((INT64_C(1) << 48) - 1, 1023, &id));
    assert_true(uuid_time_ms(&id) == (INT64_C(1) << 48) - 1);
    assert_true(pw_uuid_make(0, 0, &id));
    assert_true(uuid_time_ms(&id) == 0);
}

/* The numbers are what pawl._key_slot answers. */
static void
the_slot_of_a_key_is_the_engines(void **state)
{
    (void)state;
    assert_int_equal(pw_key_slot("", "", ""), 602);
    assert_int_equal(pw_key_slot("", "billing.invoice.v1", "order:42"), 29);
    assert_int_equal(pw_key_slot("acme", "billing.invoice.v1", "order:42"), 516);
    assert_int_equal(pw_key_slot("", "content.thumbnail.v1",
                         "sch\xc3\xb6n-\xe6\x97\xa5\xe6\x9c\xac-\xf0\x9f\x98\x80"),
        945);
}

static void
texts_are_written_and_read_back(void **state)
{
    char text[PW_UUID_TEXT_SIZE];
    struct pw_uuid id;

    (void)state;
    assert_true(pw_uuid_parse("01234567-89ab-7def-8123-456789abcdef", &id));
    assert_memory_equal(
        id.bytes, "\x01\x23\x45\x67\x89\xab\x7d\xef\x81\x23\x45\x67\x89\xab\xcd\xef", 16);
    pw_uuid_format(&id, text);
    assert_string_equal(text, "01234567-89ab-7def-8123-456789abcdef");
    assert_true(pw_uuid_parse("FFFFFFFF-ABCD-EFAB-CDEF-FFFFFFFFFFFF", &id));
    pw_uuid_format(&id, text);
    assert_string_equal(text, "ffffffff-abcd-efab-cdef-ffffffffffff");
    for (int n = 0; n < 100; n++) {
        struct pw_uuid back;

        assert_true(pw_uuid_make_any(1700000000123, &id));
        pw_uuid_format(&id, text);
        assert_true(pw_uuid_parse(text, &back));
        assert_true(pw_uuid_equal(&id, &back));
    }
}

static void
other_texts_are_no_ids(void **state)
{
    static const char whole[] = "01234567-89ab-7def-8123-456789abcdef";
    struct pw_uuid id = {{1}}, before = id;
    char text[sizeof(whole) + 1];

    (void)state;
    assert_false(pw_uuid_parse(NULL, &id));
    assert_false(pw_uuid_parse("0123456789ab7def8123456789abcdef", &id));
    assert_false(pw_uuid_parse("{01234567-89ab-7def-8123-456789abcdef}", &id));
    assert_false(pw_uuid_parse("01234567-89ab-7def-8123-456789abcdef ", &id));
    assert_false(pw_uuid_parse(" 01234567-89ab-7def-8123-456789abcdef", &id));
    assert_false(pw_uuid_parse("01234567-89ab-7def-8123-456789abcdef0", &id));
    assert_false(pw_uuid_parse("0123456-789ab-7def-8123-456789abcdef", &id));
    for (size_t i = 0; i < strlen(whole); i++) {
        memcpy(text, whole, sizeof(whole));
        text[i] = '\0';
        assert_false(pw_uuid_parse(text, &id));
        text[i] = 'g';
        assert_false(pw_uuid_parse(text, &id));
        text[i] = '/';
        assert_false(pw_uuid_parse(text, &id));
    }
    assert_true(pw_uuid_equal(&id, &before));
}

static void
ids_that_differ_in_one_bit_are_not_equal_and_hash_apart(void **state)
{
    struct pw_uuid one, two;

    (void)state;
    assert_true(pw_uuid_make_any(1700000000123, &one));
    for (unsigned bit = 0; bit < 128; bit++) {
        two = one;
        two.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(pw_uuid_equal(&one, &two));
        assert_true(pw_uuid_hash(&one) != pw_uuid_hash(&two));
        two.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_true(pw_uuid_equal(&one, &two));
        assert_true(pw_uuid_hash(&one) == pw_uuid_hash(&two));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_comes_back_out_of_an_id),
        cmocka_unit_test(all_other_bits_are_random),
        cmocka_unit_test(a_random_slot_is_any_of_them),
        cmocka_unit_test(what_fits_no_id_is_refused_and_writes_nothing),
        cmocka_unit_test(the_slot_of_a_key_is_the_engines),
        cmocka_unit_test(texts_are_written_and_read_back),
        cmocka_unit_test(other_texts_are_no_ids),
        cmocka_unit_test(ids_that_differ_in_one_bit_are_not_equal_and_hash_apart),
    };

    return cmocka_run_group_tests_name("base uuid", tests, NULL, NULL);
}
