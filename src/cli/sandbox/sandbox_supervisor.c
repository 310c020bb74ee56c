/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandbox/sandbox_supervisor.h"

#include "base/text.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* on all architectures */
#endif

enum {
    NAME_SIZE = 256,    /* of an extended attribute */
    VALUE_MAX = 65536,  /* of one */
    CHUNK = 4096,       /* memory is readable or not in pages of this size, or of a multiple */
    FD_PATH_SIZE = 40,  /* "/proc/self/fd/7" */
    MESSAGE_SIZE = 256, /* of a message of the kernel, which may be longer than in these headers */
};

enum what {
    MODE,
    OWNER,
    TIMES_SECONDS, /* struct utimbuf */
    TIMES_MICRO,   /* two struct timeval */
    TIMES_NANO,    /* two struct timespec */
    SET_ATTRIBUTE,
    REMOVE_ATTRIBUTE,
    OF_A_THREAD, /* not of a file */
};

/* Describes a call: what it changes, and the places of its arguments. */
struct form {
    int call;
    enum what what;
    signed char directory; /* a descriptor; -1: the path is relative to the current directory */
    signed char path;      /* -1: the descriptor is the file */
    signed char
        value; /* the first argument of the new value; for OF_A_THREAD, the thread's number */
    signed char flags; /* -1: none */
    bool nofollow;
};

static const struct form forms[] = {
    {SYS_fchmod, MODE, 0, -1, 1, -1, false},
    {SYS_fchmodat, MODE, 0, 1, 2, -1, false},
    {SYS_fchmodat2, MODE, 0, 1, 2, 3, false},
    {SYS_fchown, OWNER, 0, -1, 1, -1, false},
    {SYS_fchownat, OWNER, 0, 1, 2, 4, false},
    {SYS_utimensat, TIMES_NANO, 0, 1, 2, 3, false},
    {SYS_setxattr, SET_ATTRIBUTE, -1, 0, 1, -1, false},
    {SYS_lsetxattr, SET_ATTRIBUTE, -1, 0, 1, -1, true},
    {SYS_fsetxattr, SET_ATTRIBUTE, 0, -1, 1, -1, false},
    {SYS_removexattr, REMOVE_ATTRIBUTE, -1, 0, 1, -1, false},
    {SYS_lremovexattr, REMOVE_ATTRIBUTE, -1, 0, 1, -1, true},
    {SYS_fremovexattr, REMOVE_ATTRIBUTE, 0, -1, 1, -1, false},
/* Calls that newer architectures do not have. */
#ifdef SYS_chmod
    {SYS_chmod, MODE, -1, 0, 1, -1, false},
    {SYS_chown, OWNER, -1, 0, 1, -1, false},
    {SYS_lchown, OWNER, -1, 0, 1, -1, true},
    {SYS_utime, TIMES_SECONDS, -1, 0, 1, -1, false},
    {SYS_utimes, TIMES_MICRO, -1, 0, 1, -1, false},
    {SYS_futimesat, TIMES_MICRO, 0, 1, 2, -1, false},
#endif
};

/* Calls that the filter hands over only for numbers other than 0. */
static const struct form of_threads[] = {
    {SYS_prlimit64, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_sched_setaffinity, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_sched_setattr, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_sched_setparam, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_sched_setscheduler, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_migrate_pages, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_move_pages, OF_A_THREAD, -1, -1, 0, -1, false},
    {SYS_setpriority, OF_A_THREAD, -1, -1, 1, -1, false},
    {SYS_ioprio_set, OF_A_THREAD, -1, -1, 1, -1, false},
};

/* A call that the filter has handed over. */
struct handed {
    const struct supervisor *supervisor;
    const struct form *form;
    union {
        struct seccomp_notif notice;
        char room[MESSAGE_SIZE];
    };
};

int
supervisor_call(size_t index)
{
    return index < sizeof(forms) / sizeof(forms[0]) ? forms[index].call : -1;
}

bool
supervisor_fits(void)
{
    struct seccomp_notif_sizes sizes;

    return syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
        sizes.seccomp_notif <= MESSAGE_SIZE && sizes.seccomp_notif_resp <= MESSAGE_SIZE;
}

static const struct form *
find_form(int call)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (forms[i].call == call)
            return &forms[i];
    for (size_t i = 0; i < sizeof(of_threads) / sizeof(of_threads[0]); i++)
        if (of_threads[i].call == call)
            return &of_threads[i];
    return NULL;
}

static uint64_t
argument(const struct handed *handed, int index)
{
    return handed->notice.data.args[index];
}

