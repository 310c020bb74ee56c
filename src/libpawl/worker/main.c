/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pawl_worker_main(): the whole main() of a worker. It is the only part of the library that prints, reads the environment and handles
 * signals, because it acts as the program.
 *
 * The calling thread waits for signals, and a separate thread calls pawl_worker_run(). So a second signal is noticed while the worker
 * drains.
 */
#include "base/alloc.h"
#include "base/time.h"
#include "base/utf8.h"
#include "base/wake.h"
#include "libpawl/common/thread.h"
#include "libpawl/worker/main_options.h"
#include "libpawl/worker/worker.h"
#include "pawl/version.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The same codes as those of the command pawl. */
enum {
    CODE_OK = 0,
    CODE_OTHER = 1,
    CODE_USAGE = 2,
    CODE_TIMEOUT = 5,
    CODE_NO_DATABASE = 7,
    CODE_SCHEMA = 8,
    CODE_FORBIDDEN = 9,
};

static const size_t line_max = 8192;
static const int look_every_ms = 1000;
/* How long a second signal waits for the goodbye, which releases the runs that execute. */
static const int64_t goodbye_ms = 1000;
/* How long handlers have to return once their runs are released: each of their calls answers PAWL_ELEASE_LOST. */
static const int64_t return_ms = 1000;

struct program {
    struct pw_main_options options;
    pawl_worker *worker;
    struct pw_wake done; /* set when the thread is about to end */
    int signals;         /* a signalfd */
    pthread_t thread;
    atomic_bool started; /* the worker */
    /* Written by the thread, read after it has ended. */
    pawl_status status;
    pawl_error *error;
};

static int
code_of(pawl_status status, const pawl_error *error)
{
    /* The library reports a missing password as forbidden. Like the command pawl, this program reports it as no connection. */
    if (status == PAWL_EFORBIDDEN && pawl_error_sqlstate(error)[0] == '\0')
        return CODE_NO_DATABASE;
    switch ((int)status) {
    case PAWL_OK:
        return CODE_OK;
    case PAWL_ETIMEOUT:
        return CODE_TIMEOUT;
    case PAWL_ECONN:
        return CODE_NO_DATABASE;
    case PAWL_ESCHEMA:
        return CODE_SCHEMA;
    case PAWL_EFORBIDDEN:
        return CODE_FORBIDDEN;
    default:
        return CODE_OTHER;
    }
}

/* The hint of an error, or else what the person who started the program can do. */
static const char *
hint_of(pawl_status status, const pawl_error *error)
{
    const char *hint = pawl_error_hint(error);

    if (hint[0] != '\0')
        return hint;
    switch (code_of(status, error)) {
    case CODE_NO_DATABASE:
        return "Name the database with --database, PAWL_DATABASE_URL, or variables of libpq such "
               "as PGHOST.";
    case CODE_SCHEMA:
        return "The owner of the database installs the engine: pawl install";
    case CODE_FORBIDDEN:
        return "The owner of the engine grants the right: pawl grant ROLE worker";
    default:
        return NULL;
    }
}

/*
 * Writes a line to standard error with one call, so that lines of several threads stay whole. Control characters become dots. A line that
 * is too long is cut.
 */
static void
print_line(struct pw_buf *line)
{
    size_t length;

    for (size_t i = 0; i < line->size; i += length) {
        length = pw_utf8_length(line->data + i, line->size - i);
        if (length == 0)
            length = 1;
        if (pw_utf8_is_control(line->data + i, length))
            memset(line->data + i, '.', length);
    }
    if (line->size > 0)
        (void)fprintf(stderr, "%.*s%s\n", (int)line->size, line->data, pw_buf_ok(line) ? "" : " …");
    pw_buf_done(line);
}

static void
print_error(const char *program, const char *message, const char *hint)
{
    struct pw_buf line;

    pw_buf_init(&line, line_max);
    pw_buf_addf(&line, "%s: %s", program, message);
    print_line(&line);
    if (hint == NULL || hint[0] == '\0')
        return;
    pw_buf_addf(&line, "%s: hint: %s", program, hint);
    print_line(&line);
}

