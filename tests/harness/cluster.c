/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of tests; see the header. */
#include "cluster.h"

#include "harness.h"
#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    words_max = 16 + 2 * cluster_settings_max,
    lines = 7
};

/* Those of an operator's connection: it may write while nobody else may, and what it commits waits for no standby. */
static const char operator_options[] =
    "PGOPTIONS=-c synchronous_commit=local -c default_transaction_read_only=off";

/* A command under construction; too many words are a mistake. */
struct words {
    const char *word[words_max + 1];
    int count;
};

static void
add_word(struct words *words, const char *word)
{
    if (words->count == words_max)
        bench_die("too many words for a command");
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

/* Starts a command with the descriptors given for its input and output; -1: as ours, and output to nowhere. */
static pid_t
start_command(const struct words *words, const char *dir, int input, int output)
{
    union {
        const char *const *words;
        char *const *argv;
    } command = {.words = words->word};
    pid_t pid = fork();

    if (pid < 0)
        bench_die("cannot fork: error %d", errno);
    if (pid > 0)
        return pid;
    if (output < 0)
        output = open("/dev/null", O_WRONLY);
    if ((dir != NULL && chdir(dir) != 0) || output < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        (input >= 0 && dup2(input, STDIN_FILENO) < 0))
        _exit(126);
    (void)execvp(command.argv[0], command.argv);
    _exit(127);
}

/* Waits for a command; returns its exit code. */
static int
wait_command(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) != pid) {
        if (errno != EINTR)
            bench_die("cannot wait for process %d: error %d", (int)pid, errno);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Reads the lines that the command inside the cluster prints of its environment. */
static void
read_environment(struct cluster *cluster, int output)
{
    struct {
        char *to;
        size_t size;
    } fields[lines] = {
        {cluster->host, sizeof(cluster->host)},
        {cluster->port, sizeof(cluster->port)},
        {cluster->database, sizeof(cluster->database)},
        {cluster->direct_host, sizeof(cluster->direct_host)},
        {cluster->direct_port, sizeof(cluster->direct_port)},
        {cluster->bin, sizeof(cluster->bin)},
        {cluster->data, sizeof(cluster->data)},
    };
    FILE *file = fdopen(output, "r");

    if (file == NULL)
        bench_die("cannot read from a cluster");
    for (int i = 0; i < lines; i++) {
        char *end;

        if (fgets(fields[i].to, (int)fields[i].size, file) == NULL)
            bench_die("tools/pg_tmp did not start a cluster");
        end = strchr(fields[i].to, '\n');
        if (end == NULL)
            bench_die("too long a name of a cluster: \"%s\"", fields[i].to);
        *end = '\0';
    }
    (void)fclose(file); /* Nothing more comes. */
}

void
cluster_open(struct cluster *cluster, const struct cluster_options *options)
{
    static const char print[] =
        "printf '%s\\n' \"$PGHOST\" \"$PGPORT\" \"$PGDATABASE\" \"${PAWL_DIRECT_PGHOST:-$PGHOST}\""
        " \"${PAWL_DIRECT_PGPORT:-$PGPORT}\" \"$PAWL_PG_BIN\" \"$PAWL_PG_DATA\";"
        " exec cat >/dev/null";
    const char *version = options->version != NULL ? options->version : getenv("PAWL_PG_VERSION");
    struct words words = {0};
    int input[2], output[2];

    memset(cluster, 0, sizeof(*cluster));
    add_word(&words, CRASH_SOURCE_ROOT "/tools/pg_tmp");
    if (options->durable)
        add_word(&words, "--durable");
    if (version != NULL) {
        add_word(&words, "--version");
        add_word(&words, version);
    }
    for (int i = 0; options->settings != NULL && options->settings[i] != NULL; i++) {
        add_word(&words, "--set");
        add_word(&words, options->settings[i]);
    }
    if (options->pooled)
        add_word(&words, CRASH_SOURCE_ROOT "/tools/with_pgbouncer");
    if (options->pawl)
        add_word(&words, CRASH_SOURCE_ROOT "/tests/harness/with_database");
    add_word(&words, "sh");
    add_word(&words, "-c");
    add_word(&words, print);
    if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
        bench_die("cannot make a pipe: error %d", errno);
    cluster->pid = start_command(&words, NULL, input[0], output[1]);
    cluster->input = input[1];
    (void)close(input[0]);
    (void)close(output[1]);
    read_environment(cluster, output[0]);
    cluster->running = true;
}

void
cluster_close(struct cluster *cluster)
{
    /* What runs inside drops its database, and says so if there is no server. */
    if (!cluster->running)
        cluster_start(cluster);
    (void)close(cluster->input); /* That is what tools/pg_tmp waits for. */
    if (wait_command(cluster->pid) != 0)
        bench_die("tools/pg_tmp failed");
    memset(cluster, 0, sizeof(*cluster));
}

void
cluster_use(const struct cluster *cluster)
{
    bool pooled = strcmp(cluster->host, cluster->direct_host) != 0;
    int failed = setenv("PGHOST", cluster->host, 1);

    failed += setenv("PGPORT", cluster->port, 1);
    failed += setenv("PGDATABASE", cluster->database, 1);
    failed += setenv("PGUSER", "postgres", 1);
    failed += setenv("PAWL_PG_BIN", cluster->bin, 1);
    failed += setenv("PAWL_PG_DATA", cluster->data, 1);
    failed += pooled ? setenv("PAWL_DIRECT_PGHOST", cluster->direct_host, 1)
                     : unsetenv("PAWL_DIRECT_PGHOST");
    failed += pooled ? setenv("PAWL_DIRECT_PGPORT", cluster->direct_port, 1)
                     : unsetenv("PAWL_DIRECT_PGPORT");
    if (failed != 0)
        bench_die("out of memory");
}

/* Runs a script of this directory with arguments that end in NULL. */
static void
run_script(const char *name, const char *const *arguments)
{
    char program[cluster_name_bytes];
    struct words words = {0};

    (void)snprintf(program, sizeof(program), "%s/tests/harness/%s", CRASH_SOURCE_ROOT, name);
    add_word(&words, program);
    for (; *arguments != NULL; arguments++)
        add_word(&words, *arguments);
    if (wait_command(start_command(&words, NULL, -1, -1)) != 0)
        bench_die("tests/harness/%s failed", name);
}

int
cluster_run(const char *const *words)
{
    struct words command = {0};

    for (; *words != NULL; words++)
        add_word(&command, *words);
    return wait_command(start_command(&command, NULL, -1, -1));
}

int
cluster_command(const struct cluster *cluster, const char *const *words)
{
    char host[cluster_name_bytes + 10], port[30], database[cluster_name_bytes + 12];
    struct words command = {0};

    (void)snprintf(host, sizeof(host), "PGHOST=%s", cluster->direct_host);
    (void)snprintf(port, sizeof(port), "PGPORT=%s", cluster->direct_port);
    (void)snprintf(database, sizeof(database), "PGDATABASE=%s", cluster->database);
    add_word(&command, "env");
    add_word(&command, host);
    add_word(&command, port);
    add_word(&command, database);
    add_word(&command, "PGTARGETSESSIONATTRS=any");
    add_word(&command, operator_options);
    for (; *words != NULL; words++)
        add_word(&command, *words);
    return wait_command(start_command(&command, NULL, -1, -1));
}

/* Prints the end of what the server had to say; its directory goes with this program. */
static void
show_log(const struct cluster *cluster)
{
    struct words words = {0};

    add_word(&words, "tail");
    add_word(&words, "-n");
    add_word(&words, "20");
    add_word(&words, "server.log");
    /* If there is none, tail says so. */
    (void)wait_command(start_command(&words, cluster->data, -1, STDERR_FILENO));
}

/* Runs pg_ctl as the user that the server runs as, in a directory that this user can enter; its exit code. */
static int
try_control(const struct cluster *cluster, const char *const *arguments)
{
    char program[cluster_name_bytes + 8], net[40];
    struct words words = {0};

    (void)snprintf(program, sizeof(program), "%s/pg_ctl", cluster->bin);
    (void)snprintf(net, sizeof(net), "--net=/proc/%d/ns/net", (int)cluster->net);
    if (cluster->net > 0) {
        add_word(&words, "nsenter");
        add_word(&words, net);
    }
    if (geteuid() == 0) {
        add_word(&words, "runuser");
        add_word(&words, "-u");
        add_word(&words, "postgres");
        add_word(&words, "--");
    }
    /* The server takes its port from there, and clients may name several. */
    add_word(&words, "env");
    add_word(&words, "-u");
    add_word(&words, "PGPORT");
    add_word(&words, program);
    add_word(&words, "-D");
    add_word(&words, cluster->data);
    for (int i = 0; arguments[i] != NULL; i++)
        add_word(&words, arguments[i]);
    return wait_command(start_command(&words, cluster->data, -1, -1));
}

static void
control(const struct cluster *cluster, const char *const *arguments)
{
    int code = try_control(cluster, arguments), last = 0;

    if (code == 0)
        return;
    while (arguments[last + 1] != NULL)
        last++;
    show_log(cluster);
    bench_die("pg_ctl %s failed with code %d", arguments[last], code);
}

bool
cluster_lives(const struct cluster *cluster)
{
    const char *const arguments[] = {"status", NULL};

    return try_control(cluster, arguments) == 0;
}

void
cluster_crash(struct cluster *cluster)
{
    const char *const arguments[] = {"-m", "immediate", "-w", "-t", "60", "stop", NULL};

    control(cluster, arguments);
    cluster->running = false;
}

/* The number of the server's first process, the father of all others. */
static pid_t
postmaster(const struct cluster *cluster)
{
    char path[cluster_name_bytes + 20], line[32];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/postmaster.pid", cluster->data);
    file = fopen(path, "re");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL)
        bench_die("no server runs in \"%s\"", cluster->data);
    (void)fclose(file); /* It was only read. */
    line[strcspn(line, "\n")] = '\0';
    return (pid_t)bench_number(line, "process", 2, INT_MAX);
}

