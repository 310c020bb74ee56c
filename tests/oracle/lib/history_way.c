/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a call can take its place in an order. The oracle's calls follow one another; the engine's meet, and the documents
 * name what then makes a difference:
 *
 *   - claim, commit, leave and housekeeping pass over what another transaction holds; commit and the operators' verbs answer
 *     busy. It counts for runs, and sessions, that a call under way at the same time can have held.
 *   - A claim does its housekeeping first and then looks at one queue after another, so it may also miss what such a call
 *     made ready, or let go of, in between.
 *   - Housekeeping is done once for each time of the clock, by whoever comes first: the others go on without it, also while
 *     its work is not committed. If that call comes to nothing, the work is left to the next time.
 *   - A claim does not see what another one of the same session takes that is under way: neither that it has the same
 *     request number, nor that the worker will then have other work.
 *   - Whether a run that is triggered is handled is what was so while the trigger was under way.
 *   - A late result is answered busy while another call of the session has one.
 *   - A claim whose session ends meanwhile gives nothing, and leave gives nothing back.
 */
#include "history.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool
history_overlap(const struct history_call *a, const struct history_call *b)
{
    return a->sent < b->answered && b->sent < a->answered;
}

static bool
ticks(enum call_verb verb)
{
    return verb == CALL_CLAIM || verb == CALL_HEARTBEAT;
}

static bool
is_commit(enum call_verb verb)
{
    return verb == CALL_COMMIT || verb == CALL_COMMIT_CAREFULLY || call_is_one(verb);
}

static bool
is_run_or_parent(struct oracle *o, const char *run, const char *id)
{
    const char *parent = run == NULL ? NULL : oracle_parent_of(o, run);

    return run != NULL && (strcmp(run, id) == 0 || (parent != NULL && strcmp(parent, id) == 0));
}

/* Whether the call can have held this run or session, or made this run. */
static bool
may_hold(struct history *h, struct oracle *o, const struct history_call *call, const char *id)
{
    const struct call *c = &call->call;

    if (ticks(c->verb) || c->verb == CALL_HOUSEKEEP || c->verb == CALL_LEAVE ||
        c->verb == CALL_EMIT)
        return true;
    if (c->verb == CALL_TRIGGER)
        return strcmp(call->id, id) == 0 || (call->chosen != NULL && strcmp(call->chosen, id) == 0);
    /* Its session was not over while it had something that this call let go of. */
    if (c->items_count > 0 && c->session != CALL_NOBODY) {
        const char *session = player_find(&h->player->sessions, c->session);

        if (session != NULL && strcmp(session, id) == 0)
            return true;
    }
    for (int i = 0; i < c->items_count; i++)
        if (is_run_or_parent(o, call->items[i].run, id))
            return true;
    return c->run != 0 && is_run_or_parent(o, player_find(&h->player->runs, c->run), id);
}

static bool
can_be_held(struct history *h, struct oracle *o, int at, const char *id)
{
    for (int i = 0; i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) &&
            may_hold(h, o, &h->calls[i], id))
            return true;
    return false;
}

static bool
has_event_item(const struct history_call *call)
{
    for (int i = 0; i < call->call.items_count; i++)
        if (strcmp(call->call.items[i].item.kind, "event") == 0)
            return true;
    return call->call.verb == CALL_EMIT;
}

/* A wait for an event is also busy while another call is at its topic. */
static bool
can_meet_at_topic(const struct history *h, int at)
{
    for (int i = 0; has_event_item(&h->calls[at]) && i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) && has_event_item(&h->calls[i]))
            return true;
    return false;
}

static bool
can_be_busy(struct history *h, struct oracle *o, int at, const char *run)
{
    const char *parent = oracle_parent_of(o, run);

    return can_be_held(h, o, at, run) || (parent != NULL && can_be_held(h, o, at, parent));
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
    if (c->count < c->most && can_be_held(c->history, c->oracle, c->at, id))
        c->ids[c->count++] = id;
}

static void
collect_all(const char *id, void *userdata)
{
    struct collected *c = userdata;

    for (int i = 0; i < c->count; i++)
        if (strcmp(c->ids[i], id) == 0)
            return;
    /* Runs only: sessions have shorter names. */
    if (c->count < c->most && strlen(id) == 36)
        c->ids[c->count++] = id;
}

