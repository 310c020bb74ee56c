/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include "base/time.h"
#include "cli/exit.h"
#include "cli/process.h"
#include "cli/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ASKS_MAX = 500,                /* of one script at the same time */
    GRACE_US = 5000000,            /* between TERM and KILL */
    STDOUT_OF_FAILURE_MAX = 16384, /* so much of what a failed step wrote is kept with its error */
    CODE_TIMEOUT = 124,            /* as timeout(1) has it */
};

static const size_t memory_max = (size_t)8 * 1024 * 1024;

bool
ask_is_pending(const struct ask *ask)
{
    return ask->stage == ASK_CALLING || ask->stage == ASK_RECORDING;
}

bool
ask_is_active(const struct ask *ask)
{
    return ask_is_pending(ask) || ask->stage == ASK_EXECUTING;
}

void
ask_free(struct ask *ask)
{
    if (ask->group > 0)
        guard_remove(&ask->job->exec->guard, ask->group);
    exec_unwatch(ask->job->exec, &ask->socket);
    frame_done(&ask->reader);
    pw_buf_done(&ask->reply);
    pw_arena_done(&ask->arena);
    pw_list_remove(&ask->link);
    free(ask);
}

/* --- answering --- */

/* Sends what there is to send; an ask that has its answer is over then. May free it. */
static void
send_reply(struct ask *ask)
{
    while (ask->socket.fd >= 0 && ask->sent < ask->reply.size) {
        ssize_t sent = send(
            ask->socket.fd, ask->reply.data + ask->sent, ask->reply.size - ask->sent, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN) {
            exec_watch(ask->job->exec, &ask->socket, true);
            return;
        }
        if (sent < 0)
            break;
        ask->sent += (size_t)sent;
    }
    ask->job->quiet_since_us = pw_now_us();
    if (ask->stage == ASK_ANSWERED)
        ask_free(ask);
    else if (ask->socket.fd >= 0)
        exec_watch(ask->job->exec, &ask->socket, false);
}

/* The twin can make another call. */
static void
release_branch(struct ask *ask)
{
    struct job *job = ask->job;
    pawl_run **larger;

    if (ask->branch == NULL)
        return;
    larger = realloc(job->idle, (job->idle_count + 1) * sizeof(*larger));
    if (larger == NULL)
        return; /* the next call makes a new one */
    larger[job->idle_count++] = ask->branch;
    job->idle = larger;
    ask->branch = NULL;
}

/* {"exit", "message", "output"}; message may be NULL, and output nothing. Frees the ask. */
static void
answer(struct ask *ask, int code, const char *message, struct pw_json output)
{
    struct pw_json_writer writer;
    size_t start;

    release_branch(ask);
    pw_buf_clear(&ask->reply);
    ask->sent = 0;
    start = frame_begin(&ask->reply, &writer);
    pw_json_key(&writer, "exit");
    pw_json_add_int(&writer, code);
    if (message != NULL) {
        pw_json_key(&writer, "message");
        pw_json_add_text(&writer, message);
    }
    if (output.data != NULL) {
        pw_json_key(&writer, "output");
        pw_json_add_raw(&writer, output.data, output.size);
    }
    frame_end(&ask->reply, &writer, start);
    ask->stage = ASK_ANSWERED;
    send_reply(ask);
}

static void
answer_mistake(struct ask *ask, const char *message)
{
    ask->job->mistaken = true;
    answer(ask, EXIT_USAGE, message, (struct pw_json){0});
}

/* The script is to execute the step. */
static void
answer_todo(struct ask *ask)
{
    struct pw_json_writer writer;
    size_t start = frame_begin(&ask->reply, &writer);

    pw_json_key(&writer, "todo");
    pw_json_add_bool(&writer, true);
    pw_json_key(&writer, "attempt");
    pw_json_add_int(&writer, pawl_step_attempt(ask->branch));
    pw_json_key(&writer, "key");
    pw_json_add_text(&writer, pawl_step_key(ask->branch));
    pw_json_key(&writer, "output_max");
    pw_json_add_int(&writer, ask->job->exec->payload_max);
    frame_end(&ask->reply, &writer, start);
    ask->stage = ASK_EXECUTING;
    send_reply(ask);
}

