/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandbox.h"

#include "base/text.h"
#include "cli/call.h"
#include "cli/exit.h"
#include "cli/when.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Landlock as Linux 6.2 has it, version 3: before, a program could still empty files. What later versions have is used where it is
 * there. Headers of the system may be older than its kernel, so the few names are here.
 */
enum {
    VERSION_LEAST = 3,
    VERSION_SCOPES = 6,
    CALL_CREATE_RULES = 444, /* the same on all architectures */
    CALL_ADD_RULE = 445,
    CALL_ENTER = 446,
    ASK_VERSION = 1,
    RULE_PATH = 1,
};

static const uint64_t may_execute = UINT64_C(1) << 0;
static const uint64_t may_write_file = UINT64_C(1) << 1;
static const uint64_t may_read_file = UINT64_C(1) << 2;
static const uint64_t may_read_directory = UINT64_C(1) << 3;
static const uint64_t may_truncate = UINT64_C(1) << 14;
static const uint64_t may_all = (UINT64_C(1) << 15) - 1;
static const uint64_t scope_all = 3; /* abstract sockets and signals */

struct rules {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct rule {
    uint64_t allowed;
    int32_t directory;
} __attribute__((packed));

#if defined(__x86_64__)
static const uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
static const uint32_t architecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
static const uint32_t architecture = AUDIT_ARCH_RISCV64;
#else
static const uint32_t architecture = 0; /* none that was looked at */
#endif

/*
 * What every program needs: those of the system, and nothing of its users. One that is not there is left out. In /proc, what a process
 * keeps to itself (environment, memory, descriptors) is closed to programs with rules, unless it has the same.
 */
static const char *const readable[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64",
    "/libx32", "/etc", "/opt", "/nix/store", "/run/systemd/resolve", "/dev/random", "/dev/urandom",
    "/sys/devices/system/cpu", "/sys/fs/cgroup", "/proc"};
static const char *const writable[] = {"/dev/null", "/dev/zero", "/dev/full"};

/* Variables that say nothing about the worker; those that begin so, and NAME= is one. */
static const char *const passed[] = {"LANG=", "LANGUAGE=", "LC_", "TZ="};

static const struct {
    const char *name;
    int resource;
} resources[SANDBOX_LIMITS] = {
    {"memory", RLIMIT_AS},
    {"cpu", RLIMIT_CPU},
    {"file", RLIMIT_FSIZE},
    {"files", RLIMIT_NOFILE},
};

/* The value of "NAME=VALUE" if it has this name, else NULL. */
static const char *
value_of(const char *text, const char *name)
{
    size_t size = strlen(name);

    return strncmp(text, name, size) == 0 && text[size] == '=' ? text + size + 1 : NULL;
}

/* --- the command line --- */

static bool
read_amount(int resource, const char *text, int64_t *amount)
{
    if (resource == RLIMIT_NOFILE)
        return pw_parse_i64(text, 8, 1048576, amount);
    if (resource != RLIMIT_CPU)
        return pw_parse_size(text, 1, INT64_MAX / 2, amount);
    *amount = when_duration_ms(text);
    if (*amount < 1)
        return false;
    *amount = (*amount + 999) / 1000;
    return true;
}

static int
read_limit(struct sandbox *sandbox, const char *text)
{
    for (size_t i = 0; i < SANDBOX_LIMITS; i++) {
        const char *value = value_of(text, resources[i].name);
        int64_t amount = 0;

        if (value == NULL || sandbox->limit_count == SANDBOX_LIMITS ||
            !read_amount(resources[i].resource, value, &amount))
            continue;
        sandbox->limits[sandbox->limit_count].resource = resources[i].resource;
        sandbox->limits[sandbox->limit_count].most =
            (struct rlimit){.rlim_cur = (rlim_t)amount, .rlim_max = (rlim_t)amount};
        sandbox->limit_count++;
        return EXIT_OK;
    }
    return exit_saying(EXIT_USAGE,
        "Write: --limit memory=512MB, --limit cpu=60s, --limit file=1GB or --limit files=100",
        "--limit cannot be \"%s\"", text);
}

/* A variable that the program gets. Variables that lead to the database reach no program, even if an option names them. */
static int
read_variable(struct sandbox *sandbox, const char *option, const char *name)
{
    if (name[0] == '\0' || strchr(name, '=') != NULL)
        return exit_saying(EXIT_USAGE, "Write: --env NAME", "--%s cannot be \"%s\"", option, name);
    if (strncmp(name, "PG", 2) == 0 || strncmp(name, "PAWL_", 5) == 0)
        return exit_saying(EXIT_USAGE,
            "Give the program a variable with another name, or a file that it reads.",
            "\"%s\" cannot be passed on: no program gets PG* or PAWL_* of the worker", name);
    sandbox->choosing = true;
    return EXIT_OK;
}

static int
read_allowed(struct sandbox *sandbox, const char *text)
{
    const char *path = value_of(text, "read");
    const char *name = value_of(text, "env");

    if (path == NULL)
        path = value_of(text, "write");
    if (strcmp(text, "network") == 0) {
        sandbox->network = true;
        return EXIT_OK;
    }
    if (path != NULL && access(path, F_OK) != 0)
        return exit_saying(EXIT_USAGE, NULL, "--allow names \"%s\": %m", path);
    if (path != NULL)
        return EXIT_OK;
    if (name != NULL && name[0] != '\0')
        return read_variable(sandbox, "allow env", name);
    return exit_saying(EXIT_USAGE,
        "Write: --allow read=PATH, --allow write=PATH, --allow env=NAME or --allow network",
        "--allow cannot be \"%s\"", text);
}

static int
find_out(struct sandbox *sandbox)
{
    sandbox->version = (int)syscall(CALL_CREATE_RULES, NULL, 0, ASK_VERSION);
    if (sandbox->version < VERSION_LEAST)
        return exit_saying(EXIT_OTHER,
            "It needs Linux 6.2 or later, with \"landlock\" in /sys/kernel/security/lsm. Without "
            "--sandbox, a container or a user of its own keeps programs in.",
            "this kernel cannot do what --sandbox promises");
    if (!sandbox->network && architecture == 0)
        return exit_saying(EXIT_OTHER, "Say --allow network.",
            "on this architecture --sandbox cannot keep programs from the network");
    return EXIT_OK;
}

/*
 * Programs may read the directory that the worker was started in, unless the home of its user is there or below: / is where services are
 * started, and would be everything.
 */
static bool
may_read_here(void)
{
    const struct passwd *user = getpwuid(geteuid());
    const char *homes[] = {getenv("HOME"), user != NULL ? user->pw_dir : NULL};
    char here[PATH_MAX];
    size_t size;

    if (getcwd(here, sizeof(here)) == NULL || here[1] == '\0')
        return false;
    size = strlen(here);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        char home[PATH_MAX];

        if (homes[i] != NULL && realpath(homes[i], home) != NULL &&
            strncmp(home, here, size) == 0 && (home[size] == '/' || home[size] == '\0'))
            return false;
    }
    return true;
}

