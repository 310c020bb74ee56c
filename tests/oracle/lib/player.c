/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one call in both worlds and compares answers and runs. */
#include "player.h"

#include "harness.h"

#include "base/text.h"
#include "base/uuid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each statement answers with one text, as the oracle writes it; a second column has what the engine chose. */
static const struct statement {
    const char *name;
    int parameters;
    const char *before;
    const char *after;
} statements[CALL_VERBS] = {
    [CALL_ADVANCE] = {"advance", 1, "select 'ok' from pawl.test_clock_advance(", ")"},
    [CALL_CREATE_WORKFLOW] = {"create_workflow", 11, "select pawl.create_workflow(", ")"},
    [CALL_ALTER_WORKFLOW] = {"alter_workflow", 2, "select 'ok' from pawl.alter_workflow(", ")"},
    [CALL_TRIGGER] = {"trigger", 10,
        "select concat_ws(' ', run_id, created, handled), run_id from pawl.trigger(", ")"},
    [CALL_REGISTER] = {"register", 5,
        "select concat_ws(' ', session, epoch, queues), session from pawl.register(", ")"},
    [CALL_HEARTBEAT] = {"heartbeat", 2,
        "select concat(min(epoch), ' ', oracle.us(min(lease_until)), string_agg(' ' || run_id || "
        "'=' || told, '' order by run_id), max(' drain') filter (where told = 'drain')) "
        "from pawl.heartbeat(",
        ")"},
    [CALL_IDLE] = {"idle", 2, "select 'ok' from pawl.idle(", ")"},
    [CALL_LEAVE] = {"leave", 1, "select pawl.leave(", ")"},
    [CALL_DRAIN_WORKER] = {"drain_worker", 1, "select pawl.drain_worker(", ")"},
    [CALL_HELD] = {"held", 1,
        "select coalesce(string_agg(concat_ws(' ', run_id, fence, workflow, attempt, "
        "oracle.us(claimed_at), coalesce(told, '-')) || e'\\n', '' order by run_id), '') "
        "from pawl.held(",
        ")"},
    [CALL_CLAIM] = {"claim", 5,
        "select coalesce(string_agg(concat_ws(' ', run_id, fence, workflow, round, attempt, '''' "
        "|| "
        "tenant || '''', rolling_back, suspect, input::jsonb, coalesce(metadata::jsonb, 'null'), "
        "coalesce(step_timeout_ms, -1), coalesce(run_timeout_ms, -1)) || e'\\n' || "
        "oracle.record(record, rolling_back), '' order by run_id), ''), coalesce(string_agg("
        "run_id::text, ' '), '') from pawl.claim(",
        ")"},
    [CALL_COMMIT] = {"commit", 10,
        "select string_agg(concat_ws(' ', item, answer, coalesce((value::jsonb - "
        "'delay_ms')::text, '-')) || e'\\n', '' order by item), string_agg(coalesce(value ->> "
        "'child', value -> 'output' ->> 'run_id', '-'), ' ' order by item) from pawl.commit(",
        ")"},
    [CALL_COMMIT_CAREFULLY] = {"commit_carefully", 10,
        "select string_agg(concat_ws(' ', item, answer, coalesce((value::jsonb - "
        "'delay_ms')::text, '-')) || e'\\n', '' order by item), string_agg(coalesce(value ->> "
        "'child', value -> 'output' ->> 'run_id', '-'), ' ' order by item) "
        "from pawl.commit_carefully(",
        ")"},
    [CALL_RECORD_STEP] = {"record_step", 2, "select pawl.record_step(", ")"},
    [CALL_HOUSEKEEP] = {"housekeep", 0, "select 'ok' from pawl.housekeep(", ")"},
    [CALL_EMIT] = {"emit", 5,
        "select concat_ws(' ', event_id, answer, woken), event_id from pawl.emit(", ")"},
    [CALL_SIGNAL] = {"signal", 3, "select pawl.signal(", ")"},
    [CALL_APPROVE] = {"approve", 5, "select pawl.approve(", ")"},
    [CALL_REJECT] = {"reject", 5, "select pawl.reject(", ")"},
    [CALL_CANCEL] = {"cancel", 4, "select answer from pawl.cancel(", ")"},
    [CALL_KILL] = {"kill", 3, "select answer from pawl.kill(", ")"},
    [CALL_PAUSE] = {"pause", 3, "select answer from pawl.pause(", ")"},
    [CALL_RESUME] = {"resume", 2, "select answer from pawl.resume(", ")"},
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
    [CALL_RAISE_EPOCH] = {"raise_epoch", 1, "select pawl.raise_epoch(", ")"},
};

