/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of runs and events, in the layout that the engine makes and checks (UUIDv7): 48 bits of milliseconds, the
 * version, 12 random bits, the variant, 10 bits of slot, 52 random bits. */
#ifndef PW_BASE_UUID_H
#define PW_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PW_SLOT_COUNT = 1024,
    PW_UUID_TEXT_SIZE = 37 /* 36 characters and the NUL */
};

struct pw_uuid {
    uint8_t bytes[16]; /* network byte order, as libpq sends it */
};

/* A new id of that time in that slot. The engine wants the time of the database, within one hour. False if the time
 * does not fit into 48 bits, the slot is none, or the kernel gives no random bytes. */
bool pw_uuid_make(int64_t unix_ms, unsigned slot, struct pw_uuid *out)
    __attribute__((warn_unused_result));

/* The same in a random slot: for runs without a key and without a parent, and for events. */
bool pw_uuid_make_any(int64_t unix_ms, struct pw_uuid *out) __attribute__((warn_unused_result));

/* The slot of a run with a key: the first 10 bits of SHA-256 of tenant, workflow and key with a zero byte between
 * them. Texts are UTF-8; none may be NULL, the usual tenant is "". */
unsigned pw_key_slot(const char *tenant, const char *workflow, const char *key);

/* 8-4-4-4-12 hexadecimal digits, lower case, and a NUL. */
void pw_uuid_format(const struct pw_uuid *uuid, char out[PW_UUID_TEXT_SIZE]);

/* Reads that form and no other, in lower or upper case; text may be NULL, which is none. Any version and variant. */
bool pw_uuid_parse(const char *text, struct pw_uuid *out) __attribute__((warn_unused_result));

bool pw_uuid_equal(const struct pw_uuid *a, const struct pw_uuid *b);
uint64_t pw_uuid_hash(const struct pw_uuid *uuid);

#endif
