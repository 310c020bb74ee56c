/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes. An argument has the name that it has in SQL; what a request may leave out has the default of the function. */
#include "server/api/route.h"

/* Arguments that several routes have, each ending with an empty element. */
static const struct argument no_arguments[] = {{0}};
static const struct argument run_in_path[] = {{ARGUMENT_ID, PLACE_PATH, .name = "run"}, {0}};
static const struct argument name_in_path[] = {{ARGUMENT_TEXT, PLACE_PATH, .name = "name"}, {0}};
static const struct argument run_why[] = {
    {ARGUMENT_ONE_ID, PLACE_PATH, .name = "runs", .field = "run"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {0},
};
static const struct argument run_alone[] = {
    {ARGUMENT_ONE_ID, PLACE_PATH, .name = "runs", .field = "run"},
    {0},
};
static const struct argument name_why[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {0},
};
static const struct argument name_why_tenant[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};
static const struct argument name_tenant_in_query[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "tenant"},
    {0},
};
static const struct argument runs_in_query[] = {
    {ARGUMENT_IDS, PLACE_QUERY, .name = "runs", .required = true},
    {0},
};
static const struct argument decision[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "payload"},
    {0},
};
static const struct argument max_rows_alone[] = {
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument trigger_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "key"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "delay"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "metadata"},
    {ARGUMENT_ID, PLACE_BODY, .name = "id"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "key_ttl"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "key_while_active"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_key"},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "tags"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "expires"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "replace"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "debounce"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "debounce_max"},
    {0},
};

static const struct argument trigger_many_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_JSONS, PLACE_BODY, .name = "inputs", .required = true},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "keys"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "delay"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "metadata"},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "ids"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "key_ttl"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "key_while_active"},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "limit_keys"},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "tags"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "expires"},
    {0},
};

static const struct argument list_runs_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_status"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_key"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tag"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "since"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "before"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument notes_arguments[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "after"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument children_arguments[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument cancel_arguments[] = {
    {ARGUMENT_ONE_ID, PLACE_PATH, .name = "runs", .field = "run"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "rollback"},
    {0},
};

static const struct argument wake_arguments[] = {
    {ARGUMENT_ONE_ID, PLACE_PATH, .name = "runs", .field = "run"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "step"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {0},
};

static const struct argument fork_arguments[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "from_step"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input"},
    {0},
};

static const struct argument rollback_skip_arguments[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "step", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {0},
};

static const struct argument signal_arguments[] = {
    {ARGUMENT_ID, PLACE_PATH, .name = "run"},
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_JSON, PLACE_WHOLE, .name = "payload"},
    {0},
};

static const struct argument count_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_DURATION, PLACE_QUERY, .name = "since"},
    {0},
};

static const struct argument find_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "word", .required = true},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument failures_arguments[] = {
    {ARGUMENT_TIME, PLACE_QUERY, .name = "since"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument ended_arguments[] = {
    {ARGUMENT_TIME, PLACE_QUERY, .name = "since", .required = true},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "before"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument emit_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "topic", .required = true},
    {ARGUMENT_JSON, PLACE_BODY, .name = "payload"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "key"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_ID, PLACE_BODY, .name = "id"},
    {0},
};

static const struct argument list_events_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_topic"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_key"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "since"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "before"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument list_waits_arguments[] = {
    {ARGUMENT_ID, PLACE_QUERY, .name = "only_run"},
    {ARGUMENT_BOOLEAN, PLACE_QUERY, .name = "only_approvals"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument list_lanes_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_key"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_ID, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument set_lane_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_key"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "key_limit"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "weight"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "key_rate"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "key_burst"},
    {0},
};

static const struct argument pause_lane_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_key"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct argument resume_lane_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_key"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct argument list_workers_arguments[] = {
    {ARGUMENT_BOOLEAN, PLACE_QUERY, .name = "ended"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument drain_arguments[] = {
    {ARGUMENT_INTEGER, PLACE_PATH, .name = "session"},
    {0},
};

static const struct argument list_workflows_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {ARGUMENT_BOOLEAN, PLACE_QUERY, .name = "only_flows"},
    {0},
};

static const struct argument create_workflow_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "name", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "runtime"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "max_attempts"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "base"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "factor"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "cap"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "jitter"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "run_timeout"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "step_timeout"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "strict_order"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "description"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "key_limit"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "fair"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input_schema"},
    {0},
};

static const struct argument alter_workflow_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "runtime", .into = "options"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority", .into = "options"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "max_attempts", .into = "options"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "base", .into = "options"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "factor", .into = "options"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "cap", .into = "options"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "jitter", .into = "options"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "run_timeout", .into = "options"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "step_timeout", .into = "options"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "strict_order", .into = "options"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "description", .into = "options"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "key_limit", .into = "options"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "key_rate", .into = "options"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "key_burst", .into = "options"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "limit", .into = "options"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_name", .into = "options"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_while", .into = "options"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "fair", .into = "options"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "expires", .into = "options"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input_schema", .into = "options"},
    {0},
};

