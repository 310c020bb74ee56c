/* SPDX-License-Identifier: Apache-2.0 */
/* What calls are made of by chance; see the header. */
#include "chance.h"

#include <string.h>

const char *const chance_workflows[4] = {"o.a", "o.b", "o.b.c", "p.d"};
const char *const chance_flows[4] = {"f.a", "f.b", "f.c", "f.e"};
const char *const chance_payloads[7] = {
    "{}", "1", "\"x\"", "{\"id\": 1}", "{\"id\": 2, \"tag\": \"x\"}", "[1, 2]", "null"};
const char *const chance_signals[2] = {"go", "stop"};

int
chance_below(struct generator *g, int n)
{
    return (int)(pw_rand_next(&g->rand) % (uint64_t)n);
}

bool
chance_of(struct generator *g, int percent)
{
    return chance_below(g, 100) < percent;
}

const char *
chance_pick(struct generator *g, const char *const *list, size_t count)
{
    return list[chance_below(g, (int)count)];
}

const char *
chance_constant(const char *text)
{
    static const char *const words[] = {"go", "stop", "g", "p", "e", "a", "u", "b", "Bad", "t1",
        "t2", "a#1", "a#2", "a#3", "u#1", "u#2", "u#3", "x/b#1", "x/b#2", "x/b#3", "e#1", "e#2",
        "e#3", "s1#1", "s1#2", "s1#3", "s2#1", "s2#2", "s2#3", "s3#1", "s3#2", "s3#3", "s4#1",
        "s4#2", "s4#3", "s5#1", "s5#2", "s5#3"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], text) == 0)
            return words[i];
    return "u#1";
}

const char *
chance_huge(void)
{
    static char text[4100];

    if (text[0] == '\0') {
        memset(text, 'x', sizeof(text) - 2);
        text[0] = text[sizeof(text) - 2] = '"';
    }
    return text;
}

const char *
chance_large(void)
{
    static char text[2100];

    if (text[0] == '\0') {
        memset(text, 'y', sizeof(text) - 2);
        text[0] = text[sizeof(text) - 2] = '"';
    }
    return text;
}

static bool
is_wanted(const struct oracle_view *view, enum want want)
{
    switch (want) {
    case WANT_LIVING:
        return view->living;
    case WANT_HELD:
        return view->living && view->place == 2;
    case WANT_ENDED:
        return view->found && !view->living;
    case WANT_FAILED:
        return view->found && !view->living && view->status != 1;
    case WANT_WAITING:
        return view->living && view->waits_for != NULL;
    case WANT_ROLLING_BACK:
        return view->rolling_back;
    case WANT_ENDING:
        return view->ending && !view->rolling_back;
    case WANT_PAUSED:
        return view->paused;
    case WANT_TIMED:
        return view->living && view->place == 1 && !view->paused;
    case WANT_STUCK:
        return view->stuck;
    case WANT_FLOW:
        return view->living && view->flow;
    case WANT_ANY:
    default:
        return view->found;
    }
}

int
chance_run(struct generator *g, const struct player *p, enum want want, struct oracle_view *view)
{
    int count = (int)p->runs.count, maker = CALL_NOBODY;

    *view = (struct oracle_view){0};
    if (count == 0 || chance_of(g, 1))
        return CALL_NOBODY;
    for (int try = 0; try < 40; try++) {
        int back = chance_of(g, 90) && count > 120 ? 120 : count;

        maker = p->runs.made[count - 1 - chance_below(g, back)].maker;
        oracle_look(p->oracle, player_find(&p->runs, maker), view);
        if (is_wanted(view, want))
            break;
    }
    return maker;
}

int
chance_task(struct generator *g, const struct player *p, enum want want, struct oracle_view *view,
    int *task)
{
    int maker = CALL_NOBODY;

    *task = 0;
    if (!g->flows)
        return chance_run(g, p, want, view);
    for (int try = 0; try < 6; try++) {
        int n;

        maker = chance_run(g, p, chance_of(g, 60) ? want : WANT_FLOW, view);
        *task = 0;
        if (maker == CALL_NOBODY)
            break;
        n = view->flow && !view->rolling_back && view->tasks > 0 ? view->tasks : 0;
        if (n > 0) {
            const char *id = player_find(&p->runs, maker);

            *task = oracle_nth_task(p->oracle, id, chance_below(g, n));
            oracle_look_task(p->oracle, id, *task, view);
        }
        if (is_wanted(view, want))
            break;
    }
    return maker;
}

const char *
chance_workflow(struct generator *g)
{
    return g->flows && chance_of(g, 30) ? chance_pick(g, chance_flows, 4)
                                        : chance_pick(g, chance_workflows, 4);
}

int
chance_session(struct generator *g, const struct player *p)
{
    int count = (int)p->sessions.count;

    if (count == 0 || chance_of(g, 1))
        return CALL_NOBODY;
    for (int try = 0; try < 20; try++) {
        const struct player_made *made = &p->sessions.made[chance_below(g, count)];
        long long id = 0;

        for (const char *at = made->id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        if (oracle_session_lives(p->oracle, id) || chance_of(g, 3))
            return made->maker;
    }
    return p->sessions.made[count - 1].maker;
}

int
chance_session_maker(const struct player *p, int64_t session)
{
    for (size_t i = 0; i < p->sessions.count; i++) {
        long long id = 0;

        for (const char *at = p->sessions.made[i].id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        if (id == session)
            return p->sessions.made[i].maker;
    }
    return CALL_NOBODY;
}

int
chance_count_sessions(const struct player *p)
{
    int count = 0;

    for (size_t i = 0; i < p->sessions.count; i++) {
        long long id = 0;

        for (const char *at = p->sessions.made[i].id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        count += oracle_session_lives(p->oracle, id);
    }
    return count;
}

void
chance_policy(struct generator *g, struct oracle_policy *policy)
{
    policy->max_attempts = 1 + chance_below(g, 4);
    policy->base_us = (int64_t)chance_below(g, 3) * 500000;
    policy->factor = 1 + chance_below(g, 3);
    /* Rarely more than the cap, which is refused. */
    if (chance_of(g, 2))
        policy->base_us = INT64_C(20000000);
    policy->cap_us = INT64_C(2000000) + (int64_t)chance_below(g, 3) * 4000000;
    policy->jitter = chance_of(g, 50) ? 0 : 0.25;
}
