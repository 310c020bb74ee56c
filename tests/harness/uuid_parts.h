/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an id, which only tests look at; any 16 bytes have both. */
#ifndef PAWL_UUID_PARTS_H
#define PAWL_UUID_PARTS_H

#include "base/uuid.h"

static inline unsigned
uuid_slot(const struct pw_uuid *uuid)
{
    return (unsigned)(uuid->bytes[8] & 0x3f) << 4 | (unsigned)uuid->bytes[9] >> 4;
}

static inline int64_t
uuid_time_ms(const struct pw_uuid *uuid)
{
    int64_t unix_ms = 0;

    for (int i = 0; i < 6; i++)
        unix_ms = unix_ms << 8 | uuid->bytes[i];
    return unix_ms;
}

#endif
