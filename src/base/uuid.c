/* SPDX-License-Identifier: Apache-2.0 */
/* Ids in UUIDv7 layout with a slot in them. */
#include "uuid.h"

#include "rand.h"
#include "sha256.h"

#include <string.h>

/* Sets time, version and variant in an id whose other bits are random. */
static void
stamp(int64_t unix_ms, struct pw_uuid *uuid)
{
    for (int i = 0; i < 6; i++)
        uuid->bytes[i] = (uint8_t)(unix_ms >> (40 - 8 * i));
    uuid->bytes[6] = (uint8_t)(0x70 | (uuid->bytes[6] & 0x0f));
    uuid->bytes[8] = (uint8_t)(0x80 | (uuid->bytes[8] & 0x3f));
}

bool
pw_uuid_make_any(int64_t unix_ms, struct pw_uuid *out)
{
    struct pw_uuid made;

    if (unix_ms < 0 || unix_ms >= INT64_C(1) << 48 || !pw_random(&made, sizeof(made)))
        return false;
    stamp(unix_ms, &made);
    *out = made;
    return true;
}

bool
pw_uuid_make(int64_t unix_ms, unsigned slot, struct pw_uuid *out)
{
    struct pw_uuid made;

    if (slot >= PW_SLOT_COUNT || !pw_uuid_make_any(unix_ms, &made))
        return false;
    made.bytes[8] = (uint8_t)(0x80 | slot >> 4);
    made.bytes[9] = (uint8_t)((slot & 0x0f) << 4 | (made.bytes[9] & 0x0f));
    *out = made;
    return true;
}

unsigned
pw_key_slot(const char *tenant, const char *workflow, const char *key)
{
    struct pw_sha256_state state;
    uint8_t sum[PW_SHA256_SIZE];

    pw_sha256_init(&state);
    /* The zero byte between the texts is the one at the end of each. */
    pw_sha256_add(&state, tenant, strlen(tenant) + 1);
    pw_sha256_add(&state, workflow, strlen(workflow) + 1);
    pw_sha256_add(&state, key, strlen(key));
    pw_sha256_end(&state, sum);
    return (unsigned)sum[0] << 2 | (unsigned)sum[1] >> 6;
}

/* True for the bytes that a hyphen precedes. */
static bool
has_hyphen_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void
pw_uuid_format(const struct pw_uuid *uuid, char out[PW_UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 16; i++) {
        if (has_hyphen_before(i))
            *out++ = '-';
        *out++ = digits[uuid->bytes[i] >> 4];
        *out++ = digits[uuid->bytes[i] & 0x0f];
    }
    *out = '\0';
}

/* The value of a hexadecimal digit, or -1. */
static int
digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool
pw_uuid_parse(const char *text, struct pw_uuid *out)
{
    struct pw_uuid read;

    if (text == NULL)
        return false;
    for (int i = 0; i < 16; i++) {
        int high, low;

        if (has_hyphen_before(i) && *text++ != '-')
            return false;
        high = digit_value(text[0]);
        low = high < 0 ? -1 : digit_value(text[1]);
        if (low < 0)
            return false;
        read.bytes[i] = (uint8_t)(high << 4 | low);
        text += 2;
    }
    if (*text != '\0')
        return false;
    *out = read;
    return true;
}

bool
pw_uuid_equal(const struct pw_uuid *a, const struct pw_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

uint64_t
pw_uuid_hash(const struct pw_uuid *uuid)
{
    struct pw_rand mixer;
    uint64_t halves[2];

    memcpy(halves, uuid->bytes, sizeof(halves));
    pw_rand_init(&mixer, halves[0]);
    mixer.state = pw_rand_next(&mixer) ^ halves[1];
    return pw_rand_next(&mixer);
}
