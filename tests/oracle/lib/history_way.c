/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a call can take its place in an order. The oracle's calls follow one another; the engine's meet, and the documents
 * name what then makes a difference:
 *
 *   - claim, commit, leave and housekeeping pass over what another transaction holds; commit and the operators' verbs answer
 *     busy. It counts for rows, of runs and of tasks, and for sessions, that a call under way at the same time can have held.
 *   - A claim does its housekeeping first and then looks at one queue after another, so it may also miss what such a call
 *     made ready, or let go of, in between.
 *   - Housekeeping is done once for each time of the clock, by whoever comes first: the others go on without it, also while
 *     its work is not committed. If that call comes to nothing, the work is left to the next time.
 *   - A claim does not see what another one of the same session takes that is under way: neither that it has the same
 *     request number, nor that the worker will then have other work.
 *   - Whether a run that is triggered is handled is what was so while the trigger was under way.
 *   - A late result is answered busy while another call of the session has one.
 *   - A claim whose session ends meanwhile gives nothing, and leave gives nothing back.
 *   - A sweep and a call that leaves, or lets go of something, may each give back a part of what a session has. That it was the last sees
 *     neither, and the session stays until the next sweep.
 *   - What was in the way of one item may have ended when the call comes to the next.
 *
 * Of a flow, each task has a row, and so has its run. An item comes to the row of its task; one that waits for a signal, or starts a child,
 * also to that of the run; one that lets go of the task needs the run and the flows that this is a step of. An operator needs
 * all of them, and so does a time limit, which is put off by a second if it does not get them; to keep a task from its holder
 * takes the run, too, if that is to end. So:
 *
 *   - Each of these is busy, or passed over, if one of the rows is held that it needs.
 *   - A failure does not wait for its siblings: of those that others hold, holders are not marked, and the rest is not taken away. What is
 *     left over is not handed out: a claim that comes to it takes it away, and lets the run end. At the latest that is done when the
 *     grace is over.
 *   - An item that waits, but for a child, may not see that its run begins to end: that is not committed, or the item has read it before.
 *     What it waits for goes with the task.
 *   - A child that ends may have met its parent when the end of that was not committed yet.
 *   - Audit rows of different tasks have no order among calls that meet; nor has a late result of a task that is gone, which locks
 *     nothing (history.h).
 */
#include "history.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static bool
is_commit(enum call_verb verb)
{
    return verb == CALL_COMMIT || verb == CALL_COMMIT_EACH || call_is_one(verb);
}

/* --- ways --- */

static void
hold(struct history_way *way, const char *id, enum oracle_moment moment)
{
    if (way->held_count == HISTORY_HELD_MAX)
        return;
    way->held[way->held_count].moment = moment;
    (void)snprintf(way->held[way->held_count++].id, HISTORY_ID_SIZE, "%s", id); /* ids fit */
}

enum {
    TAKEN_MAX = 8,
    PARTS_MAX = 6,
    DUE_MAX = 11,
};

struct collected {
    struct history *history;
    struct oracle *oracle;
    int at;
    int most;
    const char *ids[HISTORY_HELD_MAX];
    int count;
};

static void
collect(const char *id, void *userdata)
{
    struct collected *c = userdata;

    for (int i = 0; i < c->count; i++)
        if (strcmp(c->ids[i], id) == 0)
            return;
    if (c->count < c->most && history_can_be_held(c->history, c->oracle, c->at, id))
        c->ids[c->count++] = id;
}

static void
collect_all(const char *id, void *userdata)
{
    struct collected *c = userdata;

    for (int i = 0; i < c->count; i++)
        if (strcmp(c->ids[i], id) == 0)
            return;
    /* Rows only: sessions have shorter names. */
    if (c->count < c->most && strlen(id) >= 36)
        c->ids[c->count++] = id;
}

/* An operator has every row of the run, and those above. */
static bool
can_be_busy(struct history *h, struct oracle *o, int at, const char *run)
{
    struct collected rows = {h, o, at, 1, {NULL}, 0};

    oracle_each_above(o, run, collect, &rows);
    oracle_each_part(o, run, collect, &rows);
    /* Of what has ended, or is not there yet, another call that opens it. */
    return rows.count > 0 || history_can_be_held(h, o, at, run);
}

