/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a call: it passes the call on to the library, and the library's answer back to the script. */
#include "cli/exec/script_call.h"

#include "base/time.h"
#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STDOUT_OF_FAILURE_MAX = 16384, /* bytes of a failed step's output that its error keeps */
    CODE_TIMEOUT = 124,            /* as timeout(1) */
};

bool
script_call_is_pending(const struct script_call *call)
{
    return call->stage == SCRIPT_CALL_CALLING || call->stage == SCRIPT_CALL_RECORDING;
}

bool
script_call_is_active(const struct script_call *call)
{
    return script_call_is_pending(call) || call->stage == SCRIPT_CALL_EXECUTING;
}

/* --- answering --- */

/* Makes the duplicate available to another call. */
static void
release_branch(struct script_call *call)
{
    struct job *job = call->job;
    pawl_run **larger;

    if (call->branch == NULL)
        return;
    larger = realloc(job->idle, (job->idle_count + 1) * sizeof(*larger));
    if (larger == NULL)
        return; /* the next call makes a new one */
    larger[job->idle_count++] = call->branch;
    job->idle = larger;
    call->branch = NULL;
}

/* Answers with {"exit", "message", "output"}. message may be NULL, and output empty. Frees the call. */
static void
answer(struct script_call *call, int code, const char *message, struct pw_json output)
{
    struct pw_json_writer writer;
    size_t start;

    release_branch(call);
    pw_buf_clear(&call->reply);
    call->sent = 0;
    start = frame_begin(&call->reply, &writer);
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
    frame_end(&call->reply, &writer, start);
    call->stage = SCRIPT_CALL_ANSWERED;
    script_call_send(call);
}

static void
answer_mistake(struct script_call *call, const char *message)
{
    call->job->mistaken = true;
    answer(call, EXIT_USAGE, message, (struct pw_json){0});
}

/* Asks the script to execute the step. */
static void
answer_todo(struct script_call *call)
{
    struct pw_json_writer writer;
    size_t start = frame_begin(&call->reply, &writer);

    pw_json_key(&writer, "todo");
    pw_json_add_bool(&writer, true);
    pw_json_key(&writer, "attempt");
    call->attempt = pawl_step_attempt(call->branch);
    pw_json_add_int(&writer, call->attempt);
    pw_json_key(&writer, "key");
    pw_json_add_text(&writer, pawl_step_key(call->branch));
    pw_json_key(&writer, "output_max");
    pw_json_add_int(&writer, call->job->exec->payload_max);
    frame_end(&call->reply, &writer, start);
    call->stage = SCRIPT_CALL_EXECUTING;
    script_call_send(call);
}

/* --- the calls --- */

static const char *
text(struct script_call *call, const char *member)
{
    struct pw_json value = pw_json_member(call->message, member);

    return pw_json_given(value) ? pw_json_text(value, &call->arena) : NULL;
}

static int64_t
number(const struct script_call *call, const char *member, int64_t otherwise)
{
    int64_t value;

    return pw_json_to_int(pw_json_member(call->message, member), &value) ? value : otherwise;
}

static pawl_bytes
bytes(const struct script_call *call, const char *member)
{
    struct pw_json value = pw_json_member(call->message, member);

    return (pawl_bytes){value.data, value.size};
}

static bool
is_true(struct pw_json value)
{
    bool truth = false;

    return pw_json_to_bool(value, &truth) && truth;
}

/* Sets the options of the library, which the message has under their own names, as texts. */
static void
set_options(struct script_call *call)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    pawl_bytes undo = bytes(call, "undo");
    struct pw_json options = pw_json_member(call->message, "options");

    if (undo.data != NULL) {
        char *copy = pw_arena_copy(&call->arena, undo.data, undo.size);

        pawl_run_set_option(call->branch, "undo", job_undo_handler);
        pawl_run_set_option(call->branch, "undo_input", copy);
    }
    if (options.data == NULL)
        return;
    pw_json_walk(&walk, options);
    while (pw_json_walk_next(&walk, &key, &value)) {
        char *name = pw_arena_copy(&call->arena, key.data, key.size);

        if (name != NULL)
            pawl_run_set_option(call->branch, name, pw_json_text(value, &call->arena));
    }
}

/* A value is a step whose output is the value. */
static pawl_status
call_set(struct script_call *call, pawl_bytes *output)
{
    pawl_status status;

    if (call->stage != SCRIPT_CALL_RECORDING) {
        status = pawl_step_begin(call->branch, call->name, output);
        if (status != PAWL_EXECUTE)
            return status;
        call->stage = SCRIPT_CALL_RECORDING;
    }
    return pawl_step_finish(call->branch, PAWL_OK, bytes(call, "value"), output);
}