static const struct argument create_flow_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "name", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "runtime"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "max_attempts"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "base"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "factor"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "cap"},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "jitter"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "run_timeout"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "step_timeout"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "description"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input_schema"},
    {0},
};

static const struct argument apply_flow_arguments[] = {
    {ARGUMENT_JSON, PLACE_WHOLE, .name = "definition", .required = true},
    {ARGUMENT_BOOLEAN, PLACE_QUERY, .name = "only_check", .field = "only_check"},
    {0},
};

static const struct argument flow_in_path[] = {{ARGUMENT_TEXT, PLACE_PATH, .name = "flow"}, {0}};

static const struct argument add_step_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "flow"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "step", .required = true},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "deps"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "options"},
    {0},
};

static const struct argument list_schedules_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_schedule"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument create_schedule_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "name", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "cron"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "every"},
    {ARGUMENT_TIME, PLACE_BODY, .name = "at"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "zone"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "input"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "priority"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "metadata"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "limit_key"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "catch_up"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "catch_up_within"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "overlap"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "jitter"},
    {ARGUMENT_TIME, PLACE_BODY, .name = "starts_at"},
    {ARGUMENT_TIME, PLACE_BODY, .name = "ends_at"},
    {0},
};

static const struct argument resume_schedule_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "catch_up"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct argument backfill_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TIME, PLACE_BODY, .name = "since", .required = true},
    {ARGUMENT_TIME, PLACE_BODY, .name = "until", .required = true},
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "max_rows"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct argument skips_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "tenant"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "before"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument preview_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "cron"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "zone"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "name"},
    {ARGUMENT_TIME, PLACE_QUERY, .name = "since"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "tenant"},
    {0},
};

static const struct argument list_subscriptions_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_subscription"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_tenant"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_topic"},
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument create_subscription_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "name", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "topic", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "workflow", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "key"},
    {ARGUMENT_JSON, PLACE_BODY, .name = "match"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "input"},
    {0},
};

static const struct argument resume_subscription_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct argument list_bulks_arguments[] = {
    {ARGUMENT_BOOLEAN, PLACE_QUERY, .name = "only_running"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument preview_bulk_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "act", .required = true},
    {ARGUMENT_JSON, PLACE_BODY, .name = "filter", .required = true},
    {0},
};

static const struct argument begin_bulk_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "act", .required = true},
    {ARGUMENT_JSON, PLACE_BODY, .name = "filter", .required = true},
    {ARGUMENT_NUMBER, PLACE_BODY, .name = "rate"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "digest"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "rollback"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "step"},
    {0},
};

static const struct argument bulk_in_path[] = {{ARGUMENT_INTEGER, PLACE_PATH, .name = "bulk"}, {0}};

static const struct argument pause_all_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why"},
    {ARGUMENT_BOOLEAN, PLACE_BODY, .name = "refuse_triggers"},
    {0},
};

static const struct argument metrics_arguments[] = {
    {ARGUMENT_TEXT, PLACE_QUERY, .name = "only_workflow"},
    {ARGUMENT_DURATION, PLACE_QUERY, .name = "since"},
    {0},
};

static const struct argument list_actions_arguments[] = {
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "after"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument raise_epoch_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "why", .required = true},
    {0},
};

static const struct argument retention_arguments[] = {
    {ARGUMENT_DURATION, PLACE_BODY, .name = "run_retention"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "event_retention"},
    {0},
};

static const struct argument session_limit_arguments[] = {
    {ARGUMENT_INTEGER, PLACE_BODY, .name = "sessions"},
    {0},
};

static const struct argument notify_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "notify"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "role_name"},
    {0},
};