/* The test database begins there; lib/oracle.sql says the same. */
static const int64_t beginning_us = INT64_C(2208988800000000);

const char *
call_verb_name(enum call_verb verb)
{
    return statements[verb].name;
}

const char *
player_find(const struct player_list *list, int maker)
{
    if (maker == CALL_NOBODY)
        return "01234567-89ab-7def-8123-456789abcdef";
    for (size_t i = 0; i < list->count; i++)
        if (list->made[i].maker == maker)
            return list->made[i].id;
    return NULL;
}

static void
remember(struct player_list *list, int maker, const char *id)
{
    struct player_made *made = realloc(list->made, (list->count + 1) * sizeof(*made));

    if (made == NULL)
        bench_die("out of memory");
    list->made = made;
    made[list->count].maker = maker;
    made[list->count].id = strdup(id);
    if (made[list->count].id == NULL)
        bench_die("out of memory");
    list->count++;
}

static void
prepare_all(PGconn *conn)
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
    bench_do(conn,
        "prepare show as select string_agg(oracle.show_run(r), '' order by r) "
        "from unnest($1::uuid[]) r");
    bench_do(conn,
        "prepare chosen as select (select coalesce(t.paused ->> 'reason', t.reason) from pawl.task "
        "t "
        "where t.run_id = $1 and t.task_no = 0), (select oracle.us((t.tries -> $2 ->> "
        "'due')::timestamptz) from pawl.task t where t.run_id = $1 and t.task_no = 0), (select "
        "s.source_id from pawl.step s where s.run_id = $1 and s.task_no = 0 and s.name = $2 order "
        "by "
        "s.round desc limit 1)");
}

void
player_open(struct player *player, struct coverage *coverage)
{
    *player = (struct player){.coverage = coverage};
    player->conn = bench_connect();
    player->blocker = bench_connect();
    bench_do(player->conn, "set timezone to 'UTC'; set client_min_messages to warning");
    bench_do(player->blocker, "prepare hold as select from pawl.task where run_id = $1 for update");
    prepare_all(player->conn);
    pw_buf_init(&player->sql, (size_t)1 << 20);
    pw_buf_init(&player->got, (size_t)1 << 26);
    pw_buf_init(&player->wanted, (size_t)1 << 26);
    pw_buf_init(&player->problem, (size_t)1 << 20);
}

static void
forget(struct player_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->made[i].id);
    free(list->made);
    *list = (struct player_list){0};
}

void
player_close(struct player *player)
{
    oracle_free(player->oracle);
    forget(&player->runs);
    forget(&player->sessions);
    forget(&player->events);
    pw_buf_done(&player->sql);
    pw_buf_done(&player->got);
    pw_buf_done(&player->wanted);
    pw_buf_done(&player->problem);
    PQfinish(player->conn);
    PQfinish(player->blocker);
}

void
player_reset(struct player *player)
{
    bench_do(player->conn, "select oracle.reset()");
    oracle_free(player->oracle);
    player->oracle = oracle_new(beginning_us);
    oracle_tolerate(player->oracle, player->tolerated);
    forget(&player->runs);
    forget(&player->sessions);
    forget(&player->events);
}

