/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tree.h"

#include <ftw.h>
#include <stdio.h>

enum {
    OPEN_MAX = 16 /* descriptors at once */
};

static int
remove_one(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    (void)remove(path); /* what cannot be removed stays, and nobody can help it */
    return 0;
}

void
tree_remove(const char *path)
{
    (void)nftw(path, remove_one, OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}
