/* SPDX-License-Identifier: Apache-2.0 */
/* The same call in the oracle, which is told what the engine chose. */
#include "player.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* What the engine chose where it may: read from the run, because answers do not say it. */
void
player_learn_choice(struct player *player, const struct call_item *from,
    struct player_choice *choice, struct oracle_item *item)
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
    pw_buf_addf(&sql, "'%s', %s, %d", params[0], name, item->task);
    PQfreemem(name);
    result = player_call(player, "chosen", pw_buf_text(&sql));
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

void
player_fill_item(struct player *player, const struct call_item *from, struct oracle_item *item)
{
    struct oracle_view view;

    *item = from->item;
    item->run = player_find(&player->runs, from->run);
    item->task = from->task;
    item->name = from->name[0] == '\0' ? NULL : from->name;
    item->option.policy = from->has_policy ? &from->policy : NULL;
    oracle_look_task(player->oracle, item->run, item->task, &view);
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
            if (player_find(&player->runs, call->number * CALL_NAMES_MAX + i) == NULL)
                player_remember(&player->runs, call->number * CALL_NAMES_MAX + i, child);
        }
    }
    return oracle_commit(player->oracle, session_of(player, call->session), items,
        (size_t)call->items_count, &player->wanted);
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
    case CALL_WAKE:
        return oracle_wake(o, run, call->name, "op");
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

const char *
player_trigger_id(struct player *player, const struct call *call, char *buffer)
{
    uint64_t ms = (uint64_t)oracle_now(player->oracle) / 1000;

    if (call->other != 0)
        return player_find(&player->runs, call->other);
    if (!call->flag)
        return call->trigger.id;
    /* The clocks of some callers are ahead. */
    if (call->number % 3 == 0)
        ms += 60000;
    (void)snprintf(buffer, 40, "%08x-%04x-7000-8000-%012x", (unsigned)(ms >> 16),
        (unsigned)(ms & 0xffff), (unsigned)call->number);
    return buffer;
}

bool
player_is_new(struct player *player, const struct call *call)
{
    char id[40];

    if (call->verb == CALL_TRIGGER)
        return call->trigger.is_new &&
            oracle_may_be_new(player->oracle, player_trigger_id(player, call, id));
    for (int i = 0; i < call->many_count; i++)
        if (call->many[i].other != 0 &&
            !oracle_may_be_new(player->oracle, player_find(&player->runs, call->many[i].other)))
            return false;
    return call->trigger.is_new;
}

static const char *
trigger_in_oracle(struct player *player, const struct call *call, const char *chosen)
{
    struct oracle_trigger_spec trigger = call->trigger;
    char id[40];

    trigger.id = player_trigger_id(player, call, id);
    trigger.is_new = player_is_new(player, call);
    return oracle_trigger(player->oracle, &trigger, chosen, &player->wanted);
}

static const char *
trigger_many_in_oracle(struct player *player, const struct call *call, char *chosen)
{
    struct oracle_trigger_spec specs[CALL_ITEMS_MAX];
    const char *made[CALL_ITEMS_MAX] = {NULL};
    char *at = chosen;

    for (int i = 0; i < call->many_count; i++) {
        specs[i] = call->trigger;
        specs[i].is_new = player_is_new(player, call);
        specs[i].input = call->many[i].input;
        specs[i].key = call->many[i].key;
        specs[i].limit_key = call->many[i].limit_key;
        specs[i].id =
            call->many[i].other == 0 ? NULL : player_find(&player->runs, call->many[i].other);
        if (at != NULL && *at != '\0') {
            made[i] = at;
            at = strchr(at, ' ');
            if (at != NULL)
                *at++ = '\0';
        }
    }
    return oracle_trigger_many(
        player->oracle, specs, made, (size_t)call->many_count, call->flag, &player->wanted);
}