/* Says where two texts differ, by their first lines that do. */
static enum player_outcome
compare(struct player *player, const char *what)
{
    const char *got = pw_buf_text(&player->got), *wanted = pw_buf_text(&player->wanted);
    const char *got_line = got, *wanted_line = wanted;

    if (strcmp(got, wanted) == 0)
        return PLAYER_SAME;
    for (; *got != '\0' && *got == *wanted; got++, wanted++)
        if (*got == '\n') {
            got_line = got + 1;
            wanted_line = wanted + 1;
        }
    pw_buf_addf(&player->problem, "%s\n  engine: %.*s\n  oracle: %.*s\n", what,
        (int)strcspn(got_line, "\n"), got_line, (int)strcspn(wanted_line, "\n"), wanted_line);
    return PLAYER_DIFFERS;
}

/* The value of a column of the first row; of an error its code. */
static const char *
column(const PGresult *result, int at)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        return PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return PQntuples(result) == 0 || at >= PQnfields(result) || PQgetisnull(result, 0, at)
        ? ""
        : PQgetvalue(result, 0, at);
}

static PGresult *
call_engine(struct player *player, const char *statement, const char *arguments)
{
    struct pw_buf sql;
    PGresult *result;

    pw_buf_init(&sql, (size_t)1 << 20);
    pw_buf_addf(&sql, "execute %s", statement);
    if (arguments[0] != '\0')
        pw_buf_addf(&sql, "(%s)", arguments);
    result = PQexec(player->conn, pw_buf_text(&sql));
    if (PQstatus(player->conn) != CONNECTION_OK)
        bench_die("the connection is lost: %s", PQerrorMessage(player->conn));
    pw_buf_done(&sql);
    return result;
}

/* What the engine chose where it may: read from the run, because answers do not say it. */
static void
learn_choice(struct player *player, const struct call_item *from, struct player_choice *choice,
    struct oracle_item *item)
{
    const char *params[2];
    struct pw_buf sql;
    PGresult *result;
    char *name;

    item->chosen_due_us = ORACLE_NONE;
    if (strcmp(item->kind, "fail") != 0 && strcmp(item->kind, "retry") != 0 &&
        strcmp(item->kind, "suspend") != 0 && strcmp(item->kind, "event") != 0)
        return;
    params[0] = item->run;
    params[1] = strcmp(item->kind, "fail") == 0 ? "" : from->name;
    name = PQescapeLiteral(player->conn, params[1], strlen(params[1]));
    pw_buf_init(&sql, 4096);
    pw_buf_addf(&sql, "'%s', %s", params[0], name);
    PQfreemem(name);
    result = call_engine(player, "chosen", pw_buf_text(&sql));
    pw_buf_done(&sql);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1) {
        (void)snprintf(choice->reason, sizeof(choice->reason), "%s", PQgetvalue(result, 0, 0));
        (void)snprintf(choice->event, sizeof(choice->event), "%s", PQgetvalue(result, 0, 2));
        item->chosen_reason = choice->reason;
        item->chosen_event = choice->event;
        if (!pw_parse_i64(PQgetvalue(result, 0, 1), 0, INT64_MAX, &item->chosen_due_us))
            item->chosen_due_us = ORACLE_NONE;
    }
    PQclear(result);
}

static int64_t
session_of(struct player *player, int maker)
{
    const char *id = player_find(&player->sessions, maker);
    int64_t session = 99;

    if (maker == CALL_NOBODY || id == NULL || !pw_parse_i64(id, 1, INT64_MAX, &session))
        return 99;
    return session;
}

static void
fill_item(struct player *player, const struct call_item *from, struct oracle_item *item)
{
    struct oracle_view view;

    *item = from->item;
    item->run = player_find(&player->runs, from->run);
    item->name = from->name[0] == '\0' ? NULL : from->name;
    item->option.policy = from->has_policy ? &from->policy : NULL;
    oracle_look(player->oracle, item->run, &view);
    item->fence = view.fence + from->fence_off < 0 ? 0 : view.fence + from->fence_off;
}