static const struct argument create_token_arguments[] = {
    {ARGUMENT_TEXT, PLACE_BODY, .name = "name", .required = true},
    {ARGUMENT_HEX, PLACE_BODY, .name = "digest", .required = true},
    {ARGUMENT_TEXTS, PLACE_BODY, .name = "rights", .required = true},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {ARGUMENT_DURATION, PLACE_BODY, .name = "expires"},
    {0},
};

static const struct argument list_tokens_arguments[] = {
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "cursor"},
    {ARGUMENT_INTEGER, PLACE_QUERY, .name = "max_rows"},
    {0},
};

static const struct argument revoke_token_arguments[] = {
    {ARGUMENT_TEXT, PLACE_PATH, .name = "name"},
    {ARGUMENT_TEXT, PLACE_BODY, .name = "tenant"},
    {0},
};

static const struct route routes[] = {
    {"POST", "/v1/runs", "trigger", SHAPE_ROW, ROUTE_CREATES | ROUTE_WAITS, NULL, NULL,
        trigger_arguments, "Trigger a run"},
    {"POST", "/v1/runs/batch", "trigger_many", SHAPE_LIST, ROUTE_LARGE, "runs", NULL,
        trigger_many_arguments, "Trigger many runs of one workflow: all or none"},
    {"GET", "/v1/runs", "list_runs", SHAPE_LIST, 0, "runs", "next_cursor", list_runs_arguments,
        "List runs, newest first"},
    {"GET", "/v1/runs/{run}", "get_run", SHAPE_ROW, ROUTE_WAITS | ROUTE_TAGGED, NULL, NULL,
        run_in_path, "Show a run and its steps"},
    {"GET", "/v1/runs/{run}/result", "result", SHAPE_ROW, ROUTE_WAITS | ROUTE_ENDS, NULL, NULL,
        run_in_path, "Show how a run ended"},
    {"GET", "/v1/runs/{run}/why", "why", SHAPE_VALUE, 0, "why", NULL, run_in_path,
        "Explain what a run is waiting for and what to do"},
    {"GET", "/v1/runs/{run}/history", "history", SHAPE_LIST, 0, "history", NULL, run_in_path,
        "List the transitions of a run"},
    {"GET", "/v1/runs/{run}/notes", "notes", SHAPE_LIST, 0, "notes", NULL, notes_arguments,
        "List the notes of a run"},
    {"GET", "/v1/runs/{run}/children", "list_children", SHAPE_LIST, 0, "children", "run_id",
        children_arguments, "List the runs that a run started"},
    {"GET", "/v1/runs/{run}/live", "follow", SHAPE_STREAM, 0, "live_run", NULL, run_in_path,
        "Watch a run: its states and its notes, until it ends"},
    {"POST", "/v1/runs/{run}/cancel", "cancel", SHAPE_ROW, 0, NULL, NULL, cancel_arguments,
        "Cancel a run (final)"},
    {"POST", "/v1/runs/{run}/kill", "kill", SHAPE_ROW, 0, NULL, NULL, run_why,
        "End a run now without notifying its worker"},
    {"POST", "/v1/runs/{run}/pause", "pause", SHAPE_ROW, 0, NULL, NULL, run_why,
        "Pause a run after its current step"},
    {"POST", "/v1/runs/{run}/resume", "resume", SHAPE_ROW, 0, NULL, NULL, run_alone,
        "Resume a paused run"},
    {"POST", "/v1/runs/{run}/wake", "wake", SHAPE_ROW, 0, NULL, NULL, wake_arguments,
        "End the backoffs and sleeps of a run now"},
    {"POST", "/v1/runs/{run}/retry", "retry", SHAPE_ROW, 0, NULL, NULL, run_alone,
        "Retry a failed run from the failed step"},
    {"POST", "/v1/runs/{run}/fork", "fork", SHAPE_ROW, ROUTE_CREATES, NULL, NULL, fork_arguments,
        "Start a new run from the records of another run"},
    {"POST", "/v1/runs/{run}/purge", "purge", SHAPE_ROW, 0, NULL, NULL, run_why,
        "Delete an ended run and its history"},
    {"POST", "/v1/runs/{run}/rollback-retry", "rollback_retry", SHAPE_ROW, 0, NULL, NULL, run_alone,
        "Retry a rollback that stopped at a failing undo"},
    {"POST", "/v1/runs/{run}/rollback-skip", "rollback_skip", SHAPE_VALUE, 0, "answer", NULL,
        rollback_skip_arguments, "Skip the undo of one step, and continue the rollback"},
    {"POST", "/v1/runs/{run}/signals/{name}", "signal", SHAPE_VALUE, 0, "answer", NULL,
        signal_arguments, "Send a signal to a run"},
    {"GET", "/v1/results", "results", SHAPE_LIST, 0, "results", NULL, runs_in_query,
        "List how many runs ended"},
    {"GET", "/v1/states", "list_states", SHAPE_LIST, 0, "states", NULL, runs_in_query,
        "List the states of many runs"},
    {"GET", "/v1/live", "list_states", SHAPE_STREAM, 0, "live_runs", NULL, runs_in_query,
        "Watch the states of up to 100 runs, until all have ended"},
    {"GET", "/v1/counts", "count_runs", SHAPE_LIST, 0, "counts", NULL, count_arguments,
        "Count runs by workflow and state"},
    {"GET", "/v1/find", "find", SHAPE_LIST, 0, "find", NULL, find_arguments,
        "Find what a word may stand for"},
    {"GET", "/v1/failures", "list_failures", SHAPE_LIST, 0, "failures", "next_cursor",
        failures_arguments, "List failed runs in groups"},
    {"GET", "/v1/ended", "list_ended", SHAPE_LIST, 0, "ended", "next_cursor", ended_arguments,
        "List the runs that ended in a minute, with their steps"},
    {"POST", "/v1/events", "emit", SHAPE_ROW, 0, NULL, NULL, emit_arguments, "Emit an event"},
    {"GET", "/v1/events", "list_events", SHAPE_LIST, 0, "events", "next_cursor",
        list_events_arguments, "List events, newest first"},
    {"GET", "/v1/waits", "list_waits", SHAPE_LIST, 0, "waits", "run_id", list_waits_arguments,
        "List open waits, or pending approvals"},
    {"POST", "/v1/waits/{run}/{name}/approve", "approve", SHAPE_VALUE, 0, "answer", NULL, decision,
        "Approve an approval that a run waits for"},
    {"POST", "/v1/waits/{run}/{name}/reject", "reject", SHAPE_VALUE, 0, "answer", NULL, decision,
        "Reject an approval that a run waits for"},
    {"GET", "/v1/queues", "list_queues", SHAPE_LIST, 0, "queues", NULL, max_rows_alone,
        "List queues"},
    {"POST", "/v1/queues/{name}/pause", "pause_queue", SHAPE_VALUE, 0, "answer", NULL, name_why,
        "Stop claiming tasks of a queue"},
    {"POST", "/v1/queues/{name}/resume", "resume_queue", SHAPE_VALUE, 0, "answer", NULL,
        name_in_path, "Claim tasks of a paused queue again"},
    {"GET", "/v1/lanes", "list_lanes", SHAPE_LIST, 0, "lanes", "next_cursor", list_lanes_arguments,
        "List the lanes of a workflow"},
    {"PUT", "/v1/lanes", "set_lane", SHAPE_VALUE, 0, "answer", NULL, set_lane_arguments,
        "Set limit, rate and weight of a lane"},
    {"POST", "/v1/lanes/pause", "pause_lane", SHAPE_VALUE, 0, "answer", NULL, pause_lane_arguments,
        "Stop claiming runs of a lane"},
    {"POST", "/v1/lanes/resume", "resume_lane", SHAPE_VALUE, 0, "answer", NULL,
        resume_lane_arguments, "Claim runs of a paused lane again"},
    {"GET", "/v1/workers", "list_workers", SHAPE_LIST, 0, "workers", NULL, list_workers_arguments,
        "List worker sessions"},
    {"POST", "/v1/workers/{session}/drain", "drain_worker", SHAPE_VALUE, 0, "answer", NULL,
        drain_arguments, "Ask a worker to finish what it holds and to leave"},
    {"GET", "/v1/workflows", "list_workflows", SHAPE_LIST, 0, "workflows", "workflow",
        list_workflows_arguments, "List workflows"},
    {"GET", "/v1/workflows/{name}", "get_workflow", SHAPE_ROW, 0, NULL, NULL, name_in_path,
        "Show a workflow"},
    {"POST", "/v1/workflows", "create_workflow", SHAPE_VALUE, ROUTE_CREATES, "answer", NULL,
        create_workflow_arguments, "Create a workflow"},
    {"PATCH", "/v1/workflows/{name}", "alter_workflow", SHAPE_VALUE, 0, "answer", NULL,
        alter_workflow_arguments, "Change options of a workflow"},
    {"POST", "/v1/workflows/{name}/pause", "pause_workflow", SHAPE_VALUE, 0, "answer", NULL,
        name_why, "Stop claiming runs of a workflow"},
    {"POST", "/v1/workflows/{name}/resume", "resume_workflow", SHAPE_VALUE, 0, "answer", NULL,
        name_in_path, "Claim runs of a paused workflow again"},
    {"POST", "/v1/flows", "create_flow", SHAPE_VALUE, ROUTE_CREATES, "answer", NULL,
        create_flow_arguments, "Create a flow"},
    {"PUT", "/v1/flows", "apply_flow", SHAPE_LIST, 0, "changes", NULL, apply_flow_arguments,
        "Bring a flow to what a definition says"},
    {"DELETE", "/v1/flows/{name}", "delete_flow", SHAPE_VALUE, 0, "answer", NULL, name_in_path,
        "Delete a flow that was never triggered"},
    {"GET", "/v1/flows/{flow}/steps", "list_steps", SHAPE_LIST, 0, "steps", NULL, flow_in_path,
        "List the steps of a flow"},
    {"POST", "/v1/flows/{flow}/steps", "add_step", SHAPE_VALUE, ROUTE_CREATES, "answer", NULL,
        add_step_arguments, "Add a step to a flow"},
    {"GET", "/v1/schedules", "list_schedules", SHAPE_LIST, 0, "schedules", "next_cursor",
        list_schedules_arguments, "List schedules"},
    {"POST", "/v1/schedules", "create_schedule", SHAPE_VALUE, ROUTE_CREATES, "answer", NULL,
        create_schedule_arguments, "Create a schedule"},
    {"POST", "/v1/schedules/{name}/pause", "pause_schedule", SHAPE_VALUE, 0, "answer", NULL,
        name_why_tenant, "Pause a schedule"},
    {"POST", "/v1/schedules/{name}/resume", "resume_schedule", SHAPE_VALUE, 0, "answer", NULL,
        resume_schedule_arguments, "Resume a schedule"},
    {"POST", "/v1/schedules/{name}/backfill", "backfill_schedule", SHAPE_LIST, 0, "runs", NULL,
        backfill_arguments, "Trigger the runs of nominal times that have passed"},
    {"DELETE", "/v1/schedules/{name}", "delete_schedule", SHAPE_VALUE, 0, "answer", NULL,
        name_tenant_in_query, "Delete a schedule"},
    {"GET", "/v1/schedules/{name}/skips", "list_skips", SHAPE_LIST, 0, "skips", NULL,
        skips_arguments, "List the times at which a schedule triggered no run"},
    {"GET", "/v1/schedules/{name}/why", "why_schedule", SHAPE_VALUE, 0, "why", NULL,
        name_tenant_in_query, "Explain when a schedule fires next, or what keeps it from firing"},
    {"GET", "/v1/schedules-preview", "preview_schedule", SHAPE_LIST, 0, "times", NULL,
        preview_arguments, "List the next times of a calendar"},
    {"GET", "/v1/subscriptions", "list_subscriptions", SHAPE_LIST, 0, "subscriptions",
        "next_cursor", list_subscriptions_arguments, "List subscriptions"},
    {"POST", "/v1/subscriptions", "create_subscription", SHAPE_VALUE, ROUTE_CREATES, "answer", NULL,
        create_subscription_arguments, "Create a subscription: events that trigger runs"},
    {"POST", "/v1/subscriptions/{name}/pause", "pause_subscription", SHAPE_VALUE, 0, "answer", NULL,
        name_why_tenant, "Pause a subscription"},
    {"POST", "/v1/subscriptions/{name}/resume", "resume_subscription", SHAPE_VALUE, 0, "answer",
        NULL, resume_subscription_arguments, "Resume a subscription"},
    {"DELETE", "/v1/subscriptions/{name}", "delete_subscription", SHAPE_VALUE, 0, "answer", NULL,
        name_tenant_in_query, "Delete a subscription"},
    {"GET", "/v1/bulks", "list_bulks", SHAPE_LIST, 0, "bulks", "bulk", list_bulks_arguments,
        "List actions on many runs"},
    {"POST", "/v1/bulks", "begin_bulk", SHAPE_VALUE, ROUTE_CREATES, "bulk", NULL,
        begin_bulk_arguments, "Begin an action on all runs that a filter finds"},
    {"POST", "/v1/bulks/preview", "preview_bulk", SHAPE_ROW, ROUTE_READS, NULL, NULL,
        preview_bulk_arguments, "Count the runs that an action would act on"},
    {"POST", "/v1/bulks/{bulk}/stop", "stop_bulk", SHAPE_VALUE, 0, "answer", NULL, bulk_in_path,
        "Stop an action on many runs"},
    {"POST", "/v1/pause-all", "pause_all", SHAPE_VALUE, 0, "answer", NULL, pause_all_arguments,
        "Pause everything"},
    {"POST", "/v1/resume-all", "resume_all", SHAPE_VALUE, 0, "answer", NULL, no_arguments,
        "End the pause of everything"},
    {"GET", "/v1/pauses", "list_pauses", SHAPE_LIST, 0, "pauses", NULL, no_arguments,
        "List what is paused"},
    {"GET", "/v1/metrics", "metrics", SHAPE_LIST, 0, "metrics", NULL, metrics_arguments,
        "Show rates and durations by workflow"},
    {"GET", "/v1/actions", "list_actions", SHAPE_LIST, 0, "actions", NULL, list_actions_arguments,
        "List operator actions"},
    {"GET", "/v1/doctor", "doctor", SHAPE_LIST, 0, "doctor", NULL, no_arguments,
        "Check the database and the work"},
    {"GET", "/v1/grants", "list_grants", SHAPE_LIST, 0, "grants", NULL, no_arguments,
        "List granted privilege sets"},
    {"GET", "/v1/epoch", "epoch", SHAPE_VALUE, 0, "epoch", NULL, no_arguments,
        "Show the epoch in force"},
    {"POST", "/v1/epoch/raise", "raise_epoch", SHAPE_VALUE, 0, "epoch", NULL, raise_epoch_arguments,
        "Invalidate all sessions after a failover that lost commits"},
    {"PATCH", "/v1/retention", "set_retention", SHAPE_ROW, 0, NULL, NULL, retention_arguments,
        "Set how long ended runs and events are kept"},
    {"PATCH", "/v1/session-limit", "set_session_limit", SHAPE_VALUE, 0, "sessions", NULL,
        session_limit_arguments, "Set how many worker sessions a tenant may have"},
    {"PATCH", "/v1/notify", "set_notify", SHAPE_LIST, 0, "notify", NULL, notify_arguments,
        "Set whether calls notify idle workers"},
    {"GET", "/v1/now", "now", SHAPE_VALUE, 0, "now", NULL, no_arguments,
        "Show the clock of the database"},
    {"GET", "/v1/errors", "errors", SHAPE_LIST, 0, "errors", NULL, no_arguments,
        "List the error codes that pawl raises"},
    {"GET", "/v1/tokens", "list_tokens", SHAPE_LIST, 0, "tokens", "token_id", list_tokens_arguments,
        "List tokens"},
    {"POST", "/v1/tokens", "create_token", SHAPE_VALUE, ROUTE_CREATES, "token_id", NULL,
        create_token_arguments, "Create a token from the SHA-256 of its text"},
    {"POST", "/v1/tokens/{name}/revoke", "revoke_token", SHAPE_VALUE, 0, "answer", NULL,
        revoke_token_arguments, "Revoke a token"},
    {"GET", "/v1/me", "act_as_token", SHAPE_ROW, 0, NULL, NULL, no_arguments,
        "Show what the token allows"},
    {"GET", "/metrics", "prometheus", SHAPE_TEXT, 0, NULL, NULL, no_arguments,
        "Show all metrics, and those of this server, for Prometheus"},
    {"GET", "/v1/openapi.json", "openapi", SHAPE_OWN, ROUTE_OPEN, NULL, NULL, no_arguments,
        "Show this API as an OpenAPI document"},
    {"GET", "/alive", "alive", SHAPE_OWN, ROUTE_OPEN, NULL, NULL, no_arguments,
        "Answer, as long as the process lives"},
    {"GET", "/ready", "ready", SHAPE_OWN, ROUTE_OPEN, NULL, NULL, no_arguments,
        "Report whether this server can serve: 200, or 503"},
};

const struct route *
route_at(size_t index)
{
    return index < sizeof(routes) / sizeof(routes[0]) ? &routes[index] : NULL;
}