/* --- what was asked for --- */

static const char *
text(struct ask *ask, const char *member)
{
    struct pw_json value = pw_json_member(ask->message, member);

    return pw_json_given(value) ? pw_json_text(value, &ask->arena) : NULL;
}

static int64_t
number(const struct ask *ask, const char *member, int64_t otherwise)
{
    int64_t value;

    return pw_json_to_int(pw_json_member(ask->message, member), &value) ? value : otherwise;
}

static pawl_bytes
bytes(const struct ask *ask, const char *member)
{
    struct pw_json value = pw_json_member(ask->message, member);

    return (pawl_bytes){value.data, value.size};
}

static bool
is_true(struct pw_json value)
{
    bool truth = false;

    return pw_json_to_bool(value, &truth) && truth;
}

/* Options of the library travel under their own names, as texts. */
static void
set_options(struct ask *ask)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    pawl_bytes undo = bytes(ask, "undo");
    struct pw_json options = pw_json_member(ask->message, "options");

    if (undo.data != NULL) {
        char *copy = pw_arena_copy(&ask->arena, undo.data, undo.size);

        pawl_run_option(ask->branch, "undo", job_undo_handler);
        pawl_run_option(ask->branch, "undo_input", copy);
    }
    if (options.data == NULL)
        return;
    pw_json_walk(&walk, options);
    while (pw_json_walk_next(&walk, &key, &value)) {
        char *name = pw_arena_copy(&ask->arena, key.data, key.size);

        if (name != NULL)
            pawl_run_option(ask->branch, name, pw_json_text(value, &ask->arena));
    }
}

/* A value is a step whose output is the value. */
static pawl_status
call_set(struct ask *ask, pawl_bytes *output)
{
    pawl_status status;

    if (ask->stage != ASK_RECORDING) {
        status = pawl_step_begin(ask->branch, ask->name, output);
        if (status != PAWL_TODO)
            return status;
        ask->stage = ASK_RECORDING;
    }
    return pawl_step_finish(ask->branch, PAWL_OK, bytes(ask, "value"), output);
}

static pawl_status
call_step(struct ask *ask, pawl_bytes *output)
{
    return pawl_step_begin(ask->branch, ask->name, output);
}

static pawl_status
call_sleep(struct ask *ask, pawl_bytes *output)
{
    (void)output;
    return pawl_sleep(ask->branch, ask->name, number(ask, "ms", 0));
}

static pawl_status
call_event(struct ask *ask, pawl_bytes *output)
{
    return pawl_wait_event(
        ask->branch, ask->name, text(ask, "topic"), number(ask, "timeout_ms", -1), output);
}

static pawl_status
call_signal(struct ask *ask, pawl_bytes *output)
{
    return pawl_wait_signal(ask->branch, ask->name, number(ask, "timeout_ms", -1), output);
}

static pawl_status
call_approval(struct ask *ask, pawl_bytes *output)
{
    return pawl_wait_approval(
        ask->branch, ask->name, bytes(ask, "form"), number(ask, "timeout_ms", -1), output);
}

static pawl_status
call_child(struct ask *ask, pawl_bytes *output)
{
    const char *workflow = text(ask, "workflow");

    if (is_true(pw_json_member(ask->message, "detached")))
        return pawl_child_detached(ask->branch, ask->name, workflow, bytes(ask, "input"), output);
    return pawl_child(ask->branch, ask->name, workflow, bytes(ask, "input"), output);
}

static const struct {
    const char *name;
    pawl_status (*call)(struct ask *ask, pawl_bytes *output);
} calls[] = {
    {"step", call_step},
    {"sleep", call_sleep},
    {"event", call_event},
    {"signal", call_signal},
    {"approval", call_approval},
    {"child", call_child},
    {"set", call_set},
};

/* --- what the library says --- */

static void
remember_value(struct job *job, const char *name, pawl_bytes json)
{
    struct value *value = job->values;

    while (value != NULL && strcmp(value->name, name) != 0)
        value = value->next;
    if (value == NULL) {
        value = calloc(1, sizeof(*value));
        if (value == NULL)
            return;
        value->name = strdup(name);
        if (value->name == NULL) {
            free(value);
            return;
        }
        value->next = job->values;
        job->values = value;
    }
    free(value->text);
    value->text = strndup(json.data, json.size);
}

