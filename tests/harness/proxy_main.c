/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proxy for scripts.
 *
 *   proxy [--listen DIR] [--port N] [--target DIR] [--target-port N] [--seed N] [--control FIFO] [--do LINE]...
 *       [COMMAND [ARGUMENT]...]
 *
 * COMMAND gets PGHOST and PGPORT of the proxy, PAWL_DIRECT_PGHOST and PAWL_DIRECT_PGPORT lead past it, and the proxy lives
 * as long as COMMAND, whose exit code is ours. Without one it lives until SIGTERM, or until the line "quit" comes.
 * What --do and lines written to FIFO can say stands in proxy_command.c.
 */
#include "harness.h"
#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    lines_max = 32,
    input_bytes = 4096
};

struct program {
    struct proxy_options options;
    const char *control;
    const char *lines[lines_max];
    int line_count;
    char **command;
    int fifo;
    char input[input_bytes];
    size_t input_length;
    bool quit;
};

static void
usage(void)
{
    (void)fputs("usage: proxy [--listen DIR] [--port N] [--target DIR] [--target-port N]"
                " [--seed N] [--control FIFO] [--do LINE]... [COMMAND [ARGUMENT]...]\n",
        stderr);
    exit(2);
}

static void
read_arguments(struct program *program, char **argv)
{
    char **at = argv + 1;

    for (; *at != NULL && strncmp(*at, "--", 2) == 0; at += 2) {
        const char *name = at[0], *value = at[1];

        if (value == NULL)
            usage();
        if (strcmp(name, "--listen") == 0)
            program->options.listen_dir = value;
        else if (strcmp(name, "--port") == 0)
            program->options.listen_port = (int)bench_number(value, name, 1, 65535);
        else if (strcmp(name, "--target") == 0)
            program->options.target_dir = value;
        else if (strcmp(name, "--target-port") == 0)
            program->options.target_port = (int)bench_number(value, name, 1, 65535);
        else if (strcmp(name, "--seed") == 0)
            program->options.seed = (uint64_t)bench_number(value, name, 0, LONG_MAX);
        else if (strcmp(name, "--control") == 0)
            program->control = value;
        else if (strcmp(name, "--do") == 0 && program->line_count < lines_max)
            program->lines[program->line_count++] = value;
        else
            usage();
    }
    program->command = *at != NULL ? at : NULL;
}

/* Opened for both, so that there is no end of it when a writer leaves. */
static void
open_control(struct program *program)
{
    program->fifo = -1;
    if (program->control == NULL)
        return;
    if (mkfifo(program->control, 0600) != 0)
        bench_die("cannot make the pipe \"%s\": error %d", program->control, errno);
    program->fifo = open(program->control, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (program->fifo < 0)
        bench_die("cannot open \"%s\": error %d", program->control, errno);
}

static void
read_control(struct program *program, struct proxy *proxy)
{
    ssize_t count;
    char *end;

    if (program->input_length >= sizeof(program->input))
        bench_die("too long a line for the proxy");
    count = read(program->fifo, program->input + program->input_length,
        sizeof(program->input) - program->input_length);
    if (count <= 0)
        return;
    program->input_length += (size_t)count;
    while ((end = memchr(program->input, '\n', program->input_length)) != NULL) {
        size_t length = (size_t)(end - program->input) + 1;

        *end = '\0';
        if (strcmp(program->input, "quit") == 0)
            program->quit = true;
        else
            proxy_command(proxy, program->input);
        memmove(program->input, program->input + length, program->input_length - length);
        program->input_length -= length;
    }
}

static pid_t
start_command(const struct program *program, const sigset_t *old)
{
    pid_t self = getpid();
    pid_t pid = fork();

    if (pid < 0)
        bench_die("cannot fork: error %d", errno);
    if (pid > 0)
        return pid;
    /* The main thread starts it and lives to the end, so this tells of the end of the program. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != self ||
        sigprocmask(SIG_SETMASK, old, NULL) != 0)
        _exit(127);
    (void)execvp(program->command[0], program->command);
    (void)fprintf(stderr, "proxy: cannot run \"%s\"\n", program->command[0]);
    _exit(127);
}

/* Until the command ends, or somebody says so. Returns the exit code. */
static int
watch(struct program *program, struct proxy *proxy, int signals, pid_t child)
{
    struct pollfd fds[] = {
        {.fd = signals, .events = POLLIN}, {.fd = program->fifo, .events = POLLIN}};
    struct signalfd_siginfo info;
    int status;

    while (!program->quit) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            bench_die("cannot poll: error %d", errno);
        if (fds[1].revents != 0)
            read_control(program, proxy);
        if (fds[0].revents == 0 || read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
            continue;
        if (info.ssi_signo == SIGCHLD) {
            if (child > 0 && waitpid(child, &status, WNOHANG) == child)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        } else if (child > 0) {
            (void)kill(child, (int)info.ssi_signo); /* It may just have ended. */
        } else {
            return 0;
        }
    }
    if (child > 0) {
        (void)kill(child, SIGTERM); /* It may just have ended. */
        (void)waitpid(child, &status, 0);
    }
    return 0;
}

int
main(int argc, char **argv)
{
    struct program program = {0};
    struct proxy *proxy;
    sigset_t watched, old;
    pid_t child = 0;
    int signals, code;

    (void)argc;
    read_arguments(&program, argv);
    if (sigemptyset(&watched) != 0 || sigaddset(&watched, SIGCHLD) != 0 ||
        sigaddset(&watched, SIGTERM) != 0 || sigaddset(&watched, SIGINT) != 0 ||
        sigprocmask(SIG_BLOCK, &watched, &old) != 0)
        bench_die("cannot block signals");
    signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        bench_die("cannot watch for signals: error %d", errno);
    proxy = proxy_new(&program.options);
    for (int i = 0; i < program.line_count; i++)
        proxy_command(proxy, program.lines[i]);
    /* Made last: whoever sees it knows that the proxy is ready. */
    open_control(&program);
    if (program.command != NULL) {
        proxy_use(proxy);
        child = start_command(&program, &old);
    }
    code = watch(&program, proxy, signals, child);
    proxy_free(proxy);
    if (program.control != NULL)
        (void)unlink(program.control); /* Gone already is as good. */
    return code;
}
