/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup/server.h"

#include "cli/process/tree.h"
#include "cli/report/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char hint_install[] = "Install PostgreSQL's server (Debian: apt install postgresql), "
                                   "or say where a database is with --database.";

/* The directory of the socket is new, so no other server has this port in it. */
static const char port[] = "5432";

static bool
has_programs(const char *dir)
{
    char path[500];

    (void)snprintf(path, sizeof(path), "%s/postgres", dir);
    if (access(path, X_OK) != 0)
        return false;
    (void)snprintf(path, sizeof(path), "%s/initdb", dir);
    return access(path, X_OK) == 0;
}

/* Finds a directory of PATH, or of the packages, that has the programs; of several versions the last. */
static bool
find_programs(char *bin, size_t size)
{
    static const char *const patterns[] = {"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin"};
    const char *path = getenv("PATH");
    bool found = false;

    while (path != NULL && *path != '\0' && !found) {
        size_t length = strcspn(path, ":");

        (void)snprintf(bin, size, "%.*s", (int)length, path);
        found = length > 0 && length < size && has_programs(bin);
        path += length + (path[length] == ':');
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && !found; i++) {
        glob_t names;

        if (glob(patterns[i], 0, NULL, &names) != 0)
            continue;
        for (size_t at = names.gl_pathc; at > 0 && !found; at--) {
            (void)snprintf(bin, size, "%s", names.gl_pathv[at - 1]);
            found = has_programs(bin);
        }
        globfree(&names);
    }
    return found;
}

/* The server refuses to run as root; root runs it as the user that its package has created. */
static const struct passwd *
find_user(void)
{
    return geteuid() == 0 ? getpwnam("postgres") : getpwuid(geteuid());
}

/* In the child: becomes that user, writes its output to a file, and has no terminal that could interrupt it. */
static void
become(const char *dir, const struct passwd *user, const char *log)
{
    int out;

    if (geteuid() == 0 &&
        (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
            setuid(user->pw_uid) != 0))
        _exit(126);
    out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0 || chdir(dir) != 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
        _exit(126);
    (void)close(STDIN_FILENO);
    (void)open("/dev/null", O_RDONLY);
    (void)setsid();
    /* If this process is killed, the server ends, too. */
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
}

/* Starts a program of the server. Returns -1 if it could not be started. */
static pid_t
spawn(const struct server *server, const struct passwd *user, char **words)
{
    char program[500];
    char log[300];
    pid_t pid;

    (void)snprintf(program, sizeof(program), "%s/%s", server->bin, words[0]);
    (void)snprintf(log, sizeof(log), "%s/log", server->dir);
    pid = fork();
    if (pid != 0)
        return pid;
    become(server->dir, user, log);
    /* The programs find each other by this path: their directory is seldom in PATH. */
    words[0] = program;
    (void)execv(program, words);
    _exit(127);
}

/* Prints the last line of the log, which usually has the error. */
static int
say_log(const struct server *server, const char *what)
{
    char path[300];
    char line[400] = "";
    FILE *log;

    (void)snprintf(path, sizeof(path), "%s/log", server->dir);
    log = fopen(path, "re");
    while (log != NULL && fgets(line, sizeof(line), log) != NULL)
        ;
    if (log != NULL)
        (void)fclose(log);
    line[strcspn(line, "\n")] = '\0';
    return exit_saying(EXIT_OTHER, line, "%s", what);
}

static int
make_cluster(const struct server *server, const struct passwd *user)
{
    char name[] = "initdb", data_option[] = "-D", data[] = "data", user_option[] = "-U",
         user_name[] = "pawl", trust[] = "--auth=trust", no_sync[] = "--no-sync",
         encoding[] = "--encoding=UTF8", locale[] = "--locale=C.UTF-8";
    char *words[] = {
        name, data_option, data, user_option, user_name, trust, no_sync, encoding, locale, NULL};
    int state = 0;
    pid_t pid = spawn(server, user, words);

    if (pid < 0 || waitpid(pid, &state, 0) != pid || state != 0)
        return say_log(server, "initdb could not make a database cluster");
    return EXIT_OK;
}

/*
 * Makes a temporary directory with an absolute path, since the server and the commands have other current directories. TMPDIR is not used
 * if the path of a socket in it would be too long, or would look like a list.
 */
static int
make_dir(struct server *server, const struct passwd *user)
{
    const char *given = getenv("TMPDIR");
    char *temporary = realpath(given != NULL && given[0] != '\0' ? given : "/tmp", NULL);

    if (temporary == NULL)
        return exit_saying(
            EXIT_OTHER, NULL, "there is no folder \"%s\" (TMPDIR)", given != NULL ? given : "/tmp");
    (void)snprintf(server->dir, sizeof(server->dir), "%s/pawl-dev.XXXXXX",
        strlen(temporary) < 80 && strchr(temporary, ',') == NULL ? temporary : "/tmp");
    free(temporary);
    if (mkdtemp(server->dir) != NULL && chown(server->dir, user->pw_uid, user->pw_gid) == 0)
        return EXIT_OK;
    return exit_saying(EXIT_OTHER, NULL, "cannot make a folder \"%s\": %m", server->dir);
}

/* Makes the URI of the database. It has the port, which is part of the socket's name, because PGPORT may be another. */
static void
make_database(struct server *server)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-~";
    char escaped[3 * sizeof(server->dir)];
    size_t size = 0;

    for (const char *at = server->dir; *at != '\0'; at++)
        size += (size_t)snprintf(escaped + size, sizeof(escaped) - size,
            strchr(plain, *at) != NULL ? "%c" : "%%%02X", (unsigned char)*at);
    (void)snprintf(server->database, sizeof(server->database),
        "postgresql://pawl@/postgres?host=%s&port=%s", escaped, port);
}

int
server_start(struct server *server)
{
    const struct passwd *user = find_user();
    char name[] = "postgres", data_option[] = "-D", data[] = "data", socket_option[] = "-k",
         port_option[] = "-p", port_value[sizeof(port)], set[] = "-c",
         listen[] = "listen_addresses=", fsync_off[] = "fsync=off",
         level[] = "log_min_messages=warning";
    char *words[] = {name, data_option, data, socket_option, server->dir, port_option, port_value,
        set, listen, set, fsync_off, set, level, NULL};
    int code;

    (void)memcpy(port_value, port, sizeof(port));
    *server = (struct server){0};
    if (user == NULL)
        return exit_saying(EXIT_OTHER, "Run it as another user.",
            "PostgreSQL does not run as root, and there is no user \"postgres\"");
    if (!find_programs(server->bin, sizeof(server->bin)))
        return exit_saying(EXIT_OTHER, hint_install, "PostgreSQL's server programs are not here");
    code = make_dir(server, user);
    if (code == EXIT_OK)
        code = make_cluster(server, user);
    if (code != EXIT_OK)
        return code;
    server->pid = spawn(server, user, words);
    if (server->pid < 0) {
        server->pid = 0;
        return exit_saying(EXIT_OTHER, NULL, "cannot start the server: %m");
    }
    make_database(server);
    return EXIT_OK;
}

void
server_stop(struct server *server)
{
    if (server->pid > 0) {
        /* A fast shutdown: it ends the sessions of all clients. */
        (void)kill(server->pid, SIGINT);
        (void)waitpid(server->pid, NULL, 0);
        server->pid = 0;
    }
    if (server->dir[0] != '\0')
        tree_remove(server->dir);
    server->dir[0] = '\0';
}