static void
print_log(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count)
{
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    const struct program *program = userdata;
    struct pw_buf line;

    pw_buf_init(&line, line_max);
    pw_buf_addf(&line, "%s: %s: %s: %s", program->options.program, levels[level], event, message);
    for (size_t i = 0; i < count; i++)
        pw_buf_addf(&line, " %s=%s", names[i], values[i]);
    print_line(&line);
}

/*
 * The signals that end the worker. A signal that was ignored when the program started stays ignored, such as SIGINT for "./worker &" in a
 * script.
 */
static void
ending_signals(sigset_t *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action;

    (void)sigemptyset(signals);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            (void)sigaddset(signals, numbers[i]);
}

static int
compare_names(const void *one, const void *other)
{
    const struct pw_handler *const *a = one, *const *b = other;
    int order = strcmp((*a)->pattern, (*b)->pattern);

    return order != 0 ? order : (int)(*a)->prefix - (int)(*b)->prefix;
}

/*
 * Prints that the worker is registered, as pawl worker does: without that line nothing would appear until a run prints something. The names
 * are sorted, because the order of declarations depends on the compiler.
 */
static void
print_ready(const struct program *program)
{
    const struct pw_handlers *handlers = &program->worker->handlers;
    const struct pw_handler **sorted =
        pw_alloc((handlers->count + 1) * sizeof(struct pw_handler *));
    struct pw_buf line;

    pw_buf_init(&line, line_max);
    pw_buf_addf(&line, "%s: the worker is ready", program->options.program);
    for (size_t i = 0; sorted != NULL && i < handlers->count; i++)
        sorted[i] = &handlers->list[i];
    if (sorted != NULL)
        qsort(sorted, handlers->count, sizeof(*sorted), compare_names);
    for (size_t i = 0; sorted != NULL && i < handlers->count; i++)
        pw_buf_addf(&line, "%s%s%s", i > 0 ? ", " : "; it handles ", sorted[i]->pattern,
            sorted[i]->prefix ? "*" : "");
    print_line(&line);
    pw_free(sorted);
}

static void *
work(void *argument)
{
    struct program *program = argument;

    program->status = pawl_worker_start(program->worker, &program->error);
    if (program->status == PAWL_OK) {
        atomic_store(&program->started, true);
        print_ready(program);
        program->status = pawl_worker_run(program->worker, &program->error);
    }
    pw_wake_set(&program->done);
    return NULL;
}

/* Ends the process as the signal would have. Threads of handlers may still execute, so nothing is freed. */
static void
die_by(struct program *program, int signal_number)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t signals;

    /* From here on another signal does not wait for the goodbye. */
    ending_signals(&signals);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&signals, number) == 1)
            (void)sigaction(number, &standard, NULL);
    (void)pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (atomic_load(&program->started)) {
        pawl_worker_drain_within(program->worker, goodbye_ms);
        if (pawl_worker_stop(program->worker, 0, NULL) != PAWL_OK)
            print_error(program->options.program,
                "left while runs were executing; they are released", NULL);
    }
    (void)raise(signal_number);
    _exit(128 + signal_number);
}

/* Returns the number of the signal that has come, or 0. */
static int
take_signal(const struct program *program)
{
    struct signalfd_siginfo info;

    return read(program->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)
        ? (int)info.ssi_signo
        : 0;
}

/* Waits until the thread is about to end. Does not return after a second signal, or if handlers do not return in time. */
static void
wait_for_end(struct program *program)
{
    struct pollfd fds[2] = {
        {.fd = program->done.fd, .events = POLLIN},
        {.fd = program->signals, .events = POLLIN},
    };
    int64_t until_us = INT64_MAX; /* once the worker has left: when to end without its handlers */
    bool signalled = false;

    while (poll(fds, 2, look_every_ms) <= 0 || fds[0].revents == 0) {
        int signal_number = take_signal(program);

        if (signal_number != 0 && (signalled || !atomic_load(&program->started)))
            die_by(program, signal_number);
        if (signal_number != 0) {
            pawl_worker_drain(program->worker);
            signalled = true;
        }
        if (until_us == INT64_MAX && atomic_load(&program->started) &&
            pw_worker_stopped(program->worker))
            until_us = pw_add_us(pw_now_us(), pw_ms_to_us(return_ms));
        /* A thread cannot be stopped from outside, but the process can. */
        if (pw_now_us() >= until_us) {
            print_error(program->options.program,
                "handlers were still executing after drain_timeout; their runs are released", NULL);
            _exit(CODE_TIMEOUT);
        }
    }
}