/* Signals the first process and its children. It is stopped first and continued last, so that no child is new in between. */
static void
signal_all(const struct cluster *cluster, bool stop)
{
    pid_t pid = postmaster(cluster);
    char parent[24];
    struct words words = {0};

    (void)snprintf(parent, sizeof(parent), "%d", (int)pid);
    if (stop && kill(pid, SIGSTOP) != 0)
        bench_die("cannot stop process %s", parent);
    add_word(&words, "pkill");
    add_word(&words, stop ? "-STOP" : "-CONT");
    add_word(&words, "-P");
    add_word(&words, parent);
    if (wait_command(start_command(&words, cluster->data, -1, -1)) != 0)
        bench_die("cannot signal the children of process %s", parent);
    if (!stop && kill(pid, SIGCONT) != 0)
        bench_die("cannot continue process %s", parent);
}

void
cluster_freeze(const struct cluster *cluster)
{
    signal_all(cluster, true);
}

void
cluster_thaw(const struct cluster *cluster)
{
    signal_all(cluster, false);
}

void
cluster_stop(struct cluster *cluster)
{
    const char *const arguments[] = {"-m", "fast", "-w", "-t", "60", "stop", NULL};

    if (!cluster->running)
        return;
    control(cluster, arguments);
    cluster->running = false;
}

