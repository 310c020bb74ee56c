/* SPDX-License-Identifier: Apache-2.0 */
/* Calls any verb of the SQL interface by its name. The arguments of each verb are listed here; its SQL text is in statements.c. */
#include "libpawl/client/call.h"

#include "base/alloc.h"
#include "base/json_scan.h"
#include "libpawl/client/client.h"
#include "libpawl/client/rows.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum {
    DEPTH_MAX = 128 /* of JSON; the engine's limits are lower */
};

static const struct pw_verb verbs[] = {
    {"now", PW_STMT_CALL_NOW, true, {}},
    {"epoch", PW_STMT_CALL_EPOCH, true, {}},
    {"errors", PW_STMT_CALL_ERRORS, true, {}},
    {"make_id", PW_STMT_CALL_MAKE_ID, true, {}},
    {"slot_of", PW_STMT_CALL_SLOT_OF, true, {"run"}},
    {"trigger", PW_STMT_CALL_TRIGGER, false,
        {"workflow", "input", "key", "tenant", "priority", "delay", "metadata", "id", "key_ttl",
            "key_while_active", "limit_key", "id_is_new", "tags", "expires", "replace", "debounce",
            "debounce_max"}},
    {"trigger_many", PW_STMT_CALL_TRIGGER_MANY, false,
        {"workflow", "inputs", "keys", "tenant", "priority", "delay", "metadata", "ids", "key_ttl",
            "key_while_active", "limit_keys", "ids_are_new", "tags", "expires"}},
    {"emit", PW_STMT_CALL_EMIT, false, {"topic", "payload", "key", "tenant", "id"}},
    {"signal", PW_STMT_CALL_SIGNAL, false, {"run", "name", "payload"}},
    {"cancel", PW_STMT_CALL_CANCEL, false, {"runs", "why", "rollback", "by"}},
    {"create_workflow", PW_STMT_CALL_CREATE_WORKFLOW, false,
        {"name", "runtime", "priority", "max_attempts", "base", "factor", "cap", "jitter",
            "run_timeout", "step_timeout", "strict_order", "description", "key_limit", "fair",
            "input_schema"}},
    {"alter_workflow", PW_STMT_CALL_ALTER_WORKFLOW, false, {"name", "options"}},
    {"create_flow", PW_STMT_CALL_CREATE_FLOW, false,
        {"name", "runtime", "priority", "max_attempts", "base", "factor", "cap", "jitter",
            "run_timeout", "step_timeout", "description", "input_schema"}},
    {"add_step", PW_STMT_CALL_ADD_STEP, false, {"flow", "step", "deps", "options"}},
    {"apply_flow", PW_STMT_CALL_APPLY_FLOW, false, {"definition", "only_check"}},
    {"delete_flow", PW_STMT_CALL_DELETE_FLOW, false, {"name"}},
    {"kill", PW_STMT_CALL_KILL, false, {"runs", "why", "by"}},
    {"pause", PW_STMT_CALL_PAUSE, false, {"runs", "why", "by"}},
    {"resume", PW_STMT_CALL_RESUME, false, {"runs", "by"}},
    {"wake", PW_STMT_CALL_WAKE, false, {"runs", "step", "why", "by"}},
    {"retry", PW_STMT_CALL_RETRY, false, {"runs", "by"}},
    {"rollback_retry", PW_STMT_CALL_ROLLBACK_RETRY, false, {"runs", "by"}},
    {"rollback_skip", PW_STMT_CALL_ROLLBACK_SKIP, false, {"run", "step", "why", "by"}},
    {"fork", PW_STMT_CALL_FORK, false, {"run", "from_step", "input", "by"}},
    {"purge", PW_STMT_CALL_PURGE, false, {"runs", "why", "by"}},
    {"pause_workflow", PW_STMT_CALL_PAUSE_WORKFLOW, false, {"name", "why", "by"}},
    {"resume_workflow", PW_STMT_CALL_RESUME_WORKFLOW, false, {"name", "by"}},
    {"preview_bulk", PW_STMT_CALL_PREVIEW_BULK, true, {"act", "filter"}},
    {"begin_bulk", PW_STMT_CALL_BEGIN_BULK, false,
        {"act", "filter", "rate", "why", "by", "digest", "rollback", "step"}},
    {"stop_bulk", PW_STMT_CALL_STOP_BULK, false, {"bulk", "by"}},
    {"list_bulks", PW_STMT_CALL_LIST_BULKS, true, {"only_running", "cursor", "max_rows"}},
    {"pause_all", PW_STMT_CALL_PAUSE_ALL, false, {"why", "by", "refuse_triggers"}},
    {"resume_all", PW_STMT_CALL_RESUME_ALL, false, {"by"}},
    {"pause_queue", PW_STMT_CALL_PAUSE_QUEUE, false, {"name", "why", "by"}},
    {"resume_queue", PW_STMT_CALL_RESUME_QUEUE, false, {"name", "by"}},
    {"drain_worker", PW_STMT_CALL_DRAIN_WORKER, false, {"session", "by"}},
    {"raise_epoch", PW_STMT_CALL_RAISE_EPOCH, false, {"why", "by"}},
    {"set_retention", PW_STMT_CALL_SET_RETENTION, false,
        {"run_retention", "event_retention", "by"}},
    {"set_session_limit", PW_STMT_CALL_SET_SESSION_LIMIT, false, {"sessions", "by"}},
    {"set_notify", PW_STMT_CALL_SET_NOTIFY, false, {"notify", "role_name", "by"}},
    {"set_lane", PW_STMT_CALL_SET_LANE, false,
        {"workflow", "limit_key", "key_limit", "weight", "why", "by", "tenant", "key_rate",
            "key_burst"}},
    {"pause_lane", PW_STMT_CALL_PAUSE_LANE, false,
        {"workflow", "limit_key", "why", "by", "tenant"}},
    {"resume_lane", PW_STMT_CALL_RESUME_LANE, false, {"workflow", "limit_key", "by", "tenant"}},
    {"create_schedule", PW_STMT_CALL_CREATE_SCHEDULE, false,
        {"name", "workflow", "cron", "every", "at", "zone", "input", "tenant", "priority",
            "metadata", "limit_key", "catch_up", "catch_up_within", "overlap", "jitter",
            "starts_at", "ends_at"}},
    {"pause_schedule", PW_STMT_CALL_PAUSE_SCHEDULE, false, {"name", "why", "by", "tenant"}},
    {"resume_schedule", PW_STMT_CALL_RESUME_SCHEDULE, false, {"name", "by", "catch_up", "tenant"}},
    {"delete_schedule", PW_STMT_CALL_DELETE_SCHEDULE, false, {"name", "by", "tenant"}},
    {"backfill_schedule", PW_STMT_CALL_BACKFILL_SCHEDULE, false,
        {"name", "since", "until", "max_rows", "tenant", "by"}},
    {"create_subscription", PW_STMT_CALL_CREATE_SUBSCRIPTION, false,
        {"name", "topic", "workflow", "key", "match", "tenant", "input"}},
    {"pause_subscription", PW_STMT_CALL_PAUSE_SUBSCRIPTION, false, {"name", "why", "by", "tenant"}},
    {"resume_subscription", PW_STMT_CALL_RESUME_SUBSCRIPTION, false, {"name", "by", "tenant"}},
    {"delete_subscription", PW_STMT_CALL_DELETE_SUBSCRIPTION, false, {"name", "by", "tenant"}},
    {"create_token", PW_STMT_CALL_CREATE_TOKEN, false,
        {"name", "digest", "rights", "tenant", "expires", "by"}},
    {"revoke_token", PW_STMT_CALL_REVOKE_TOKEN, false, {"name", "by", "tenant"}},
    {"act_as_token", PW_STMT_CALL_ACT_AS_TOKEN, true, {"digest"}},
    {"housekeep", PW_STMT_CALL_HOUSEKEEP, false, {}},
    {"tick", PW_STMT_CALL_TICK, false, {"force"}},
    {"approve", PW_STMT_CALL_APPROVE, false, {"run", "name", "by", "why", "payload"}},
    {"reject", PW_STMT_CALL_REJECT, false, {"run", "name", "by", "why", "payload"}},
    {"get_run", PW_STMT_CALL_GET_RUN, true, {"run"}},
    {"result", PW_STMT_CALL_RESULT, true, {"run"}},
    {"results", PW_STMT_CALL_RESULTS, true, {"runs"}},
    {"list_runs", PW_STMT_CALL_LIST_RUNS, true,
        {"only_workflow", "only_status", "only_tenant", "only_key", "only_tag", "since", "before",
            "cursor", "max_rows"}},
    {"history", PW_STMT_CALL_HISTORY, true, {"run"}},
    {"notes", PW_STMT_CALL_NOTES, true, {"run", "after", "max_rows"}},
    {"follow", PW_STMT_CALL_FOLLOW, true, {"run", "after", "task", "max_rows"}},
    {"list_waits", PW_STMT_CALL_LIST_WAITS, true,
        {"only_run", "only_approvals", "only_tenant", "cursor", "max_rows"}},
    {"list_pauses", PW_STMT_CALL_LIST_PAUSES, true, {}},
    {"list_queues", PW_STMT_CALL_LIST_QUEUES, true, {"max_rows"}},
    {"list_lanes", PW_STMT_CALL_LIST_LANES, true,
        {"workflow", "only_key", "only_tenant", "cursor", "max_rows"}},
    {"list_workers", PW_STMT_CALL_LIST_WORKERS, true, {"ended", "max_rows"}},
    {"list_workflows", PW_STMT_CALL_LIST_WORKFLOWS, true,
        {"only_workflow", "cursor", "max_rows", "only_flows"}},
    {"get_workflow", PW_STMT_CALL_GET_WORKFLOW, true, {"name"}},
    {"list_steps", PW_STMT_CALL_LIST_STEPS, true, {"flow"}},
    {"list_children", PW_STMT_CALL_LIST_CHILDREN, true, {"run", "cursor", "max_rows"}},
    {"list_failures", PW_STMT_CALL_LIST_FAILURES, true,
        {"since", "only_workflow", "only_tenant", "cursor", "max_rows"}},
    {"count_runs", PW_STMT_CALL_COUNT_RUNS, true, {"only_workflow", "only_tenant", "since"}},
    {"find", PW_STMT_CALL_FIND, true, {"word", "only_tenant", "max_rows"}},
    {"list_states", PW_STMT_CALL_LIST_STATES, true, {"runs"}},
    {"list_ended", PW_STMT_CALL_LIST_ENDED, true,
        {"since", "before", "only_tenant", "cursor", "max_rows"}},
    {"list_events", PW_STMT_CALL_LIST_EVENTS, true,
        {"only_topic", "only_key", "only_tenant", "since", "before", "cursor", "max_rows"}},
    {"list_schedules", PW_STMT_CALL_LIST_SCHEDULES, true,
        {"only_schedule", "only_tenant", "only_workflow", "cursor", "max_rows"}},
    {"list_skips", PW_STMT_CALL_LIST_SKIPS, true, {"name", "tenant", "before", "max_rows"}},
    {"preview_schedule", PW_STMT_CALL_PREVIEW_SCHEDULE, true,
        {"cron", "zone", "name", "since", "max_rows", "tenant"}},
    {"why_schedule", PW_STMT_CALL_WHY_SCHEDULE, true, {"name", "tenant"}},
    {"list_subscriptions", PW_STMT_CALL_LIST_SUBSCRIPTIONS, true,
        {"only_subscription", "only_tenant", "only_topic", "only_workflow", "cursor", "max_rows"}},
    {"list_tokens", PW_STMT_CALL_LIST_TOKENS, true, {"cursor", "max_rows"}},
    {"metrics", PW_STMT_CALL_METRICS, true, {"only_workflow", "since"}},
    {"prometheus", PW_STMT_CALL_PROMETHEUS, true, {}},
    {"list_grants", PW_STMT_CALL_LIST_GRANTS, true, {}},
    {"list_actions", PW_STMT_CALL_LIST_ACTIONS, true, {"after", "max_rows"}},
    {"why", PW_STMT_CALL_WHY, true, {"run"}},
    {"doctor", PW_STMT_CALL_DOCTOR, true, {}},
    {"grant_role", PW_STMT_CALL_GRANT_ROLE, false, {"role_name", "privilege_set", "tenant"}},
    {"revoke_role", PW_STMT_CALL_REVOKE_ROLE, false, {"role_name", "privilege_set"}},
};

