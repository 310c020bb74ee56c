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

/* Replaces size bytes at secret by at most three stars. Returns where the text continues. */
static char *
cover(char *secret, size_t size)
{
    size_t stars = size < 3 ? size : 3;

    memset(secret, '*', stars);
    memmove(secret + stars, secret + size, strlen(secret + size) + 1);
    return secret + stars;
}

/* Returns true if the double quote at text closes what a message quotes, and is not part of a password. */
static bool
is_closing(const char *text)
{
    return text[0] == '"' && (text[1] == '\0' || strchr(" \t\n,.:;)", text[1]) != NULL);
}

/* Returns the size of a value of a connection string: in single quotes, or up to a blank. In a URI it also ends at an ampersand. */
static size_t
value_size(const char *value, bool in_uri)
{
    bool quoted = value[0] == '\'';
    size_t size = quoted ? 1 : 0;

    for (; value[size] != '\0'; size++) {
        if (quoted ? value[size] == '\''
                   : strchr(" \t\n", value[size]) != NULL || is_closing(value + size) ||
                    (in_uri && value[size] == '&'))
            break;
        if (value[size] == '\\' && value[size + 1] != '\0')
            size++;
    }
    return quoted && value[size] != '\0' ? size + 1 : size;
}

/* Returns true if the parameter whose name ends at text is one of a URI: ?sslpassword=. */
static bool
is_uri_parameter(const char *from, const char *text)
{
    while (text > from && text[-1] >= 'a' && text[-1] <= 'z')
        text--;
    return text > from && (text[-1] == '?' || text[-1] == '&');
}

void
pw_secret_cover(char *text)
{
    for (char *at = text; (at = strstr(at, "://")) != NULL;) {
        char *host = strrchr(at, '@'); /* a password that was not encoded may have an @ in it */
        char *colon = host == NULL ? NULL : memchr(at + 3, ':', (size_t)(host - at - 3));

        at = colon == NULL ? at + 3 : cover(colon + 1, (size_t)(host - colon - 1));
    }
    for (char *at = text; (at = strstr(at, "password")) != NULL;) {
        bool in_uri = is_uri_parameter(text, at);

        at += strlen("password");
        if (at[strspn(at, " ")] == '=') {
            at += strspn(at, " ") + 1;
            at += strspn(at, " ");
            at = cover(at, value_size(at, in_uri));
        }
    }
}
