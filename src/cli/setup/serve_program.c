/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup/serve_program.h"

#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the program is, from the directory of this one: installed, and in the build directory. SERVE_INSTALLED may be absolute. */
static const char *const places[] = {SERVE_INSTALLED, "../server/pawl-serve"};

/* Writes the directory of this program. Returns false if it is unknown. */
static bool
find_own_dir(char dir[static PATH_MAX])
{
    ssize_t size = readlink("/proc/self/exe", dir, PATH_MAX - 1);
    char *slash;

    dir[size > 0 ? size : 0] = '\0';
    slash = strrchr(dir, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

bool
serve_program_find(char path[static PATH_MAX])
{
    const char *given = getenv("PAWL_SERVE");
    char dir[PATH_MAX];

    if (given != NULL && given[0] != '\0') {
        (void)snprintf(path, PATH_MAX, "%s", given);
        return access(path, X_OK) == 0;
    }
    if (!find_own_dir(dir))
        return false;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        int size = places[i][0] == '/' ? snprintf(path, PATH_MAX, "%s", places[i])
                                       : snprintf(path, PATH_MAX, "%s/%s", dir, places[i]);

        if (size < PATH_MAX && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int
serve_program_missing(void)
{
    const char *given = getenv("PAWL_SERVE");

    if (given != NULL && given[0] != '\0')
        return exit_saying(EXIT_OTHER, "Let it name the program, or unset it.",
            "PAWL_SERVE is \"%s\", which cannot be executed", given);
    return exit_saying(EXIT_OTHER,
        "It is built where libmicrohttpd is (Debian: apt install libmicrohttpd-dev). Build pawl "
        "again with it, or set PAWL_SERVE to the program.",
        "the HTTP server, pawl-serve, is not installed");
}