/* Takes the next of so many choices out of a number. */
static int
choose(int *n, int count)
{
    int chosen = *n % count;

    *n /= count;
    return chosen;
}

/* The n-th set of so many things, by its bits: small ones first. */
static int
nth_set(int count, int n)
{
    static int sets[DUE_MAX + 1][1 << DUE_MAX];
    static int made[DUE_MAX + 1];

    for (int size = 0; made[count] < 1 << count; size++)
        for (int set = 0; set < 1 << count; set++)
            if (__builtin_popcount((unsigned)set) == size)
                sets[count][made[count]++] = set;
    return sets[count][n];
}

/* What housekeeping may come to, and when. */
struct due {
    struct collected rows;
    enum oracle_moment moments[HISTORY_HELD_MAX];
};

static void
collect_due(const char *id, enum oracle_moment moment, void *userdata)
{
    struct due *due = userdata;
    struct collected *c = &due->rows;

    for (int i = 0; i < c->count; i++)
        if (due->moments[i] == moment && strcmp(c->ids[i], id) == 0)
            return;
    if (c->count < c->most && history_can_be_held(c->history, c->oracle, c->at, id)) {
        due->moments[c->count] = moment;
        c->ids[c->count++] = id;
    }
}

static void
write_stays(char id[HISTORY_ID_SIZE], const char *session)
{
    (void)snprintf(id, HISTORY_ID_SIZE, ORACLE_STAYS "%s", session); /* a number */
}

/* Of a session that is swept, whether it stays. */
static void
choose_stays(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    for (size_t i = 0; i < h->player->sessions.count; i++) {
        const char *session = h->player->sessions.made[i].id;
        char stays[HISTORY_ID_SIZE];
        int64_t id = 0;

        if (!pw_parse_i64(session, 1, INT64_MAX, &id) || !oracle_lease_is_over(o, id) ||
            !history_can_share(h, at, id) || choose(n, 2) == 0)
            continue;
        write_stays(stays, session);
        hold(way, stays, ORACLE_SWEEP);
    }
}

/* What housekeeping passes over; or another call does all of it. */
static void
choose_tick(
    struct history *h, struct oracle *o, int at, unsigned done, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    struct due due = {.rows = {h, o, at, DUE_MAX, {NULL}, 0}};
    bool other = false;
    int chosen;

    if (call->call.verb != CALL_HOUSEKEEP &&
        (!history_ticks(call->call.verb) || !oracle_tick_is_due(o)))
        return;
    oracle_each_due(o, collect_due, &due);
    for (int i = 0; history_ticks(call->call.verb) && i < h->calls_count; i++)
        other = other ||
            (i != at && (done >> i & 1) == 0 && history_ticks(h->calls[i].call.verb) &&
                history_overlap(&h->calls[i], call));
    /* First nothing was in the way, then another call was first, and only then all the rest. */
    chosen = choose(n, (1 << due.rows.count) + other);
    if (other && chosen == 1) {
        way->other_tick = true;
        return;
    }
    chosen -= other && chosen > 1 ? 1 : 0;
    chosen = nth_set(due.rows.count, chosen);
    for (int i = 0; i < due.rows.count; i++)
        if ((chosen >> i & 1) != 0)
            hold(way, due.rows.ids[i], due.moments[i]);
    choose_stays(h, o, at, n, way);
}

/* Whether a row is among those that a claim took; that of a run itself is written RUN/0 there. */
static bool
was_taken(const char *taken, const char *row)
{
    size_t length = strlen(row);

    while (taken != NULL && *taken != '\0') {
        size_t size = strcspn(taken, " ");

        if (strncmp(taken, row, length) == 0 &&
            (size == length || (size == length + 2 && strncmp(taken + length, "/0", 2) == 0)))
            return true;
        taken += size + (taken[size] == ' ');
    }
    return false;
}