/* The n-th word of a text, cut out; NULL if it is "-" or missing. */
static char *
word_at(char *text, int n)
{
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, ' ');
        text = text == NULL ? NULL : text + 1;
    }
    if (text == NULL || *text == '-' || *text == '\0')
        return NULL;
    return text;
}

static const char *
commit_in_oracle(struct player *player, const struct call *call, const char *chosen,
    const struct oracle_item *choices)
{
    struct oracle_item items[CALL_ITEMS_MAX];
    char children[CALL_ITEMS_MAX][40];

    for (int i = 0; i < call->items_count; i++) {
        char words[256];
        char *child;

        (void)snprintf(words, sizeof(words), "%s", chosen); /* four ids fit */
        child = word_at(words, i);
        items[i] = choices[i];
        items[i].chosen_child = NULL;
        if (child != NULL) {
            child[strcspn(child, " ")] = '\0';
            (void)snprintf(children[i], sizeof(children[i]), "%.39s", child); /* an id */
            items[i].chosen_child = children[i];
            if (player_find(&player->runs, call->number * CALL_ITEMS_MAX + i) == NULL)
                remember(&player->runs, call->number * CALL_ITEMS_MAX + i, child);
        }
    }
    return oracle_commit(player->oracle, session_of(player, call->session), items,
        (size_t)call->items_count, &player->wanted);
}