/* The second choice is that of the suspend which may follow. */
static const char *
one_in_oracle(struct player *player, const struct call *call, const struct oracle_item *choices)
{
    bool waits =
        call->verb == CALL_SLEEP || call->verb == CALL_WAIT_EVENT || call->verb == CALL_WAIT_SIGNAL;

    return oracle_one(player->oracle, session_of(player, call->session), &choices[0],
        waits ? &choices[1] : NULL, &player->wanted);
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

/* What starts, limits and moves many runs: schedules, subscriptions, lanes, bulks. */
static const char *
started_in_oracle(struct player *player, const struct call *call)
{
    struct oracle *o = player->oracle;

    switch ((int)call->verb) {
    case CALL_CREATE_SCHEDULE:
        return oracle_create_schedule(o, &call->schedule);
    case CALL_PAUSE_SCHEDULE:
        return oracle_pause_schedule(o, call->schedule.tenant, call->schedule.name);
    case CALL_RESUME_SCHEDULE:
        return oracle_resume_schedule(o, call->schedule.tenant, call->schedule.name, call->text);
    case CALL_DELETE_SCHEDULE:
        return oracle_delete_schedule(o, call->schedule.tenant, call->schedule.name);
    case CALL_BACKFILL_SCHEDULE:
        return oracle_backfill_schedule(o, &call->backfill, &player->wanted);
    case CALL_BEGIN_BULK:
        return oracle_begin_bulk(o, &call->bulk, &player->wanted);
    case CALL_STOP_BULK:
        return oracle_stop_bulk(o, call->bulk_number);
    case CALL_SET_LANE:
        return oracle_set_lane(o, &call->lane);
    case CALL_PAUSE_LANE:
    case CALL_RESUME_LANE:
        return oracle_pause_lane(o, &call->lane, call->verb == CALL_PAUSE_LANE);
    case CALL_CREATE_SUBSCRIPTION:
        return oracle_create_subscription(o, &call->subscription);
    case CALL_PAUSE_SUBSCRIPTION:
        return oracle_pause_subscription(o, call->subscription.tenant, call->subscription.name);
    case CALL_RESUME_SUBSCRIPTION:
        return oracle_resume_subscription(o, call->subscription.tenant, call->subscription.name);
    case CALL_DELETE_SUBSCRIPTION:
        return oracle_delete_subscription(o, call->subscription.tenant, call->subscription.name);
    default:
        return "not allowed: no such verb";
    }
}

const char *
player_follow(
    struct player *player, const struct call *call, char *chosen, const struct oracle_item *choices)
{
    struct oracle *o = player->oracle;
    int64_t session = session_of(player, call->session);

    switch ((int)call->verb) {
    case CALL_ADVANCE:
        oracle_advance(o, call->advance_us);
        return "ok";
    case CALL_CREATE_WORKFLOW:
        return oracle_create_workflow(o, &call->workflow);
    case CALL_CREATE_FLOW:
        return oracle_create_flow(o, &call->workflow);
    case CALL_ADD_STEP:
        return oracle_add_step(o, &call->step);
    case CALL_ALTER_WORKFLOW:
        return oracle_alter_workflow(o, &call->workflow, call->flag);
    case CALL_TRIGGER:
        return trigger_in_oracle(player, call, chosen);
    case CALL_TRIGGER_MANY:
        return trigger_many_in_oracle(player, call, chosen);
    case CALL_REGISTER:
        return register_in_oracle(player, call, chosen);
    case CALL_HEARTBEAT:
        return heartbeat_in_oracle(player, call);
    case CALL_REST:
        return oracle_rest(o, session, call->flag, strcmp(chosen, "t") == 0);
    case CALL_LEAVE:
        return oracle_leave(o, session, &player->wanted);
    case CALL_DRAIN_WORKER:
        return oracle_drain_worker(o, session);
    case CALL_HELD:
        return oracle_held(o, session, &player->wanted);
    case CALL_CLAIM:
        return claim_in_oracle(player, call, chosen);
    case CALL_COMMIT:
    case CALL_COMMIT_EACH:
        return commit_in_oracle(player, call, chosen, choices);
    case CALL_STEP:
    case CALL_COMPLETE:
    case CALL_FAIL:
    case CALL_SLEEP:
    case CALL_WAIT_EVENT:
    case CALL_WAIT_SIGNAL:
    case CALL_RELEASE:
        return one_in_oracle(player, call, choices);
    case CALL_RECORD_STEP:
        return oracle_record_step(o, session, &choices[0]);
    case CALL_HOUSEKEEP:
        return oracle_housekeep(o);
    case CALL_TICK:
        return oracle_force_tick(o);
    case CALL_RETAIN:
        return oracle_retain(o, call->advance_us, &player->wanted);
    case CALL_EMIT:
        return emit_in_oracle(player, call, chosen);
    case CALL_PAUSE_WORKFLOW:
    case CALL_RESUME_WORKFLOW:
        return oracle_set_pause(o, "workflow", call->name, call->verb == CALL_PAUSE_WORKFLOW);
    case CALL_PAUSE_QUEUE:
    case CALL_RESUME_QUEUE:
        return oracle_set_pause(o, "queue", call->name, call->verb == CALL_PAUSE_QUEUE);
    case CALL_PAUSE_ALL:
        return oracle_pause_all(o, call->flag);
    case CALL_RESUME_ALL:
        return oracle_resume_all(o);
    case CALL_RAISE_EPOCH:
        return oracle_raise_epoch(o, &player->wanted);
    case CALL_SIGNAL:
    case CALL_APPROVE:
    case CALL_REJECT:
    case CALL_CANCEL:
    case CALL_KILL:
    case CALL_PAUSE:
    case CALL_RESUME:
    case CALL_WAKE:
    case CALL_RETRY:
    case CALL_ROLLBACK_RETRY:
    case CALL_ROLLBACK_SKIP:
    case CALL_FORK:
    case CALL_PURGE:
        return operate_in_oracle(player, call, chosen);
    default:
        return started_in_oracle(player, call);
    }
}