bool
history_shows_claim(const struct history *history, int at, const char *row)
{
    const struct call *call = &history->calls[at].call;
    const char *session = player_find(&history->player->sessions, call->session);
    const char *line = pw_buf_text(&history->state), *found;
    char mark[64];

    if (call->verb != CALL_CLAIM || call->claim.request == 0 || session == NULL)
        return false;
    (void)snprintf(mark, sizeof(mark), " - %s %d ", session, call->claim.request); /* it fits */
    if (row == NULL)
        return strstr(line, mark) != NULL;
    line = history_find_row(history, row);
    if (line == NULL)
        return false;
    found = strstr(line, mark);
    return found != NULL && found < line + strcspn(line, "\n");
}

/* Others may have held any of these. */
static void
choose_among(const struct collected *rows, int *n, struct history_way *way)
{
    int chosen = nth_set(rows->count, choose(n, 1 << rows->count));

    for (int i = 0; i < rows->count; i++)
        if ((chosen >> i & 1) != 0)
            hold(way, rows->ids[i], ORACLE_OWN);
}

static void
collect_due_too(const char *id, enum oracle_moment moment, void *userdata)
{
    (void)moment;
    collect_all(id, userdata);
}

/* What a lost claim took: any of what could be claimed, or can be after its housekeeping. */
static void
choose_taken(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    struct collected ready = {h, o, at, TAKEN_MAX, {NULL}, 0};
    int chosen, taken = 0, shown = 0;

    oracle_each_held(o, 0, collect_all, &ready);
    oracle_each_due(o, collect_due_too, &ready);
    /* Not what has the fence that it had before, and those first that the tables show as taken by it. */
    for (int i = 0; i < ready.count;) {
        if (history_can_be_taken(h, o, ready.ids[i]))
            i++;
        else
            ready.ids[i] = ready.ids[--ready.count];
    }
    for (int i = 0; i < ready.count; i++)
        shown |= (history_shows_claim(h, at, ready.ids[i]) ? 1 : 0) << i;
    chosen = choose(n, 1 << ready.count) ^ shown;
    for (int i = 0; i < ready.count; i++)
        if ((chosen >> i & 1) != 0) {
            /* Four ids fit. */
            (void)snprintf(way->chosen + strlen(way->chosen),
                sizeof(way->chosen) - strlen(way->chosen), "%s%s", taken > 0 ? " " : "",
                ready.ids[i]);
            taken++;
        }
    way->impossible = taken > h->calls[at].call.claim.most;
}

/* Of what a claim has not taken, others may have held whatever they can. */
static void
choose_claim(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    struct collected all = {h, o, at, HISTORY_HELD_MAX, {NULL}, 0};
    struct collected left = {h, o, at, PARTS_MAX, {NULL}, 0};
    const char *session = player_find(&h->player->sessions, call->call.session);
    int64_t id = 0;
    bool same = false;

    for (int i = 0; i < h->calls_count; i++)
        same = same ||
            (i != at && h->calls[i].call.verb == CALL_CLAIM &&
                h->calls[i].call.session == call->call.session &&
                history_overlap(&h->calls[i], call));
    if (same)
        way->other_claim = choose(n, 2) == 1;
    if (session != NULL && pw_parse_i64(session, 1, INT64_MAX, &id) &&
        oracle_lease_is_over(h->base, id) && history_can_be_held(h, o, at, session) &&
        choose(n, 2) == 1)
        hold(way, session, ORACLE_OWN);
    if (call->answered == HISTORY_UNKNOWN)
        choose_taken(h, o, at, n, way);
    oracle_each_held(o, 0, collect, &all);
    for (int i = 0; i < all.count; i++)
        if (!was_taken(call->answered == HISTORY_UNKNOWN ? way->chosen : call->chosen, all.ids[i]))
            hold(way, all.ids[i], ORACLE_OWN);
    oracle_each_left_over(o, collect, &left);
    choose_among(&left, n, way);
}

enum {
    WORD_SIZE = 16,
};

