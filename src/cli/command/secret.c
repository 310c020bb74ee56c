/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/secret.h"

#include <stddef.h>
#include <string.h>

bool
secret_in(const char *database)
{
    const char *scheme = strstr(database, "://");
    const char *at = scheme != NULL ? strrchr(scheme, '@') : NULL;

    /* Also sslpassword, and also in a URI. */
    if (strstr(database, "password") != NULL)
        return true;
    return at != NULL && memchr(scheme + 3, ':', (size_t)(at - scheme - 3)) != NULL;
}

char *
secret_take(char *word)
{
    char *copy = strdup(word);

    if (copy != NULL)
        memset(word, 'x', strlen(word));
    return copy;
}