static pawl_status
call_step(struct script_call *call, pawl_bytes *output)
{
    return pawl_step_begin(call->branch, call->name, output);
}

static pawl_status
call_sleep(struct script_call *call, pawl_bytes *output)
{
    (void)output;
    return pawl_sleep(call->branch, call->name, number(call, "ms", 0));
}

static pawl_status
call_event(struct script_call *call, pawl_bytes *output)
{
    return pawl_wait_event(
        call->branch, call->name, text(call, "topic"), number(call, "timeout_ms", -1), output);
}

static pawl_status
call_signal(struct script_call *call, pawl_bytes *output)
{
    return pawl_wait_signal(call->branch, call->name, number(call, "timeout_ms", -1), output);
}

static pawl_status
call_approval(struct script_call *call, pawl_bytes *output)
{
    return pawl_wait_approval(
        call->branch, call->name, bytes(call, "form"), number(call, "timeout_ms", -1), output);
}

static pawl_status
call_child(struct script_call *call, pawl_bytes *output)
{
    const char *workflow = text(call, "workflow");

    if (is_true(pw_json_member(call->message, "detached")))
        return pawl_child_detached(
            call->branch, call->name, workflow, bytes(call, "input"), output);
    return pawl_child(call->branch, call->name, workflow, bytes(call, "input"), output);
}

static const struct {
    const char *name;
    pawl_status (*call)(struct script_call *call, pawl_bytes *output);
} calls[] = {
    {"step", call_step},
    {"sleep", call_sleep},
    {"event", call_event},
    {"signal", call_signal},
    {"approval", call_approval},
    {"child", call_child},
    {"set", call_set},
};

/* --- answers of the library --- */

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
say(const struct script_call *call, const char *what)
{
    if (call->job->exec->one_script && strcmp(call->kind, "set") != 0)
        (void)fprintf(stderr, "pawl: %s %s: %s\n", call->kind, call->name, what);
}

/* Prints that a step failed and will be retried. Only the database knows the delay, and the workflow's number of attempts. */
static void
say_retry(struct script_call *call)
{
    struct pw_json most = pw_json_member(pw_json_member(call->message, "options"), "max_attempts");
    const char *of = pw_json_given(most) ? pw_json_text(most, &call->arena) : NULL;
    char what[600];

    (void)snprintf(what, sizeof(what), "%.500s; attempt %d%s%s follows",
        pawl_run_error_message(call->branch), call->attempt + 1, of != NULL ? " of " : "",
        of != NULL ? of : "");
    say(call, what);
}

/* Answers with a failure that is recorded, so that every replay answers the same. */
static void
answer_failure(struct script_call *call, pawl_status status, pawl_bytes output)
{
    pawl_bytes error = pawl_run_error(call->branch);
    struct pw_json json = {error.data, error.size};
    struct pw_json written = {output.data, output.size};
    int64_t code = exit_code_of(status);

    if (strcmp(call->kind, "step") == 0) {
        code = EXIT_OTHER;
        if (error.data != NULL && !pw_json_to_int(pw_json_member(json, "exit"), &code) &&
            pw_json_is(pw_json_member(json, "code"), "\"timeout\""))
            code = CODE_TIMEOUT;
        if (error.data != NULL)
            written = pw_json_member(json, "stdout");
    }
    call->job->failed_with[code & (JOB_CODES - 1)] = true; /* as exit() truncates it */
    answer(call, (int)code, pawl_run_error_message(call->branch), written);
}

/* Handles the answer of the library. May free the call. */
static void
take_answer(struct script_call *call, pawl_status status, pawl_bytes output)
{
    struct job *job = call->job;

    switch ((int)status) {
    case PAWL_PENDING:
        return;
    case PAWL_OK:
        job->mistaken = false;
        memset(job->failed_with, 0, sizeof(job->failed_with));
        if (strcmp(call->kind, "set") == 0)
            remember_value(job, text(call, "name"), output);
        else if (call->stage == SCRIPT_CALL_RECORDING)
            say(call, "done");
        answer(call, EXIT_OK, NULL, (struct pw_json){output.data, output.size});
        return;
    case PAWL_EXECUTE:
        answer_todo(call);
        if (call->socket.fd < 0) /* the process of the call has ended and cannot execute it */
            script_call_finish_step(call, (struct pw_json){"{}", 2});
        return;
    case PAWL_SUSPENDED:
        if (call->failed)
            say_retry(call);
        else
            say(call, "waits");
        call->stage = SCRIPT_CALL_WAITING;
        job->suspended = true;
        job->quiet_since_us = pw_now_us();
        return;
    case PAWL_EINVAL:
        answer_mistake(call, pawl_run_error_message(call->branch));
        return;
    case PAWL_EFAILED:
    case PAWL_EREFUSED:
    case PAWL_ERUN:
        answer_failure(call, status, output);
        return;
    case PAWL_ETIMEOUT:
        if (strcmp(call->kind, "step") != 0 && strcmp(call->kind, "set") != 0) {
            answer_failure(call, status, output);
            return;
        }
        break;
    default:
        break;
    }
    /* The run cannot continue here. The script gets no answer, because the call has not failed. */
    call->stage = SCRIPT_CALL_WAITING;
    job_end(job, status);
}

