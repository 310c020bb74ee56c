/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker that the crash programs hurt: a program on libpawl's public headers whose handlers tell the ledger what they do.
 *
 *     crash_worker LEDGER [NAME=VALUE]...
 *
 * A name is a setting of the library, or step_us: how long a step's work takes at most, or handle: a pattern to handle besides what is
 * declared. SIGTERM drains it. While there is no server it tries to start.
 *
 * In the ledger the attempt stands in place of the fence, which the library does not show: as long as no claim is given
 * back, a later claim of a run has a higher one.
 */
#include "worker.h"

#include "harness.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum {
    saga_steps = 4,
    /* Between two attempts to start while there is no server. */
    start_again_ms = 100,
    /* Longer than until the engine takes a hanging step away. */
    hang_ms = 9000
};

void
worker_note(struct world *world, pawl_run *run, enum ledger_kind kind, const char *step, long value)
{
    struct ledger_entry entry = {
        .kind = kind,
        .run = pawl_run_id(run),
        .step = step,
        .task = pawl_run_task(run),
        .fence = pawl_run_execution(run),
        .attempt = pawl_run_execution(run),
        .value = value,
    };

    ledger_add(world->ledger, &entry);
}

unsigned long
worker_next_number(struct world *world)
{
    return ((unsigned long)getpid() << 32) + atomic_fetch_add(&world->serial, 1);
}

unsigned
worker_dice(unsigned long number, unsigned sides)
{
    uint64_t z = number * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ (z >> 31)) % sides);
}

