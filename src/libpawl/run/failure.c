/* SPDX-License-Identifier: Apache-2.0 */
/* Failures: errors as JSON, the error detail that a handler sets, and the calls that return the last error. */
#include "base/alloc.h"
#include "base/json_read.h"
#include "base/json_scan.h"
#include "base/utf8.h"
#include "libpawl/run/branch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char no_memory_text[] = "{\"code\":\"enomem\",\"message\":\"out of memory\"}";
static const pawl_bytes no_memory = {no_memory_text, sizeof(no_memory_text) - 1};

static const size_t code_max = 100;

/* Formats into a buffer of the size given, cut between two characters. */
static PAWL_PRINTF(3, 0) void format_message(
    char *text, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(text, size, format, args);

    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= size)
        text[pw_utf8_cut(text, size - 1)] = '\0';
}

static pawl_bytes
write_error(struct pw_arena *arena, const char *code, const char *message)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes error = no_memory;
    const char *copy;

    /* A byte can become six bytes, or three if it is not part of a character. */
    pw_buf_init(&buf, 6 * (PW_MESSAGE_MAX + 100) + 64);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "code");
    pw_json_add_string(&writer, code, pw_utf8_cut(code, strnlen(code, code_max)));
    pw_json_key(&writer, "message");
    pw_json_add_text(&writer, message);
    pw_json_close(&writer);
    if (pw_json_ok(&writer)) {
        copy = pw_arena_copy(arena, buf.data, buf.size);
        if (copy != NULL)
            error = (pawl_bytes){copy, buf.size};
    }
    pw_buf_done(&buf);
    return error;
}

static PAWL_PRINTF(3, 0) pawl_bytes
    make_error(struct pw_arena *arena, const char *code, const char *format, va_list args)
{
    char *message = pw_alloc(PW_MESSAGE_MAX + 1);
    pawl_bytes error = no_memory;

    if (message != NULL) {
        format_message(message, PW_MESSAGE_MAX + 1, format, args);
        error = write_error(arena, code, message);
    }
    pw_free(message);
    return error;
}

pawl_bytes
pw_error_make(struct pw_arena *arena, const char *code, const char *format, ...)
{
    pawl_bytes error;
    va_list args;

    va_start(args, format);
    error = make_error(arena, code, format, args);
    va_end(args);
    return error;
}

/*
 * Writes the name of a status as a code: lower case, without PAWL_. A timeout has one code, whether a handler or the engine detects it.
 */
static void
write_code(pawl_status status, char *code, size_t room)
{
    const char *name = status == PAWL_ETIMEOUT ? "timeout" : pawl_status_name(status);
    size_t size = 0;

    if (strncmp(name, "PAWL_", 5) == 0)
        name += 5;
    for (; name[size] != '\0' && size < room - 1; size++)
        code[size] =
            (char)(name[size] >= 'A' && name[size] <= 'Z' ? name[size] - 'A' + 'a' : name[size]);
    code[size] = '\0';
}

pawl_bytes
pw_branch_said(pawl_run *run, pawl_status status)
{
    pawl_bytes said = run->said.error;
    char code[32];

    if (run->said.message != NULL) {
        write_code(status, code, sizeof(code));
        said = write_error(&run->arena, code, run->said.message);
    }
    run->said.error = (pawl_bytes){0};
    run->said.message = NULL;
    return said;
}

pawl_bytes
pw_error_of_status(struct pw_arena *arena, pawl_status status)
{
    char code[32];

    write_code(status, code, sizeof(code));
    return write_error(arena, code, pawl_status_text(status));
}

pawl_status
pw_branch_failed(
    pawl_run *run, pawl_status status, pawl_bytes error, const char *message, bool final)
{
    if (message == NULL && !pw_record_read_error(error, &run->arena, NULL, &message))
        message = "";
    run->failure = (struct pw_failure){status, error, message, final};
    run->failures++;
    return status;
}

pawl_status
pw_branch_mistake(pawl_run *run, const char *format, ...)
{
    pawl_bytes error;
    va_list args;

    va_start(args, format);
    error = make_error(&run->arena, "einval", format, args);
    va_end(args);
    return pw_branch_failed(run, PAWL_EINVAL, error, NULL, false);
}

struct pw_failure
pw_branch_why(pawl_run *run, pawl_status status)
{
    pawl_bytes said = pw_branch_said(run, status);

    if (said.data != NULL)
        return (struct pw_failure){status, said, NULL, false};
    if (run->failure.status == status)
        return run->failure;
    return (struct pw_failure){status, pw_error_of_status(&run->arena, status), NULL, false};
}

void
pawl_run_set_error(pawl_run *run, const char *code, const char *format, ...)
{
    char *message;
    va_list args;

    if (run == NULL || format == NULL)
        return;
    message = pw_alloc(PW_MESSAGE_MAX + 1);
    run->said.error = no_memory;
    run->said.message = NULL;
    if (message == NULL)
        return;
    va_start(args, format);
    format_message(message, PW_MESSAGE_MAX + 1, format, args);
    va_end(args);
    if (code != NULL)
        run->said.error = write_error(&run->arena, code, message);
    else
        run->said.message = pw_arena_copy(&run->arena, message, strlen(message));
    pw_free(message);
}

void
pawl_run_set_error_text(pawl_run *run, const char *code, pawl_bytes message)
{
    int size = message.size > PW_MESSAGE_MAX ? PW_MESSAGE_MAX + 1 : (int)message.size;

    pawl_run_set_error(run, code, "%.*s", size, message.data != NULL ? message.data : "");
}

void
pawl_run_set_error_json(pawl_run *run, pawl_bytes error)
{
    enum pw_json_problem problem;

    if (run == NULL)
        return;
    run->said.message = NULL;
    problem =
        pw_json_scan(error.data, error.size, pw_task_payload_max(run->task), PW_PAYLOAD_DEPTH);
    if (problem != PW_JSON_OK)
        run->said.error = pw_error_make(&run->arena, "bad_error",
            "the error that the handler gave %s", pw_json_problem_text(problem));
    else if (pw_branch_copy(run, error, &run->said.error) != PAWL_OK)
        run->said.error = no_memory;
}

void
pawl_run_retry_after(pawl_run *run, int64_t delay_ms)
{
    if (run != NULL)
        run->said.retry_after_ms = delay_ms < 0 ? 0 : delay_ms;
}

pawl_bytes
pawl_run_error(const pawl_run *run)
{
    return run != NULL ? run->failure.error : (pawl_bytes){0};
}

const char *
pawl_run_error_message(const pawl_run *run)
{
    return run != NULL && run->failure.message != NULL ? run->failure.message : "";
}
