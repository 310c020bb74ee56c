/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec/job.h"

#include "base/rand.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cli/exec/script_call.h"
#include "cli/process/tree.h"
#include "cli/report/exit.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CODE_USAGE = 64, /* EX_USAGE and EX_DATAERR of sysexits.h: another attempt would not help */
    CODE_DATA = 65,
    GRACE_US = 5000000, /* between SIGTERM and SIGKILL */
    QUIET_US = 100000,  /* time that a suspended script has to begin another call */
};

const char job_undo_handler[] = "shell";

void
job_signal(struct job *job, int number)
{
    if (job->alive)
        process_signal(&job->process, number);
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link)) {
        const struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (call->group > 0)
            (void)kill(-call->group, number);
    }
}

bool
job_retry_after(struct job *job, const char *key, int64_t ms)
{
    if (key == NULL) {
        job->retry_after_ms = ms;
        return true;
    }
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link)) {
        struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (call->stage == SCRIPT_CALL_EXECUTING && strcmp(pawl_step_key(call->branch), key) == 0) {
            call->retry_after_ms = ms;
            return true;
        }
    }
    return false;
}

void
job_tell_guard(const struct job *job)
{
    if (job->alive)
        guard_add(&job->exec->guard, job->process.pid);
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link)) {
        const struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (call->group > 0)
            guard_add(&job->exec->guard, call->group);
    }
}

void
job_end(struct job *job, pawl_status verdict)
{
    if (job->verdict == PAWL_OK || verdict == PAWL_ELEASE_LOST)
        job->verdict = verdict;
    if (job->kill_at_us != INT64_MAX)
        return;
    job->kill_at_us = pw_now_us() + GRACE_US;
    job_signal(job, SIGTERM);
}

/* --- the output of the process --- */

static void
note_line(struct job *job)
{
    job->line[job->line_size] = '\0';
    job->line_size = 0;
    if (job->line[0] == '\0')
        return;
    pawl_run_log(job->run, "%s", job->line);
    /* An indented line explains the line above it, so it does not replace that line. */
    if (job->line[0] != ' ' || job->last_line[0] == '\0')
        (void)snprintf(job->last_line, sizeof(job->last_line), "%.*s", JOB_LAST_MAX, job->line);
}

static void
note_bytes(struct job *job, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '\n') {
            note_line(job);
            continue;
        }
        if (job->line_size == JOB_LINE_MAX) {
            size_t whole = pw_utf8_cut(job->line, job->line_size);
            size_t rest = job->line_size - whole;
            char cut[4];

            memcpy(cut, job->line + whole, rest);
            job->line_size = whole;
            note_line(job);
            memcpy(job->line, cut, rest);
            job->line_size = rest;
        }
        job->line[job->line_size++] = data[i];
    }
    if (job->exec->one_script)
        (void)!write(STDERR_FILENO, data, size);
}

/* Reads once. Returns false if there is nothing to read now, or the pipe is closed. */
static bool
read_output(struct job *job, struct watch *watch)
{
    char data[65536];
    ssize_t got = watch->fd >= 0 ? read(watch->fd, data, sizeof(data)) : 0;

    if (got > 0 && watch == &job->out)
        pw_buf_add(&job->output, data, (size_t)got);
    else if (got > 0)
        note_bytes(job, data, (size_t)got);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        exec_unwatch(job->exec, watch);
    return got > 0;
}

static void
out_ready(struct watch *watch)
{
    (void)read_output(PW_CONTAINER(watch, struct job, out), watch);
}

static void
err_ready(struct watch *watch)
{
    (void)read_output(PW_CONTAINER(watch, struct job, err), watch);
}

static void
door_ready(struct watch *watch)
{
    script_call_accept(PW_CONTAINER(watch, struct job, door));
}

/* --- the end of a job --- */