static void
rest(unsigned us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

/* The work of a step: it takes its time, and others do theirs meanwhile. */
static void
work(const struct world *world, unsigned long number)
{
    if (world->step_us > 0)
        rest(worker_dice(number, world->step_us + 1));
}

/* A step on its way through pawl_step(). */
struct effect {
    struct world *world;
    const char *identity;
    pawl_status status;
    /* What it takes besides its usual work. */
    unsigned us;
};

static pawl_status
take_effect(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct effect *effect = userdata;
    unsigned long number = worker_next_number(effect->world);

    worker_note(effect->world, run, LEDGER_START, effect->identity, 0);
    work(effect->world, number);
    if (effect->us > 0)
        rest(effect->us);
    worker_note(effect->world, run, LEDGER_END, effect->identity, 0);
    if (effect->status != PAWL_OK) {
        pawl_run_set_error(run, "wanted", "this step is to fail");
        return effect->status;
    }
    return pawl_run_printf(run, output, "{\"v\": %lu}", number);
}

/* The number in {"v": number}. */
static long
value_of(pawl_bytes output)
{
    char digits[24];
    size_t start = strlen("{\"v\": ");

    if (output.size < start + 2 || output.size - start > sizeof(digits))
        bench_die("an output that no step has made: %.*s", (int)output.size, output.data);
    memcpy(digits, output.data + start, output.size - start - 1);
    digits[output.size - start - 1] = '\0';
    return bench_number(digits, "an output", 0, LONG_MAX);
}

static void
note_told(
    struct world *world, pawl_run *run, const char *identity, pawl_status status, pawl_bytes output)
{
    if (status == PAWL_OK)
        worker_note(world, run, LEDGER_RECORDED, identity, value_of(output));
    else if (status == PAWL_ELEASE_LOST || status == PAWL_ECANCELLED)
        worker_note(world, run, LEDGER_REFUSED, identity, status);
}

static pawl_status
do_step(pawl_run *run, const char *name, struct effect *effect)
{
    pawl_bytes output = {0};
    pawl_status status = pawl_step(run, name, take_effect, effect, &output);

    note_told(effect->world, run, effect->identity, status, output);
    return status;
}

pawl_status
worker_do_step(pawl_run *run, const char *name, pawl_status ends)
{
    char identity[ledger_step_bytes];
    struct effect effect = {.world = pawl_run_userdata(run), .identity = identity, .status = ends};

    (void)snprintf(identity, sizeof(identity), "%s#1", name);
    return do_step(run, name, &effect);
}

pawl_status
worker_do_branch_step(pawl_run *branch, const char *of, const char *name, unsigned us)
{
    char identity[ledger_step_bytes];
    struct effect effect = {.world = pawl_run_userdata(branch), .identity = identity, .us = us};

    (void)snprintf(identity, sizeof(identity), "%s/%s#1", of, name);
    return do_step(branch, name, &effect);
}

static pawl_status
three_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static const char *const names[] = {"a", "b", "c"};
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++)
        status = worker_do_step(run, names[i], PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("crash.steps.v1", three_steps);

static pawl_status
steps_and_sleep(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = worker_do_step(run, "a", PAWL_OK);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_sleep(run, "nap", 20);
    if (status == PAWL_OK)
        status = worker_do_step(run, "b", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("crash.sleep.v1", steps_and_sleep);

unsigned long
worker_number_of(pawl_bytes input)
{
    unsigned long number = 0;

    for (size_t i = 0; i < input.size; i++) {
        if (input.data[i] >= '0' && input.data[i] <= '9')
            number = number * 10 + (unsigned long)(input.data[i] - '0');
    }
    return number;
}

pawl_status
worker_do_saga_step(pawl_run *run, int i, pawl_status ends)
{
    char name[8], number[8];

    (void)snprintf(name, sizeof(name), "s%d", i);
    (void)snprintf(number, sizeof(number), "%d", i);
    pawl_run_set_option(run, "undo", "crash.undo");
    pawl_run_set_option(run, "undo_input", number);
    pawl_run_set_option(run, "undo_max_attempts", "20");
    pawl_run_set_option(run, "undo_base_ms", "10");
    return worker_do_step(run, name, ends);
}

/*
 * Its number decides which step is the last, and how it all fails: in that step at once, in that step after a second try, or
 * behind it. What is decided must be the same each time.
 */
static pawl_status
saga(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    unsigned long n = worker_number_of(input);
    int last = 1 + (int)worker_dice(n, saga_steps);
    unsigned how = worker_dice(n + 1000003, 3);
    pawl_status status = PAWL_OK;

    (void)output;
    for (int i = 1; i <= last && status == PAWL_OK; i++) {
        pawl_run_set_option(run, "max_attempts", "2");
        pawl_run_set_option(run, "base_ms", "10");
        status = worker_do_saga_step(run, i,
            i < last || how == 2 ? PAWL_OK
                : how == 1       ? PAWL_EFAILED
                                 : PAWL_EPERMANENT);
    }
    if (status != PAWL_OK)
        return status;
    pawl_run_set_error(run, "wanted", "this saga is to fail");
    return PAWL_EPERMANENT;
}
PAWL_WORKFLOW("crash.saga.v1", saga);

/* Now and then an undo fails, and is tried again. */
static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    struct world *world = pawl_run_userdata(run);
    unsigned long number = worker_next_number(world);
    char identity[ledger_step_bytes];

    (void)output;
    (void)snprintf(identity, sizeof(identity), "rollback:s%lu#1", worker_number_of(input));
    work(world, number);
    worker_note(world, run, LEDGER_UNDO, identity, 0);
    if (worker_dice(number, 16) > 0)
        return PAWL_OK;
    pawl_run_set_error(run, "wanted", "this undo is to fail once");
    return PAWL_EFAILED;
}
PAWL_UNDO("crash.undo", undo);

static pawl_status
kill_self(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)output;
    worker_note(userdata, run, LEDGER_START, "p#1", 0);
    (void)kill(getpid(), SIGKILL);
    return PAWL_EFAILED;
}

static pawl_status
poison(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "p", kill_self, pawl_run_userdata(run), output);
}
PAWL_WORKFLOW("crash.poison.v1", poison);

