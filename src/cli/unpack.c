/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/unpack.h"
#include "cli/exit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Loaded when there is something to unpack, as no other command needs it. */
static const char library[] = "libz.so.1";

static __typeof__(uncompress) *
find_uncompress(void *zlib)
{
    void *found = zlib == NULL ? NULL : dlsym(zlib, "uncompress");
    __typeof__(uncompress) *function;

    memcpy(&function, &found, sizeof(function));
    return function;
}

static bool
is_whole(__typeof__(uncompress) *function, const struct packed *packed, char *text)
{
    uLongf size = packed->text_size;

    return function((Bytef *)text, &size, packed->bytes, packed->size) == Z_OK &&
        size == packed->text_size && text[size - 1] == '\0';
}

char *
unpack(const struct packed *packed, const char **why)
{
    void *zlib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    __typeof__(uncompress) *function = find_uncompress(zlib);
    char *text = malloc(packed->text_size);

    *why = function == NULL ? "zlib (libz.so.1) is not installed"
        : text == NULL      ? "out of memory"
                            : "this program is damaged";
    if (function == NULL || text == NULL || !is_whole(function, packed, text)) {
        free(text);
        text = NULL;
    }
    if (zlib != NULL)
        (void)dlclose(zlib);
    return text;
}

char *
unpack_install(void)
{
    const char *why;
    char *text = unpack(&script_install, &why);

    if (text == NULL)
        (void)exit_saying(EXIT_OTHER,
            "Where that cannot be mended: pawl.sql, which comes with pawl, is the same script for "
            "psql",
            "cannot unpack the engine's script: %s", why);
    return text;
}