static void
free_job(struct job *job)
{
    struct pw_list *link;

    while ((link = pw_list_first(&job->calls)) != NULL)
        script_call_free(PW_CONTAINER(link, struct script_call, link));
    exec_unwatch(job->exec, &job->out);
    exec_unwatch(job->exec, &job->err);
    exec_unwatch(job->exec, &job->door);
    if (job->path[0] != '\0')
        (void)unlink(job->path);
    if (job->temporary[0] != '\0')
        tree_remove(job->temporary);
    while (job->values != NULL) {
        struct value *next = job->values->next;

        free(job->values->name);
        free(job->values->text);
        free(job->values);
        job->values = next;
    }
    pw_buf_done(&job->output);
    free(job->idle);
    pw_list_remove(&job->link);
    job->exec->ended++;
    free(job);
}

/* Makes the program's output into JSON. */
static pawl_status
make_output(struct job *job, pawl_bytes *out)
{
    struct pw_json raw = {job->output.data, job->output.size};
    struct pw_json_writer writer;
    struct pw_buf buf;
    char *copy;

    if (raw.size == 0)
        return PAWL_OK;
    if (!job->exec->one_script && pw_utf8_valid(raw.data, raw.size) && pw_json_valid(raw)) {
        while (strchr(" \t\r\n", raw.data[raw.size - 1]) != NULL)
            raw.size--;
        *out = (pawl_bytes){raw.data, raw.size};
        return PAWL_OK;
    }
    pw_buf_init(&buf, 6 * raw.size + 64);
    pw_json_writer_init(&writer, &buf);
    frame_add_output(&writer, raw.data, raw.size);
    copy = pw_buf_ok(&buf) ? pawl_run_alloc(job->run, buf.size) : NULL;
    if (copy != NULL)
        memcpy(copy, buf.data, buf.size);
    *out = (pawl_bytes){copy, buf.size};
    pw_buf_done(&buf);
    return copy != NULL ? PAWL_OK : PAWL_ENOMEM;
}

void
job_finish(struct job *job, pawl_status status)
{
    pawl_bytes output = {0};

    if (status == PAWL_OK && !job->undoing)
        status = make_output(job, &output);
    pawl_run_finish(job->run, status, output);
    free_job(job);
}

/* Returns the first call of the script that has not ended, or NULL. */
static const struct script_call *
find_active(const struct job *job)
{
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link)) {
        const struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (script_call_is_active(call))
            return call;
    }
    return NULL;
}

/*
 * Returns true if another attempt cannot help. A step that failed permanently fails the same way each time, and so does an invalid call.
 * But only a script that exits with the code of that answer has ended because of it. A script that handled the failure, and exits with
 * another code later, has another reason.
 */
static bool
is_for_good(const struct job *job)
{
    if (job->signalled)
        return false;
    return job->code == CODE_USAGE || job->code == CODE_DATA || job->failed_with[job->code] ||
        (job->mistaken && job->code == EXIT_USAGE);
}

/* Returns the status that the exit code of the program stands for. */
static pawl_status
judge(struct job *job)
{
    const struct script_call *active = find_active(job);

    if (job->code == 0 && active != NULL) {
        pawl_run_set_error(job->run, "left_behind",
            "the script ended while \"%s\" was in progress: wait for background jobs",
            active->name);
        return PAWL_EFAILED;
    }
    if (job->code == 0 && job->output.failure == PW_BUF_LIMIT) {
        pawl_run_set_error(job->run, "too_large",
            "the output is larger than %" PRId64
            " bytes: write it to a file, and its name to the output",
            job->exec->payload_max);
        return PAWL_EPERMANENT;
    }
    if (job->code == 0)
        return pw_buf_ok(&job->output) ? PAWL_OK : PAWL_ENOMEM;
    if (job->code > 128)
        pawl_run_set_error(job->run, "signal", "the program was ended by signal %d%s%s",
            job->code - 128, job->last_line[0] != '\0' ? ": " : "", job->last_line);
    else
        pawl_run_set_error(job->run, "exit", "the program exited with code %d%s%s", job->code,
            job->last_line[0] != '\0' ? ": " : "", job->last_line);
    if (job->retry_after_ms >= 0)
        pawl_run_retry_after(job->run, job->retry_after_ms);
    return is_for_good(job) ? PAWL_EPERMANENT : PAWL_EFAILED;
}