/* Counts the answers of a commit by the kinds of its items. */
static void
count_items(struct player *player, const struct call *call)
{
    const char *line = pw_buf_text(&player->wanted);

    for (int i = 0; i < call->items_count && line[0] != '\0'; i++) {
        const char *kind = call->items[i].item.kind, *answer = strchr(line, ' ');
        char word[24];

        if (answer == NULL)
            return;
        (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(answer + 1, " "), answer + 1);
        coverage_count(player->coverage,
            kind == NULL                      ? "unknown"
                : strcmp(kind, "retry") == 0  ? "retry item"
                : strcmp(kind, "signal") == 0 ? "signal item"
                                              : kind,
            word);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static const char *
claim_in_oracle(struct player *player, const struct call *call, char *chosen)
{
    const char *list[1001];
    struct oracle_claim_spec spec = call->claim;
    size_t count = 0;

    for (char *at = chosen; at != NULL && *at != '\0' && count < 1000;) {
        char *space = strchr(at, ' ');

        if (space != NULL)
            *space++ = '\0';
        list[count++] = at;
        at = space;
    }
    list[count] = NULL;
    spec.session = session_of(player, call->session);
    return oracle_claim(player->oracle, &spec, list, &player->wanted);
}

static const char *
operate_in_oracle(struct player *player, const struct call *call, const char *chosen)
{
    struct oracle *o = player->oracle;
    const char *run = player_find(&player->runs, call->run);

    switch ((int)call->verb) {
    case CALL_SIGNAL:
        return oracle_signal(o, run, call->name, call->text);
    case CALL_APPROVE:
    case CALL_REJECT:
        return oracle_decide(
            o, run, call->name, call->verb == CALL_APPROVE, "op", "because", call->text);
    case CALL_CANCEL:
        return oracle_cancel(o, run, call->text, call->flag, "op");
    case CALL_KILL:
        return oracle_kill(o, run, call->text, "op");
    case CALL_PAUSE:
        return oracle_pause(o, run, call->text, "op");
    case CALL_RESUME:
        return oracle_resume(o, run, "op");
    case CALL_RETRY:
        return oracle_retry(o, run, "op");
    case CALL_ROLLBACK_RETRY:
        return oracle_rollback_retry(o, run, "op");
    case CALL_ROLLBACK_SKIP:
        return oracle_rollback_skip(o, run, call->name, "because", "op");
    case CALL_FORK:
        return oracle_fork(o, run, call->name, chosen, &player->wanted);
    default:
        return oracle_purge(o, run);
    }
}

static const char *
trigger_in_oracle(struct player *player, const struct call *call, const char *chosen)
{
    struct oracle_trigger_spec trigger = call->trigger;

    if (call->other != 0)
        trigger.id = player_find(&player->runs, call->other);
    return oracle_trigger(player->oracle, &trigger, chosen, &player->wanted);
}

static const char *
emit_in_oracle(struct player *player, const struct call *call, const char *chosen)
{
    struct oracle_event_spec event = call->event;

    if (call->other != 0)
        event.id = player_find(&player->events, call->other);
    return oracle_emit(player->oracle, &event, chosen, &player->wanted);
}

static const char *
register_in_oracle(struct player *player, const struct call *call, const char *chosen)
{
    int64_t made = 0;

    if (!pw_parse_i64(chosen, 1, INT64_MAX, &made))
        made = 0;
    return oracle_register(player->oracle, &call->worker, made, &player->wanted);
}

static const char *
heartbeat_in_oracle(struct player *player, const struct call *call)
{
    struct oracle_running running = call->running;

    running.run = call->running_run == 0 ? NULL : player_find(&player->runs, call->running_run);
    return oracle_heartbeat(player->oracle, session_of(player, call->session),
        running.run != NULL || running.malformed ? &running : NULL, &player->wanted);
}

static const char *
call_oracle(
    struct player *player, const struct call *call, char *chosen, const struct oracle_item *choices)
{
    struct oracle *o = player->oracle;
    int64_t session = session_of(player, call->session);

    switch (call->verb) {
    case CALL_ADVANCE:
        oracle_advance(o, call->advance_us);
        return "ok";
    case CALL_CREATE_WORKFLOW:
        return oracle_create_workflow(o, &call->workflow);
    case CALL_ALTER_WORKFLOW:
        return oracle_alter_workflow(o, &call->workflow, call->flag);
    case CALL_TRIGGER:
        return trigger_in_oracle(player, call, chosen);
    case CALL_REGISTER:
        return register_in_oracle(player, call, chosen);
    case CALL_HEARTBEAT:
        return heartbeat_in_oracle(player, call);
    case CALL_IDLE:
        return oracle_idle(o, session, call->flag);
    case CALL_LEAVE:
        return oracle_leave(o, session, &player->wanted);
    case CALL_DRAIN_WORKER:
        return oracle_drain_worker(o, session);
    case CALL_HELD:
        return oracle_held(o, session, &player->wanted);
    case CALL_CLAIM:
        return claim_in_oracle(player, call, chosen);
    case CALL_COMMIT:
    case CALL_COMMIT_CAREFULLY:
        return commit_in_oracle(player, call, chosen, choices);
    case CALL_RECORD_STEP:
        return oracle_record_step(o, session, &choices[0]);
    case CALL_HOUSEKEEP:
        return oracle_housekeep(o);
    case CALL_EMIT:
        return emit_in_oracle(player, call, chosen);
    case CALL_PAUSE_WORKFLOW:
    case CALL_RESUME_WORKFLOW:
        return oracle_set_pause(o, "workflow", call->name, call->verb == CALL_PAUSE_WORKFLOW);
    case CALL_PAUSE_QUEUE:
    case CALL_RESUME_QUEUE:
        return oracle_set_pause(o, "queue", call->name, call->verb == CALL_PAUSE_QUEUE);
    case CALL_RAISE_EPOCH:
        return oracle_raise_epoch(o, &player->wanted);
    case CALL_SIGNAL:
    case CALL_APPROVE:
    case CALL_REJECT:
    case CALL_CANCEL:
    case CALL_KILL:
    case CALL_PAUSE:
    case CALL_RESUME:
    case CALL_RETRY:
    case CALL_ROLLBACK_RETRY:
    case CALL_ROLLBACK_SKIP:
    case CALL_FORK:
    case CALL_PURGE:
        return operate_in_oracle(player, call, chosen);
    case CALL_VERBS:
        break;
    }
    return "not allowed: no such verb";
}

/* Ids that a call has made get their names. */
static void
remember_made(
    struct player *player, const struct call *call, const char *answer, const char *chosen)
{
    int maker = call->number * CALL_ITEMS_MAX;

    if (call->verb == CALL_TRIGGER && strcmp(answer, "created") == 0)
        remember(&player->runs, maker, chosen);
    else if (call->verb == CALL_FORK && strcmp(answer, "ok") == 0)
        remember(&player->runs, maker, chosen);
    else if (call->verb == CALL_REGISTER && strcmp(answer, "ok") == 0)
        remember(&player->sessions, maker, chosen);
    else if (call->verb == CALL_EMIT && (strcmp(answer, "ok") == 0 || strcmp(answer, "woke") == 0))
        remember(&player->events, maker, chosen);
}

struct touched {
    struct player *player;
    struct pw_buf *ids;
};

static void
add_touched(const char *run, void *userdata)
{
    struct touched *touched = userdata;

    if (touched->ids->size == 0 || strstr(pw_buf_text(touched->ids), run) == NULL) {
        pw_buf_addf(touched->ids, "%s%s", touched->ids->size > 0 ? "," : "", run);
        oracle_show_run(touched->player->oracle, run, &touched->player->wanted);
    }
}

static enum player_outcome
show_and_compare(struct player *player, struct pw_buf *ids)
{
    struct pw_buf list;
    PGresult *result;

    pw_buf_clear(&player->got);
    if (ids->size == 0)
        return PLAYER_SAME;
    pw_buf_init(&list, (size_t)1 << 22);
    pw_buf_addf(&list, "'{%s}'", pw_buf_text(ids));
    result = call_engine(player, "show", pw_buf_text(&list));
    pw_buf_adds(&player->got, column(result, 0));
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        pw_buf_adds(&player->got, PQresultErrorMessage(result));
    PQclear(result);
    pw_buf_done(&list);
    return compare(player, "the runs differ");
}

/* The runs that the oracle knows to have changed, and the one that the call names. */
static enum player_outcome
compare_touched(struct player *player, const struct call *call)
{
    struct pw_buf ids;
    struct touched touched = {player, &ids};
    enum player_outcome outcome;
    const char *named = call->run == 0 ? NULL : player_find(&player->runs, call->run);

    pw_buf_init(&ids, (size_t)1 << 20);
    pw_buf_clear(&player->wanted);
    oracle_each_touched(player->oracle, add_touched, &touched);
    outcome = show_and_compare(player, &ids);
    /* By itself, because the others are in the order of their ids. */
    if (outcome == PLAYER_SAME && named != NULL && strstr(pw_buf_text(&ids), named) == NULL) {
        pw_buf_clear(&ids);
        pw_buf_clear(&player->wanted);
        add_touched(named, &touched);
        outcome = show_and_compare(player, &ids);
    }
    pw_buf_done(&ids);
    return outcome;
}

static bool
is_error(const char *answer)
{
    return strncmp(answer, "PW0", 3) == 0 || strncmp(answer, "not allowed", 11) == 0 ||
        strcmp(answer, "22P02") == 0;
}

/* Verbs whose reply says more than one word. */
static bool
has_reply(enum call_verb verb)
{
    return verb == CALL_TRIGGER || verb == CALL_REGISTER || verb == CALL_HEARTBEAT ||
        verb == CALL_LEAVE || verb == CALL_HELD || verb == CALL_CLAIM || verb == CALL_COMMIT ||
        verb == CALL_COMMIT_CAREFULLY || verb == CALL_EMIT || verb == CALL_RAISE_EPOCH;
}

/* A batch that commit refuses as a whole goes through the careful form, as the library sends it. */
static PGresult *
call_with_care(struct player *player, const struct call *call)
{
    PGresult *result = call_engine(player, statements[call->verb].name, pw_buf_text(&player->sql));
    const char *code = column(result, 0);

    if (call->verb == CALL_COMMIT && PQresultStatus(result) != PGRES_TUPLES_OK &&
        (strcmp(code, "PW010") == 0 || strcmp(code, "22P02") == 0 || strcmp(code, "23505") == 0)) {
        PQclear(result);
        result = call_engine(player, "commit_carefully", pw_buf_text(&player->sql));
    }
    return result;
}

static void
hold_lock(struct player *player, const char *run)
{
    char sql[80];

    if (run != NULL) {
        (void)snprintf(sql, sizeof(sql), "begin; execute hold('%s')", run);
        bench_do(player->blocker, sql);
    } else {
        bench_do(player->blocker, "rollback");
    }
    oracle_hold_lock(player->oracle, run);
}

enum player_outcome
player_play(struct player *player, const struct call *call)
{
    struct oracle_item choices[CALL_ITEMS_MAX] = {0};
    const char *locked = call->lock == 0 ? NULL : player_find(&player->runs, call->lock);
    enum player_outcome outcome;
    const char *answer;
    PGresult *result;
    char *chosen;

    pw_buf_clear(&player->sql);
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    pw_buf_clear(&player->problem);
    if (!player_render(player, call, false, &player->sql) || (call->lock != 0 && locked == NULL))
        return PLAYER_SKIPPED;
    for (int i = 0; i < call->items_count; i++)
        fill_item(player, &call->items[i], &choices[i]);
    if (locked != NULL)
        hold_lock(player, locked);
    result = call_with_care(player, call);
    for (int i = 0; i < call->items_count; i++)
        learn_choice(player, &call->items[i], &player->choices[i], &choices[i]);
    pw_buf_adds(&player->got, column(result, 0));
    chosen = strdup(PQresultStatus(result) == PGRES_TUPLES_OK ? column(result, 1) : "");
    if (chosen == NULL)
        bench_die("out of memory");
    answer = call_oracle(player, call, chosen, choices);
    if (call->verb == CALL_COMMIT || call->verb == CALL_COMMIT_CAREFULLY)
        count_items(player, call);
    else
        coverage_count(player->coverage, call_verb_name(call->verb),
            strcmp(answer, "gave back") == 0 ? "gave_back" : answer);
    player->coverage->calls++;
    remember_made(player, call, answer, chosen);
    if (is_error(answer))
        pw_buf_clear(&player->wanted);
    if (is_error(answer) ||
        (!has_reply(call->verb) && !(call->verb == CALL_FORK && strcmp(answer, "ok") == 0)))
        pw_buf_adds(&player->wanted, answer);
    outcome = compare(player, "the answers differ");
    if (outcome == PLAYER_DIFFERS && PQresultStatus(result) != PGRES_TUPLES_OK)
        pw_buf_addf(&player->problem, "  %s", PQresultErrorMessage(result));
    if (locked != NULL)
        hold_lock(player, NULL);
    if (outcome == PLAYER_SAME)
        outcome = compare_touched(player, call);
    PQclear(result);
    free(chosen);
    return outcome;
}

static void
add_id(const char *run, void *userdata)
{
    pw_buf_addf(userdata, "%s\n", run);
}

enum player_outcome
player_compare_all(struct player *player)
{
    struct pw_buf ids;
    struct touched touched = {player, &ids};
    enum player_outcome outcome;
    PGresult *result;

    pw_buf_clear(&player->problem);
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    result = bench_exec(player->conn, "select string_agg(r || e'\\n', '') from oracle.runs() r");
    pw_buf_adds(&player->got, column(result, 0));
    PQclear(result);
    oracle_each_run(player->oracle, add_id, &player->wanted);
    outcome = compare(player, "not the same runs are there");
    if (outcome != PLAYER_SAME)
        return outcome;
    pw_buf_init(&ids, (size_t)1 << 22);
    pw_buf_clear(&player->wanted);
    oracle_each_run(player->oracle, add_touched, &touched);
    outcome = show_and_compare(player, &ids);
    pw_buf_done(&ids);
    if (outcome != PLAYER_SAME)
        return outcome;
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    result = bench_exec(player->conn, "select oracle.show_rest()");
    pw_buf_adds(&player->got, column(result, 0));
    PQclear(result);
    oracle_show_rest(player->oracle, &player->wanted);
    return compare(player, "what is not a run differs");
}
