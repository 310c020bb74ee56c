/* SPDX-License-Identifier: Apache-2.0 */
/* pawl dev: a database, the engine, a worker and the HTTP server to try things with, for as long as it runs. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/process/process.h"
#include "cli/process/signals.h"
#include "cli/report/exit.h"
#include "cli/setup/dev_serve.h"
#include "cli/setup/scripts.h"
#include "cli/setup/server.h"
#include "cli/show/term.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t ready_ms = 20000;
static const int end_ms = 5000; /* for a command that got SIGTERM */

/* A step that prints a text and takes some time, so that a user can watch it, and kill its worker. */
static pawl_status
greet(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct timespec second = {.tv_sec = 1};
    const char *what = userdata;

    (void)nanosleep(&second, NULL);
    return pawl_run_quote(run, what, output);
}

static pawl_status
hello(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char first[] = "hello", second[] = "how are you", third[] = "goodbye";
    pawl_status status;

    (void)input;
    if ((status = pawl_step(run, "hello", greet, first, NULL)) != PAWL_OK ||
        (status = pawl_step(run, "ask", greet, second, NULL)) != PAWL_OK ||
        (status = pawl_sleep(run, "nap", 2000)) != PAWL_OK)
        return status;
    return pawl_step(run, "bye", greet, third, output);
}

/* Waits until the server accepts connections, and installs the engine. */
static int
install(const pawl_config *config)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    pawl_error *error = NULL;
    pawl_status status = PAWL_ECONN;

    for (int64_t waited_ms = 0; waited_ms < ready_ms && status == PAWL_ECONN; waited_ms += 50) {
        pawl_error_free(error);
        error = NULL;
        status = pawl_admin_script(config, script_install, &error);
        if (status == PAWL_ECONN)
            (void)nanosleep(&pause, NULL);
    }
    return exit_with(status, error);
}

static void
say_what_next(const char *database, const char *dir, const struct dev_serve *serve)
{
    const char *bold = term_style(TERM_OUT, TERM_BOLD);
    const char *plain = term_style(TERM_OUT, TERM_PLAIN);

    (void)printf(
        "A database with pawl, and a worker that handles demo.hello. In another terminal:\n\n"
        "  %sexport PAWL_DATABASE_URL='%s'%s\n"
        "  %spawl trigger demo.hello --wait%s\n"
        "  %spawl run list%s\n\n",
        bold, database, plain, bold, plain, bold, plain);
    if (serve->pid > 0)
        (void)printf("The HTTP API is at %s, with a token for everything:\n\n"
                     "  %sexport PAWL_TOKEN='%s'%s\n"
                     "  %scurl -H \"Authorization: Bearer $PAWL_TOKEN\" %s/v1/runs%s\n\n",
            serve->url, bold, serve->token.text, plain, bold, serve->url, plain);
    (void)printf("Interrupt this (Ctrl-C) and nothing of it is left%s%s.\n",
        dir[0] == '\0' ? "" : ", not even ", dir);
    (void)fflush(stdout);
}

/* In the child: executes the command, with the database, the HTTP API and a program "pawl" in its environment. */
static void
execute(char **words, const char *database, const struct dev_serve *serve)
{
    char *path = process_path();
    sigset_t none;

    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    if (path != NULL)
        (void)setenv("PATH", path, 1);
    (void)setenv("PAWL_DATABASE_URL", database, 1);
    if (serve->pid > 0) {
        (void)setenv("PAWL_URL", serve->url, 1);
        (void)setenv("PAWL_TOKEN", serve->token.text, 1);
    }
    (void)execvp(words[0], words);
    (void)dprintf(STDERR_FILENO, "pawl: \"%s\" cannot be executed: %m\n", words[0]);
    _exit(127);
}

/* From now on everything ends when this descriptor is readable. */
static void
stop_on(int stop_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (fd >= 0)
        (void)epoll_ctl(stop_fd, EPOLL_CTL_ADD, fd, &event);
}

/* Waits for the command. If the command still runs, sends it SIGTERM, and SIGKILL after end_ms. */
static int
code_of_command(pid_t pid, int pid_fd)
{
    struct pollfd ended = {.fd = pid_fd, .events = POLLIN};
    int state = 0;

    if (waitpid(pid, &state, WNOHANG) != pid) {
        (void)kill(pid, SIGTERM);
        if (poll(&ended, 1, end_ms) != 1)
            (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &state, 0);
    }
    return process_code(state);
}

