/* SPDX-License-Identifier: Apache-2.0 */
/* Enters a sandbox. */
#include "cli/report/exit.h"
#include "cli/sandbox/sandbox.h"
#include "cli/sandbox/sandbox_filter.h"
#include "cli/sandbox/sandbox_rules.h"
#include "cli/sandbox/sandbox_supervisor.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int
sandbox_open(const struct sandbox *sandbox, const char *temporary)
{
    int rules;

    if (sandbox == NULL || !sandbox->on)
        return -1;
    rules = rules_open(sandbox, temporary);
    return rules < 0 ? -2 : rules;
}

bool
sandbox_drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return syscall(SYS_capset, &header, none) == 0;
}

/* Enters the seccomp filter, and connects it to its supervisor. */
static bool
enter_filter(const struct sandbox *sandbox, int supervisor)
{
    int listener = filter_enter(sandbox->network);
    bool sent = listener >= 0 && supervisor_send(supervisor, listener);

    if (listener >= 0)
        (void)close(listener);
    return sent;
}

bool
sandbox_enter(const struct sandbox *sandbox, int rules, int supervisor)
{
    const struct rlimit none = {0};

    if (sandbox == NULL)
        return true;
    /* guard:sandbox_steps */
    if (sandbox->on &&
        !(sandbox_drop_capabilities() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            rules_enter(rules) && enter_filter(sandbox, supervisor) &&
            setrlimit(RLIMIT_CORE, &none) == 0))
        return false;
    for (size_t i = 0; i < sandbox->limit_count; i++)
        if (setrlimit((__rlimit_resource_t)sandbox->limits[i].resource, &sandbox->limits[i].most) !=
            0)
            return false;
    return true;
}

/* --- whether it works on this machine --- */

/* Runs in a separate process. Returns 0 if the supervisor read a path and found that no such file exists. */
static int
try_inside(const struct sandbox *sandbox, int socket)
{
    int rules = sandbox_open(sandbox, "/dev/null");

    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as programs are */
    if (rules < 0 || !sandbox_enter(&(struct sandbox){.on = true}, rules, socket))
        return 1;
    return chmod("", 0) != 0 && errno == ENOENT ? 0 : 2;
}

/* Runs in another process: the supervisor, with the rights of a reaper. */
static int
try_supervisor(const struct sandbox *sandbox)
{
    struct supervisor supervisor;
    struct pollfd ready;
    int status = 0;
    int pair[2];
    pid_t pid;

    if (!sandbox_drop_capabilities() ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(try_inside(sandbox, pair[1]));
    (void)close(pair[1]);
    if (pid < 0)
        return 1;
    supervisor_init(&supervisor, sandbox, "/dev/null");
    supervisor_receive(&supervisor, pair[0]);
    ready = (struct pollfd){.fd = supervisor.listener, .events = POLLIN};
    while (supervisor.listener >= 0 && poll(&ready, 1, -1) > 0 && (ready.revents & POLLIN) != 0)
        supervisor_answer(&supervisor);
    supervisor_close(&supervisor);
    (void)waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
sandbox_probe(struct sandbox *sandbox)
{
    int status = 0;
    pid_t pid;

    if (!sandbox->on)
        return EXIT_OK;
    if (!filter_exists())
        return exit_saying(EXIT_OTHER,
            "Without --sandbox, a container or a user of its own keeps programs in.",
            "--sandbox does not know the system calls of this architecture");
    sandbox->version = rules_version();
    if (rules_suffice(sandbox->version) && supervisor_fits()) {
        pid = fork();
        if (pid == 0)
            _exit(try_supervisor(sandbox));
        if (pid < 0 || waitpid(pid, &status, 0) != pid)
            return exit_saying(EXIT_OTHER, NULL, "cannot try the sandbox: %m");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return EXIT_OK;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
            return exit_saying(EXIT_OTHER,
                "Set kernel.yama.ptrace_scope to 1 or 0, and let no other filter forbid "
                "process_vm_readv.",
                "--sandbox cannot read the paths in the calls of its programs");
    }
    return exit_saying(EXIT_OTHER,
        "It needs Linux 6.2 or later, with \"landlock\" in /sys/kernel/security/lsm and user "
        "notification of seccomp. Without --sandbox, a container or a user of its own keeps "
        "programs in.",
        "this kernel cannot do what --sandbox promises");
}
