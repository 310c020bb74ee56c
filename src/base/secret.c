/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <stddef.h>
#include <string.h>

bool
pw_secret_in(const char *database)
{
    const char *scheme = strstr(database, "://");
    const char *at = scheme != NULL ? strrchr(scheme, '@') : NULL;

    /* Finds sslpassword, too, and both as parameters of a URI. */
    if (strstr(database, "password") != NULL)
        return true;
    return at != NULL && memchr(scheme + 3, ':', (size_t)(at - scheme - 3)) != NULL;
}

void
pw_secret_hide(char *word)
{
    memset(word, 'x', strlen(word));
}
