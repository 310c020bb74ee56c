/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandbox/sandbox_filter.h"

#include "cli/sandbox/sandbox_supervisor.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/fiemap.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers of a system may be older than its kernel. These numbers are the same on all architectures. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

enum {
    /*
     * The first number that Linux 6.18 does not have. The filter refuses later calls, because this program does not know them. The numbers
     * of x32 are above, too.
     */
    CALLS_END = 470,
    FILTER_MAX = 512,                                     /* instructions */
    RULE_MAX = 6,                                         /* of these, in one rule */
    LOW = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0, /* the lower half of an argument */
};

#if defined(__x86_64__)
static const uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
static const uint32_t architecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
static const uint32_t architecture = AUDIT_ARCH_RISCV64;
#else
static const uint32_t architecture = 0; /* no filter for it */
#endif

enum test {
    ALWAYS,
    ANY_OF, /* the argument has one of the bits of value */
    IS,     /* the argument, under mask, equals value */
    IS_NOT,
};

/* If the test holds, the call has this result. Otherwise the next rule decides; after the last rule the call is allowed. */
struct rule {
    int call;
    uint32_t result;
    enum test test;
    unsigned argument;
    uint32_t value;
    uint32_t mask; /* 0: all bits */
};

#define ALLOW SECCOMP_RET_ALLOW
#define ASK SECCOMP_RET_USER_NOTIF
#define REFUSE(number) (SECCOMP_RET_ERRNO | (number))

#define NAMESPACES                                                                                \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
        CLONE_NEWNET)
#define KIND_MASK 0xff00u /* the bits of an ioctl that name its subsystem */

/* These calls fail as in a kernel without them. All processes of a user share keyrings, System V IPC and message queues. */
static const int missing[] = {SYS_add_key, SYS_request_key, SYS_keyctl, SYS_shmget, SYS_shmat,
    SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_msgget,
    SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink,
    /* A ring makes calls past every filter. */
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    /* Its flags are in memory, where a filter does not see them; libraries call clone() instead. */
    SYS_clone3,
    /* Later forms of calls that the supervisor answers; libraries use the earlier ones instead. */
    SYS_setxattrat, SYS_removexattrat, SYS_file_setattr};

static const int forbidden[] = {SYS_setns, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd};

static const struct rule rules[] = {
    /* guard:filter_namespaces */
    {SYS_unshare, REFUSE(EPERM), ANY_OF, 0, NAMESPACES | CLONE_NEWTIME, 0},
    {SYS_clone, REFUSE(EPERM), ANY_OF, 0, NAMESPACES, 0},
    /* Zero means the caller itself. For another number, the supervisor checks whether it is a thread of the caller. */
    {SYS_prlimit64, ASK, IS_NOT, 0, 0, 0},
    {SYS_sched_setaffinity, ASK, IS_NOT, 0, 0, 0},
    {SYS_sched_setattr, ASK, IS_NOT, 0, 0, 0},
    {SYS_sched_setparam, ASK, IS_NOT, 0, 0, 0},
    {SYS_sched_setscheduler, ASK, IS_NOT, 0, 0, 0},
    {SYS_migrate_pages, ASK, IS_NOT, 0, 0, 0},
    {SYS_move_pages, ASK, IS_NOT, 0, 0, 0},
    {SYS_setpriority, REFUSE(EPERM), IS_NOT, 0, PRIO_PROCESS, 0},
    {SYS_setpriority, ASK, IS_NOT, 1, 0, 0},
    {SYS_ioprio_set, REFUSE(EPERM), IS_NOT, 0, IOPRIO_WHO_PROCESS, 0},
    {SYS_ioprio_set, ASK, IS_NOT, 1, 0, 0},
    /*
     * A program could change attributes, encryption and versions of files that it can only read. It could also make subvolumes, which
     * Landlock does not check.
     */
    {SYS_ioctl, ALLOW, IS, 1, FS_IOC_GETFLAGS, 0},
    {SYS_ioctl, ALLOW, IS, 1, FS_IOC_FIEMAP, 0},
    {SYS_ioctl, ALLOW, IS, 1, FICLONE, 0},
    {SYS_ioctl, ALLOW, IS, 1, FICLONERANGE, 0},
    {SYS_ioctl, ALLOW, IS, 1, FIDEDUPERANGE, 0},
    /* guard:filter_flags */
    {SYS_ioctl, REFUSE(ENOTTY), IS, 1, FS_IOC_SETFLAGS &KIND_MASK, KIND_MASK},
    {SYS_ioctl, REFUSE(ENOTTY), IS, 1, BTRFS_IOCTL_MAGIC << 8, KIND_MASK},
    {SYS_ioctl, REFUSE(ENOTTY), IS, 1, FS_IOC_FSSETXATTR, 0},
    {SYS_ioctl, REFUSE(ENOTTY), IS, 1, FS_IOC_SETVERSION, 0},
};

