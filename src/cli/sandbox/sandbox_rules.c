/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandbox/sandbox_rules.h"

#include "cli/sandbox/sandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers of a system may be older than its kernel. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

/* Landlock of Linux 6.2: with an older version a program could still truncate files. Later versions are used where the kernel has them. */
enum {
    VERSION_TRUNCATE = 3,
    VERSION_SCOPE = 6,
};

/* struct landlock_ruleset_attr as version 6 has it. */
struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

static const uint64_t access_all = (LANDLOCK_ACCESS_FS_TRUNCATE << 1) - 1;
static const uint64_t access_read =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t access_device =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;

/*
 * Files of the system that every program needs, and none of its users. A path that does not exist is left out. In /proc, the private files
 * of a process (environment, memory, descriptors) are closed to a program with rules, unless the process has the same rules.
 */
static const char *const readable[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
    "/libx32", "/etc", "/opt", "/nix/store", "/run/systemd/resolve", "/dev/random", "/dev/urandom",
    "/sys/devices/system/cpu", "/sys/fs/cgroup", "/proc"};
static const char *const writable[] = {"/dev/null", "/dev/zero", "/dev/full"};

int
rules_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool
rules_suffice(int version)
{
    return version >= VERSION_TRUNCATE;
}

/* Adds a rule for a path. A path that does not exist needs no rule, unless an option names it. Returns false with errno. */
static bool
add_path(int rules, const char *path, uint64_t allowed, bool needed)
{
    struct landlock_path_beneath_attr attr = {
        .allowed_access = allowed, .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat facts;
    bool added;

    if (attr.parent_fd < 0)
        return !needed;
    if (fstat(attr.parent_fd, &facts) == 0 && !S_ISDIR(facts.st_mode))
        attr.allowed_access &= access_device | LANDLOCK_ACCESS_FS_EXECUTE;
    added = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) == 0;
    (void)close(attr.parent_fd);
    return added;
}

/* Adds the directory of this program, so that scripts can call it. */
static bool
add_self(int rules)
{
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[size > 0 ? size : 0] = '\0';
    return size <= 0 || add_path(rules, self, access_read, false);
}

static bool
add_system(int rules)
{
    bool added = true;

    for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]) && added; i++)
        added = add_path(rules, readable[i], access_read, false);
    for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]) && added; i++)
        added = add_path(rules, writable[i], access_device, false);
    return added;
}

static bool
add_allowed(const struct sandbox *sandbox, int rules)
{
    bool added = true;

    for (size_t i = 0; i < sandbox->permission_count && added; i++) {
        const struct sandbox_permission *permission = &sandbox->permissions[i];

        if (permission->kind == SANDBOX_READ)
            added = add_path(rules, permission->value, access_read, true);
        if (permission->kind == SANDBOX_WRITE)
            added = add_path(rules, permission->value, access_all, true);
    }
    return added;
}

int
rules_open(const struct sandbox *sandbox, const char *temporary)
{
    struct ruleset_attr attr = {.handled_access_fs = access_all};
    size_t size = sizeof(attr.handled_access_fs);
    int rules;

    /* An older kernel accepts the structure only in the length that it has itself. */
    if (sandbox->version >= VERSION_SCOPE) {
        attr.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL;
        size = sizeof(attr);
    }
    rules = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    if (rules < 0)
        return -1;
    (void)fcntl(rules, F_SETFD, FD_CLOEXEC);
    if (add_system(rules) && (!sandbox->here || add_path(rules, ".", access_read, true)) &&
        add_self(rules) && add_allowed(sandbox, rules) &&
        add_path(rules, temporary, access_all, true))
        return rules;
    (void)close(rules);
    return -1;
}

bool
rules_enter(int rules)
{
    return syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}