void
job_settle(struct job *job)
{
    if (job->alive || job->stage != JOB_EXECUTING)
        return;
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link))
        if (script_call_is_pending(PW_CONTAINER(link, struct script_call, link)))
            return;
    if (job->exec->giving_back && !job->exec->left && job->verdict == PAWL_ELEASE_LOST)
        return;
    if (job->verdict == PAWL_OK)
        job->verdict = job->suspended ? PAWL_SUSPENDED : PAWL_OK;
    if (job->verdict == PAWL_ETIMEOUT)
        pawl_run_set_error(job->run, "timeout", "the run has reached its time limit");
    if (job->verdict == PAWL_OK)
        job->verdict = judge(job);
    job->exec->failed += job->verdict == PAWL_EFAILED;
    job_finish(job, job->verdict);
}

static void undo_go_on(struct waiter *waiter);

void
job_exited(struct job *job, int status)
{
    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link)) {
        struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (call->group > 0)
            guard_remove(&job->exec->guard, call->group);
        call->group = 0;
    }
    /* All that the program wrote is in the pipes by now. Another process may still hold them open, but its output is not wanted. */
    while (read_output(job, &job->out))
        ;
    while (read_output(job, &job->err))
        ;
    note_line(job);
    exec_unwatch(job->exec, &job->out);
    exec_unwatch(job->exec, &job->err);
    exec_unwatch(job->exec, &job->door);
    job->alive = false;
    process_done(&job->process);
    job->code = process_code(status);
    job->signalled = WIFSIGNALED(status);
    if (job->undoing) {
        job->stage = JOB_UNDO_RECORD;
        undo_go_on(&job->waiter);
        return;
    }
    job_settle(job);
}

/* --- starting --- */

/* Opens the socket of the job. Its name is random, and no other user can enter its directory. */
static bool
open_door(struct job *job)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    unsigned char chance[8];
    char name[2 * sizeof(chance) + 1];
    int fd;

    if (!exec_has_directory(job->exec))
        return false;
    /* guard:door_name */
    if (!pw_random(chance, sizeof(chance)))
        return false;
    for (size_t i = 0; i < sizeof(chance); i++)
        (void)snprintf(name + 2 * i, 3, "%02x", chance[i]);
    (void)snprintf(job->path, sizeof(job->path), "%.80s/%s", job->exec->directory, name);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", job->path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 128) != 0) {
        (void)close(fd);
        return false;
    }
    job->door = (struct watch){fd, door_ready};
    exec_watch(job->exec, &job->door, false);
    return true;
}

/* Makes the temporary directory of a program in a sandbox. TMPDIR and HOME name it, unless the program gets those of the worker. */
static bool
make_temporary(struct job *job, struct process_environment *environment)
{
    const struct sandbox *sandbox = job->exec->sandbox;

    if (sandbox == NULL || !sandbox->on)
        return true;
    if (job->temporary[0] == '\0') {
        if (!exec_has_directory(job->exec))
            return false;
        (void)snprintf(
            job->temporary, sizeof(job->temporary), "%.80s/tmp-XXXXXX", job->exec->directory);
        if (mkdtemp(job->temporary) == NULL) {
            job->temporary[0] = '\0';
            return false;
        }
    }
    if (!sandbox_passes(sandbox, "TMPDIR="))
        process_set(environment, "TMPDIR", job->temporary);
    if (!sandbox_passes(sandbox, "HOME="))
        process_set(environment, "HOME", job->temporary);
    return true;
}