static void
make_call(struct script_call *call)
{
    pawl_bytes output = {0};
    pawl_status status = PAWL_EINVAL;

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i].name, call->kind) == 0)
            status = calls[i].call(call, &output);
    take_answer(call, status, output);
}

static void
record_step(struct script_call *call)
{
    pawl_bytes output = {0};
    pawl_status status = pawl_step_finish(call->branch, PAWL_OK, output, &output);

    take_answer(call, status, output);
}

/* The library has an answer. */
void
script_call_go_on(struct waiter *waiter)
{
    struct script_call *call = PW_CONTAINER(waiter, struct script_call, waiter);
    struct job *job = call->job;

    if (call->stage == SCRIPT_CALL_RECORDING && strcmp(call->kind, "step") == 0)
        record_step(call);
    else if (script_call_is_pending(call))
        make_call(call);
    job_settle(job);
}

/* --- messages of the script --- */

static void
answer_get(struct script_call *call)
{
    const struct value *value = call->job->values;

    while (value != NULL && strcmp(value->name, call->name) != 0)
        value = value->next;
    if (value == NULL || value->text == NULL)
        answer(call, EXIT_NOT_FOUND, "no such value was set", (struct pw_json){0});
    else
        answer(call, EXIT_OK, NULL, (struct pw_json){value->text, strlen(value->text)});
}

/* Inside the command of a step it is about that step, else about the program. */
static void
answer_retry_after(struct script_call *call)
{
    if (job_retry_after(call->job, text(call, "key"), number(call, "ms", 0)))
        answer(call, EXIT_OK, NULL, (struct pw_json){0});
    else
        answer(call, EXIT_NOT_FOUND, "the step of this command has ended", (struct pw_json){0});
}

/* Returns true if another call of this name has not ended. */
static bool
is_under_way(const struct script_call *wanted)
{
    for (struct pw_list *link = pw_list_first(&wanted->job->calls); link != NULL;
         link = pw_list_next(&wanted->job->calls, link)) {
        const struct script_call *call = PW_CONTAINER(link, struct script_call, link);

        if (call != wanted && (script_call_is_active(call) || call->stage == SCRIPT_CALL_WAITING) &&
            call->name != NULL && strcmp(call->name, wanted->name) == 0)
            return true;
    }
    return false;
}

static pawl_status
take_branch(struct script_call *call)
{
    struct job *job = call->job;

    if (job->idle_count > 0)
        call->branch = job->idle[--job->idle_count];
    else {
        pawl_status status = pawl_run_dup(job->run, &call->branch);

        if (status != PAWL_OK)
            return status;
    }
    pawl_run_set_context(call->branch, &call->waiter);
    return PAWL_OK;
}

/* Returns "set.NAME", so that a value and a step can have the same name. */
static const char *
name_of_value(struct script_call *call, const char *name)
{
    char made[120];

    (void)snprintf(made, sizeof(made), "set.%s", name);
    return pw_arena_copy(&call->arena, made, strlen(made));
}

/* Handles the first message. May free the call. */
void
script_call_begin(struct script_call *call, struct pw_json message)
{
    char *copy = pw_arena_copy(&call->arena, message.data, message.size);

    call->message = (struct pw_json){copy, message.size};
    call->kind = copy != NULL ? text(call, "call") : NULL;
    call->name = copy != NULL ? text(call, "name") : NULL;
    if (call->kind == NULL || call->name == NULL) {
        answer_mistake(call, "malformed message");
        return;
    }
    if (call->job->verdict != PAWL_OK) { /* the worker is ending the script */
        call->stage = SCRIPT_CALL_WAITING;
        return;
    }
    if (strcmp(call->kind, "get") == 0) {
        answer_get(call);
        return;
    }
    if (strcmp(call->kind, "retry_after") == 0) {
        answer_retry_after(call);
        return;
    }
    if (strcmp(call->kind, "mistake") ==
        0) { /* the process that made the invalid call has printed why */
        answer_mistake(call, NULL);
        return;
    }
    if (strcmp(call->kind, "set") == 0)
        call->name = name_of_value(call, call->name);
    if (call->name == NULL || is_under_way(call)) {
        answer_mistake(call,
            "another call of that name is in flight: calls at the same time need different "
            "names");
        return;
    }
    if (take_branch(call) != PAWL_OK) {
        answer_mistake(call, "too many calls at the same time");
        return;
    }
    call->stage = SCRIPT_CALL_CALLING;
    set_options(call);
    make_call(call);
}

