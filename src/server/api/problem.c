/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/problem.h"

#include "base/json_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    char sqlstate[6]; /* five characters, or the two of a class */
    unsigned status;
    const char *code;
} states[] = {
    {"PW001", 404, "not_found"},
    {"PW002", 404, "unknown_workflow"},
    {"PW003", 400, "bad_argument"},
    {"PW004", 422, "key_conflict"},
    {"PW005", 409, "lease_lost"},
    {"PW006", 409, "cancelled"},
    {"PW007", 409, "refused"},
    {"PW008", 500, "isolation"},
    {"PW009", 413, "too_large"},
    {"PW010", 503, "busy"},
    {"PW011", 400, "protocol"},
    {"PW012", 409, "old_epoch"},
    {"PW013", 503, "maintenance"},
    {"42501", 403, "forbidden"},
    {"23505", 409, "key_conflict"},
    {"40001", 503, "busy"},
    {"40P01", 503, "busy"},
    {"55P03", 503, "busy"},
    {"53", 503, "unavailable"},
    {"57", 503, "unavailable"},
    {"22", 400, "bad_argument"},
    {"54", 413, "too_large"},
};

static const struct {
    pawl_status status;
    unsigned http;
    const char *code;
} statuses[] = {
    {PAWL_EINVAL, 400, "bad_argument"},
    {PAWL_ENOMEM, 503, "unavailable"},
    {PAWL_ECONN, 503, "unavailable"},
    {PAWL_ETIMEOUT, 503, "unavailable"},
    {PAWL_ENOTFOUND, 404, "not_found"},
    {PAWL_ECONFLICT, 422, "key_conflict"},
    {PAWL_EREFUSED, 409, "refused"},
    {PAWL_ECANCELLED, 409, "cancelled"},
    {PAWL_ETOOLARGE, 413, "too_large"},
    {PAWL_EBUSY, 503, "busy"},
    {PAWL_EFORBIDDEN, 503, "unavailable"}, /* the server itself may not log in */
    {PAWL_ESCHEMA, 503, "schema"},
    {PAWL_EUNKNOWN, 504, "unknown_outcome"},
};

void
problem_set(struct problem *problem, unsigned status, const char *code, const char *format, ...)
{
    va_list arguments;

    *problem = (struct problem){.status = status, .code = code};
    va_start(arguments, format);
    (void)vsnprintf(problem->detail, sizeof(problem->detail), format, arguments);
    va_end(arguments);
}

void
problem_set_later(struct problem *problem, unsigned status, const char *code, unsigned seconds,
    const char *detail)
{
    problem_set(problem, status, code, "%s", detail);
    problem->retryable = true;
    problem->retry_after_s = seconds;
}

void
problem_set_unavailable(struct problem *problem)
{
    problem_set_later(problem, 503, "unavailable", 1,
        "the database cannot be reached at the moment; the request was not sent to it");
}

void
problem_set_token(struct problem *problem)
{
    problem_set(problem, 401, "unauthorized", "the token is missing, unknown, expired or revoked");
    (void)snprintf(problem->hint, sizeof(problem->hint), "%s",
        "Send a header Authorization: Bearer TOKEN. pawl token create makes a token.");
}

/* Finds the row of a SQLSTATE, or else of its class. Returns false if there is none. */
static bool
find_state(const char *sqlstate, unsigned *status, const char **code)
{
    for (size_t size = 5; strlen(sqlstate) == 5 && size >= 2; size -= 3)
        for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
            if (strlen(states[i].sqlstate) == size &&
                memcmp(states[i].sqlstate, sqlstate, size) == 0) {
                *status = states[i].status;
                *code = states[i].code;
                return true;
            }
    return false;
}

static void
set_not_found(struct problem *problem)
{
    /* Without the id or the name, so that what is missing and what belongs to another tenant get the same bytes. */
    problem_set(problem, 404, "not_found",
        "there is no such run, workflow, queue, schedule or session here, or it belongs to "
        "another tenant");
    memcpy(problem->sqlstate, "PW001", 6);
}