const struct pw_verb *
pw_verb_at(size_t index)
{
    return index < sizeof(verbs) / sizeof(verbs[0]) ? &verbs[index] : NULL;
}

static const struct pw_verb *
find_verb(const char *name)
{
    const struct pw_verb *verb = NULL;

    for (size_t i = 0; name != NULL && (verb = pw_verb_at(i)) != NULL; i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

static size_t
count_arguments(const struct pw_verb *verb)
{
    size_t count = 0;

    while (verb->arguments[count] != NULL)
        count++;
    return count;
}

/* Puts each value at the position of its argument. Arguments that are not named stay NULL, for which the statement has the default. */
static int
place_values(const struct pw_verb *verb, const char *const *names, const char *const *values,
    size_t count, const char **placed, struct pw_error *err)
{
    bool given[PW_PARAMS_MAX] = {false};

    for (size_t i = 0; i < count; i++) {
        const char *name = names[i] != NULL ? names[i] : "";
        size_t at = 0;

        while (verb->arguments[at] != NULL && strcmp(verb->arguments[at], name) != 0)
            at++;
        if (verb->arguments[at] == NULL || given[at]) {
            pw_error_set(err, PAWL_EINVAL, "%s: %s argument \"%s\"", verb->name,
                verb->arguments[at] == NULL ? "no" : "twice", name);
            pw_error_hint(err, "Verbs and their arguments are in docs/sql-api.md.");
            return PAWL_EINVAL;
        }
        given[at] = true;
        placed[at] = values[i];
    }
    return PAWL_OK;
}

/* Returns true if an argument is JSON. The input of create_subscription is a word. */
static bool
is_json(const char *verb, const char *argument)
{
    static const char *const names[] = {
        "input", "metadata", "payload", "options", "definition", "match"};

    if (strcmp(verb, "create_subscription") == 0 && strcmp(argument, "input") == 0)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], argument) == 0)
            return true;
    return false;
}