/* The end of the output of a failed command. */
struct ending {
    char *text; /* malloced; NULL: it wrote nothing, or there is no memory */
    size_t start;
    size_t size;
};

static struct ending
take_ending(const struct script_call *call, struct pw_json output)
{
    /* A byte takes at most six bytes in JSON, and the whole error must be within the limit, too. */
    size_t most = (size_t)call->job->exec->payload_max / 8;
    struct ending ending = {0};

    if (output.data == NULL)
        return ending;
    if (most > STDOUT_OF_FAILURE_MAX)
        most = STDOUT_OF_FAILURE_MAX;
    ending.text = frame_output_of(output, &ending.size);
    if (ending.text == NULL || ending.size <= most)
        return ending;
    ending.start = ending.size - most;
    /* A text must not begin inside a character. */
    while (output.data[0] == '"' && ending.start < ending.size &&
        ((unsigned char)ending.text[ending.start] & 0xc0) == 0x80)
        ending.start++;
    return ending;
}

/* Adds the message of the error: how the command failed. */
static void
add_words(
    struct pw_json_writer *writer, const struct script_call *call, int64_t code, size_t left_out)
{
    char words[160];
    int size = call->timed_out
        ? snprintf(words, sizeof(words), "the command took longer than the step may")
        : snprintf(words, sizeof(words), "the command exited with code %d", (int)code);

    if (left_out > 0)
        (void)snprintf(words + size, sizeof(words) - (size_t)size,
            "; the first %zu bytes of what it wrote are not kept", left_out);
    pw_json_add_text(writer, words);
}

/* Sets the error of a command that failed, which the run keeps. */
static void
fail_step(struct script_call *call, struct pw_json message, int64_t code, bool too_large)
{
    struct ending ending = {0};
    struct pw_json_writer writer;
    struct pw_buf buf;

    if (!too_large)
        ending = take_ending(call, pw_json_member(message, "output"));
    pw_buf_init(&buf, FRAME_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "code");
    pw_json_add_text(&writer, too_large ? "too_large" : call->timed_out ? "timeout" : "exit");
    pw_json_key(&writer, "message");
    if (too_large)
        pw_json_add_text(&writer,
            "the output of the command is too large to be kept: redirect it to a file, or use "
            "--no-output");
    else
        add_words(&writer, call, code, ending.start);
    pw_json_key(&writer, "exit");
    pw_json_add_int(&writer, too_large ? EXIT_OTHER : call->timed_out ? CODE_TIMEOUT : code);
    if (ending.text != NULL) {
        pw_json_key(&writer, "stdout");
        frame_add_output(&writer, ending.text + ending.start, ending.size - ending.start);
    }
    pw_json_close(&writer);
    if (pw_json_ok(&writer))
        pawl_run_set_error_json(call->branch, (pawl_bytes){buf.data, buf.size});
    pw_buf_done(&buf);
    free(ending.text);
}

/* Records the end of the step. May free the call. */
void
script_call_finish_step(struct script_call *call, struct pw_json message)
{
    struct pw_json output = pw_json_member(message, "output");
    bool too_large = is_true(pw_json_member(message, "too_large")) ||
        output.size > (size_t)call->job->exec->payload_max;
    int64_t code = -1;
    pawl_bytes recorded = {0};
    pawl_status status = PAWL_OK;

    (void)pw_json_to_int(pw_json_member(message, "exit"), &code);
    if (call->group > 0)
        guard_remove(&call->job->exec->guard, call->group);
    call->group = 0;
    if (code != 0 || too_large || call->timed_out) {
        call->failed = true;
        fail_step(call, message, code < 0 ? 137 : code, too_large);
        status = too_large ? PAWL_EPERMANENT : PAWL_EFAILED;
        if (call->retry_after_ms >= 0)
            pawl_run_retry_after(call->branch, call->retry_after_ms);
    }
    call->stage = SCRIPT_CALL_RECORDING;
    status =
        pawl_step_finish(call->branch, status, (pawl_bytes){output.data, output.size}, &recorded);
    take_answer(call, status, recorded);
}