/* Takes the next of so many choices out of a number. */
static int
choose(int *n, int count)
{
    int chosen = *n % count;

    *n /= count;
    return chosen;
}

/* What housekeeping passes over; false: another call does all of it. */
static void
choose_tick(
    struct history *h, struct oracle *o, int at, unsigned done, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    struct collected due = {h, o, at, HISTORY_DUE_MAX, {NULL}, 0};
    bool other = false;
    int chosen, subsets, which;

    if (call->call.verb != CALL_HOUSEKEEP && (!ticks(call->call.verb) || !oracle_tick_is_due(o)))
        return;
    oracle_each_due(o, collect, &due);
    for (int i = 0; ticks(call->call.verb) && i < h->calls_count; i++)
        other = other ||
            (i != at && (done >> i & 1) == 0 && ticks(h->calls[i].call.verb) &&
                history_overlap(&h->calls[i], call));
    /* First nothing was in the way, then another call was first, and only then all the rest. */
    subsets = 1 << due.count;
    chosen = choose(n, 3 * subsets - 2 + other);
    if (other && chosen == 1) {
        way->other_tick = true;
        return;
    }
    chosen -= other && chosen > 1 ? 1 : 0;
    /* Held all the time; or let go of before the time limits; or taken before them. */
    which = chosen < subsets ? 0 : chosen < 2 * subsets - 1 ? 1 : 2;
    chosen = which == 0 ? chosen : (chosen - subsets) % (subsets - 1) + 1;
    for (int i = 0; i < due.count; i++) {
        if ((chosen >> i & 1) != 0 && which != 2)
            hold(way, due.ids[i], ORACLE_SWEEP);
        if ((chosen >> i & 1) != 0 && which != 1)
            hold(way, due.ids[i], ORACLE_LIMITS);
    }
}

static bool
has_word(const char *words, const char *word)
{
    return words != NULL && strstr(words, word) != NULL;
}

bool
history_shows_claim(const struct history *history, int at, const char *run)
{
    const struct call *call = &history->calls[at].call;
    const char *session = player_find(&history->player->sessions, call->session);
    const char *line = pw_buf_text(&history->state), *found;
    char mark[64], head[64];

    if (call->verb != CALL_CLAIM || call->claim.request == 0 || session == NULL)
        return false;
    (void)snprintf(mark, sizeof(mark), " - %s %d ", session, call->claim.request); /* it fits */
    if (run == NULL)
        return strstr(line, mark) != NULL;
    (void)snprintf(head, sizeof(head), "run %s\ntask ", run); /* it fits */
    line = strstr(line, head);
    if (line == NULL)
        return false;
    line += strlen(head);
    found = strstr(line, mark);
    return found != NULL && found < line + strcspn(line, "\n");
}

