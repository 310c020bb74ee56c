/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PASSES_MAX = 100000 /* each pass goes one level deeper */
};

/*
 * A directory that is being emptied. Its directories are emptied one after the other; their own directories are first moved up into it. So
 * at most three directories are open at the same time, however deep the tree is. Each file is named relative to an open directory and not
 * by a path. In a path, another process could replace a directory by a link at the same time.
 */
struct tree {
    int root;
    unsigned moved;
    bool progress; /* something was removed or moved */
};

/* Opens a directory, but not a link, and restores the owner's rights, which its creator may have removed. Returns -1 if that fails. */
static int
open_directory(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    char path[40];
    int handle;

    if (fd < 0 && errno == EACCES) {
        /* O_PATH needs no rights. chmod() through /proc changes this directory, even if its name belongs to another file by now. */
        handle = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (handle < 0)
            return -1;
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
        (void)chmod(path, S_IRWXU);
        (void)close(handle);
        fd = openat(parent, name, flags);
    }
    if (fd >= 0)
        (void)fchmod(
            fd, S_IRWXU); /* it fails for another user's directory, which may still be readable */
    return fd;
}

/* Removes a file, a link or an empty directory. */
static bool
remove_one(struct tree *tree, int parent, const char *name)
{
    if (unlinkat(parent, name, 0) != 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0)
        return false;
    tree->progress = true;
    return true;
}

static void
move_up(struct tree *tree, int parent, const char *name)
{
    char made[24];
    int fd = open_directory(parent, name); /* a directory that cannot be changed cannot be moved */

    if (fd >= 0)
        (void)close(fd);
    (void)snprintf(made, sizeof(made), "moved-%u", tree->moved++);
    if (renameat(parent, name, tree->root, made) == 0)
        tree->progress = true;
}

/* The next name in a directory, or NULL. */
static const char *
next_name(DIR *directory)
{
    const struct dirent *entry;

    do
        entry = readdir(directory);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry != NULL ? entry->d_name : NULL;
}

/* Removes or moves up everything in one directory of the tree. */
static void
empty(struct tree *tree, const char *name)
{
    int fd = open_directory(tree->root, name);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    const char *inside;

    while (directory != NULL && (inside = next_name(directory)) != NULL)
        if (!remove_one(tree, fd, inside))
            move_up(tree, fd, inside);
    if (directory != NULL)
        (void)closedir(directory);
    else if (fd >= 0)
        (void)close(fd);
    (void)remove_one(tree, tree->root, name);
}

/* Returns true if something has changed, so that another pass may remove more. */
static bool
pass(struct tree *tree)
{
    int fd = open_directory(tree->root, ".");
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    const char *name;

    tree->progress = false;
    while (directory != NULL && (name = next_name(directory)) != NULL)
        if (!remove_one(tree, tree->root, name))
            empty(tree, name);
    if (directory != NULL)
        (void)closedir(directory);
    else if (fd >= 0)
        (void)close(fd);
    return tree->progress;
}

void
tree_remove(const char *path)
{
    struct tree tree = {.root = -1};
    unsigned passes = 0;

    if (rmdir(path) == 0 || errno == ENOENT)
        return;
    tree.root = open_directory(AT_FDCWD, path);
    if (tree.root < 0)
        return;
    while (passes < PASSES_MAX && pass(&tree))
        passes++;
    (void)close(tree.root);
    (void)rmdir(path);
}
