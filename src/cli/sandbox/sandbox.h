/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program that a worker executes may do, if the worker was told to keep it in: which files it sees and changes, which
 * variables it gets, whether it has a network, how much it may use. The kernel enforces it and needs no privilege for it: Landlock
 * (sandbox_rules.h), seccomp (sandbox_filter.h) with a supervisor (sandbox_supervisor.h), limits of processes. All that the program
 * starts is bound by the same.
 */
#ifndef PW_CLI_SANDBOX_SANDBOX_H
#define PW_CLI_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

enum {
    SANDBOX_LIMITS = 4
};

enum sandbox_permission_kind {
    SANDBOX_READ,
    SANDBOX_WRITE,
    SANDBOX_VARIABLE,
};

/* A path or a variable that the program may have. */
struct sandbox_permission {
    enum sandbox_permission_kind kind;
    const char *value;
};

struct sandbox {
    struct sandbox_permission *permissions;
    size_t permission_count;
    bool on;       /* else there are limits and variables at most */
    bool choosing; /* the program gets only the variables that are named */
    bool network;
    bool here;   /* it may read the current directory */
    int version; /* of the kernel's Landlock */
    struct {
        int resource;
        struct rlimit most;
    } limits[SANDBOX_LIMITS];
    size_t limit_count;
};

/* Adds a permission; value is borrowed. Returns false if out of memory. */
bool sandbox_allow(struct sandbox *sandbox, enum sandbox_permission_kind kind, const char *value);

/* Frees the permissions. */
void sandbox_done(struct sandbox *sandbox);

/*
 * Finds out whether the kernel can do all of it, by doing it in a process that ends at once. Returns EXIT_OK, or prints why not and
 * returns the exit code.
 */
int sandbox_probe(struct sandbox *sandbox);

/* Whether a variable of ours, NAME=VALUE, reaches the program. */
bool sandbox_passes(const struct sandbox *sandbox, const char *variable);

/*
 * Makes the rules for one program that may change what is in the directory temporary. Returns a descriptor, -1 if there is nothing to be
 * kept, -2 with errno if it cannot be done.
 */
int sandbox_open(const struct sandbox *sandbox, const char *temporary);

/*
 * In the new process, between fork and exec: from here on the rules hold. supervisor is a socket to the supervisor_receive() of another
 * process. False: they do not hold.
 */
bool sandbox_enter(const struct sandbox *sandbox, int rules, int supervisor);

/* A worker that is root has programs and reapers that are like those of other users: what they do not have they cannot get back by exec. */
bool sandbox_drop_capabilities(void);

#endif
