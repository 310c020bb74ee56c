/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts as PostgreSQL prints them, {a,"b c",NULL}, for people and as JSON. */
#ifndef PW_BASE_PG_TEXT_LIST_TEXT_H
#define PW_BASE_PG_TEXT_LIST_TEXT_H

#include "base/buf.h"

/* Adds "a, b c" to out. A text that is no such list is added unchanged. */
void pw_list_text_write(struct pw_buf *out, const char *list);

/* Adds ["a", "b c", null] to out. A text that is no such list becomes a JSON text. */
void pw_list_text_write_json(struct pw_buf *out, const char *list);

#endif
