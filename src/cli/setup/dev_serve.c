/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup/dev_serve.h"

#include "base/time.h"
#include "cli/report/exit.h"
#include "cli/setup/serve_program.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t ready_us = 20000000;
static const int end_ms = 5000; /* for a server that got SIGTERM */

/* The server has a role of its own, as in production: without a token it may do nothing. */
static const char role_sql[] = "begin;\n"
                               "create role pawl_serve login;\n"
                               "select pawl.grant_role('pawl_serve', 'gateway');\n"
                               "commit;\n";

static int
create_token(const pawl_config *config, const struct new_token *token)
{
    static const char *const names[] = {"name", "digest", "rights"};
    const char *const values[] = {"dev", token->digest, "{producer,operator,reader}"};
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_status status = pawl_admin_script(config, role_sql, &error);

    if (status == PAWL_OK)
        status = pawl_client_open(config, &client, &error);
    if (status == PAWL_OK)
        status = pawl_client_call(client, "create_token", names, values, 3, NULL, &error);
    pawl_client_close(client);
    return exit_with(status, error);
}

/* Writes the URI of the database with the role of the server in place of that of its owner. Returns false if the URI has another form. */
static bool
write_database(const struct server *server, char database[static sizeof(server->database) + 16])
{
    static const char begin[] = "postgresql://pawl@";

    if (strncmp(server->database, begin, sizeof(begin) - 1) != 0)
        return false;
    (void)snprintf(database, sizeof(server->database) + 16, "postgresql://pawl_serve@%s",
        server->database + sizeof(begin) - 1);
    return true;
}

/* In the child. */
static void
execute(const char *path, const char *database, int out)
{
    char name[] = "pawl-serve", listen[] = "--listen=127.0.0.1:0", log[] = "--log=off";
    char *words[] = {name, listen, log, NULL};
    sigset_t none;

    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    /* An interrupt in the terminal is for the parent, which ends the server in its turn. */
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (dup2(out, STDOUT_FILENO) < 0 || setenv("PAWL_DATABASE_URL", database, 1) != 0)
        _exit(126);
    (void)execv(path, words);
    _exit(127);
}

/* Reads the first line of the server, which ends with its address. */
static int
read_address(struct dev_serve *serve)
{
    int64_t until_us = pw_now_us() + ready_us;
    char line[200];
    size_t size = 0;
    const char *at;

    line[0] = '\0';
    while (strchr(line, '\n') == NULL && size + 1 < sizeof(line)) {
        struct pollfd ready = {.fd = serve->out, .events = POLLIN};
        ssize_t got = 0;

        if (poll(&ready, 1, pw_poll_timeout_ms(pw_now_us(), until_us)) == 1)
            got = read(serve->out, line + size, sizeof(line) - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
        line[size] = '\0';
    }
    at = strstr(line, "http://");
    if (at == NULL)
        return exit_saying(EXIT_OTHER, NULL, "the HTTP server has not said where it listens");
    (void)snprintf(serve->url, sizeof(serve->url), "%.*s", (int)strcspn(at, "\n "), at);
    return EXIT_OK;
}

static int
spawn(struct dev_serve *serve, const char *path, const char *database)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return exit_saying(EXIT_OTHER, NULL, "cannot start the HTTP server: %m");
    serve->pid = fork();
    if (serve->pid == 0)
        execute(path, database, ends[1]);
    (void)close(ends[1]);
    serve->out = ends[0];
    if (serve->pid > 0)
        return read_address(serve);
    serve->pid = 0;
    (void)close(serve->out);
    return exit_saying(EXIT_OTHER, NULL, "cannot start the HTTP server: %m");
}

int
dev_serve_start(struct dev_serve *serve, const pawl_config *config, const struct server *server)
{
    char path[PATH_MAX];
    char database[sizeof(server->database) + 16];
    int code;

    *serve = (struct dev_serve){0};
    if (!serve_program_find(path))
        return EXIT_OK;
    if (!write_database(server, database))
        return exit_saying(EXIT_OTHER, NULL, "the database has an unexpected address");
    code = new_token_make(&serve->token);
    if (code == EXIT_OK)
        code = create_token(config, &serve->token);
    return code == EXIT_OK ? spawn(serve, path, database) : code;
}

void
dev_serve_stop(struct dev_serve *serve)
{
    struct pollfd ended = {.fd = -1, .events = POLLIN};

    if (serve->pid == 0)
        return;
    (void)kill(serve->pid, SIGTERM);
    ended.fd = pidfd_open(serve->pid, 0);
    if (ended.fd < 0 || poll(&ended, 1, end_ms) != 1)
        (void)kill(serve->pid, SIGKILL);
    (void)waitpid(serve->pid, NULL, 0);
    if (ended.fd >= 0)
        (void)close(ended.fd);
    (void)close(serve->out);
    serve->pid = 0;
}