/* Starts the thread and waits for its end. Returns the exit code. */
static int
execute(struct program *program)
{
    int errnum = pw_thread_start(&program->thread, 0, work, program);
    int code;

    if (errnum != 0) {
        print_error(program->options.program, "could not start a thread", NULL);
        return CODE_OTHER;
    }
    wait_for_end(program);
    (void)pthread_join(program->thread, NULL);
    if (program->status != PAWL_OK)
        print_error(program->options.program, pawl_error_message(program->error),
            hint_of(program->status, program->error));
    code = code_of(program->status, program->error);
    pawl_error_free(program->error);
    return code;
}

/* Makes the worker and executes runs. Returns the exit code. */
static int
run_worker(struct program *program, const pawl_declaration *table, size_t count, void *userdata)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_worker_new(program->options.config, &program->worker, &error);
    int code;

    if (status == PAWL_OK)
        status = pawl_worker_handle_table(program->worker, table, count, userdata, &error);
    if (status == PAWL_OK) {
        code = execute(program);
    } else {
        print_error(program->options.program, pawl_error_message(error), hint_of(status, error));
        code = code_of(status, error);
    }
    pawl_error_free(error);
    pawl_worker_free(program->worker);
    return code;
}

/* The same with SIGINT and SIGTERM blocked, and readable from a descriptor. */
static int
run_with_signals(
    struct program *program, const pawl_declaration *table, size_t count, void *userdata)
{
    sigset_t signals, before;
    int errnum = pw_wake_open(&program->done);
    int code = CODE_OTHER;

    ending_signals(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, &before);
    program->signals = errnum == 0 ? signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
    if (program->signals >= 0)
        code = run_worker(program, table, count, userdata);
    else
        print_error(program->options.program, "could not make a descriptor for signals", NULL);
    if (program->signals >= 0)
        (void)close(program->signals);
    pw_wake_close(&program->done);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* --help or --version. Returns the exit code. */
static int
print_about(const struct pw_main_options *options, const pawl_declaration *table, size_t count)
{
    struct pw_buf text;
    bool good;

    pw_buf_init(&text, (size_t)1024 * 1024);
    if (options->help)
        pw_main_options_help(options, table, count, &text);
    else
        pw_buf_addf(&text, "%s (libpawl %s)\n", options->program, pawl_version_text());
    good = pw_buf_ok(&text) && fwrite(text.data, 1, text.size, stdout) == text.size &&
        fflush(stdout) == 0;
    pw_buf_done(&text);
    return good ? CODE_OK : CODE_OTHER;
}

int
pawl_worker_main_table(
    int argc, char **argv, const pawl_declaration *table, size_t count, void *userdata)
{
    struct program program = {.done = {.fd = -1}, .signals = -1};
    struct pw_error err = {0};
    int status = pw_main_options_read(&program.options, argc, argv, &err);
    int code;

    if (status != PAWL_OK) {
        print_error(program.options.program, err.message, err.hint);
        code = status == PAWL_EINVAL ? CODE_USAGE : CODE_OTHER;
    } else if (program.options.help || program.options.version) {
        code = print_about(&program.options, table, count);
    } else {
        /* A line that a handler prints is seen at once, even in a file, and is not lost if the process is killed. */
        (void)setvbuf(stdout, NULL, _IOLBF, 0);
        pawl_config_set_log(program.options.config, program.options.log_level, print_log, &program);
        code = run_with_signals(&program, table, count, userdata);
    }
    pw_main_options_done(&program.options);
    return code;
}