/* The characters that PostgreSQL accepts as space between the elements of a list. */
static const char list_space[] = " \t\n\r\v\f";

/*
 * Copies the next element of a list as PostgreSQL writes it, {1,"{\"a\": 2}"}, without quotes and escapes. *at is the start of an
 * element, and afterwards its end: a comma or a brace. Returns false if the text is not a list.
 */
static bool
take_element(const char **at, char *element, size_t *size)
{
    const char *from = *at + strspn(*at, list_space);
    bool quoted = *from == '"';

    *size = 0;
    for (from += quoted; *from != '\0' && (quoted ? *from != '"' : strchr(",{}\"", *from) == NULL);
         from++) {
        from += *from == '\\';
        if (*from == '\0')
            return false;
        element[(*size)++] = *from;
    }
    from += quoted && *from == '"';
    *at = from + strspn(from, list_space);
    return **at == ',' || **at == '}';
}

/* Finds the first problem of a list of JSON values. room has as many bytes as the list. */
static enum pw_json_problem
scan_list(const char *list, char *room)
{
    const char *at = list + strspn(list, list_space);
    enum pw_json_problem problem = PW_JSON_OK;

    if (*at != '{')
        return PW_JSON_INVALID;
    if (at[1 + strspn(at + 1, list_space)] == '}')
        at += 1 + strspn(at + 1, list_space);
    while (problem == PW_JSON_OK && *at != '}') {
        size_t size;

        at++;
        if (!take_element(&at, room, &size))
            return PW_JSON_INVALID;
        if (size != 4 || strncasecmp(room, "null", 4) != 0)
            problem = pw_json_scan(room, size, SIZE_MAX, DEPTH_MAX);
    }
    /* If text followed the list, the server would log the whole list. */
    if (problem == PW_JSON_OK && at[1 + strspn(at + 1, list_space)] != '\0')
        problem = PW_JSON_INVALID;
    return problem;
}

