/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs as SQL statements, prepared once for each connection. */
#include "player.h"

#include "harness.h"

#define ONE                                                                             \
    "select concat_ws(' ', answer, coalesce((value::jsonb - 'delay_ms')::text, '-')), " \
    "coalesce(value ->> 'child', '-') from pawl."

/* Each statement answers with one text, as the oracle writes it; a second column has what the engine chose. */
static const struct statement {
    const char *name;
    int parameters;
    const char *before;
    const char *after;
} statements[CALL_VERBS] = {
    [CALL_ADVANCE] = {"advance", 1, "select 'ok' from pawl.test_clock_advance(", ")"},
    [CALL_CREATE_WORKFLOW] = {"create_workflow", 14, "select pawl.create_workflow(", ")"},
    [CALL_ALTER_WORKFLOW] = {"alter_workflow", 2, "select 'ok' from pawl.alter_workflow(", ")"},
    [CALL_CREATE_FLOW] = {"create_flow", 10, "select pawl.create_flow(", ")"},
    [CALL_ADD_STEP] = {"add_step", 4, "select pawl.add_step(", ")"},
    [CALL_TRIGGER] = {"trigger", 17,
        "select concat_ws(' ', run_id, created, handled), run_id from pawl.trigger(", ")"},
    [CALL_TRIGGER_MANY] = {"trigger_many", 14,
        "select string_agg(concat_ws(' ', item, run_id, created, handled) || e'\\n', '' order by "
        "item), "
        "string_agg(run_id::text, ' ' order by item) from pawl.trigger_many(",
        ")"},
    [CALL_REGISTER] = {"register", 5,
        "select concat_ws(' ', session, epoch, queues), session from pawl.register(", ")"},
    [CALL_HEARTBEAT] = {"heartbeat", 2,
        "select concat(min(epoch), ' ', oracle.us(min(lease_until)), string_agg(' ' || run_id || "
        "'/' || task || '=' || notice, '' order by run_id, task), max(' drain') filter (where "
        "notice = "
        "'drain')) "
        "from pawl.heartbeat(",
        ")"},
    [CALL_REST] = {"rest", 2, "select 'ok', tick_due from pawl.rest(", ")"},
    [CALL_LEAVE] = {"leave", 1, "select pawl.leave(", ")"},
    [CALL_DRAIN_WORKER] = {"drain_worker", 1, "select pawl.drain_worker(", ")"},
    [CALL_HELD] = {"held", 1,
        "select coalesce(string_agg(concat_ws(' ', run_id || '/' || task, fence, workflow, "
        "execution, "
        "oracle.us(claimed_at), coalesce(notice, '-')) || e'\\n', '' order by run_id, task), '') "
        "from pawl.held(",
        ")"},
    [CALL_CLAIM] = {"claim", 5,
        "select coalesce(string_agg(concat_ws(' ', run_id || '/' || task, fence, workflow, round, "
        "execution, '''' "
        "|| "
        "tenant || '''', rolling_back, suspect, input::jsonb, coalesce(metadata::jsonb, 'null'), "
        "coalesce(step_timeout_ms, -1), coalesce(run_timeout_ms, -1)) || e'\\n' || "
        "oracle.record(record, rolling_back), '' order by run_id, task), ''), coalesce(string_agg("
        "run_id || '/' || task, ' '), '') from pawl.claim(",
        ")"},
    [CALL_COMMIT] = {"commit", 10,
        "select string_agg(concat_ws(' ', item, answer, coalesce((value::jsonb - "
        "'delay_ms')::text, '-')) || e'\\n', '' order by item), string_agg(coalesce(value ->> "
        "'child', value -> 'output' ->> 'run_id', '-'), ' ' order by item) from pawl.commit(",
        ")"},
    [CALL_COMMIT_EACH] = {"commit_each", 10,
        "select string_agg(concat_ws(' ', item, answer, coalesce((value::jsonb - "
        "'delay_ms')::text, '-')) || e'\\n', '' order by item), string_agg(coalesce(value ->> "
        "'child', value -> 'output' ->> 'run_id', '-'), ' ' order by item) "
        "from pawl.commit_each(",
        ")"},
    [CALL_STEP] = {"step", 6, ONE "step(", ")"},
    [CALL_COMPLETE] = {"complete", 5, ONE "complete(", ")"},
    [CALL_FAIL] = {"fail", 6, ONE "fail(", ")"},
    [CALL_SLEEP] = {"sleep", 6, ONE "sleep(", ")"},
    [CALL_WAIT_EVENT] = {"wait_event", 9, ONE "wait_event(", ")"},
    [CALL_WAIT_SIGNAL] = {"wait_signal", 6, ONE "wait_signal(", ")"},
    [CALL_RELEASE] = {"release", 4, ONE "release(", ")"},
    [CALL_RECORD_STEP] = {"record_step", 2, "select pawl.record_step(", ")"},
    [CALL_HOUSEKEEP] = {"housekeep", 0, "select 'ok' from oracle.housekeep(", ")"},
    [CALL_TICK] = {"tick", 0, "select oracle.tick(", ")"},
    [CALL_RETAIN] = {"retain", 1, "select oracle.retain(", ")"},
    [CALL_EMIT] = {"emit", 5,
        "select concat_ws(' ', event_id, answer, woken), event_id from pawl.emit(", ")"},
    [CALL_SIGNAL] = {"signal", 3, "select pawl.signal(", ")"},
    [CALL_APPROVE] = {"approve", 5, "select pawl.approve(", ")"},
    [CALL_REJECT] = {"reject", 5, "select pawl.reject(", ")"},
    [CALL_CANCEL] = {"cancel", 4, "select answer from pawl.cancel(", ")"},
    [CALL_KILL] = {"kill", 3, "select answer from pawl.kill(", ")"},
    [CALL_PAUSE] = {"pause", 3, "select answer from pawl.pause(", ")"},
    [CALL_RESUME] = {"resume", 2, "select answer from pawl.resume(", ")"},
    [CALL_WAKE] = {"wake", 4, "select answer from pawl.wake(", ")"},
    [CALL_RETRY] = {"retry", 2, "select answer from pawl.retry(", ")"},
    [CALL_ROLLBACK_RETRY] = {"rollback_retry", 2, "select answer from pawl.rollback_retry(", ")"},
    [CALL_ROLLBACK_SKIP] = {"rollback_skip", 4, "select pawl.rollback_skip(", ")"},
    [CALL_FORK] = {"fork", 4,
        "select case when answer = 'ok' then concat_ws(' ', run_id, copied) else answer end, "
        "run_id from pawl.fork(",
        ")"},
    [CALL_PURGE] = {"purge", 3, "select answer from pawl.purge(", ")"},
    [CALL_PAUSE_WORKFLOW] = {"pause_workflow", 1, "select pawl.pause_workflow(", ")"},
    [CALL_RESUME_WORKFLOW] = {"resume_workflow", 1, "select pawl.resume_workflow(", ")"},
    [CALL_PAUSE_QUEUE] = {"pause_queue", 1, "select pawl.pause_queue(", ")"},
    [CALL_RESUME_QUEUE] = {"resume_queue", 1, "select pawl.resume_queue(", ")"},
    [CALL_PAUSE_ALL] = {"pause_all", 1, "select pawl.pause_all('test', 'test', ", ")"},
    [CALL_RESUME_ALL] = {"resume_all", 0, "select pawl.resume_all(", ")"},
    [CALL_RAISE_EPOCH] = {"raise_epoch", 1, "select pawl.raise_epoch(", ")"},
    [CALL_CREATE_SCHEDULE] = {"create_schedule", 16, "select oracle.create_schedule(", ")"},
    [CALL_PAUSE_SCHEDULE] = {"pause_schedule", 2,
        "select pawl.pause_schedule(why => 'because', by => 'op', name => s.name, tenant => "
        "s.tenant) from oracle.schedule_name(",
        ") s"},
    [CALL_RESUME_SCHEDULE] = {"resume_schedule", 3,
        "select pawl.resume_schedule(s.name, 'op', s.catch_up, s.tenant) from "
        "oracle.schedule_name(",
        ") s"},
    [CALL_DELETE_SCHEDULE] = {"delete_schedule", 2,
        "select pawl.delete_schedule(s.name, 'op', s.tenant) from oracle.schedule_name(", ") s"},
    [CALL_BACKFILL_SCHEDULE] = {"backfill_schedule", 5,
        "select coalesce(string_agg(concat_ws(' ', oracle.us(at), run_id, created) || e'\\n', '' "
        "order by at), '') from oracle.backfill_schedule(",
        ")"},
    [CALL_BEGIN_BULK] = {"begin_bulk", 4,
        "select pawl.begin_bulk(b.act, b.filter, b.rate, 'because', 'op', b.digest) from "
        "oracle.bulk(",
        ") b"},
    [CALL_STOP_BULK] = {"stop_bulk", 1, "select pawl.stop_bulk(by => 'op', bulk => ", ")"},
    [CALL_SET_LANE] = {"set_lane", 5,
        "select pawl.set_lane(l.workflow, l.limit_key, l.key_limit, l.weight, 'because', 'op', "
        "l.tenant) from oracle.lane(",
        ") l"},
    [CALL_PAUSE_LANE] = {"pause_lane", 5,
        "select pawl.pause_lane(l.workflow, l.limit_key, 'because', 'op', l.tenant) from "
        "oracle.lane(",
        ") l"},
    [CALL_RESUME_LANE] = {"resume_lane", 5,
        "select pawl.resume_lane(l.workflow, l.limit_key, 'op', l.tenant) from oracle.lane(",
        ") l"},
    [CALL_CREATE_SUBSCRIPTION] = {"create_subscription", 7, "select pawl.create_subscription(",
        ")"},
    [CALL_PAUSE_SUBSCRIPTION] = {"pause_subscription", 2,
        "select pawl.pause_subscription(s.name, 'because', 'op', s.tenant) from "
        "oracle.schedule_name(",
        ") s"},
    [CALL_RESUME_SUBSCRIPTION] = {"resume_subscription", 2,
        "select pawl.resume_subscription(s.name, 'op', s.tenant) from oracle.schedule_name(",
        ") s"},
    [CALL_DELETE_SUBSCRIPTION] = {"delete_subscription", 2,
        "select pawl.delete_subscription(s.name, 'op', s.tenant) from oracle.schedule_name(",
        ") s"},
};