void
cluster_start(struct cluster *cluster)
{
    const char *const arguments[] = {"-l", "server.log", "-w", "-t", "120", "start", NULL};

    control(cluster, arguments);
    cluster->running = true;
}

/* What the other port is called; a socket of that name is nobody else's. */
static const char apart_port[] = "5999";

void
cluster_start_apart(struct cluster *cluster)
{
    const char *const arguments[] = {"-l", "server.log", "-w", "-t", "120", "-o",
        "-c port=5999 -c listen_addresses=", "start", NULL};

    control(cluster, arguments);
    cluster->running = true;
    (void)snprintf(cluster->direct_port, sizeof(cluster->direct_port), "%s", apart_port);
}

void
cluster_stop_apart(struct cluster *cluster)
{
    cluster_stop(cluster);
    (void)snprintf(cluster->direct_port, sizeof(cluster->direct_port), "%s", cluster->port);
}

void
cluster_move(struct cluster *cluster, pid_t net, const char *address)
{
    char path[cluster_name_bytes + 20];
    FILE *file;
    int failed;

    cluster_stop(cluster);
    (void)snprintf(path, sizeof(path), "%s/postgresql.conf", cluster->data);
    if ((file = fopen(path, "ae")) == NULL)
        bench_die("cannot change \"%s\"", path);
    failed = fprintf(file, "listen_addresses = '%s'\n", address) < 0;
    failed |= fclose(file) != 0;
    (void)snprintf(path, sizeof(path), "%s/pg_hba.conf", cluster->data);
    if ((file = fopen(path, "ae")) == NULL)
        bench_die("cannot change \"%s\"", path);
    failed |= fprintf(file, "host all,replication all samenet trust\n") < 0;
    failed |= fclose(file) != 0;
    if (failed != 0)
        bench_die("cannot write the settings of a server");
    cluster->net = net;
    cluster_start(cluster);
    (void)snprintf(cluster->host, sizeof(cluster->host), "%s", address);
}