/* --- the memory of the caller --- */

/* Returns 0 or a negative errno. */
static int
read_memory(const struct handed *handed, uint64_t address, void *to, size_t size)
{
    struct iovec ours = {to, size};
    struct iovec theirs = {(void *)(uintptr_t)address, size};

    if (size == 0)
        return 0;
    if (process_vm_readv((pid_t)handed->notice.pid, &ours, 1, &theirs, 1, 0) == (ssize_t)size)
        return 0;
    return errno == EFAULT ? -EFAULT : -EPERM;
}

/* Reads a text, which may end just before memory that cannot be read. Returns 0 or a negative errno: -too_long if the text is too long. */
static int
read_text(const struct handed *handed, uint64_t address, char *text, size_t size, int too_long)
{
    size_t done = 0;

    while (done < size) {
        size_t part = CHUNK - (size_t)((address + done) % CHUNK);
        int result;

        if (part > size - done)
            part = size - done;
        result = read_memory(handed, address + done, text + done, part);
        if (result != 0)
            return result;
        if (memchr(text + done, '\0', part) != NULL)
            return 0;
        done += part;
    }
    return -too_long;
}

/* --- the file --- */

/* Opens a descriptor of the caller, or its current directory. Returns a descriptor without rights, or a negative errno. */
static int
open_theirs(const struct handed *handed, int descriptor)
{
    char path[60];
    int fd;

    if (descriptor < 0 && descriptor != AT_FDCWD)
        return -EBADF;
    if (descriptor == AT_FDCWD)
        (void)snprintf(path, sizeof(path), "/proc/%u/cwd", handed->notice.pid);
    else
        (void)snprintf(path, sizeof(path), "/proc/%u/fd/%d", handed->notice.pid, descriptor);
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == ENOENT ? -EBADF : -errno;
}

/* Returns true if a path is another name of one of the caller's descriptors; libraries use such paths. */
static bool
names_descriptor(const char *path, int *descriptor)
{
    static const char *const places[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"};
    int64_t number;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t size = strlen(places[i]);

        if (strncmp(path, places[i], size) == 0 && pw_parse_i64(path + size, 0, INT_MAX, &number)) {
            *descriptor = (int)number;
            return true;
        }
    }
    return false;
}

/* Opens a path as the caller would. Links in /proc are refused, because they would lead to files that the supervisor has open. */
static int
open_path(const struct handed *handed, const char *path, bool nofollow)
{
    const struct form *form = handed->form;
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | (nofollow ? (uint64_t)O_NOFOLLOW : 0),
        .resolve = RESOLVE_NO_MAGICLINKS};
    int start = -1;
    int fd;

    if (path[0] != '/') {
        start = open_theirs(
            handed, form->directory < 0 ? AT_FDCWD : (int)argument(handed, form->directory));
        if (start < 0)
            return start;
    }
    fd = (int)syscall(SYS_openat2, start, path, &how, sizeof(how));
    if (fd < 0)
        fd = -errno;
    if (start >= 0)
        (void)close(start);
    return fd;
}

