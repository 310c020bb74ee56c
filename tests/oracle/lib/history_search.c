/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for an order of a phase's calls that explains it: depth first, what was answered first is tried first. */
#include "history.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEN_SIZE = 1 << 20, /* a power of two */
};

struct search {
    struct history *history;
    struct history_way path[HISTORY_CALLS_MAX];
    uint64_t *seen; /* states from which there is no way on; 0: none */
    int seen_count;
    long nodes;
};

/* Whether the same calls have led to the same state before; if not, it is noted. */
static bool
was_seen(struct search *s, struct oracle *oracle, unsigned done)
{
    uint64_t digest = oracle_digest(oracle) * 31 + done * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = digest & (SEEN_SIZE - 1);

    digest = digest == 0 ? 1 : digest;
    while (s->seen[at] != 0) {
        if (s->seen[at] == digest)
            return true;
        at = (at + 1) & (SEEN_SIZE - 1);
    }
    if (s->seen_count < SEEN_SIZE / 2) {
        s->seen[at] = digest;
        s->seen_count++;
    }
    return false;
}

static bool
all_answered_are_done(const struct history *h, unsigned done)
{
    for (int i = 0; i < h->calls_count; i++)
        if ((done >> i & 1) == 0 && h->calls[i].answered != HISTORY_UNKNOWN)
            return false;
    return true;
}

/* Nothing that is left was answered before this one was sent. */
static bool
may_come_next(const struct history *h, int at, unsigned done)
{
    for (int i = 0; i < h->calls_count; i++)
        if (i != at && (done >> i & 1) == 0 && h->calls[i].answered < h->calls[at].sent)
            return false;
    return true;
}

/* When a call is tried among others: a lost claim early if it is known to have been made, other lost ones last. */
static long
rank(const struct history *h, int at)
{
    const struct history_call *call = &h->calls[at];

    return call->answered == HISTORY_UNKNOWN && history_shows_claim(h, at, NULL) ? call->sent
                                                                                 : call->answered;
}

/* The calls that may come next, those answered first before others. */
static int
list_next(const struct history *h, unsigned done, int *next)
{
    int count = 0;

    for (int i = 0; i < h->calls_count; i++) {
        int at = count;

        if ((done >> i & 1) != 0 || !may_come_next(h, i, done))
            continue;
        for (; at > 0 && rank(h, next[at - 1]) > rank(h, i); at--)
            next[at] = next[at - 1];
        next[at] = i;
        count++;
    }
    return count;
}

static void
keep_longest(struct search *s, int depth)
{
    struct history *h = s->history;

    if (depth <= h->ways_count)
        return;
    memcpy(h->ways, s->path, (size_t)depth * sizeof(s->path[0]));
    h->ways_count = depth;
}

static bool search_from(struct search *s, struct oracle *oracle, unsigned done, int depth);

static bool
try_call(struct search *s, struct oracle *oracle, unsigned done, int depth, int at)
{
    struct history_way *way = &s->path[depth];

    for (int n = 0;
         s->nodes < s->history->nodes_max && history_way(s->history, oracle, at, done, n, way);
         n++) {
        struct oracle *next;
        bool found;

        if (way->impossible)
            continue;
        next = oracle_copy(oracle);
        s->nodes++;
        found = history_apply(s->history, next, way) &&
            search_from(s, next, done | 1U << at, depth + 1);
        oracle_free(next);
        if (found)
            return true;
    }
    return false;
}

static bool
search_from(struct search *s, struct oracle *oracle, unsigned done, int depth)
{
    int next[HISTORY_CALLS_MAX], count;

    keep_longest(s, depth);
    if (all_answered_are_done(s->history, done) && history_is_state(s->history, oracle)) {
        s->history->ways_count = 0;
        keep_longest(s, depth);
        return true;
    }
    if (history_is_past(s->history, oracle) || was_seen(s, oracle, done))
        return false;
    count = list_next(s->history, done, next);
    for (int i = 0; i < count; i++)
        if (try_call(s, oracle, done, depth, next[i]))
            return true;
    return false;
}

bool
history_explain(struct history *history)
{
    struct search s = {.history = history, .seen = calloc(SEEN_SIZE, sizeof(*s.seen))};
    struct oracle *base = history->player->oracle;
    bool found;

    if (s.seen == NULL)
        bench_die("out of memory");
    history->ways_count = 0;
    history->explaining = true;
    found = search_from(&s, base, 0, 0);
    history->player->oracle = base;
    free(s.seen);
    history->counts->nodes += s.nodes;
    history->gave_up = s.nodes >= history->nodes_max;
    if (s.nodes > history->counts->nodes_most)
        history->counts->nodes_most = s.nodes;
    /* Once more in the oracle itself, which shares no texts with those that are gone. */
    for (int i = 0; found && i < history->ways_count; i++)
        if (!history_apply(history, base, &history->ways[i]))
            bench_die("the order that was found is none");
    history->player->oracle = base;
    history->explaining = !found; /* whoever tells of it tries it once more */
    return found;
}