/* The first try of it hangs for longer than anybody waits for it, and asks nobody meanwhile. */
static pawl_status
hang_once(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct world *world = userdata;

    worker_note(world, run, LEDGER_START, "h#1", 0);
    if (pawl_run_execution(run) == 1)
        (void)poll(NULL, 0, hang_ms);
    worker_note(world, run, LEDGER_END, "h#1", 0);
    *output = pawl_text("{\"v\": 1}");
    return PAWL_OK;
}

static pawl_status
hang(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    pawl_run_set_option(run, "timeout_ms", "300");
    return pawl_step(run, "h", hang_once, pawl_run_userdata(run), output);
}
PAWL_WORKFLOW("crash.hang.v1", hang);

static PGconn *
take_conn(struct world *world)
{
    PGconn *conn = NULL;

    (void)pthread_mutex_lock(&world->lock);
    if (world->conn_count > 0)
        conn = world->conns[--world->conn_count];
    (void)pthread_mutex_unlock(&world->lock);
    return conn != NULL ? conn : PQconnectdb("");
}

static void
give_conn(struct world *world, PGconn *conn)
{
    (void)pthread_mutex_lock(&world->lock);
    if (PQstatus(conn) == CONNECTION_OK && world->conn_count < worker_conns_max) {
        world->conns[world->conn_count++] = conn;
        conn = NULL;
    }
    (void)pthread_mutex_unlock(&world->lock);
    PQfinish(conn);
}

/* One statement; returns the first letter of its answer, '-' if it has none, '!' if it failed. */
static char
ask(PGconn *conn, const char *sql, int count, const char *const *params)
{
    PGresult *res = PQexecParams(conn, sql, count, NULL, params, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(res);
    char answer = '!';

    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        answer = PQntuples(res) > 0 ? PQgetvalue(res, 0, 0)[0] : '-';
    PQclear(res);
    return answer;
}

/*
 * The row and the record of the step in one transaction, with time to die in before, between and after. Returns whether there is
 * reason to ask what is recorded.
 */
static bool
pay_in_transaction(
    struct world *world, PGconn *conn, const char *id, const char *token, const char *output)
{
    const char *row[] = {id};
    const char *record[] = {token, output};
    char answer;

    if (ask(conn, "begin", 0, NULL) == '!' ||
        ask(conn, "insert into public.crash_row (run_id) values ($1::uuid)", 1, row) == '!')
        answer = '!';
    else {
        work(world, worker_next_number(world));
        answer = ask(conn, "select pawl.record_step($1, $2::json)", 2, record);
        work(world, worker_next_number(world));
    }
    /* 'o' is ok. What is recorded already must not happen a second time. */
    (void)ask(conn, answer == 'o' ? "commit" : "rollback", 0, NULL);
    return answer != '!';
}

static pawl_status
pay(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct world *world = pawl_run_userdata(run);
    unsigned long number = worker_next_number(world);
    const char *token = NULL;
    pawl_bytes recorded = {0};
    pawl_status status;
    char made[40];
    PGconn *conn;

    (void)input;
    /* Whoever takes the server away does not make it fail for good. */
    pawl_run_set_option(run, "max_attempts", "1000");
    pawl_run_set_option(run, "base_ms", "20");
    pawl_run_set_option(run, "cap_ms", "500");
    status = pawl_step_begin_transaction(run, "pay", &recorded, &token);
    if (status == PAWL_EXECUTE) {
        (void)snprintf(made, sizeof(made), "{\"v\": %lu}", number);
        worker_note(world, run, LEDGER_START, "pay#1", 0);
        conn = take_conn(world);
        if (pay_in_transaction(world, conn, pawl_run_id(run), token, made)) {
            worker_note(world, run, LEDGER_END, "pay#1", 0);
            status = pawl_step_confirm(run, &recorded);
        } else {
            pawl_run_set_error(run, "database", "%s", PQerrorMessage(conn));
            status = pawl_step_finish(run, PAWL_EFAILED, pawl_text(NULL), &recorded);
        }
        give_conn(world, conn);
    }
    note_told(world, run, "pay#1", status, recorded);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("crash.pay.v1", pay);

static void
tell(void *userdata, int level, const char *event, const char *message, const char *const *names,
    const char *const *values, size_t count)
{
    (void)userdata;
    (void)fprintf(stderr, "%d %d %s: %s", (int)getpid(), level, event, message);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, " %s=%s", names[i], values[i]);
    (void)fputc('\n', stderr);
}

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK)
        bench_die("%s: %s", pawl_status_name(status), pawl_error_message(*error));
}