static void
say(const struct ask *ask, const char *what)
{
    if (ask->job->exec->one_script && strcmp(ask->call, "set") != 0)
        (void)fprintf(stderr, "pawl: %s %s: %s\n", ask->call, ask->name, what);
}

/* A failure that is recorded, and so is said on every replay. */
static void
answer_failure(struct ask *ask, pawl_status status, pawl_bytes output)
{
    pawl_bytes error = pawl_run_error(ask->branch);
    struct pw_json json = {error.data, error.size};
    struct pw_json written = {output.data, output.size};
    int64_t code = exit_code_of(status);

    if (strcmp(ask->call, "step") == 0) {
        code = EXIT_OTHER;
        if (error.data != NULL && !pw_json_to_int(pw_json_member(json, "exit"), &code) &&
            pw_json_is(pw_json_member(json, "code"), "\"timeout\""))
            code = CODE_TIMEOUT;
        if (error.data != NULL)
            written = pw_json_member(json, "stdout");
    }
    ask->job->failed_with[code & (JOB_CODES - 1)] = true; /* which is what exit() makes of it */
    answer(ask, (int)code, pawl_run_error_message(ask->branch), written);
}

static void finish_step(struct ask *ask, struct pw_json message);

/* Goes on with what the library answered. May free the ask. */
static void
take_answer(struct ask *ask, pawl_status status, pawl_bytes output)
{
    struct job *job = ask->job;

    switch ((int)status) {
    case PAWL_PENDING:
        return;
    case PAWL_OK:
        job->mistaken = false;
        memset(job->failed_with, 0, sizeof(job->failed_with));
        if (strcmp(ask->call, "set") == 0)
            remember_value(job, text(ask, "name"), output);
        else if (ask->stage == ASK_RECORDING)
            say(ask, "done");
        answer(ask, EXIT_OK, NULL, (struct pw_json){output.data, output.size});
        return;
    case PAWL_TODO:
        answer_todo(ask);
        if (ask->socket.fd < 0) /* nobody is there any more to execute it */
            finish_step(ask, (struct pw_json){"{}", 2});
        return;
    case PAWL_SUSPENDED:
        say(ask, ask->stage == ASK_RECORDING ? pawl_run_error_message(ask->branch) : "waits");
        ask->stage = ASK_WAITING;
        job->suspended = true;
        job->quiet_since_us = pw_now_us();
        return;
    case PAWL_EINVAL:
        answer_mistake(ask, pawl_run_error_message(ask->branch));
        return;
    case PAWL_EFAILED:
    case PAWL_EREFUSED:
    case PAWL_ERUN:
        answer_failure(ask, status, output);
        return;
    case PAWL_ETIMEOUT:
        if (strcmp(ask->call, "step") != 0 && strcmp(ask->call, "set") != 0) {
            answer_failure(ask, status, output);
            return;
        }
        break;
    default:
        break;
    }
    /* The run cannot go on, and the script is not to believe that the call has failed. */
    ask->stage = ASK_WAITING;
    job_end(job, status);
}

static void
make_call(struct ask *ask)
{
    pawl_bytes output = {0};
    pawl_status status = PAWL_EINVAL;

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, ask->call) == 0)
            status = calls[i].call(ask, &output);
    take_answer(ask, status, output);
}

static void
record_step(struct ask *ask)
{
    pawl_bytes output = {0};
    pawl_status status = pawl_step_finish(ask->branch, PAWL_OK, output, &output);

    take_answer(ask, status, output);
}

/* The library has an answer. */
static void
go_on(struct waiter *waiter)
{
    struct ask *ask = PW_CONTAINER(waiter, struct ask, waiter);
    struct job *job = ask->job;

    if (ask->stage == ASK_RECORDING && strcmp(ask->call, "step") == 0)
        record_step(ask);
    else if (ask_is_pending(ask))
        make_call(ask);
    job_settle(job);
}

/* --- what the script says --- */

static void
answer_get(struct ask *ask)
{
    const struct value *value = ask->job->values;

    while (value != NULL && strcmp(value->name, ask->name) != 0)
        value = value->next;
    if (value == NULL || value->text == NULL)
        answer(ask, EXIT_NOT_FOUND, "no such value was set", (struct pw_json){0});
    else
        answer(ask, EXIT_OK, NULL, (struct pw_json){value->text, strlen(value->text)});
}

