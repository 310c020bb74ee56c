/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of a program that a worker executes with --sandbox. It decides which files the program reads and changes, which variables it
 * gets, whether it has a network, and its resource limits. The kernel enforces it and needs no privilege for it: Landlock
 * (sandbox_rules.h), seccomp (sandbox_filter.h) with a supervisor (sandbox_supervisor.h), and limits of processes. The same limits bind all
 * processes that the program starts.
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
    bool on;       /* false: at most limits and variables apply */
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
 * Finds out whether the kernel supports the whole sandbox, by entering it in a process that ends at once. Returns EXIT_OK, or prints why
 * not and returns the exit code.
 */
int sandbox_probe(struct sandbox *sandbox);

/* Returns true if the program gets a variable NAME=VALUE of this process. */
bool sandbox_passes(const struct sandbox *sandbox, const char *variable);

/*
 * Makes the rules for one program that may change files in the directory temporary. Returns a descriptor; -1 if there are no rules; -2 with
 * errno if it fails.
 */
int sandbox_open(const struct sandbox *sandbox, const char *temporary);

/*
 * Called in the new process, between fork and exec: from here on the rules hold. supervisor is a socket to the supervisor_receive() of
 * another process. Returns false if the rules do not hold.
 */
bool sandbox_enter(const struct sandbox *sandbox, int rules, int supervisor);

/* Drops the capabilities of this process for programs and reapers of a worker that is root. Exec cannot regain them. */
bool sandbox_drop_capabilities(void);

#endif