/* Only local sockets. */
static const struct rule no_network = {SYS_socket, REFUSE(EAFNOSUPPORT), IS_NOT, 0, AF_UNIX, 0};

struct filter {
    struct sock_filter code[FILTER_MAX];
    unsigned short size;
};

static void
add(struct filter *filter, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    filter->code[filter->size++] = (struct sock_filter){code, if_true, if_false, value};
}

static void
add_load(struct filter *filter, size_t offset)
{
    add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Jumps are relative: 0 is the next instruction. */
static void
add_rule(struct filter *filter, const struct rule *rule)
{
    const uint16_t jump = BPF_JMP | BPF_K;
    uint8_t tests = rule->test == ALWAYS ? 0 : rule->mask != 0 ? 3 : 2;

    if (filter->size + RULE_MAX > FILTER_MAX) {
        filter->size = FILTER_MAX + 1; /* the kernel refuses it, whatever is in it */
        return;
    }
    add_load(filter, offsetof(struct seccomp_data, nr));
    add(filter, jump | BPF_JEQ, (uint32_t)rule->call, 0, tests + 1);
    if (rule->test != ALWAYS)
        add_load(filter, offsetof(struct seccomp_data, args) + 8 * rule->argument + LOW);
    if (rule->mask != 0)
        add(filter, BPF_ALU | BPF_AND | BPF_K, rule->mask, 0, 0);
    if (rule->test == ANY_OF)
        add(filter, jump | BPF_JSET, rule->value, 0, 1);
    if (rule->test == IS)
        add(filter, jump | BPF_JEQ, rule->value, 0, 1);
    if (rule->test == IS_NOT)
        add(filter, jump | BPF_JEQ, rule->value, 1, 0);
    add(filter, BPF_RET | BPF_K, rule->result, 0, 0);
}

static void
add_calls(struct filter *filter, const int *calls, size_t count, uint32_t result)
{
    for (size_t i = 0; i < count; i++)
        add_rule(filter, &(struct rule){.call = calls[i], .result = result});
}

static void
make_filter(struct filter *filter, bool network)
{
    int supervised;

    filter->size = 0;
    add_load(filter, offsetof(struct seccomp_data, arch));
    add(filter, BPF_JMP | BPF_K | BPF_JEQ, architecture, 0, 2);
    add_load(filter, offsetof(struct seccomp_data, nr));
    add(filter, BPF_JMP | BPF_K | BPF_JGE, CALLS_END, 0, 1);
    add(filter, BPF_RET | BPF_K, REFUSE(ENOSYS), 0, 0);
    /* guard:filter_missing */
    add_calls(filter, missing, sizeof(missing) / sizeof(missing[0]), REFUSE(ENOSYS));
    add_calls(filter, forbidden, sizeof(forbidden) / sizeof(forbidden[0]), REFUSE(EPERM));
    for (size_t i = 0; (supervised = supervisor_call(i)) >= 0; i++)
        add_calls(filter, &supervised, 1, ASK);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        add_rule(filter, &rules[i]);
    if (!network)
        add_rule(filter, &no_network);
    if (filter->size < FILTER_MAX)
        add(filter, BPF_RET | BPF_K, ALLOW, 0, 0);
}

bool
filter_exists(void)
{
    return architecture != 0;
}

int
filter_enter(bool network)
{
    /* A signal must not interrupt a call that the supervisor has received: the change may be made already. */
    const unsigned long flags =
        SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    struct filter filter;
    struct sock_fprog program = {.filter = filter.code};

    make_filter(&filter, network);
    if (filter.size > FILTER_MAX) {
        errno = E2BIG;
        return -1;
    }
    program.len = filter.size;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}