static bool
start_process(struct job *job, char *const *words, pawl_bytes input, bool uncertain)
{
    struct process_environment environment = {.files = job->exec->files_before,
        .sandbox = job->exec->sandbox,
        .rules = -1,
        .temporary = job->temporary};
    char execution[16];
    char task[16];
    bool started;

    (void)snprintf(execution, sizeof(execution), "%d", pawl_run_execution(job->run));
    (void)snprintf(task, sizeof(task), "%d", pawl_run_task(job->run));
    process_set(&environment, "PAWL_RUN_ID", pawl_run_id(job->run));
    process_set(&environment, "PAWL_TASK", task);
    process_set(&environment, "PAWL_WORKFLOW", pawl_run_workflow(job->run));
    process_set(&environment, "PAWL_EXECUTION", execution);
    process_set(&environment, "PAWL_TENANT", pawl_run_tenant(job->run));
    if (job->path[0] != '\0')
        process_set(&environment, "PAWL_SOCKET", job->path);
    if (uncertain)
        process_set(&environment, "PAWL_UNCERTAIN", "1");
    if (!make_temporary(job, &environment) ||
        (environment.rules = sandbox_open(job->exec->sandbox, job->temporary)) == -2)
        return false;
    started = process_start(&job->process, words, input, &environment);
    if (environment.rules >= 0)
        (void)close(environment.rules);
    if (!started)
        return false;
    guard_add(&job->exec->guard, job->process.pid);
    job->alive = true;
    job->out = (struct watch){job->process.out, out_ready};
    job->err = (struct watch){job->process.err, err_ready};
    exec_watch(job->exec, &job->out, false);
    exec_watch(job->exec, &job->err, false);
    return true;
}

static char *
text_of(pawl_run *run, pawl_bytes json)
{
    char *text = pawl_run_alloc(run, json.size + 1);

    return text != NULL && pawl_json_text(json, "", text, json.size + 1) == PAWL_OK ? text : NULL;
}

/* Returns the command that --undo gave for a handler. NULL: none. */
static char *
find_undo(const struct job *job, const char *handler)
{
    for (char **undo = job->exec->undos; undo != NULL && *undo != NULL; undo += 2)
        if (strcmp(undo[0], handler) == 0)
            return undo[1];
    return NULL;
}

static void
defer_go_on(struct waiter *waiter)
{
    struct job *job = PW_CONTAINER(waiter, struct job, waiter);
    pawl_status status = pawl_run_defer(job->run);

    if (status != PAWL_PENDING)
        job_finish(job, status);
}

/* Defers the run, which uses no attempt. The caller has called pawl_run_set_error(). May free the job. */
static void
defer(struct job *job)
{
    job->exec->failed++;
    job->stage = JOB_DEFERRED;
    job->waiter.go_on = defer_go_on;
    defer_go_on(&job->waiter);
}

/*
 * Defers a run whose process could not be made, for want of descriptors, memory or disk space. That is a problem of this worker and not of
 * the run, of which nothing was executed. A program that does not exist is another case: there was a process, and it has reported the
 * error.
 */
static void
defer_not_started(struct job *job)
{
    pawl_run_set_error(job->run, "not_started", "the program cannot be started: %m");
    defer(job);
}

/* Starts the next undo. Returns PAWL_PENDING with errno if it could not be started now. */
static pawl_status
start_undo(struct job *job, char *command, pawl_bytes output)
{
    char shell[] = "sh";
    char flag[] = "-c";
    char *words[] = {shell, flag, command, NULL};
    size_t size = 0;
    char *text = NULL;
    bool started;
    int why;

    if (command == NULL)
        return PAWL_EPERMANENT;
    if (output.data != NULL)
        text = frame_output_of((struct pw_json){output.data, output.size}, &size);
    job->last_line[0] = '\0';
    pw_buf_clear(&job->output);
    started =
        start_process(job, words, (pawl_bytes){text, size}, pawl_run_undo_uncertain(job->run) != 0);
    why = errno;
    free(text);
    errno = why;
    return started ? PAWL_EXECUTE : PAWL_PENDING;
}

/* Records the outcome of the undo. */
static pawl_status
record_undo(struct job *job)
{
    pawl_status status;

    if (job->verdict == PAWL_OK && job->code != 0) {
        pawl_run_set_error(job->run, "exit", "the undo exited with code %d%s%s", job->code,
            job->last_line[0] != '\0' ? ": " : "", job->last_line);
        job->verdict = PAWL_EFAILED;
    }
    status = pawl_step_finish(job->run, job->verdict, (pawl_bytes){0}, NULL);
    if (status != PAWL_OK)
        return status;
    job->verdict = PAWL_OK;
    job->kill_at_us = INT64_MAX;
    job->stage = JOB_UNDO_NEXT;
    return status;
}