void
problem_set_error(struct problem *problem, pawl_status status, const pawl_error *error)
{
    const char *sqlstate = pawl_error_sqlstate(error);
    const char *code = "database";
    unsigned http = 500;

    if (status == PAWL_EFORBIDDEN && strcmp(sqlstate, "28000") == 0) {
        problem_set_token(problem);
        return;
    }
    if (strcmp(sqlstate, "PW001") == 0) {
        set_not_found(problem);
        return;
    }
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        if (statuses[i].status == status) {
            http = statuses[i].http;
            code = statuses[i].code;
        }
    if (status != PAWL_EUNKNOWN && status != PAWL_ECONN && status != PAWL_ESCHEMA)
        (void)find_state(sqlstate, &http, &code);
    if (status == PAWL_ECONN || (status == PAWL_EFORBIDDEN && sqlstate[0] == '\0')) {
        /* The text would name the address of the database. */
        problem_set_unavailable(problem);
    } else {
        problem_set(problem, http, code, "%s", pawl_error_message(error));
        (void)snprintf(problem->hint, sizeof(problem->hint), "%s", pawl_error_hint(error));
        problem->retryable = pawl_error_retryable(error) != 0;
    }
    if (http == 503 && strcmp(code, "schema") != 0) {
        problem->retryable = true;
        problem->retry_after_s = 1;
    }
    if (strlen(sqlstate) == 5)
        memcpy(problem->sqlstate, sqlstate, 6);
}

bool
problem_set_answer(struct problem *problem, const char *answer, const char *reason)
{
    static const char *const good[] = {
        "ok", "already", "created", "exists", "taken", "stored", "pausing"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (strcmp(answer, good[i]) == 0)
            return false;
    if (strcmp(answer, "not_found") == 0) {
        set_not_found(problem);
    } else if (strcmp(answer, "busy") == 0) {
        problem_set_later(problem, 503, "busy", 1, "another transaction holds the run");
        memcpy(problem->sqlstate, "PW010", 6);
    } else if (strcmp(answer, "refused") == 0) {
        problem_set(problem, 409, "refused", "refused: %s",
            reason != NULL ? reason : "the run is not in a state that allows this");
    } else if (strcmp(answer, "differs") == 0) {
        problem_set(
            problem, 409, "differs", "it exists with other options, which stay as they are");
    } else if (strcmp(answer, "no_such_step") == 0) {
        problem_set(problem, 409, "no_such_step", "the run has no record of a step of this name");
    } else {
        problem_set(problem, 409, "refused", "the run has ended %s", answer);
    }
    return true;
}

const char *
problem_title(unsigned status)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        if (titles[i].status == status)
            return titles[i].title;
    return "Error";
}

void
problem_write(const struct problem *problem, struct pw_buf *out)
{
    struct pw_json_writer json;

    pw_json_writer_init(&json, out);
    pw_json_open(&json, '{');
    pw_json_key(&json, "type");
    {
        char type[80];

        (void)snprintf(type, sizeof(type), "docs/errors.md#%s", problem->code);
        pw_json_add_text(&json, type);
    }
    pw_json_key(&json, "title");
    pw_json_add_text(&json, problem_title(problem->status));
    pw_json_key(&json, "status");
    pw_json_add_int(&json, problem->status);
    pw_json_key(&json, "code");
    pw_json_add_text(&json, problem->code);
    pw_json_key(&json, "detail");
    pw_json_add_text(&json, problem->detail);
    if (problem->hint[0] != '\0') {
        pw_json_key(&json, "hint");
        pw_json_add_text(&json, problem->hint);
    }
    if (problem->sqlstate[0] != '\0') {
        pw_json_key(&json, "sqlstate");
        pw_json_add_text(&json, problem->sqlstate);
    }
    pw_json_key(&json, "retryable");
    pw_json_add_bool(&json, problem->retryable);
    pw_json_close(&json);
}