/* In the command of a step it is about that, else about the program. */
static void
answer_retry_after(struct ask *ask)
{
    if (job_retry_after(ask->job, text(ask, "key"), number(ask, "ms", 0)))
        answer(ask, EXIT_OK, NULL, (struct pw_json){0});
    else
        answer(ask, EXIT_NOT_FOUND, "the step of this command has ended", (struct pw_json){0});
}

/* Whether another call of this name has not come to its end. */
static bool
is_under_way(const struct ask *wanted)
{
    for (struct pw_list *link = pw_list_first(&wanted->job->asks); link != NULL;
         link = pw_list_next(&wanted->job->asks, link)) {
        const struct ask *ask = PW_CONTAINER(link, struct ask, link);

        if (ask != wanted && (ask_is_active(ask) || ask->stage == ASK_WAITING) &&
            ask->name != NULL && strcmp(ask->name, wanted->name) == 0)
            return true;
    }
    return false;
}

static pawl_status
take_branch(struct ask *ask)
{
    struct job *job = ask->job;

    if (job->idle_count > 0)
        ask->branch = job->idle[--job->idle_count];
    else {
        pawl_status status = pawl_run_twin(job->run, &ask->branch);

        if (status != PAWL_OK)
            return status;
    }
    pawl_run_set_context(ask->branch, &ask->waiter);
    return PAWL_OK;
}

/* "set.NAME", so that values and steps do not meet. */
static const char *
name_of_value(struct ask *ask, const char *name)
{
    char made[120];

    (void)snprintf(made, sizeof(made), "set.%s", name);
    return pw_arena_copy(&ask->arena, made, strlen(made));
}

/* The first message. May free the ask. */
static void
begin(struct ask *ask, struct pw_json message)
{
    char *copy = pw_arena_copy(&ask->arena, message.data, message.size);

    ask->message = (struct pw_json){copy, message.size};
    ask->call = copy != NULL ? text(ask, "call") : NULL;
    ask->name = copy != NULL ? text(ask, "name") : NULL;
    if (ask->call == NULL || ask->name == NULL) {
        answer_mistake(ask, "the message makes no sense");
        return;
    }
    if (ask->job->verdict != PAWL_OK) { /* its script is being ended */
        ask->stage = ASK_WAITING;
        return;
    }
    if (strcmp(ask->call, "get") == 0) {
        answer_get(ask);
        return;
    }
    if (strcmp(ask->call, "retry_after") == 0) {
        answer_retry_after(ask);
        return;
    }
    if (strcmp(ask->call, "mistake") == 0) { /* who made it has said what it is */
        answer_mistake(ask, NULL);
        return;
    }
    if (strcmp(ask->call, "set") == 0)
        ask->name = name_of_value(ask, ask->name);
    if (ask->name == NULL || is_under_way(ask)) {
        answer_mistake(ask,
            "another call of that name is under way: those at the same time need names of their "
            "own");
        return;
    }
    if (take_branch(ask) != PAWL_OK) {
        answer_mistake(ask, "too many calls at the same time");
        return;
    }
    ask->stage = ASK_CALLING;
    set_options(ask);
    make_call(ask);
}

/* The end of what a failed command wrote. */
struct ending {
    char *text; /* malloced; NULL: it wrote nothing, or there is no memory */
    size_t start;
    size_t size;
};

static struct ending
take_ending(const struct ask *ask, struct pw_json output)
{
    /* In JSON a byte takes six at the most, and the error as a whole must not be too large, either. */
    size_t most = (size_t)ask->job->exec->payload_max / 8;
    struct ending ending = {0};

    if (output.data == NULL)
        return ending;
    if (most > STDOUT_OF_FAILURE_MAX)
        most = STDOUT_OF_FAILURE_MAX;
    ending.text = frame_output_of(output, &ending.size);
    if (ending.text == NULL || ending.size <= most)
        return ending;
    ending.start = ending.size - most;
    /* What is a text does not begin inside of a character. */
    while (output.data[0] == '"' && ending.start < ending.size &&
        ((unsigned char)ending.text[ending.start] & 0xc0) == 0x80)
        ending.start++;
    return ending;
}