/* The answer of each item, in one word. A verb of one item has one line without a number. */
static void
read_answers(const struct history_call *call, char words[CALL_ITEMS_MAX][WORD_SIZE])
{
    const char *line = call->got;

    for (int i = 0; i < CALL_ITEMS_MAX; i++) {
        const char *answer = call_is_one(call->call.verb) ? line : line + strcspn(line, " ");

        answer += *answer == ' ';
        (void)snprintf(words[i], WORD_SIZE, "%.*s", (int)strcspn(answer, " "), answer);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static void
write_late(char id[HISTORY_ID_SIZE], const char *run)
{
    (void)snprintf(id, HISTORY_ID_SIZE, ORACLE_LATE "%s", run); /* an id */
}

static bool
can_be_at_topic(const struct history *h, int at, const struct oracle_item *item)
{
    return strcmp(item->kind, "event") == 0 && item->option.topic != NULL &&
        history_can_meet_at_topic(h, at);
}

static void
write_topic(char id[HISTORY_ID_SIZE], const struct oracle_item *item)
{
    (void)snprintf(id, HISTORY_ID_SIZE, ORACLE_TOPIC "%s", item->option.topic); /* a short word */
}

/* What can have been in the way of an item that was answered busy: its row, unless an earlier item was taken; of a task its run;
 * whoever waits for that run; whoever was at its topic; or another late call. */
static void
choose_busy(struct history *h, struct oracle *o, int at, int item, bool first, int *n,
    struct history_way *way)
{
    const struct oracle_item *of = &h->calls[at].items[item];
    struct collected rows = {h, o, at, HISTORY_HELD_MAX - 2, {NULL}, 0};
    char row[HISTORY_ID_SIZE], late[HISTORY_ID_SIZE], topic[HISTORY_ID_SIZE];

    history_write_row(row, of);
    if (first)
        collect(row, &rows);
    oracle_each_above(o, of->run, collect, &rows);
    for (int i = 0; i < rows.count; i++)
        if (!first && strcmp(rows.ids[i], row) == 0)
            rows.ids[i] = rows.ids[--rows.count];
    if (can_be_at_topic(h, at, of)) {
        write_topic(topic, of);
        rows.ids[rows.count++] = topic;
    }
    if (history_can_meet_late(h, at)) {
        write_late(late, of->run);
        rows.ids[rows.count++] = late;
    }
    if (rows.count > 0)
        hold(way, rows.ids[choose(n, rows.count)], ORACLE_OWN);
}

/* What a call does not get to that ends a run: tasks of flows that end by it. Not those that it is about. */
static void
collect_parts(const struct history_call *call, const char *run, struct collected *parts)
{
    char row[HISTORY_ID_SIZE];

    oracle_each_part(parts->oracle, run, collect, parts);
    for (int i = 0; i < parts->count;) {
        bool own = false;

        for (int k = 0; k < call->call.items_count; k++) {
            history_write_row(row, &call->items[k]);
            own = own || strcmp(row, parts->ids[i]) == 0;
        }
        /* An operator has all of the run that it names. */
        own = own || (call->call.run != 0 && strncmp(parts->ids[i], run, strlen(run)) == 0);
        if (own)
            parts->ids[i] = parts->ids[--parts->count];
        else
            i++;
    }
}

/* Whether the run of an item has begun to end in this phase, by a call that this one met. */
static bool
can_miss_ending(struct history *h, struct oracle *o, int at)
{
    const struct history_call *call = &h->calls[at];

    for (int i = 0; i < call->call.items_count; i++) {
        const struct oracle_item *item = &call->items[i];
        struct oracle_view before, now;

        oracle_look(h->base, item->run, &before);
        oracle_look(o, item->run, &now);
        if (item->task > 0 && now.ending && !before.ending &&
            history_can_be_held(h, o, at, item->run))
            return true;
    }
    return false;
}

/* Nobody knows what it was answered: any of what it comes to can have been held. */
static void
choose_unknown_commit(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    struct collected rows = {h, o, at, PARTS_MAX, {NULL}, 0};
    char own[CALL_ITEMS_MAX][HISTORY_ID_SIZE], late[HISTORY_ID_SIZE], topic[HISTORY_ID_SIZE];

    for (int i = 0; i < call->call.items_count; i++) {
        history_write_row(own[i], &call->items[i]);
        collect(own[i], &rows);
    }
    for (int i = 0; i < call->call.items_count; i++) {
        oracle_each_above(o, call->items[i].run, collect, &rows);
        if (history_lets_go(call->items[i].kind))
            oracle_each_part(o, call->items[i].run, collect, &rows);
    }
    choose_among(&rows, n, way);
    for (int i = 0; i < call->call.items_count; i++)
        if (can_be_at_topic(h, at, &call->items[i]) && choose(n, 2) == 1) {
            write_topic(topic, &call->items[i]);
            hold(way, topic, ORACLE_OWN);
        }
    if (history_can_meet_late(h, at) && choose(n, 2) == 1)
        for (int i = 0; i < call->call.items_count; i++) {
            write_late(late, call->items[i].run);
            hold(way, late, ORACLE_OWN);
        }
}

static bool
is_of_claim(const struct oracle_item *a, const struct oracle_item *b)
{
    return strcmp(a->run, b->run) == 0 && a->task == b->task && a->fence == b->fence;
}

static void
choose_commit(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    struct collected parts = {h, o, at, PARTS_MAX, {NULL}, 0};
    char words[CALL_ITEMS_MAX][WORD_SIZE];

    if (can_miss_ending(h, o, at))
        way->unseen_ending = choose(n, 2) == 1;
    if (call->answered == HISTORY_UNKNOWN) {
        choose_unknown_commit(h, o, at, n, way);
        return;
    }
    read_answers(call, words);
    for (int i = 0; i < call->call.items_count; i++) {
        bool first = true, stopped = false;

        for (int k = 0; k < i; k++)
            if (is_of_claim(&call->items[k], &call->items[i])) {
                first = false;
                stopped = stopped || strcmp(words[k], "busy") == 0 ||
                    (strcmp(words[k], "refused") == 0 && strcmp(call->items[k].kind, "note") != 0);
            }
        if (!stopped && strcmp(words[i], "busy") == 0)
            choose_busy(h, o, at, i, first, n, way);
        else if (history_lets_go(call->items[i].kind))
            collect_parts(call, call->items[i].run, &parts);
    }
    choose_among(&parts, n, way);
}

static void
choose_leave(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    struct collected held = {h, o, at, PARTS_MAX, {NULL}, 0};
    const char *session = player_find(&h->player->sessions, h->calls[at].call.session);
    char stays[HISTORY_ID_SIZE];
    int64_t id = 0;

    if (session == NULL || !pw_parse_i64(session, 1, INT64_MAX, &id))
        return;
    oracle_each_held(o, id, collect, &held);
    oracle_each_ending(o, id, collect, &held);
    choose_among(&held, n, way);
    if (history_can_share(h, at, id) && choose(n, 2) == 1) {
        write_stays(stays, session);
        hold(way, stays, ORACLE_OWN);
    }
}

/* An operator who ends a run may end the flow that it is a step of. */
static void
choose_operation(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    const char *run = player_find(&h->player->runs, call->call.run);
    struct collected parts = {h, o, at, PARTS_MAX, {NULL}, 0};

    if (run != NULL)
        collect_parts(call, run, &parts);
    choose_among(&parts, n, way);
}

/* A commit of items that cannot be taken together, and an epoch for which others were in the way for too long. */
static bool
was_refused_as_a_whole(const struct history_call *call)
{
    if (call->call.verb == CALL_RAISE_EPOCH)
        return call->got != NULL && strcmp(call->got, "55P03") == 0;
    return call->call.verb == CALL_COMMIT && call->got != NULL &&
        (strcmp(call->got, "PW010") == 0 || strcmp(call->got, "22P02") == 0 ||
            strcmp(call->got, "23505") == 0);
}

bool
history_way(struct history *history, struct oracle *oracle, int at, unsigned done, int n,
    struct history_way *way)
{
    const struct history_call *call = &history->calls[at];
    enum call_verb verb = call->call.verb;

    *way = (struct history_way){.at = at};
    if (was_refused_as_a_whole(call)) {
        way->nothing = true;
        return n == 0;
    }
    if (call->got != NULL && strcmp(call->got, "busy") == 0) {
        way->nothing = true;
        return n == 0 &&
            can_be_busy(history, oracle, at, player_find(&history->player->runs, call->call.run));
    }
    if (history_ticks(verb) && call->answered == HISTORY_UNKNOWN && oracle_tick_is_due(oracle) &&
        n-- == 0) {
        way->lost_tick = true;
        return true;
    }
    choose_tick(history, oracle, at, done, &n, way);
    if (verb == CALL_CLAIM)
        choose_claim(history, oracle, at, &n, way);
    else if (verb == CALL_LEAVE)
        choose_leave(history, oracle, at, &n, way);
    else if (is_commit(verb))
        choose_commit(history, oracle, at, &n, way);
    else if (verb == CALL_CANCEL || verb == CALL_KILL)
        choose_operation(history, oracle, at, &n, way);
    return n == 0;
}

/* --- applying --- */

/* A call under way can begin or end a session, or renew a lease. */
static bool
sessions_can_change(const struct history *h, int at)
{
    for (int i = 0; i < h->calls_count; i++) {
        enum call_verb verb = h->calls[i].call.verb;

        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) &&
            (history_ticks(verb) || verb == CALL_HOUSEKEEP || verb == CALL_LEAVE ||
                verb == CALL_REGISTER || verb == CALL_RAISE_EPOCH))
            return true;
    }
    return false;
}