/* What a lost claim took: any of what could be claimed, or can be after its housekeeping. */
static void
choose_taken(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    struct collected ready = {h, o, at, TAKEN_MAX, {NULL}, 0};
    int chosen, taken = 0, shown = 0;

    oracle_each_held(o, 0, collect_all, &ready);
    oracle_each_due(o, collect_all, &ready);
    /* Not what has the fence that it had before, and those first that the tables show as taken by it. */
    for (int i = 0; i < ready.count;) {
        struct oracle_progressed now, last;

        oracle_look_progress(o, ready.ids[i], &now);
        history_read_progress(h, ready.ids[i], &last);
        if (last.fence > now.fence)
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
        oracle_lease_is_over(h->base, id) && can_be_held(h, o, at, session) && choose(n, 2) == 1)
        hold(way, session, ORACLE_OWN);
    if (call->answered == HISTORY_UNKNOWN)
        choose_taken(h, o, at, n, way);
    oracle_each_held(o, 0, collect, &all);
    for (int i = 0; i < all.count; i++)
        if (!has_word(call->answered == HISTORY_UNKNOWN ? way->chosen : call->chosen, all.ids[i]))
            hold(way, all.ids[i], ORACLE_OWN);
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

/* Whether the call can have had a late result of this session. */
static bool
may_be_late(const struct history_call *call, int session)
{
    static const char *const kinds[] = {"step", "complete", "fail", "step_error"};

    for (int i = 0; call->call.session == session && i < call->call.items_count; i++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            if (strcmp(call->items[i].kind, kinds[k]) == 0)
                return true;
    return false;
}

static bool
can_meet_late(const struct history *h, int at)
{
    for (int i = 0; i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) &&
            may_be_late(&h->calls[i], h->calls[at].call.session))
            return true;
    return false;
}

static void
write_late(char id[HISTORY_ID_SIZE], const char *run)
{
    (void)snprintf(id, HISTORY_ID_SIZE, ORACLE_LATE "%s", run); /* an id */
}

/* What can have been in the way of an item that was answered busy: its run, unless an earlier item was taken; its parent;
 * whoever was at its topic; or another late call. */
static void
choose_busy(struct history *h, struct oracle *o, int at, int item, bool first, int *n,
    struct history_way *way)
{
    const char *run = h->calls[at].items[item].run, *parent = oracle_parent_of(o, run);
    const char *ids[4];
    char late[HISTORY_ID_SIZE];
    int count = 0;

    if (first && can_be_held(h, o, at, run))
        ids[count++] = run;
    if (parent != NULL && can_be_held(h, o, at, parent))
        ids[count++] = parent;
    if (strcmp(h->calls[at].items[item].kind, "event") == 0 && can_meet_at_topic(h, at))
        ids[count++] = ORACLE_TOPIC;
    if (can_meet_late(h, at)) {
        write_late(late, run);
        ids[count++] = late;
    }
    if (count > 0)
        hold(way, ids[choose(n, count)], ORACLE_OWN);
}

static void
choose_commit(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    const struct history_call *call = &h->calls[at];
    char words[CALL_ITEMS_MAX][WORD_SIZE], late[HISTORY_ID_SIZE];

    if (call->answered == HISTORY_UNKNOWN) {
        int chosen = choose(n, 1 << call->call.items_count);

        for (int i = 0; i < call->call.items_count; i++)
            if ((chosen >> i & 1) != 0) {
                if (can_be_held(h, o, at, call->items[i].run))
                    hold(way, call->items[i].run, ORACLE_OWN);
                write_late(late, call->items[i].run);
                if (can_meet_late(h, at))
                    hold(way, late, ORACLE_OWN);
            }
        return;
    }
    read_answers(call, words);
    for (int i = 0; i < call->call.items_count; i++) {
        bool first = true, stopped = false;

        for (int k = 0; k < i; k++)
            if (strcmp(call->items[k].run, call->items[i].run) == 0 &&
                call->items[k].fence == call->items[i].fence) {
                first = false;
                stopped = stopped || strcmp(words[k], "busy") == 0 ||
                    (strcmp(words[k], "refused") == 0 && strcmp(call->items[k].kind, "note") != 0);
            }
        if (!stopped && strcmp(words[i], "busy") == 0)
            choose_busy(h, o, at, i, first, n, way);
    }
}

static void
choose_leave(struct history *h, struct oracle *o, int at, int *n, struct history_way *way)
{
    struct collected held = {h, o, at, HISTORY_DUE_MAX, {NULL}, 0};
    const char *session = player_find(&h->player->sessions, h->calls[at].call.session);
    int64_t id = 0;
    int chosen;

    if (session == NULL || !pw_parse_i64(session, 1, INT64_MAX, &id))
        return;
    oracle_each_held(o, id, collect, &held);
    chosen = choose(n, 1 << held.count);
    for (int i = 0; i < held.count; i++)
        if ((chosen >> i & 1) != 0)
            hold(way, held.ids[i], ORACLE_OWN);
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
    if (ticks(verb) && call->answered == HISTORY_UNKNOWN && oracle_tick_is_due(oracle) &&
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
            (ticks(verb) || verb == CALL_HOUSEKEEP || verb == CALL_LEAVE || verb == CALL_REGISTER ||
                verb == CALL_RAISE_EPOCH))
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

    *held = (struct held){
        .meanwhile = {.other_tick = way->other_tick, .other_claim = way->other_claim}};
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