/* What happened, in a few words. */
static void
add_words(struct pw_json_writer *writer, const struct ask *ask, int64_t code, size_t left_out)
{
    char words[160];
    int size = ask->timed_out
        ? snprintf(words, sizeof(words), "the command took longer than the step may")
        : snprintf(words, sizeof(words), "the command exited with code %d", (int)code);

    if (left_out > 0)
        (void)snprintf(words + size, sizeof(words) - (size_t)size,
            "; the first %zu bytes of what it wrote are not kept", left_out);
    pw_json_add_text(writer, words);
}

/* What a command that failed says, in the words that are kept with the run. */
static void
fail_step(struct ask *ask, struct pw_json message, int64_t code, bool too_large)
{
    struct ending ending = {0};
    struct pw_json_writer writer;
    struct pw_buf buf;

    if (!too_large)
        ending = take_ending(ask, pw_json_member(message, "output"));
    pw_buf_init(&buf, FRAME_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "code");
    pw_json_add_text(&writer, too_large ? "too_large" : ask->timed_out ? "timeout" : "exit");
    pw_json_key(&writer, "message");
    if (too_large)
        pw_json_add_text(&writer,
            "the output of the command is too large to be kept: redirect it to a file, or use "
            "--no-output");
    else
        add_words(&writer, ask, code, ending.start);
    pw_json_key(&writer, "exit");
    pw_json_add_int(&writer, too_large ? EXIT_OTHER : ask->timed_out ? CODE_TIMEOUT : code);
    if (ending.text != NULL) {
        pw_json_key(&writer, "stdout");
        frame_add_output(&writer, ending.text + ending.start, ending.size - ending.start);
    }
    pw_json_close(&writer);
    if (pw_json_ok(&writer))
        pawl_run_fail_with(ask->branch, (pawl_bytes){buf.data, buf.size});
    pw_buf_done(&buf);
    free(ending.text);
}

/* The step has come to its end. May free the ask. */
static void
finish_step(struct ask *ask, struct pw_json message)
{
    struct pw_json output = pw_json_member(message, "output");
    bool too_large = is_true(pw_json_member(message, "too_large")) ||
        output.size > (size_t)ask->job->exec->payload_max;
    int64_t code = -1;
    pawl_bytes recorded = {0};
    pawl_status status = PAWL_OK;

    (void)pw_json_to_int(pw_json_member(message, "exit"), &code);
    if (ask->group > 0)
        guard_remove(&ask->job->exec->guard, ask->group);
    ask->group = 0;
    if (code != 0 || too_large || ask->timed_out) {
        fail_step(ask, message, code < 0 ? 137 : code, too_large);
        status = too_large ? PAWL_EPERMANENT : PAWL_EFAILED;
        if (ask->retry_after_ms >= 0)
            pawl_run_retry_after(ask->branch, ask->retry_after_ms);
    }
    ask->stage = ASK_RECORDING;
    status =
        pawl_step_finish(ask->branch, status, (pawl_bytes){output.data, output.size}, &recorded);
    take_answer(ask, status, recorded);
}