static pawl_config *
read_settings(struct world *world, char **words)
{
    pawl_config *config = pawl_config_new();
    const char *child = getenv("KILLER_CHILD");
    char name[40];
    pawl_error *error = NULL;

    if (config == NULL)
        bench_die("out of memory");
    pawl_config_set_log(config, PAWL_LOG_WARNING, tell, NULL);
    (void)snprintf(name, sizeof(name), "crash-%.8s", child == NULL ? "x" : child);
    check(pawl_config_set(config, "worker_name", name, &error), &error);
    for (; *words != NULL; words++) {
        char *value = strchr(*words, '=');

        if (value == NULL)
            bench_die("no setting: \"%s\"", *words);
        *value = '\0';
        if (strcmp(*words, "step_us") == 0)
            world->step_us = (unsigned)bench_number(value + 1, "step_us", 0, 900000);
        else if (strcmp(*words, "handle") == 0)
            world->pattern = value + 1;
        else
            check(pawl_config_set(config, *words, value + 1, &error), &error);
    }
    return config;
}

/* A descriptor that says that SIGTERM has come. */
static int
watch_for_term(void)
{
    sigset_t set;
    int fd = -1;

    if (sigemptyset(&set) == 0 && sigaddset(&set, SIGTERM) == 0 &&
        pthread_sigmask(SIG_BLOCK, &set, NULL) == 0)
        fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        bench_die("cannot watch for SIGTERM");
    return fd;
}

/* Starts when there is a server; false: it was told to end before. */
static bool
start(pawl_worker *worker, int term)
{
    struct pollfd told = {.fd = term, .events = POLLIN};
    pawl_error *error = NULL;
    pawl_status status;

    while ((status = pawl_worker_start(worker, &error)) == PAWL_ECONN) {
        pawl_error_free(error);
        error = NULL;
        if (poll(&told, 1, start_again_ms) > 0)
            return false;
    }
    check(status, &error);
    return true;
}

/* What the library has counted, under the name of the counter. */
static void
note_counts(const struct world *world, pawl_worker *worker)
{
    static const char *const names[] = {
        "claimed", "finished", "committed", "busy", "lease_lost", "reconnects", "sessions", "held"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct ledger_entry entry = {
            .kind = LEDGER_NOTE,
            .step = names[i],
            .value = (long)pawl_worker_counter(worker, names[i]),
        };

        ledger_add(world->ledger, &entry);
    }
}

int
main(int argc, char **argv)
{
    struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pawl_config *config;
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;
    int term;

    if (argc < 2)
        bench_die("usage: crash_worker LEDGER [NAME=VALUE]...");
    world.ledger = ledger_open(argv[1]);
    config = read_settings(&world, argv + 2);
    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, &world, &error), &error);
    if (world.pattern != NULL)
        check(pawl_worker_handle(worker, world.pattern, NULL, &world, &error), &error);
    term = watch_for_term();
    pawl_worker_drain_on(worker, term);
    if (start(worker, term)) {
        check(pawl_worker_run(worker, &error), &error);
        note_counts(&world, worker);
    }
    pawl_worker_free(worker);
    pawl_config_free(config);
    while (world.conn_count > 0)
        PQfinish(world.conns[--world.conn_count]);
    (void)close(world.ledger); /* What it holds was written by each entry. */
    return 0;
}
