/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that somebody else owns. */
#include "pawl/api.h"

#include <string.h>

pawl_bytes
pawl_text(const char *text)
{
    pawl_bytes bytes = {text, text != NULL ? strlen(text) : 0};

    return bytes;
}
