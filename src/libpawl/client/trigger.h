/* SPDX-License-Identifier: Apache-2.0 */
/* The trigger object, as pawl_client_trigger() and pawl_client_trigger_many() read it. */
#ifndef PW_LIBPAWL_TRIGGER_H
#define PW_LIBPAWL_TRIGGER_H

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "pawl/client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PW_TRIGGER_ITEMS_MAX = 10000,
    /* All inputs and keys of one call together; a message of PostgreSQL's protocol has at most 1 GB. */
    PW_TRIGGER_BYTES_MAX = 512 * 1024 * 1024,
};

/* In the order of the table of names in trigger.c. */
enum pw_trigger_option {
    PW_TRIGGER_KEY,
    PW_TRIGGER_TENANT,
    PW_TRIGGER_PRIORITY,
    PW_TRIGGER_DELAY_MS,
    PW_TRIGGER_METADATA,
    PW_TRIGGER_ID,
    PW_TRIGGER_KEY_TTL_MS,
    PW_TRIGGER_KEY_WHILE_ACTIVE,
    PW_TRIGGER_LIMIT_KEY,
    PW_TRIGGER_TAGS,
    PW_TRIGGER_EXPIRES_MS,
    PW_TRIGGER_REPLACE,
    PW_TRIGGER_DEBOUNCE_MS,
    PW_TRIGGER_DEBOUNCE_MAX_MS,
    PW_TRIGGER_OPTIONS,
};

struct pw_trigger_item {
    const char *input;
    size_t size;
    const char *key; /* NULL: none */
};

struct pawl_trigger {
    char *workflow;
    char *options[PW_TRIGGER_OPTIONS];
    bool failed[PW_TRIGGER_OPTIONS]; /* there was no memory to keep it */
    char unknown[64];                /* an option that does not exist */
    char *input;
    size_t input_size;
    bool input_failed;

    struct pw_trigger_item *items;
    size_t item_count;
    size_t item_room;
    struct pw_arena arena; /* of the items */
    size_t item_bytes;     /* of their inputs and keys */
    bool items_failed;
    bool items_too_many;
    bool items_too_large;
};

/* The options that are not texts. */
struct pw_trigger_values {
    bool has_priority;
    int32_t priority;
    bool has_delay;
    int64_t delay_ms;
    bool has_key_ttl;
    int64_t key_ttl_ms;
    bool key_while_active;
    int64_t expires_ms; /* 0: not given; so the next two */
    int64_t debounce_ms;
    int64_t debounce_max_ms;
    bool replace;
    bool has_id;
    struct pw_uuid id;
};

/*
 * Checks a trigger and reads its options. many: for pawl_client_trigger_many(). Returns PAWL_OK, PAWL_EINVAL, PAWL_ETOOLARGE or
 * PAWL_ENOMEM.
 */
int pw_trigger_read(
    const pawl_trigger *trigger, bool many, struct pw_trigger_values *out, struct pw_error *err);

#endif