int
sandbox_read(struct sandbox *sandbox, const struct call *call)
{
    int code = EXIT_OK;

    *sandbox = (struct sandbox){.call = call, .on = call_has(call, "sandbox")};
    sandbox->choosing = sandbox->on;
    if (!sandbox->on && call_has(call, "allow"))
        return exit_saying(EXIT_USAGE, NULL, "--allow makes sense with --sandbox only");
    for (size_t i = 0; i < call->given_count && code == EXIT_OK; i++) {
        const char *option = call->given[i].option->name;

        if (strcmp(option, "limit") == 0)
            code = read_limit(sandbox, call->given[i].value);
        if (strcmp(option, "allow") == 0)
            code = read_allowed(sandbox, call->given[i].value);
        if (strcmp(option, "env") == 0)
            code = read_variable(sandbox, option, call->given[i].value);
    }
    if (code == EXIT_OK && sandbox->on)
        code = find_out(sandbox);
    sandbox->here = code == EXIT_OK && sandbox->on && may_read_here();
    if (code == EXIT_OK && sandbox->on && !sandbox->here)
        (void)fprintf(stderr,
            "pawl: programs cannot read the current directory, for a home directory is in it; "
            "--allow read=. lets them\n");
    return code;
}

/* The path or name that the option at this index of the call allows, if it is --allow KIND=...; else NULL. */
static const char *
allowed_of(const struct sandbox *sandbox, size_t index, const char *kind)
{
    const struct given *given = &sandbox->call->given[index];

    return strcmp(given->option->name, "allow") == 0 ? value_of(given->value, kind) : NULL;
}

