/* SPDX-License-Identifier: Apache-2.0 */
/* Flows and their steps, by chance. The last flow stays without steps; each has only earlier ones as steps, so none runs itself. */
#include "chance.h"

#include <string.h>

static const char *const steps[] = {"s1", "s2", "s3", "s4", "s5"};

enum {
    STEPS = 5,
};

void
shape_flow(struct generator *g, struct call *call)
{
    struct oracle_workflow_spec *w = &call->workflow;

    w->name = chance_of(g, 4) ? "Bad.Flow"
        : chance_of(g, 6)     ? "o.a"
                              : chance_pick(g, chance_flows, 4);
    w->priority = 100 - chance_below(g, 2);
    w->run_timeout_us = w->step_timeout_us = ORACLE_NONE;
    chance_policy(g, &w->policy);
    if (chance_of(g, 50))
        /* The same every time, so that it exists. */
        w->priority = 100, w->policy = (struct oracle_policy){2, 1000000, 2, 4000000, 0.25};
    /* Not that of a workflow: two that reach their limits at the same moment end in any order. */
    if (strcmp(w->name, "f.c") == 0)
        w->run_timeout_us = INT64_C(80000321);
    if (strcmp(w->name, "f.b") == 0)
        w->step_timeout_us = 3000000;
}

static void
pick_deps(struct generator *g, struct oracle_step_spec *s, int before)
{
    int count = 0;

    for (int i = 0; i < before && count < ORACLE_DEPS_MAX; i++)
        if (chance_of(g, 45))
            s->deps[count++] = steps[i];
    if (chance_of(g, 3) && count < ORACLE_DEPS_MAX)
        s->deps[count] = chance_of(g, 50) ? "zz" : steps[before < STEPS ? before : 0];
}

static void
pick_options(struct generator *g, struct oracle_step_spec *s)
{
    static const char *const conditions[] = {"{\"/run/id\": 1}", "{\"/run/tag\": \"x\"}",
        "{\"/s1\": 1}", "{\"/s1/id\": 2}", "{\"/s2\": \"x\"}", "7"};
    static const char *const unmet[] = {
        NULL, "skip", "skip", "skip_all", "skip_all", "skip_all", "fail", "sulk"};

    static const char *const failed[] = {"skip", "skip", "skip_all", "skip_all", "fail", "sulk"};

    if (chance_of(g, 20))
        s->map = chance_of(g, 70) || s->deps[0] == NULL ? "run" : s->deps[0];
    if (chance_of(g, 20)) {
        s->condition = conditions[chance_below(g, chance_of(g, 5) ? 6 : 5)];
        s->unmet = unmet[chance_below(g, chance_of(g, 5) ? 8 : 7)];
    }
    if (chance_of(g, 30))
        s->failed = failed[chance_below(g, chance_of(g, 5) ? 6 : 5)];
    if (chance_of(g, 25))
        s->undo = chance_of(g, 3) ? "Bad h" : "h";
    if (chance_of(g, 10))
        s->delay_us = (int64_t)(1 + chance_below(g, 5)) * 1000000;
    if (chance_of(g, 10))
        s->timeout_us = chance_of(g, 5) ? 0 : 2000000;
    if (chance_of(g, 15))
        s->priority = 90 + chance_below(g, 20);
    if (chance_of(g, 20)) {
        s->max_attempts = chance_of(g, 5) ? 0 : 1 + chance_below(g, 3);
        s->base_us = (int64_t)chance_below(g, 3) * 500000;
    }
    s->unknown_option = chance_of(g, 2);
}

/* Of a flow only what is not limited in time: of two such children it would not be known which came to its end first. */
static const char *
pick_child(struct generator *g, const char *flow)
{
    static const char *const children[] = {"o.a", "o.b", "p.d", "f.e", "f.a", "f.b"};
    int among = strcmp(flow, "f.a") == 0 ? 4 : strcmp(flow, "f.b") == 0 ? 5 : 6;

    return chance_of(g, 4) ? "none" : children[chance_below(g, among)];
}

void
shape_step(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_step_spec *s = &call->step;
    int before;

    if (g->last_step.flow != NULL && chance_of(g, 12)) {
        *s = g->last_step;
        return;
    }
    *s = (struct oracle_step_spec){.flow = chance_pick(g, chance_flows, 3),
        .delay_us = ORACLE_NONE,
        .timeout_us = ORACLE_NONE,
        .base_us = ORACLE_NONE,
        .priority = -1,
        .max_attempts = -1};
    before = oracle_count_steps(p->oracle, s->flow);
    s->step = steps[before < STEPS && chance_of(g, 90) ? before : chance_below(g, STEPS)];
    if (chance_of(g, 4))
        s->step = chance_of(g, 50) ? "Bad Step" : "run";
    pick_deps(g, s, before);
    pick_options(g, s);
    if (chance_of(g, 18))
        s->workflow = pick_child(g, s->flow);
    if (chance_of(g, 2))
        s->flow = chance_of(g, 50) ? "none" : "o.a";
    g->last_step = *s;
}
