/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program that a worker executes may do, if the worker was told to keep it in: which files it sees and changes, which
 * variables it gets, whether it has a network, how much it may use. The kernel sees to it (Landlock, seccomp, limits of processes), needs
 * no privilege for it, and whatever the program starts is bound by the same.
 */
#ifndef PW_CLI_SANDBOX_H
#define PW_CLI_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

struct call;

enum {
    SANDBOX_LIMITS = 4
};

struct sandbox {
    const struct call *call; /* whose options --allow and --env it looks at */
    bool on;                 /* else there are limits and variables at most */
    bool choosing;           /* the program gets only the variables that are named */
    bool network;
    bool here;   /* it may read the current directory */
    int version; /* of the kernel's Landlock */
    struct {
        int resource;
        struct rlimit most;
    } limits[SANDBOX_LIMITS];
    size_t limit_count;
};

/*
 * Reads the options --sandbox, --allow, --env and --limit, and finds out whether the kernel can do what they want. Returns EXIT_OK, or what to
 * exit with after having said why.
 */
int sandbox_read(struct sandbox *sandbox, const struct call *call);

/* Whether a variable of ours, NAME=VALUE, reaches the program. */
bool sandbox_passes(const struct sandbox *sandbox, const char *variable);

/*
 * Makes the rules for one program that may change what is in the directory temporary. Returns a descriptor, -1 if there is nothing to be
 * kept, -2 with errno if it cannot be done.
 */
int sandbox_open(const struct sandbox *sandbox, const char *temporary);

/* In the new process, between fork and exec: from here on the rules hold. False: they do not. */
bool sandbox_enter(const struct sandbox *sandbox, int rules);

#endif