bool
sandbox_passes(const struct sandbox *sandbox, const char *variable)
{
    /* guard:variables_chosen */
    if (sandbox == NULL || !sandbox->choosing)
        return true;
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        if (strncmp(variable, passed[i], strlen(passed[i])) == 0)
            return true;
    for (size_t i = 0; i < sandbox->call->given_count; i++) {
        const struct given *given = &sandbox->call->given[i];
        const char *name =
            strcmp(given->option->name, "env") == 0 ? given->value : allowed_of(sandbox, i, "env");

        if (name != NULL && value_of(variable, name) != NULL)
            return true;
    }
    return false;
}

/* --- the rules --- */

/* What is not there needs no rule, unless somebody has named it. False, with errno. */
static bool
add_path(int rules, const char *path, uint64_t allowed, bool needed)
{
    struct rule rule = {.allowed = allowed, .directory = open(path, O_PATH | O_CLOEXEC)};
    struct stat facts;
    bool added;

    if (rule.directory < 0)
        return !needed;
    if (fstat(rule.directory, &facts) == 0 && !S_ISDIR(facts.st_mode))
        rule.allowed &= may_execute | may_read_file | may_write_file | may_truncate;
    added = syscall(CALL_ADD_RULE, rules, RULE_PATH, &rule, 0) == 0;
    (void)close(rule.directory);
    return added;
}

/* Where this program is, so that scripts can call it. */
static bool
add_self(int rules, uint64_t allowed)
{
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[size > 0 ? size : 0] = '\0';
    return size <= 0 || add_path(rules, self, allowed, false);
}

static bool
add_allowed(const struct sandbox *sandbox, int rules, uint64_t reading)
{
    const struct call *call = sandbox->call;
    bool added = true;

    for (size_t i = 0; i < call->given_count && added; i++) {
        const char *value = call->given[i].value;

        if (strcmp(call->given[i].option->name, "allow") != 0)
            continue;
        if (value_of(value, "read") != NULL)
            added = add_path(rules, value_of(value, "read"), reading, true);
        if (value_of(value, "write") != NULL)
            added = add_path(rules, value_of(value, "write"), may_all, true);
    }
    return added;
}

int
sandbox_open(const struct sandbox *sandbox, const char *temporary)
{
    const uint64_t reading = may_execute | may_read_file | may_read_directory;
    struct rules wanted = {.files = may_all};
    bool added = true;
    int rules;

    if (sandbox == NULL || !sandbox->on)
        return -1;
    if (sandbox->version >= VERSION_SCOPES)
        wanted.scopes = scope_all;
    /* An older kernel takes the structure only as long as it knows it. */
    rules = (int)syscall(CALL_CREATE_RULES, &wanted,
        sandbox->version >= VERSION_SCOPES ? sizeof(wanted) : sizeof(wanted.files), 0);
    if (rules < 0)
        return -2;
    (void)fcntl(rules, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]) && added; i++)
        added = add_path(rules, readable[i], reading, false);
    for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]) && added; i++)
        added = add_path(rules, writable[i], may_read_file | may_write_file | may_truncate, false);
    if (sandbox->here)
        added = added && add_path(rules, ".", reading, true);
    if (added && add_self(rules, reading) && add_allowed(sandbox, rules, reading) &&
        add_path(rules, temporary, may_all, true))
        return rules;
    (void)close(rules);
    return -2;
}

/* --- in the new process --- */

/* No sockets but local ones. A ring of requests (io_uring) could open them past this, so there is none; nor calls in another way than ours. */
static bool
leave_network(void)
{
    enum {
        LOW = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0, /* the lower half of an argument */
        OTHER_WAY = 0x40000000,                               /* x32, on x86-64 */
    };
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_WAY, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* A worker that is root has programs of root that are no more than others are: what they do not have they cannot get back by exec. */
static bool
drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return syscall(SYS_capset, &header, none) == 0;
}

bool
sandbox_enter(const struct sandbox *sandbox, int rules)
{
    const struct rlimit none = {0};

    if (sandbox == NULL)
        return true;
    for (size_t i = 0; i < sandbox->limit_count; i++)
        if (setrlimit((__rlimit_resource_t)sandbox->limits[i].resource, &sandbox->limits[i].most) !=
            0)
            return false;
    if (!sandbox->on)
        return true;
    (void)setrlimit(RLIMIT_CORE, &none);
    /* guard:sandbox_steps */
    return drop_capabilities() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        syscall(CALL_ENTER, rules, 0) == 0 && (sandbox->network || leave_network());
}