/* Checks that an argument is JSON: otherwise the server would write its beginning to the log. The engine checks the limits. */
static int
check_value(const char *verb, const char *argument, const char *value, struct pw_error *err)
{
    enum pw_json_problem problem = PW_JSON_OK;
    char *room = NULL;

    if (strcmp(argument, "inputs") == 0) {
        room = pw_alloc(strlen(value) + 1);
        if (room == NULL) {
            pw_error_oom(err);
            return PAWL_ENOMEM;
        }
        problem = scan_list(value, room);
        pw_free(room);
    } else if (is_json(verb, argument)) {
        problem = pw_json_scan(value, strlen(value), SIZE_MAX, DEPTH_MAX);
    }
    /* guard:call_json */
    if (problem == PW_JSON_OK)
        return PAWL_OK;
    pw_error_set(err, problem == PW_JSON_TOO_DEEP ? PAWL_ETOOLARGE : PAWL_EINVAL, "%s: %s %s", verb,
        argument, pw_json_problem_text(problem));
    return err->code;
}

static int
check_values(const struct pw_verb *verb, const char *const *placed, struct pw_error *err)
{
    int status = PAWL_OK;

    for (size_t i = 0; verb->arguments[i] != NULL && status == PAWL_OK; i++)
        if (placed[i] != NULL)
            status = check_value(verb->name, verb->arguments[i], placed[i], err);
    return status;
}