static PGconn *
connect_to(const struct cluster *cluster, const char *database)
{
    const char *const keywords[] = {
        "host", "port", "user", "dbname", "target_session_attrs", "options", NULL};
    const char *const values[] = {cluster->direct_host, cluster->direct_port, "postgres", database,
        "any", operator_options + strlen("PGOPTIONS="), NULL};
    PGconn *conn = PQconnectdbParams(keywords, values, 0);

    if (PQstatus(conn) != CONNECTION_OK)
        bench_die("cannot connect to a cluster: %s", PQerrorMessage(conn));
    return conn;
}

PGconn *
cluster_connect(const struct cluster *cluster)
{
    return connect_to(cluster, "postgres");
}

PGconn *
cluster_operate(const struct cluster *cluster)
{
    return connect_to(cluster, cluster->database);
}

/* Switches TLS on and waits until the server has noticed. */
static void
set_tls(const struct cluster *cluster, PGconn *conn)
{
    double deadline_s = bench_limit_s(20);
    bool on = false;

    bench_do(conn, "alter system set ssl = on");
    bench_do(conn, "select pg_reload_conf()");
    while (!on) {
        PGresult *res = bench_exec(conn, "show ssl");

        on = strcmp(PQgetvalue(res, 0, 0), "on") == 0;
        PQclear(res);
        if (bench_now_s() > deadline_s)
            bench_die("no TLS; see server.log in \"%s\"", cluster->data);
        race_breathe();
    }
}

bool
cluster_secure(const struct cluster *cluster, const char *name)
{
    const char *const arguments[] = {cluster->data, name, NULL};
    PGconn *conn = cluster_connect(cluster);
    bool known = bench_value(conn,
                     "select (setting <> '')::int from pg_settings where name = 'ssl_library'") > 0;

    if (known) {
        run_script("make_certificates", arguments);
        set_tls(cluster, conn);
    }
    PQfinish(conn);
    return known;
}

void
cluster_follow(struct cluster *cluster, struct cluster *primary, const char *name)
{
    const char *const arguments[] = {
        cluster->data, primary->data, primary->host, primary->port, name, NULL};

    cluster_stop(cluster);
    cluster_stop(primary);
    run_script("make_standby", arguments);
    cluster_start(primary);
    cluster_start(cluster);
    (void)snprintf(cluster->database, sizeof(cluster->database), "%s", primary->database);
}

void
cluster_promote(const struct cluster *cluster)
{
    PGconn *conn = cluster_connect(cluster);

    bench_do(conn, "select pg_promote() where pg_is_in_recovery()");
    PQfinish(conn);
}

void
cluster_demote(struct cluster *cluster)
{
    const char *const arguments[] = {cluster->data, NULL};

    cluster_stop(cluster);
    run_script("make_standby", arguments);
    cluster_start(cluster);
}