/* Executes the undos, one after the other. May free the job. */
static void
undo_go_on(struct waiter *waiter)
{
    struct job *job = PW_CONTAINER(waiter, struct job, waiter);
    const char *handler = NULL;
    char *command = NULL;
    bool own;
    pawl_bytes input = {0};
    pawl_bytes output = {0};
    pawl_status status;

    for (;;) {
        if (job->stage == JOB_UNDO_NEXT) {
            status = pawl_run_undo_next(job->run, &handler, &input, &output);
            if (status != PAWL_EXECUTE)
                break;
            own = strcmp(handler, job_undo_handler) == 0;
            command = own ? text_of(job->run, input) : find_undo(job, handler);
            if (command == NULL && !own) {
                pawl_run_set_error(job->run, "no_undo_handler",
                    "no undo handler \"%s\"; start a worker with --undo '%s=COMMAND'", handler,
                    handler);
                defer(job);
                return;
            }
            status = start_undo(job, command, output);
            if (status == PAWL_PENDING) {
                defer_not_started(job);
                return;
            }
            job->stage = JOB_UNDO_RECORD;
            job->exec->undoing = true;
            if (status == PAWL_EXECUTE) {
                job->stage = JOB_EXECUTING;
                return;
            }
            job->verdict = status;
        } else {
            if (job->exec->giving_back && !job->exec->left)
                return;
            status = record_undo(job);
            if (status != PAWL_OK)
                break;
        }
    }
    if (status != PAWL_PENDING)
        job_finish(job, status);
}

static void
nothing_to_go_on(struct waiter *waiter)
{
    (void)waiter;
}

void
job_start(struct exec *exec, pawl_run *run)
{
    char *const *words = pawl_run_userdata(run);
    struct job *job = calloc(1, sizeof(*job));

    if (job == NULL) {
        pawl_run_finish(run, PAWL_ENOMEM, (pawl_bytes){0});
        return;
    }
    job->exec = exec;
    job->run = run;
    job->kill_at_us = INT64_MAX;
    job->retry_after_ms = -1;
    job->out.fd = job->err.fd = job->door.fd = -1;
    job->waiter.go_on = nothing_to_go_on;
    pw_buf_init(&job->output, (size_t)exec->payload_max);
    pw_list_init(&job->calls);
    pw_list_add_tail(&exec->jobs, &job->link);
    pawl_run_set_nonblocking(run);
    pawl_run_set_context(run, &job->waiter);
    if (exec->giving_back) { /* leave_early() releases it with the other runs */
        job->verdict = PAWL_ELEASE_LOST;
        return;
    }
    if (pawl_run_rolling_back(run)) {
        job->undoing = true;
        job->stage = JOB_UNDO_NEXT;
        job->waiter.go_on = undo_go_on;
        undo_go_on(&job->waiter);
        return;
    }
    if (open_door(job) &&
        start_process(job, words, exec->one_script ? (pawl_bytes){0} : pawl_run_input(run), false))
        return;
    defer_not_started(job);
}

void
job_tick(struct job *job, int64_t now_us)
{
    pawl_status status = pawl_run_check(job->run);
    struct pw_list *link;

    for (link = pw_list_first(&job->calls); link != NULL; link = pw_list_next(&job->calls, link))
        script_call_tick(PW_CONTAINER(link, struct script_call, link), now_us);
    if (!job->alive)
        return;
    if (job->door_shut && script_call_has_room(job)) {
        job->door_shut = false;
        exec_watch(job->exec, &job->door, false);
    }
    if (status != PAWL_OK && job->verdict != status)
        job_end(job, status);
    else if (job->suspended && job->verdict == PAWL_OK && find_active(job) == NULL &&
        now_us - job->quiet_since_us >= QUIET_US)
        job_end(job, PAWL_SUSPENDED);
    if (now_us >= job->kill_at_us)
        job_signal(job, SIGKILL);
    /* The reaper hangs, for example in a file system that does not answer. If it is killed, the program dies with it. */
    if (now_us >= pw_add_us(job->kill_at_us, 2 * GRACE_US))
        (void)kill(job->process.pid, SIGKILL);
}