/* Runs the worker until a signal, the end of the server or the end of the command stops it. */
static int
work(struct invocation *invocation, pawl_config *config, const struct server *server,
    const struct dev_serve *serve, int stop_fd)
{
    pawl_worker *worker = NULL;
    pid_t pid = 0;
    int pid_fd = -1;
    int code;
    pawl_error *error = NULL;
    pawl_status status = pawl_worker_new(config, &worker, &error);

    if (status == PAWL_OK)
        status = pawl_worker_handle(worker, "demo.hello", hello, NULL, &error);
    if (status == PAWL_OK) {
        pawl_worker_drain_on(worker, stop_fd);
        status = pawl_worker_start(worker, &error);
    }
    if (status == PAWL_OK && invocation->rest == NULL)
        say_what_next(server->database, server->dir, serve);
    if (status == PAWL_OK && invocation->rest != NULL && (pid = fork()) == 0)
        execute(invocation->rest, server->database, serve);
    if (pid > 0)
        stop_on(stop_fd, pid_fd = pidfd_open(pid, 0));
    if (status == PAWL_OK)
        status = pawl_worker_run(worker, &error);
    code = exit_with(status, error);
    if (pid > 0)
        code = code_of_command(pid, pid_fd);
    if (pid_fd >= 0)
        (void)close(pid_fd);
    pawl_worker_free(worker);
    return code;
}

static int
with_server(struct invocation *invocation, const struct server *server, int stop_fd)
{
    pawl_config *config = pawl_config_new();
    struct dev_serve serve = {0};
    pawl_error *error = NULL;
    pawl_status status;
    int code;

    if (config == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    status = pawl_config_set(config, "database", server->database, &error);
    if (status == PAWL_OK)
        status = pawl_config_set(config, "drain_timeout", "1s", &error);
    code = exit_with(status, error);
    if (code == EXIT_OK)
        code = install(config);
    if (code == EXIT_OK)
        code = dev_serve_start(&serve, config, server);
    if (code == EXIT_OK)
        code = work(invocation, config, server, &serve, stop_fd);
    dev_serve_stop(&serve);
    pawl_config_free(config);
    return code;
}

static int
dev(struct invocation *invocation)
{
    struct server server = {0};
    sigset_t signals;
    int stop_fd;
    int code;

    if (invocation->rest != NULL && invocation->rest[0] == NULL)
        return exit_saying(EXIT_USAGE, NULL, "there is no command after --");
    signals_that_end(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    stop_fd = epoll_create1(EPOLL_CLOEXEC);
    if (stop_fd < 0)
        return exit_saying(EXIT_OTHER, NULL, "cannot wait for signals");
    stop_on(stop_fd, signalfd(-1, &signals, SFD_CLOEXEC));
    code = server_start(&server);
    /*
     * The end of the server or of the command stops everything. The end of other children does not: in a container, this may be the first
     * process, which adopts all orphans.
     */
    if (code == EXIT_OK)
        stop_on(stop_fd, pidfd_open(server.pid, 0));
    if (code == EXIT_OK)
        code = with_server(invocation, &server, stop_fd);
    server_stop(&server);
    (void)close(stop_fd);
    if (code == EXIT_OK && invocation->rest == NULL && term_is_tty(TERM_OUT))
        (void)puts("\nIt has ended, and nothing of it is left."); /* below the ^C */
    return code;
}

const struct command cmd_dev[] = {
    {.name = "dev",
        .summary = "Start a throwaway database with engine and worker",
        .text = "Needs PostgreSQL's server programs, and no database. Starts the HTTP server on a "
                "free port, too, if that is installed, with a token for everything. When it ends, "
                "everything is removed.\n\n"
                "A command after -- is executed with it, and ends it; if this is ended first, the "
                "command gets SIGTERM, too, and SIGKILL after 5 seconds. Its environment has "
                "PAWL_DATABASE_URL, and PAWL_URL and PAWL_TOKEN of the HTTP server.",
        .examples =
            (const struct example[]){
                {"pawl dev", "and then, in another terminal, what it says"},
                {"pawl dev -- pawl trigger demo.hello --wait",
                    "one run in a database that is gone when it has ended"},
                {NULL, NULL},
            },
        .act = dev},
    {0},
};
