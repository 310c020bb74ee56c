/* SPDX-License-Identifier: Apache-2.0 */
/* Every SQL text of the library, with the types of its parameters. Results are binary unless a statement says otherwise. */
#include "libpawl/common/statements.h"

#include <stddef.h>

static const struct pw_stmt statements[] = {
    [PW_STMT_REGISTER] = {PW_STMT_REGISTER, "pawl_register",
        "select session, epoch, (1000 * date_part('epoch', heartbeat_every))::bigint, queues "
        "from pawl.register($1, $2, $3, $4::float8 * interval '1 ms', 1, $5, $6)",
        {PW_TYPE_TEXT, PW_TYPE_TEXT_ARRAY, PW_TYPE_TEXT_ARRAY, PW_TYPE_INT8, PW_TYPE_TEXT,
            PW_TYPE_TEXT},
        false},
    [PW_STMT_HEARTBEAT] = {PW_STMT_HEARTBEAT, "pawl_heartbeat",
        "select epoch, run_id, task, notice, tick_due from pawl.heartbeat($1, $2, $3)",
        {PW_TYPE_INT8, PW_TYPE_JSON, PW_TYPE_BOOL}, false},
    [PW_STMT_CLAIM] = {PW_STMT_CLAIM, "pawl_claim",
        "select run_id, task, fence, workflow, round, execution, tenant, rolling_back, suspect, "
        "input, metadata, record, "
        "step_timeout_ms, run_timeout_ms, "
        "case when record is not null then (1000000 * extract(epoch from pawl.now()))::bigint end, "
        "tick_due "
        "from pawl.claim($1, $2, $3, true, $4)",
        {PW_TYPE_INT8, PW_TYPE_INT4, PW_TYPE_INT4, PW_TYPE_BOOL}, false},
    [PW_STMT_COMMIT] = {PW_STMT_COMMIT, "pawl_commit",
        "select item, answer, reason, value from pawl.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, "
        "$10)",
        {PW_TYPE_INT8, PW_TYPE_UUID_ARRAY, PW_TYPE_INT4_ARRAY, PW_TYPE_TEXT_ARRAY,
            PW_TYPE_TEXT_ARRAY, PW_TYPE_TEXT_ARRAY, PW_TYPE_INT4_ARRAY, PW_TYPE_INT4_ARRAY,
            PW_TYPE_INT4_ARRAY, PW_TYPE_TEXT_ARRAY},
        false},
    [PW_STMT_COMMIT_EACH] = {PW_STMT_COMMIT_EACH, "pawl_commit_each",
        "select item, answer, reason, value from pawl.commit_each($1, $2, $3, $4, $5, $6, $7, "
        "$8, $9, $10)",
        {PW_TYPE_INT8, PW_TYPE_UUID_ARRAY, PW_TYPE_INT4_ARRAY, PW_TYPE_TEXT_ARRAY,
            PW_TYPE_TEXT_ARRAY, PW_TYPE_TEXT_ARRAY, PW_TYPE_INT4_ARRAY, PW_TYPE_INT4_ARRAY,
            PW_TYPE_INT4_ARRAY, PW_TYPE_TEXT_ARRAY},
        false},
    [PW_STMT_REST] = {PW_STMT_REST, "pawl_rest",
        "select listen, ready, tick_due, draining from pawl.rest($1, $2, $3)",
        {PW_TYPE_INT8, PW_TYPE_BOOL, PW_TYPE_BOOL}, false},
    [PW_STMT_PASS_ON] = {PW_STMT_PASS_ON, "pawl_pass_on", "select pawl.pass_on($1)", {PW_TYPE_INT8},
        false},
    [PW_STMT_LEAVE] = {PW_STMT_LEAVE, "pawl_leave", "select pawl.leave($1)", {PW_TYPE_INT8}, false},
    [PW_STMT_HELD] = {PW_STMT_HELD, "pawl_held", "select run_id, task, fence from pawl.held($1)",
        {PW_TYPE_INT8}, false},
    [PW_STMT_TICK] = {PW_STMT_TICK, "pawl_tick", "call pawl.tick()", {0}, false},
    [PW_STMT_CREATE_WORKFLOW] = {PW_STMT_CREATE_WORKFLOW, "pawl_create_workflow",
        "select pawl.create_workflow($1)", {PW_TYPE_TEXT}, false},
    /*
     * A trigger that finds the run of an earlier call writes nothing, so its commit would not wait for the standby. It then writes an
     * empty message to the WAL, so that its commit waits. When that commit is replicated, so are all earlier commits.
     */
    [PW_STMT_TRIGGER] = {PW_STMT_TRIGGER, "pawl_trigger",
        "select run_id, created, handled, "
        "case when not created then pg_logical_emit_message(true, 'pawl', '') end "
        "from pawl.trigger($1, coalesce($2, json '{}'), $3, coalesce($4, ''), $5, "
        "$6::float8 * interval '1 ms', $7, $8, $9::float8 * interval '1 ms', "
        "coalesce($10, false), $11, $12)",
        {PW_TYPE_TEXT, PW_TYPE_JSON, PW_TYPE_TEXT, PW_TYPE_TEXT, PW_TYPE_INT4, PW_TYPE_INT8,
            PW_TYPE_JSON, PW_TYPE_UUID, PW_TYPE_INT8, PW_TYPE_BOOL, PW_TYPE_TEXT, PW_TYPE_BOOL},
        false},
    /* A statement of its own, so that a trigger without the rarer options costs no more. */
    [PW_STMT_TRIGGER_FULL] = {PW_STMT_TRIGGER_FULL, "pawl_trigger_full",
        "select run_id, created, handled, "
        "case when not created then pg_logical_emit_message(true, 'pawl', '') end "
        "from pawl.trigger($1, coalesce($2, json '{}'), $3, coalesce($4, ''), $5, "
        "$6::float8 * interval '1 ms', $7, $8, $9::float8 * interval '1 ms', "
        "coalesce($10, false), $11, $12, "
        "case when $13 is not null then array(select json_array_elements_text($13)) end, "
        "$14::float8 * interval '1 ms', $15, $16::float8 * interval '1 ms', "
        "$17::float8 * interval '1 ms')",
        {PW_TYPE_TEXT, PW_TYPE_JSON, PW_TYPE_TEXT, PW_TYPE_TEXT, PW_TYPE_INT4, PW_TYPE_INT8,
            PW_TYPE_JSON, PW_TYPE_UUID, PW_TYPE_INT8, PW_TYPE_BOOL, PW_TYPE_TEXT, PW_TYPE_BOOL,
            PW_TYPE_JSON, PW_TYPE_INT8, PW_TYPE_BOOL, PW_TYPE_INT8, PW_TYPE_INT8},
        false},
    [PW_STMT_TRIGGER_MANY] = {PW_STMT_TRIGGER_MANY, "pawl_trigger_many",
        "select item, run_id, created, handled, "
        "case when not created and row_number() over (partition by created) = 1 "
        "then pg_logical_emit_message(true, 'pawl', '') end "
        "from pawl.trigger_many($1, $2, $3, coalesce($4, ''), $5, "
        "$6::float8 * interval '1 ms', $7, $8, $9::float8 * interval '1 ms', "
        "coalesce($10, false), "
        "case when $11 is not null then array_fill($11, array[cardinality($2)]) end, $12, "
        "case when $13 is not null then array(select json_array_elements_text($13)) end, "
        "$14::float8 * interval '1 ms')",
        {PW_TYPE_TEXT, PW_TYPE_JSON_ARRAY, PW_TYPE_TEXT_ARRAY, PW_TYPE_TEXT, PW_TYPE_INT4,
            PW_TYPE_INT8, PW_TYPE_JSON, PW_TYPE_UUID_ARRAY, PW_TYPE_INT8, PW_TYPE_BOOL,
            PW_TYPE_TEXT, PW_TYPE_BOOL, PW_TYPE_JSON, PW_TYPE_INT8},
        false},
    [PW_STMT_RESULT] = {PW_STMT_RESULT, "pawl_result",
        "select status, output, error from pawl.result($1)", {PW_TYPE_UUID}, false},
    [PW_STMT_SIGNAL] = {PW_STMT_SIGNAL, "pawl_signal",
        "select pawl.signal($1, $2, coalesce($3, json '{}'))",
        {PW_TYPE_UUID, PW_TYPE_TEXT, PW_TYPE_JSON}, false},
    [PW_STMT_EMIT] = {PW_STMT_EMIT, "pawl_emit",
        "select answer, "
        "case when answer = 'already' then pg_logical_emit_message(true, 'pawl', '') end "
        "from pawl.emit($1, coalesce($2, json '{}'), coalesce($3, ''), coalesce($4, ''), $5)",
        {PW_TYPE_TEXT, PW_TYPE_JSON, PW_TYPE_TEXT, PW_TYPE_TEXT, PW_TYPE_UUID}, false},
    [PW_STMT_CANCEL] = {PW_STMT_CANCEL, "pawl_cancel",
        "select answer, case when answer in ('already', 'CANCELLED') "
        "then pg_logical_emit_message(true, 'pawl', '') end "
        "from pawl.cancel(array[$1], $2, $3)",
        {PW_TYPE_UUID, PW_TYPE_TEXT, PW_TYPE_BOOL}, false},
    [PW_STMT_WAKE] = {PW_STMT_WAKE, "pawl_wake",
        "select answer, reason from pawl.wake(array[$1], $2, $3)",
        {PW_TYPE_UUID, PW_TYPE_TEXT, PW_TYPE_TEXT}, false},
    [PW_STMT_CLOCK] = {PW_STMT_CLOCK, "pawl_clock",
        "select (1000000 * extract(epoch from pawl.now()))::bigint, pawl.epoch()", {0}, false},
    [PW_STMT_ACT_AS_TOKEN] = {PW_STMT_ACT_AS_TOKEN, "pawl_act_as_token",
        "select from pawl.act_as_token($1)", {PW_TYPE_BYTEA}, false},
    [PW_STMT_TEST_ADVANCE] = {PW_STMT_TEST_ADVANCE, "pawl_test_advance",
        "select pawl.test_clock_advance($1::float8 * interval '1 ms') is not null", {PW_TYPE_INT8},
        false},

    /*
     * The verbs of pawl_client_call(). Arguments are texts that the server reads as the verb's own types. An argument that is not given
     * is null. If the default is another value, the statement contains it.
     */
    [PW_STMT_CALL_NOW] = {PW_STMT_CALL_NOW, "pawl_call_now", "select * from pawl.now()", {0}, true},
    [PW_STMT_CALL_EPOCH] = {PW_STMT_CALL_EPOCH, "pawl_call_epoch", "select * from pawl.epoch()",
        {0}, true},
    [PW_STMT_CALL_ERRORS] = {PW_STMT_CALL_ERRORS, "pawl_call_errors", "select * from pawl.errors()",
        {0}, true},
    [PW_STMT_CALL_MAKE_ID] = {PW_STMT_CALL_MAKE_ID, "pawl_call_make_id",
        "select * from pawl.make_id()", {0}, true},
    [PW_STMT_CALL_SLOT_OF] = {PW_STMT_CALL_SLOT_OF, "pawl_call_slot_of",
        "select * from pawl.slot_of(run => $1)", {0}, true},
    [PW_STMT_CALL_TRIGGER] = {PW_STMT_CALL_TRIGGER, "pawl_call_trigger",
        "select * from pawl.trigger(workflow => $1, input => coalesce($2, json '{}'), key => $3, "
        "tenant => coalesce($4, ''), priority => $5, delay => $6, metadata => $7, id => $8, "
        "key_ttl => $9, key_while_active => coalesce($10, false), limit_key => $11, "
        "id_is_new => coalesce($12, false), tags => $13, expires => $14, "
        "replace => coalesce($15, false), debounce => $16, debounce_max => $17)",
        {0}, true},
    [PW_STMT_CALL_TRIGGER_MANY] = {PW_STMT_CALL_TRIGGER_MANY, "pawl_call_trigger_many",
        "select * from pawl.trigger_many(workflow => $1, inputs => $2, keys => $3, tenant => "
        "coalesce($4, ''), priority => $5, delay => $6, metadata => $7, ids => $8, key_ttl "
        "=> $9, key_while_active => coalesce($10, false), limit_keys => $11, "
        "ids_are_new => coalesce($12, false), tags => $13, expires => $14)",
        {0}, true},
    [PW_STMT_CALL_EMIT] = {PW_STMT_CALL_EMIT, "pawl_call_emit",
        "select * from pawl.emit(topic => $1, payload => coalesce($2, json '{}'), key => "
        "coalesce($3, ''), tenant => coalesce($4, ''), id => $5)",
        {0}, true},
    [PW_STMT_CALL_SIGNAL] = {PW_STMT_CALL_SIGNAL, "pawl_call_signal",
        "select * from pawl.signal(run => $1, name => $2, payload => coalesce($3, json '{}'))", {0},
        true},
    [PW_STMT_CALL_CANCEL] = {PW_STMT_CALL_CANCEL, "pawl_call_cancel",
        "select * from pawl.cancel(runs => $1, why => $2, rollback => coalesce($3, false), "
        "by => $4)",
        {0}, true},
    [PW_STMT_CALL_CREATE_WORKFLOW] = {PW_STMT_CALL_CREATE_WORKFLOW, "pawl_call_create_workflow",
        "select * from pawl.create_workflow(name => $1, runtime => $2, priority => "
        "coalesce($3, 100), max_attempts => coalesce($4, 5), base => coalesce($5, interval "
        "'1 s'), factor => coalesce($6, float8 '2'), cap => coalesce($7, interval '10 min'), "
        "jitter "
        "=> coalesce($8, float8 '0.2'), run_timeout => $9, step_timeout => $10, strict_order => "
        "coalesce($11, false), description => $12, key_limit => $13, fair => coalesce($14, "
        "false), input_schema => $15)",
        {0}, true},
    [PW_STMT_CALL_ALTER_WORKFLOW] = {PW_STMT_CALL_ALTER_WORKFLOW, "pawl_call_alter_workflow",
        "select * from pawl.alter_workflow(name => $1, options => $2)", {0}, true},
    [PW_STMT_CALL_CREATE_FLOW] = {PW_STMT_CALL_CREATE_FLOW, "pawl_call_create_flow",
        "select * from pawl.create_flow(name => $1, runtime => $2, priority => coalesce($3, 100), "
        "max_attempts => coalesce($4, 5), base => coalesce($5, interval '1 s'), factor => "
        "coalesce($6, float8 '2'), cap => coalesce($7, interval '10 min'), jitter => coalesce($8, "
        "float8 '0.2'), run_timeout => $9, step_timeout => $10, description => $11, "
        "input_schema => $12)",
        {0}, true},
    [PW_STMT_CALL_ADD_STEP] = {PW_STMT_CALL_ADD_STEP, "pawl_call_add_step",
        "select * from pawl.add_step(flow => $1, step => $2, deps => coalesce($3, '{}'::text[]), "
        "options => coalesce($4, json '{}'))",
        {0}, true},
    [PW_STMT_CALL_APPLY_FLOW] = {PW_STMT_CALL_APPLY_FLOW, "pawl_call_apply_flow",
        "select * from pawl.apply_flow(definition => $1, only_check => coalesce($2, false))", {0},
        true},
    [PW_STMT_CALL_DELETE_FLOW] = {PW_STMT_CALL_DELETE_FLOW, "pawl_call_delete_flow",
        "select * from pawl.delete_flow(name => $1)", {0}, true},
    [PW_STMT_CALL_KILL] = {PW_STMT_CALL_KILL, "pawl_call_kill",
        "select * from pawl.kill(runs => $1, why => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_PAUSE] = {PW_STMT_CALL_PAUSE, "pawl_call_pause",
        "select * from pawl.pause(runs => $1, why => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_RESUME] = {PW_STMT_CALL_RESUME, "pawl_call_resume",
        "select * from pawl.resume(runs => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_WAKE] = {PW_STMT_CALL_WAKE, "pawl_call_wake",
        "select * from pawl.wake(runs => $1, step => $2, why => $3, by => $4)", {0}, true},
    [PW_STMT_CALL_RETRY] = {PW_STMT_CALL_RETRY, "pawl_call_retry",
        "select * from pawl.retry(runs => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_ROLLBACK_RETRY] = {PW_STMT_CALL_ROLLBACK_RETRY, "pawl_call_rollback_retry",
        "select * from pawl.rollback_retry(runs => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_ROLLBACK_SKIP] = {PW_STMT_CALL_ROLLBACK_SKIP, "pawl_call_rollback_skip",
        "select * from pawl.rollback_skip(run => $1, step => $2, why => $3, by => $4)", {0}, true},
    [PW_STMT_CALL_FORK] = {PW_STMT_CALL_FORK, "pawl_call_fork",
        "select * from pawl.fork(run => $1, from_step => $2, input => $3, by => $4)", {0}, true},
    [PW_STMT_CALL_PURGE] = {PW_STMT_CALL_PURGE, "pawl_call_purge",
        "select * from pawl.purge(runs => $1, why => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_PAUSE_WORKFLOW] = {PW_STMT_CALL_PAUSE_WORKFLOW, "pawl_call_pause_workflow",
        "select * from pawl.pause_workflow(name => $1, why => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_RESUME_WORKFLOW] = {PW_STMT_CALL_RESUME_WORKFLOW, "pawl_call_resume_workflow",
        "select * from pawl.resume_workflow(name => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_PREVIEW_BULK] = {PW_STMT_CALL_PREVIEW_BULK, "pawl_call_preview_bulk",
        "select * from pawl.preview_bulk(act => $1, filter => $2)", {0}, true},
    [PW_STMT_CALL_BEGIN_BULK] = {PW_STMT_CALL_BEGIN_BULK, "pawl_call_begin_bulk",
        "select * from pawl.begin_bulk(act => $1, filter => $2, rate => coalesce($3, 100), why => "
        "$4, by => $5, digest => $6, rollback => coalesce($7, false), step => $8)",
        {0}, true},
    [PW_STMT_CALL_STOP_BULK] = {PW_STMT_CALL_STOP_BULK, "pawl_call_stop_bulk",
        "select * from pawl.stop_bulk(bulk => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_LIST_BULKS] = {PW_STMT_CALL_LIST_BULKS, "pawl_call_list_bulks",
        "select * from pawl.list_bulks(only_running => coalesce($1, false), cursor => $2, max_rows "
        "=> coalesce($3, 50))",
        {0}, true},
    [PW_STMT_CALL_PAUSE_ALL] = {PW_STMT_CALL_PAUSE_ALL, "pawl_call_pause_all",
        "select * from pawl.pause_all(why => $1, by => $2, refuse_triggers => coalesce($3, false))",
        {0}, true},
    [PW_STMT_CALL_RESUME_ALL] = {PW_STMT_CALL_RESUME_ALL, "pawl_call_resume_all",
        "select * from pawl.resume_all(by => $1)", {0}, true},
    [PW_STMT_CALL_PAUSE_QUEUE] = {PW_STMT_CALL_PAUSE_QUEUE, "pawl_call_pause_queue",
        "select * from pawl.pause_queue(name => $1, why => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_RESUME_QUEUE] = {PW_STMT_CALL_RESUME_QUEUE, "pawl_call_resume_queue",
        "select * from pawl.resume_queue(name => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_DRAIN_WORKER] = {PW_STMT_CALL_DRAIN_WORKER, "pawl_call_drain_worker",
        "select * from pawl.drain_worker(session => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_RAISE_EPOCH] = {PW_STMT_CALL_RAISE_EPOCH, "pawl_call_raise_epoch",
        "select * from pawl.raise_epoch(why => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_SET_RETENTION] = {PW_STMT_CALL_SET_RETENTION, "pawl_call_set_retention",
        "select * from pawl.set_retention(run_retention => $1, event_retention => $2, by => "
        "$3)",
        {0}, true},
    [PW_STMT_CALL_SET_SESSION_LIMIT] = {PW_STMT_CALL_SET_SESSION_LIMIT,
        "pawl_call_set_session_limit",
        "select * from pawl.set_session_limit(sessions => $1, by => $2)", {0}, true},
    [PW_STMT_CALL_SET_NOTIFY] = {PW_STMT_CALL_SET_NOTIFY, "pawl_call_set_notify",
        "select * from pawl.set_notify(notify => $1, role_name => $2, by => $3)", {0}, true},
    [PW_STMT_CALL_SET_LANE] = {PW_STMT_CALL_SET_LANE, "pawl_call_set_lane",
        "select * from pawl.set_lane(workflow => $1, limit_key => $2, key_limit => $3, weight => "
        "$4, "
        "why => $5, by => $6, tenant => coalesce($7, ''), key_rate => $8, key_burst => $9)",
        {0}, true},
    [PW_STMT_CALL_PAUSE_LANE] = {PW_STMT_CALL_PAUSE_LANE, "pawl_call_pause_lane",
        "select * from pawl.pause_lane(workflow => $1, limit_key => $2, why => $3, by => $4, "
        "tenant => coalesce($5, ''))",
        {0}, true},
    [PW_STMT_CALL_RESUME_LANE] = {PW_STMT_CALL_RESUME_LANE, "pawl_call_resume_lane",
        "select * from pawl.resume_lane(workflow => $1, limit_key => $2, by => $3, tenant => "
        "coalesce($4, ''))",
        {0}, true},
    [PW_STMT_CALL_CREATE_SCHEDULE] = {PW_STMT_CALL_CREATE_SCHEDULE, "pawl_call_create_schedule",
        "select * from pawl.create_schedule(name => $1, workflow => $2, cron => $3, every => $4, "
        "at => $5, zone => coalesce($6, 'UTC'), input => coalesce($7, json '{}'), tenant => "
        "coalesce($8, ''), priority => $9, metadata => $10, limit_key => $11, catch_up => "
        "coalesce($12, 'last'), catch_up_within => coalesce($13, interval '1 day'), overlap => "
        "coalesce($14, 'skip'), jitter => coalesce($15, interval '0'), starts_at => $16, ends_at "
        "=> $17)",
        {0}, true},
    [PW_STMT_CALL_PAUSE_SCHEDULE] = {PW_STMT_CALL_PAUSE_SCHEDULE, "pawl_call_pause_schedule",
        "select * from pawl.pause_schedule(name => $1, why => $2, by => $3, tenant => "
        "coalesce($4, ''))",
        {0}, true},
    [PW_STMT_CALL_RESUME_SCHEDULE] = {PW_STMT_CALL_RESUME_SCHEDULE, "pawl_call_resume_schedule",
        "select * from pawl.resume_schedule(name => $1, by => $2, catch_up => $3, tenant => "
        "coalesce($4, ''))",
        {0}, true},
    [PW_STMT_CALL_DELETE_SCHEDULE] = {PW_STMT_CALL_DELETE_SCHEDULE, "pawl_call_delete_schedule",
        "select * from pawl.delete_schedule(name => $1, by => $2, tenant => coalesce($3, ''))", {0},
        true},
    [PW_STMT_CALL_BACKFILL_SCHEDULE] = {PW_STMT_CALL_BACKFILL_SCHEDULE,
        "pawl_call_backfill_schedule",
        "select * from pawl.backfill_schedule(name => $1, since => $2, until => $3, max_rows => "
        "coalesce($4, 100), tenant => coalesce($5, ''), by => $6)",
        {0}, true},
    [PW_STMT_CALL_CREATE_SUBSCRIPTION] = {PW_STMT_CALL_CREATE_SUBSCRIPTION,
        "pawl_call_create_subscription",
        "select * from pawl.create_subscription(name => $1, topic => $2, workflow => $3, key => "
        "$4, match => $5, tenant => coalesce($6, ''), input => coalesce($7, 'payload'))",
        {0}, true},
    [PW_STMT_CALL_PAUSE_SUBSCRIPTION] = {PW_STMT_CALL_PAUSE_SUBSCRIPTION,
        "pawl_call_pause_subscription",
        "select * from pawl.pause_subscription(name => $1, why => $2, by => $3, tenant => "
        "coalesce($4, ''))",
        {0}, true},
    [PW_STMT_CALL_RESUME_SUBSCRIPTION] = {PW_STMT_CALL_RESUME_SUBSCRIPTION,
        "pawl_call_resume_subscription",
        "select * from pawl.resume_subscription(name => $1, by => $2, tenant => coalesce($3, ''))",
        {0}, true},
    [PW_STMT_CALL_DELETE_SUBSCRIPTION] = {PW_STMT_CALL_DELETE_SUBSCRIPTION,
        "pawl_call_delete_subscription",
        "select * from pawl.delete_subscription(name => $1, by => $2, tenant => coalesce($3, ''))",
        {0}, true},
    [PW_STMT_CALL_CREATE_TOKEN] = {PW_STMT_CALL_CREATE_TOKEN, "pawl_call_create_token",
        "select * from pawl.create_token(name => $1, digest => $2, rights => $3, tenant => $4, "
        "expires => $5, by => $6)",
        {0}, true},
    [PW_STMT_CALL_REVOKE_TOKEN] = {PW_STMT_CALL_REVOKE_TOKEN, "pawl_call_revoke_token",
        "select * from pawl.revoke_token(name => $1, by => $2, tenant => $3)", {0}, true},
    [PW_STMT_CALL_ACT_AS_TOKEN] = {PW_STMT_CALL_ACT_AS_TOKEN, "pawl_call_act_as_token",
        "select * from pawl.act_as_token(digest => $1)", {0}, true},
    [PW_STMT_CALL_HOUSEKEEP] = {PW_STMT_CALL_HOUSEKEEP, "pawl_call_housekeep",
        "select * from pawl.housekeep()", {0}, true},
    [PW_STMT_CALL_TICK] = {PW_STMT_CALL_TICK, "pawl_call_tick",
        "call pawl.tick(force => coalesce($1, false))", {0}, true},
    [PW_STMT_CALL_APPROVE] = {PW_STMT_CALL_APPROVE, "pawl_call_approve",
        "select * from pawl.approve(run => $1, name => $2, by => $3, why => $4, payload => "
        "coalesce($5, json '{}'))",
        {0}, true},
    [PW_STMT_CALL_REJECT] = {PW_STMT_CALL_REJECT, "pawl_call_reject",
        "select * from pawl.reject(run => $1, name => $2, by => $3, why => $4, payload => "
        "coalesce($5, json '{}'))",
        {0}, true},
    [PW_STMT_CALL_GET_RUN] = {PW_STMT_CALL_GET_RUN, "pawl_call_get_run",
        "select * from pawl.get_run(run => $1)", {0}, true},
    [PW_STMT_CALL_RESULT] = {PW_STMT_CALL_RESULT, "pawl_call_result",
        "select * from pawl.result(run => $1)", {0}, true},
    [PW_STMT_CALL_RESULTS] = {PW_STMT_CALL_RESULTS, "pawl_call_results",
        "select * from pawl.results(runs => $1)", {0}, true},
    [PW_STMT_CALL_LIST_RUNS] = {PW_STMT_CALL_LIST_RUNS, "pawl_call_list_runs",
        "select * from pawl.list_runs(only_workflow => $1, only_status => $2, only_tenant => "
        "$3, only_key => $4, only_tag => $5, since => $6, before => $7, cursor => $8, max_rows => "
        "coalesce($9, 50))",
        {0}, true},
    [PW_STMT_CALL_HISTORY] = {PW_STMT_CALL_HISTORY, "pawl_call_history",
        "select * from pawl.history(run => $1)", {0}, true},
    [PW_STMT_CALL_NOTES] = {PW_STMT_CALL_NOTES, "pawl_call_notes",
        "select * from pawl.notes(run => $1, after => coalesce($2, bigint '0'), max_rows => "
        "coalesce($3, "
        "1000))",
        {0}, true},
    [PW_STMT_CALL_FOLLOW] = {PW_STMT_CALL_FOLLOW, "pawl_call_follow",
        "select * from pawl.follow(run => $1, after => coalesce($2, bigint '0'), task => "
        "coalesce($3, 0), max_rows => coalesce($4, 1000))",
        {0}, true},
    [PW_STMT_CALL_LIST_WAITS] = {PW_STMT_CALL_LIST_WAITS, "pawl_call_list_waits",
        "select * from pawl.list_waits(only_run => $1, only_approvals => coalesce($2, false), "
        "only_tenant "
        "=> $3, cursor => $4, max_rows => coalesce($5, 100))",
        {0}, true},
    [PW_STMT_CALL_LIST_PAUSES] = {PW_STMT_CALL_LIST_PAUSES, "pawl_call_list_pauses",
        "select * from pawl.list_pauses()", {0}, true},
    [PW_STMT_CALL_LIST_QUEUES] = {PW_STMT_CALL_LIST_QUEUES, "pawl_call_list_queues",
        "select * from pawl.list_queues(max_rows => coalesce($1, 1000))", {0}, true},
    [PW_STMT_CALL_LIST_LANES] = {PW_STMT_CALL_LIST_LANES, "pawl_call_list_lanes",
        "select * from pawl.list_lanes(workflow => $1, only_key => $2, only_tenant => $3, cursor "
        "=> $4, max_rows => coalesce($5, 100))",
        {0}, true},
    [PW_STMT_CALL_LIST_WORKERS] = {PW_STMT_CALL_LIST_WORKERS, "pawl_call_list_workers",
        "select * from pawl.list_workers(ended => coalesce($1, false), max_rows => coalesce($2, "
        "1000))",
        {0}, true},
    [PW_STMT_CALL_LIST_WORKFLOWS] = {PW_STMT_CALL_LIST_WORKFLOWS, "pawl_call_list_workflows",
        "select * from pawl.list_workflows(only_workflow => $1, cursor => $2, max_rows => "
        "coalesce($3, "
        "100), only_flows => coalesce($4, false))",
        {0}, true},
    [PW_STMT_CALL_GET_WORKFLOW] = {PW_STMT_CALL_GET_WORKFLOW, "pawl_call_get_workflow",
        "select * from pawl.get_workflow(name => $1)", {0}, true},
    [PW_STMT_CALL_LIST_STEPS] = {PW_STMT_CALL_LIST_STEPS, "pawl_call_list_steps",
        "select * from pawl.list_steps(flow => $1)", {0}, true},
    [PW_STMT_CALL_LIST_CHILDREN] = {PW_STMT_CALL_LIST_CHILDREN, "pawl_call_list_children",
        "select * from pawl.list_children(run => $1, cursor => $2, max_rows => coalesce($3, 100))",
        {0}, true},
    [PW_STMT_CALL_LIST_FAILURES] = {PW_STMT_CALL_LIST_FAILURES, "pawl_call_list_failures",
        "select * from pawl.list_failures(since => $1, only_workflow => $2, only_tenant => $3, "
        "cursor => $4, max_rows => coalesce($5, 100))",
        {0}, true},
    [PW_STMT_CALL_COUNT_RUNS] = {PW_STMT_CALL_COUNT_RUNS, "pawl_call_count_runs",
        "select * from pawl.count_runs(only_workflow => $1, only_tenant => $2, since => "
        "coalesce($3, interval '1 day'))",
        {0}, true},
    [PW_STMT_CALL_FIND] = {PW_STMT_CALL_FIND, "pawl_call_find",
        "select * from pawl.find(word => $1, only_tenant => $2, max_rows => coalesce($3, 20))", {0},
        true},
    [PW_STMT_CALL_LIST_STATES] = {PW_STMT_CALL_LIST_STATES, "pawl_call_list_states",
        "select * from pawl.list_states(runs => $1)", {0}, true},
    [PW_STMT_CALL_LIST_ENDED] = {PW_STMT_CALL_LIST_ENDED, "pawl_call_list_ended",
        "select * from pawl.list_ended(since => $1, before => $2, only_tenant => $3, cursor => $4, "
        "max_rows => coalesce($5, 1000))",
        {0}, true},
    [PW_STMT_CALL_LIST_EVENTS] = {PW_STMT_CALL_LIST_EVENTS, "pawl_call_list_events",
        "select * from pawl.list_events(only_topic => $1, only_key => $2, only_tenant => $3, since "
        "=> $4, before => $5, cursor => $6, max_rows => coalesce($7, 50))",
        {0}, true},
    [PW_STMT_CALL_LIST_SCHEDULES] = {PW_STMT_CALL_LIST_SCHEDULES, "pawl_call_list_schedules",
        "select * from pawl.list_schedules(only_schedule => $1, only_tenant => $2, only_workflow "
        "=> $3, cursor => $4, max_rows => coalesce($5, 100))",
        {0}, true},
    [PW_STMT_CALL_LIST_SKIPS] = {PW_STMT_CALL_LIST_SKIPS, "pawl_call_list_skips",
        "select * from pawl.list_skips(name => $1, tenant => coalesce($2, ''), before => $3, "
        "max_rows => coalesce($4, 100))",
        {0}, true},
    [PW_STMT_CALL_PREVIEW_SCHEDULE] = {PW_STMT_CALL_PREVIEW_SCHEDULE, "pawl_call_preview_schedule",
        "select * from pawl.preview_schedule(cron => $1, zone => coalesce($2, 'UTC'), name => $3, "
        "since => $4, max_rows => coalesce($5, 10), tenant => coalesce($6, ''))",
        {0}, true},
    [PW_STMT_CALL_WHY_SCHEDULE] = {PW_STMT_CALL_WHY_SCHEDULE, "pawl_call_why_schedule",
        "select * from pawl.why_schedule(name => $1, tenant => coalesce($2, ''))", {0}, true},
    [PW_STMT_CALL_LIST_SUBSCRIPTIONS] = {PW_STMT_CALL_LIST_SUBSCRIPTIONS,
        "pawl_call_list_subscriptions",
        "select * from pawl.list_subscriptions(only_subscription => $1, only_tenant => $2, "
        "only_topic => $3, only_workflow => $4, cursor => $5, max_rows => coalesce($6, 100))",
        {0}, true},
    [PW_STMT_CALL_LIST_TOKENS] = {PW_STMT_CALL_LIST_TOKENS, "pawl_call_list_tokens",
        "select * from pawl.list_tokens(cursor => $1, max_rows => coalesce($2, 100))", {0}, true},
    [PW_STMT_CALL_METRICS] = {PW_STMT_CALL_METRICS, "pawl_call_metrics",
        "select * from pawl.metrics(only_workflow => $1, since => coalesce($2, interval '1 "
        "h'))",
        {0}, true},
    [PW_STMT_CALL_PROMETHEUS] = {PW_STMT_CALL_PROMETHEUS, "pawl_call_prometheus",
        "select * from pawl.prometheus()", {0}, true},
    [PW_STMT_CALL_LIST_GRANTS] = {PW_STMT_CALL_LIST_GRANTS, "pawl_call_list_grants",
        "select * from pawl.list_grants()", {0}, true},
    [PW_STMT_CALL_LIST_ACTIONS] = {PW_STMT_CALL_LIST_ACTIONS, "pawl_call_list_actions",
        "select * from pawl.list_actions(after => coalesce($1, bigint '0'), max_rows => "
        "coalesce($2, "
        "100))",
        {0}, true},
    [PW_STMT_CALL_WHY] = {PW_STMT_CALL_WHY, "pawl_call_why", "select * from pawl.why(run => $1)",
        {0}, true},
    [PW_STMT_CALL_DOCTOR] = {PW_STMT_CALL_DOCTOR, "pawl_call_doctor", "select * from pawl.doctor()",
        {0}, true},
    [PW_STMT_CALL_GRANT_ROLE] = {PW_STMT_CALL_GRANT_ROLE, "pawl_call_grant_role",
        "select * from pawl.grant_role(role_name => $1, privilege_set => $2, tenant => $3)", {0},
        true},
    [PW_STMT_CALL_REVOKE_ROLE] = {PW_STMT_CALL_REVOKE_ROLE, "pawl_call_revoke_role",
        "select * from pawl.revoke_role(role_name => $1, privilege_set => $2)", {0}, true},
};

const struct pw_stmt *
pw_statement(int number)
{
    return &statements[number];
}