static int
call_verb(pawl_client *client, const char *name, const char *const *names,
    const char *const *values, size_t count, pawl_rows **rows, struct pw_error *err)
{
    const struct pw_verb *verb = find_verb(name);
    const char *placed[PW_PARAMS_MAX] = {NULL};
    struct pw_params params;
    struct pw_ask ask = {.params = &params, .deadline_us = pw_client_deadline(client)};
    struct pw_reply reply;
    pawl_rows *made = NULL;
    int status;

    if (verb == NULL || (count > 0 && (names == NULL || values == NULL))) {
        pw_error_set(err, PAWL_EINVAL, "no verb \"%s\"%s", name != NULL ? name : "",
            verb == NULL ? "" : " without names and values");
        pw_error_hint(err, "Verbs and their arguments are in docs/sql-api.md.");
        return PAWL_EINVAL;
    }
    status = place_values(verb, names, values, count, placed, err);
    if (status == PAWL_OK)
        status = check_values(verb, placed, err);
    if (status != PAWL_OK)
        return status;
    if (rows != NULL && (made = pw_rows_make(err)) == NULL)
        return PAWL_ENOMEM;
    pw_params_init(&params);
    for (size_t i = 0; i < count_arguments(verb); i++)
        pw_params_literal(&params, placed[i]);
    ask.statement = verb->statement;
    ask.repeat = verb->reads ? PW_REPEAT_READ : PW_REPEAT_NEVER;
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK) {
        pawl_rows_free(made);
        return status;
    }
    if (rows != NULL) {
        pw_rows_fill(made, &reply.rows);
        *rows = made;
    }
    pw_reply_done(&reply);
    return PAWL_OK;
}

pawl_status
pawl_client_call(pawl_client *client, const char *verb, const char *const *names,
    const char *const *values, size_t count, pawl_rows **rows, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)call_verb(client, verb, names, values, count, rows, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}