/* Opens the file that the call changes. Returns a descriptor without rights, or a negative errno. */
static int
open_file(const struct handed *handed)
{
    const struct form *form = handed->form;
    uint64_t flags = form->flags < 0 ? 0 : argument(handed, form->flags);
    char path[PATH_MAX];
    int descriptor = form->directory < 0 ? AT_FDCWD : (int)argument(handed, form->directory);
    bool nofollow = form->nofollow || (flags & AT_SYMLINK_NOFOLLOW) != 0;
    int result;

    if ((flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
        return -EINVAL;
    /* futimens() passes no path, nor do the calls that futimes() makes. */
    if (form->path < 0 ||
        (argument(handed, form->path) == 0 && form->directory >= 0 &&
            (form->what == TIMES_NANO || form->what == TIMES_MICRO)))
        return descriptor == AT_FDCWD ? -EFAULT : open_theirs(handed, descriptor);
    result = read_text(handed, argument(handed, form->path), path, sizeof(path), ENAMETOOLONG);
    if (result != 0)
        return result;
    if (path[0] == '\0')
        return (flags & AT_EMPTY_PATH) != 0 ? open_theirs(handed, descriptor) : -ENOENT;
    if (!nofollow && names_descriptor(path, &descriptor))
        return open_theirs(handed, descriptor);
    return open_path(handed, path, nofollow);
}

static void
name_own(char *path, int fd)
{
    (void)snprintf(path, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

/* Finds the current path of a file. Returns false if it is in no directory, or too deep. */
static bool
locate(int fd, char *place)
{
    char path[FD_PATH_SIZE];
    ssize_t size;

    name_own(path, fd);
    size = readlink(path, place, PATH_MAX);
    if (size <= 0 || size >= PATH_MAX || place[0] != '/')
        return false;
    place[size] = '\0';
    return true;
}

/*
 * Returns true if the program may change a file. An open descriptor stays the same file. Landlock lets the program move and link files only
 * among directories in which it may change them. So no other file can appear to be there.
 */
static bool
is_inside(const struct supervisor *supervisor, int fd)
{
    char place[PATH_MAX];
    char directory[PATH_MAX];

    if (!locate(fd, place))
        return false;
    for (size_t i = 0; i < supervisor->count; i++) {
        size_t size;

        if (!locate(supervisor->directories[i], directory))
            continue;
        size = strlen(directory);
        if (size == 1 ||
            (strncmp(place, directory, size) == 0 && (place[size] == '/' || place[size] == '\0')))
            return true;
    }
    return false;
}

/* --- the change --- */

/* The new values of the call, copied from the caller. */
struct change {
    mode_t mode;
    uid_t user;
    gid_t group;
    bool now; /* the call passes no times */
    struct timespec times[2];
    char name[NAME_SIZE];
    char value[VALUE_MAX];
    size_t size;
    int flags;
};

/* Reads the two times in the form that the call has. Returns 0 or a negative errno. */
static int
read_times(const struct handed *handed, uint64_t address, struct timespec *times)
{
    struct utimbuf seconds = {0};
    struct timeval micro[2] = {{0}};
    int result;

    if (handed->form->what == TIMES_NANO)
        return read_memory(handed, address, times, 2 * sizeof(*times));
    if (handed->form->what == TIMES_SECONDS) {
        result = read_memory(handed, address, &seconds, sizeof(seconds));
        times[0] = (struct timespec){.tv_sec = seconds.actime};
        times[1] = (struct timespec){.tv_sec = seconds.modtime};
        return result;
    }
    result = read_memory(handed, address, micro, sizeof(micro));
    for (size_t i = 0; i < 2 && result == 0; i++) {
        if (micro[i].tv_usec < 0 || micro[i].tv_usec > 999999)
            return -EINVAL;
        times[i] = (struct timespec){.tv_sec = micro[i].tv_sec, .tv_nsec = 1000 * micro[i].tv_usec};
    }
    return result;
}

/* Returns 0 or a negative errno. */
static int
read_attribute(const struct handed *handed, struct change *change)
{
    const int first = handed->form->value;
    uint64_t size = argument(handed, first + 2);
    int result =
        read_text(handed, argument(handed, first), change->name, sizeof(change->name), ERANGE);

    if (result != 0 || handed->form->what == REMOVE_ATTRIBUTE)
        return result;
    if (size > sizeof(change->value))
        return -E2BIG;
    change->size = (size_t)size;
    change->flags = (int)argument(handed, first + 3);
    return read_memory(handed, argument(handed, first + 1), change->value, change->size);
}

/* Returns 0 or a negative errno. */
static int
read_change(const struct handed *handed, struct change *change)
{
    const int first = handed->form->value;
    uint64_t address = argument(handed, first);

    switch (handed->form->what) {
    case MODE:
        change->mode = (mode_t)argument(handed, first) & 07777;
        return 0;
    case OWNER:
        change->user = (uid_t)argument(handed, first);
        change->group = (gid_t)argument(handed, first + 1);
        return 0;
    case TIMES_SECONDS:
    case TIMES_MICRO:
    case TIMES_NANO:
        change->now = address == 0;
        return change->now ? 0 : read_times(handed, address, change->times);
    case SET_ATTRIBUTE:
    case REMOVE_ATTRIBUTE:
        return read_attribute(handed, change);
    case OF_A_THREAD:
        break;
    }
    return -EPERM;
}

/* Makes the change. Returns 0 or -1 with errno. */
static int
apply(const struct handed *handed, const struct change *change, int fd)
{
    char path[FD_PATH_SIZE];

    name_own(path, fd);
    switch (handed->form->what) {
    case MODE:
        return chmod(path, change->mode);
    case OWNER:
        return fchownat(fd, "", change->user, change->group, AT_EMPTY_PATH);
    case TIMES_SECONDS:
    case TIMES_MICRO:
    case TIMES_NANO:
        return utimensat(fd, "", change->now ? NULL : change->times, AT_EMPTY_PATH);
    case SET_ATTRIBUTE:
        return setxattr(path, change->name, change->value, change->size, change->flags);
    case REMOVE_ATTRIBUTE:
        return removexattr(path, change->name);
    case OF_A_THREAD:
        break;
    }
    errno = EPERM;
    return -1;
}

/* --- the answer --- */

/*
 * Returns true if the caller still waits. If it does not, another process may have its number, and all that was read may be of that
 * process.
 */
static bool
is_valid(const struct handed *handed)
{
    return ioctl(handed->supervisor->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &handed->notice.id) ==
        0;
}

/* Returns 0 or a negative errno. */
static int
change_file(const struct handed *handed)
{
    static struct change change;
    int fd = open_file(handed);
    int result = fd < 0 ? fd : read_change(handed, &change);

    /* guard:supervisor_inside */
    if (result == 0 && (!is_inside(handed->supervisor, fd) || !is_valid(handed)))
        result = -EPERM;
    if (result == 0 && apply(handed, &change, fd) != 0)
        result = -errno;
    if (fd >= 0)
        (void)close(fd);
    return result;
}

/* Returns true if the call is about a thread of the caller. The number is not in memory, so the caller cannot change it after this test. */
static bool
is_own_thread(const struct handed *handed)
{
    char path[60];

    (void)snprintf(path, sizeof(path), "/proc/%u/task/%d", handed->notice.pid,
        (int)argument(handed, handed->form->value));
    return access(path, F_OK) == 0 && is_valid(handed);
}

void
supervisor_answer(struct supervisor *supervisor)
{
    struct handed handed = {.supervisor = supervisor};
    union {
        struct seccomp_notif_resp answer;
        char room[MESSAGE_SIZE];
    } sent = {.answer = {.error = -EPERM}};

    memset(handed.room, 0, sizeof(handed.room)); /* the kernel requires zeros */
    if (ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_RECV, &handed.notice) != 0)
        return; /* the caller has been killed */
    handed.form = find_form(handed.notice.data.nr);
    sent.answer.id = handed.notice.id;
    if (handed.form != NULL && handed.form->what != OF_A_THREAD)
        sent.answer.error = change_file(&handed);
    /* guard:supervisor_thread */
    if (handed.form != NULL && handed.form->what == OF_A_THREAD && is_own_thread(&handed)) {
        sent.answer.error = 0;
        sent.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    (void)ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_SEND, &sent.answer);
}

/* --- its start and its end --- */

/* A message of one byte with room for a descriptor. */
struct letter {
    struct msghdr message;
    struct iovec part;
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
};

static void
make_letter(struct letter *letter)
{
    *letter = (struct letter){.byte = 0};
    letter->part = (struct iovec){&letter->byte, 1};
    letter->message = (struct msghdr){.msg_iov = &letter->part,
        .msg_iovlen = 1,
        .msg_control = &letter->control,
        .msg_controllen = sizeof(letter->control)};
}

bool
supervisor_send(int socket, int listener)
{
    struct letter letter;

    make_letter(&letter);
    letter.control.head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&letter.control.head), &listener, sizeof(int));
    return sendmsg(socket, &letter.message, MSG_NOSIGNAL) == 1;
}

void
supervisor_receive(struct supervisor *supervisor, int socket)
{
    struct letter letter;

    make_letter(&letter);
    if (recvmsg(socket, &letter.message, MSG_CMSG_CLOEXEC) == 1 &&
        letter.message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
        letter.control.head.cmsg_type == SCM_RIGHTS)
        memcpy(&supervisor->listener, CMSG_DATA(&letter.control.head), sizeof(int));
    (void)close(socket);
}

static void
add_directory(struct supervisor *supervisor, const char *path)
{
    int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd >= 0)
        supervisor->directories[supervisor->count++] = fd;
}

void
supervisor_init(struct supervisor *supervisor, const struct sandbox *sandbox, const char *temporary)
{
    *supervisor = (struct supervisor){
        .listener = -1, .directories = calloc(sandbox->permission_count + 1, sizeof(int))};
    if (supervisor->directories == NULL)
        return;
    add_directory(supervisor, temporary);
    for (size_t i = 0; i < sandbox->permission_count; i++)
        if (sandbox->permissions[i].kind == SANDBOX_WRITE)
            add_directory(supervisor, sandbox->permissions[i].value);
}

void
supervisor_close(struct supervisor *supervisor)
{
    if (supervisor->listener >= 0)
        (void)close(supervisor->listener);
    supervisor->listener = -1;
    for (size_t i = 0; i < supervisor->count; i++)
        (void)close(supervisor->directories[i]);
    free(supervisor->directories);
    supervisor->directories = NULL;
    supervisor->count = 0;
}
