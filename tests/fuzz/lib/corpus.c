/* SPDX-License-Identifier: Apache-2.0 */
/* The corpus of a fuzz target; see the header. */
#include "corpus.h"

#include <string.h>

/* The value of a hexadecimal digit as tests/fuzz/pack writes it, or -1. */
static int
digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the escape at text, which is a backslash. Returns its length, or 0 if it is malformed. */
static size_t
unescape(const char *text, size_t size, char *made)
{
    if (size >= 2 && (text[1] == '\\' || text[1] == 'n')) {
        *made = text[1] == 'n' ? '\n' : '\\';
        return 2;
    }
    if (size < 4 || text[1] != 'x' || digit(text[2]) < 0 || digit(text[3]) < 0)
        return 0;
    *made = (char)(digit(text[2]) << 4 | digit(text[3]));
    return 4;
}

bool
fuzz_corpus_line(char *line, size_t size, struct fuzz_entry *entry)
{
    char *blank = size > 0 ? memchr(line, ' ', size) : NULL;
    char *text = blank != NULL ? blank + 2 : NULL;
    char *end = line + size - 1;
    char *to = text;

    if (blank == NULL || blank == line || end < text || blank[1] != '"' || *end != '"')
        return false;
    *blank = '\0';
    for (const char *at = text; at < end; to++) {
        size_t taken = 1;

        *to = *at;
        if (*at == '\\')
            taken = unescape(at, (size_t)(end - at), to);
        if (taken == 0)
            return false;
        at += taken;
    }
    *entry = (struct fuzz_entry){line, text, (size_t)(to - text)};
    return true;
}