/* Between its first look at its session and its last, another call may end that: then a claim gives nothing, and a call that
 * leaves finds nothing to give back. */
static bool
has_ended_meanwhile(const struct history *h, int at, const char *answer)
{
    const struct history_call *call = &h->calls[at];

    if ((strcmp(answer, "PW005") != 0 && strcmp(answer, "PW012") != 0) ||
        !((call->call.verb == CALL_CLAIM && call->got[0] == '\0') ||
            (call->call.verb == CALL_LEAVE && strcmp(call->got, "0") == 0)))
        return false;
    return sessions_can_change(h, at);
}

/* Whether anybody handles a run that is triggered is asked before the trigger is committed. */
static bool
is_handled_otherwise(const struct history *h, int at, const char *wanted)
{
    const char *got = h->calls[at].got;
    size_t length = strlen(got);

    return h->calls[at].call.verb == CALL_TRIGGER && length > 36 && strlen(wanted) == length &&
        strncmp(got, wanted, length - 1) == 0 && sessions_can_change(h, at);
}

/* The oracle's own form of what was held. */
struct held {
    const char *lists[ORACLE_MOMENTS][HISTORY_HELD_MAX + 1];
    struct oracle_meanwhile meanwhile;
};

static void
list_held(const struct history_way *way, struct held *held)
{
    int counts[ORACLE_MOMENTS] = {0};

    *held = (struct held){.meanwhile = {.other_tick = way->other_tick,
                              .other_claim = way->other_claim,
                              .unseen_ending = way->unseen_ending}};
    for (int i = 0; i < way->held_count; i++) {
        enum oracle_moment moment = way->held[i].moment;

        held->lists[moment][counts[moment]++] = way->held[i].id;
    }
    for (int i = 0; i < ORACLE_MOMENTS; i++)
        held->meanwhile.held[i] = held->lists[i];
}

