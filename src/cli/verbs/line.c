/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/line.h"

#include <stdio.h>
#include <string.h>

bool
line_key(pawl_bytes line, const char *field, char *key, size_t size)
{
    pawl_bytes value = {NULL, 0};
    pawl_status status = pawl_json_text(line, field, key, size);

    if (status != PAWL_EINVAL || pawl_json_find(line, field, &value) != PAWL_OK)
        return status == PAWL_OK;
    /* A number is as good as a text: its digits are the key. */
    if (value.size >= size || strchr("-0123456789", value.data[0]) == NULL)
        return false;
    (void)snprintf(key, size, "%.*s", (int)value.size, value.data);
    return true;
}