/* The process at the other end; -1 if that cannot be known. */
static pid_t
peer_of(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

/* Returns false if the ask was freed, or may have been. */
static bool
take_message(struct ask *ask, struct pw_json message)
{
    int64_t group = 0;

    if (ask->stage == ASK_READING) {
        begin(ask, message);
        return false;
    }
    if (ask->stage != ASK_EXECUTING)
        return true;
    /*
     * The group of the command that the script has started, so that we end it. 1 would be everybody, and what is larger than a process group
     * can be must not become a small one; what we may signal and a script in a sandbox may not is not to be named.
     */
    if (pw_json_to_int(pw_json_member(message, "started"), &group)) {
        /* guard:peer_group */
        if (group <= 1 || group > INT_MAX ||
            !process_is_child((pid_t)group, peer_of(ask->socket.fd)))
            return true;
        ask->group = (pid_t)group;
        guard_add(&ask->job->exec->guard, ask->group);
        return true;
    }
    finish_step(ask, message);
    return false;
}

/* The other end is closed: the call was ended from outside. What it has begun is ended, too. */
static void
lose(struct ask *ask)
{
    exec_unwatch(ask->job->exec, &ask->socket);
    /*
     * If the script has ended and left this call running, its reaper kills the call and its command: the run fails for that (left_behind),
     * and the step has not failed.
     */
    /* guard:left_running */
    if (ask->stage == ASK_EXECUTING && (!ask->job->alive || process_has_ended(&ask->job->process)))
        return;
    if (ask->group > 0)
        (void)kill(-ask->group, SIGKILL);
    if (ask->stage == ASK_EXECUTING && ask->job->verdict == PAWL_OK)
        finish_step(ask, (struct pw_json){"{}", 2});
    else if (ask->stage == ASK_READING || ask->stage == ASK_ANSWERED)
        ask_free(ask);
    /* Else the library has not answered, or the run waits here; nobody listens, and the job sees to the rest. */
}

static void
socket_ready(struct watch *watch)
{
    struct ask *ask = PW_CONTAINER(watch, struct ask, socket);
    struct pw_json message;
    ssize_t got;
    bool bad = false;

    if (ask->sent < ask->reply.size) {
        send_reply(ask);
        return;
    }
    got = frame_read(&ask->reader, watch->fd);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        lose(ask);
        return;
    }
    while (frame_next(&ask->reader, &message, &bad)) {
        if (bad) {
            lose(ask);
            return;
        }
        if (!take_message(ask, message))
            return;
    }
}

/* Whether the process at the other end is the job's: of the same user and, if programs are in a sandbox, started by the job's program. */
static bool
is_ours(const struct job *job, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    /* guard:peer_user */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        (peer.uid != geteuid() && peer.uid != 0))
        return false;
    /*
     * 1. /proc/net/unix shows the sockets of all jobs, and Landlock lets a program connect to them. 2. A program of one tenant calls `pawl step`
     * at the socket of a run of another. Without the test it would record a step there. The reaper adopts all that a program starts, so
     * that whoever belongs to the job descends from it. Without a sandbox, programs of one user cannot be kept from each other anyway.
     */
    /* guard:peer_descends */
    return job->exec->sandbox == NULL || !job->exec->sandbox->on ||
        process_descends(peer.pid, job->process.pid);
}

bool
ask_has_room(const struct job *job)
{
    size_t count = 0;

    for (struct pw_list *link = pw_list_first(&job->asks); link != NULL;
         link = pw_list_next(&job->asks, link))
        count++;
    /* guard:asks_max */
    return count < ASKS_MAX;
}

/* Who knocks meanwhile waits in connect(), or for the answer; job_tick() opens again. */
static void
shut_door(struct job *job)
{
    job->door_shut = true;
    exec_pause(job->exec, &job->door);
}

void
ask_accept(struct job *job)
{
    struct ask *ask;
    int fd;

    if (!ask_has_room(job)) {
        shut_door(job);
        return;
    }
    fd = accept4(job->door.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            shut_door(job);
        return;
    }
    ask = is_ours(job, fd) ? calloc(1, sizeof(*ask)) : NULL;
    if (ask == NULL) {
        (void)close(fd);
        return;
    }
    ask->waiter.go_on = go_on;
    ask->job = job;
    ask->socket = (struct watch){fd, socket_ready};
    ask->kill_at_us = INT64_MAX;
    ask->retry_after_ms = -1;
    pw_arena_init(&ask->arena, memory_max);
    pw_buf_init(&ask->reply, FRAME_MAX);
    pw_list_add_tail(&job->asks, &ask->link);
    exec_watch(job->exec, &ask->socket, false);
}

void
ask_tick(struct ask *ask, int64_t now_us)
{
    if (ask->stage != ASK_EXECUTING || ask->group <= 0)
        return;
    if (!ask->timed_out && pawl_run_check(ask->branch) == PAWL_ETIMEOUT &&
        pawl_run_check(ask->job->run) == PAWL_OK) {
        ask->timed_out = true;
        ask->kill_at_us = now_us + GRACE_US;
        (void)kill(-ask->group, SIGTERM);
    }
    if (now_us >= ask->kill_at_us)
        (void)kill(-ask->group, SIGKILL);
}