bool
call_is_one(enum call_verb verb)
{
    return verb >= CALL_STEP && verb <= CALL_RELEASE;
}

const char *
call_verb_name(enum call_verb verb)
{
    return statements[verb].name;
}

void
player_prepare(PGconn *conn)
{
    struct pw_buf sql;

    pw_buf_init(&sql, 65536);
    for (int verb = 0; verb < CALL_VERBS; verb++) {
        const struct statement *s = &statements[verb];

        pw_buf_clear(&sql);
        pw_buf_addf(&sql, "prepare %s as %s", s->name, s->before);
        for (int i = 1; i <= s->parameters; i++)
            pw_buf_addf(&sql, "%s$%d", i > 1 ? ", " : "", i);
        pw_buf_adds(&sql, s->after);
        bench_do(conn, pw_buf_text(&sql));
    }
    pw_buf_done(&sql);
    bench_do(conn, "prepare chance as select setseed($1)");
    bench_do(conn,
        "prepare show as select string_agg(oracle.show_run(r), '' order by r) "
        "from unnest($1::uuid[]) r");
    bench_do(conn,
        "prepare chosen as select (select coalesce(t.paused ->> 'reason', t.reason) from "
        "pawl_data.task "
        "t where t.run_id = $1 and t.task_no = $3), (select oracle.us((t.retries -> $2 ->> "
        "'due')::timestamptz) from pawl_data.task t where t.run_id = $1 and t.task_no = $3), "
        "(select "
        "s.source_id from (select s.* from pawl_data.step s where s.run_id = $1 union all select "
        "k.* "
        "from pawl_data.step_kept k where k.run_id = $1) s where s.task_no = $3 and s.name = $2 "
        "order "
        "by "
        "s.round desc limit 1)");
    bench_do(conn, "prepare children as select oracle.children($1, $2, $3)");
    bench_do(conn,
        "prepare scheduled as select k.run_id from pawl_data.key k join pawl_data.workflow w using "
        "(workflow_id) where k.tenant = $1 and w.name = $2 and k.key = $3");
    bench_do(conn,
        "prepare waits as select 1 from pawl_data.wait w where w.run_id = $1 and w.task_no = $2 "
        "and "
        "w.name = $3");
    bench_do(conn,
        "prepare records as select 1 from (select s.* from pawl_data.step s where s.run_id = $1 "
        "union "
        "all select k.* from pawl_data.step_kept k where k.run_id = $1) s where s.task_no = $2 and "
        "s.name = $3 and s.round = $4");
}

/* The value of a column of the first row; of an error its code. */
const char *
player_column(const PGresult *result, int at)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return PQntuples(result) == 0 || at >= PQnfields(result) || PQgetisnull(result, 0, at)
        ? ""
        : PQgetvalue(result, 0, at);
}

PGresult *
player_call(struct player *player, const char *statement, const char *arguments)
{
    struct pw_buf sql;
    PGresult *result;

    pw_buf_init(&sql, (size_t)1 << 20);
    pw_buf_addf(&sql, "%sexecute %s", player->before, statement);
    player->before[0] = '\0';
    if (arguments[0] != '\0')
        pw_buf_addf(&sql, "(%s)", arguments);
    result = PQexec(player->conn, pw_buf_text(&sql));
    if (PQstatus(player->conn) != CONNECTION_OK)
        bench_die("the connection is lost: %s", PQerrorMessage(player->conn));
    pw_buf_done(&sql);
    return result;
}