bool
history_apply(struct history *history, struct oracle *oracle, const struct history_way *way)
{
    struct player *p = history->player;
    struct history_call *call = &history->calls[way->at];
    bool unknown = call->answered == HISTORY_UNKNOWN;
    const char *answer, *chosen = unknown ? way->chosen : call->chosen;
    char words[1024];
    struct held held;

    if (way->nothing)
        return true;
    if (way->lost_tick) {
        oracle_lose_tick(oracle);
        return true;
    }
    if (unknown && (call->call.verb == CALL_TRIGGER || call->call.verb == CALL_EMIT))
        chosen = call->id;
    (void)snprintf(words, sizeof(words), "%s", chosen == NULL ? "" : chosen);
    list_held(way, &held);
    p->oracle = oracle;
    pw_buf_clear(&p->wanted);
    oracle_set_meanwhile(oracle, &held.meanwhile);
    answer = player_follow(p, &call->call, words, call->items);
    oracle_set_meanwhile(oracle, NULL);
    if (unknown)
        return strncmp(answer, "PW0", 3) != 0 && strncmp(answer, "not allowed", 11) != 0 &&
            strcmp(answer, "22P02") != 0;
    player_finish_reply(p, &call->call, answer);
    return strcmp(pw_buf_text(&p->wanted), call->got) == 0 ||
        has_ended_meanwhile(history, way->at, answer) ||
        is_handled_otherwise(history, way->at, pw_buf_text(&p->wanted));
}
