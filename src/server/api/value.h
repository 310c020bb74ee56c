/* SPDX-License-Identifier: Apache-2.0 */
/* One value of a request as the text that PostgreSQL reads. */
#ifndef PW_SERVER_API_VALUE_H
#define PW_SERVER_API_VALUE_H

#include "base/arena.h"
#include "base/json_read.h"
#include "server/api/route.h"

/*
 * Both set *out to a text in the arena and return NULL, or return what the value must be, as a part of a message. *out is NULL without
 * memory. The value is never part of the message: it may be a payload.
 */
const char *value_of_text(
    enum argument_kind kind, const char *text, struct pw_arena *arena, const char **out);
const char *value_of_json(
    enum argument_kind kind, struct pw_json json, struct pw_arena *arena, const char **out);

#endif
