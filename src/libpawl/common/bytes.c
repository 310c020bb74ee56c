/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed bytes. */
#include "pawl/api.h"

#include <string.h>

pawl_bytes
pawl_text(const char *text)
{
    pawl_bytes bytes = {text, text != NULL ? strlen(text) : 0};

    return bytes;
}
