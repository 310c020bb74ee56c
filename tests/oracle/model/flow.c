/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of flows: create one, add a step to it. */
#include "state.h"

#include <string.h>

const char *
oracle_create_flow(struct oracle *oracle, const struct oracle_workflow_spec *spec)
{
    const char *answer = oracle_create_workflow(oracle, spec);
    struct oracle_workflow *w;

    if (answer[0] == 'P')
        return answer;
    w = oracle_find_workflow(oracle, spec->name);
    if (strcmp(answer, "created") == 0)
        w->flow = true;
    return w->flow ? answer : "PW003";
}

int
oracle_count_steps(struct oracle *oracle, const char *flow)
{
    const struct oracle_workflow *w = oracle_find_workflow(oracle, flow);

    return w == NULL ? 0 : w->steps_count;
}

static const struct oracle_flow_step *
find_step(const struct oracle_workflow *flow, const char *name)
{
    for (int i = 0; i < flow->steps_count; i++)
        if (strcmp(flow->steps[i].name, name) == 0)
            return &flow->steps[i];
    return NULL;
}

static bool
depends_on(const struct oracle_step_spec *spec, const char *name)
{
    for (int i = 0; i < ORACLE_DEPS_MAX && spec->deps[i] != NULL; i++)
        if (strcmp(spec->deps[i], name) == 0)
            return true;
    return false;
}

static bool
name_is_good(const char *name)
{
    return name[0] != '\0' && strlen(name) <= 100 &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == strlen(name);
}

static bool
deps_are_good(const struct oracle_workflow *flow, const struct oracle_step_spec *spec)
{
    for (int i = 0; i < ORACLE_DEPS_MAX && spec->deps[i] != NULL; i++) {
        if (strcmp(spec->deps[i], spec->step) == 0 || find_step(flow, spec->deps[i]) == NULL)
            return false;
        for (int k = 0; k < i; k++)
            if (strcmp(spec->deps[i], spec->deps[k]) == 0)
                return false;
    }
    return true;
}

static const char *
option_problem(struct oracle *o, const struct oracle_step_spec *spec)
{
    if (spec->unknown_option || spec->priority < -1 || spec->priority > 32767 ||
        (spec->timeout_us != ORACLE_NONE && spec->timeout_us <= 0) || spec->max_attempts == 0 ||
        (spec->base_us != ORACLE_NONE && spec->base_us < 0) ||
        (spec->delay_us != ORACLE_NONE && spec->delay_us < 0) ||
        (spec->condition != NULL && spec->condition[0] != '{') ||
        (spec->unmet != NULL && strcmp(spec->unmet, "skip") != 0 &&
            strcmp(spec->unmet, "skip_all") != 0 && strcmp(spec->unmet, "fail") != 0) ||
        (spec->failed != NULL && strcmp(spec->failed, "skip") != 0 &&
            strcmp(spec->failed, "skip_all") != 0 && strcmp(spec->failed, "fail") != 0) ||
        (spec->map != NULL && oracle_same(spec->failed, "skip_all")) ||
        (spec->undo != NULL && !name_is_good(spec->undo)))
        return "PW003";
    if (spec->workflow != NULL && oracle_find_workflow(o, spec->workflow) == NULL)
        return "PW002";
    if (spec->map != NULL && strcmp(spec->map, "run") != 0 && !depends_on(spec, spec->map))
        return "PW003";
    return NULL;
}

static bool
is_the_same(const struct oracle_step_spec *a, const struct oracle_step_spec *b)
{
    for (int i = 0; i < ORACLE_DEPS_MAX; i++)
        if (!oracle_same(a->deps[i], b->deps[i]))
            return false;
    return oracle_same(a->map, b->map) && oracle_same(a->condition, b->condition) &&
        oracle_same(a->unmet, b->unmet) && oracle_same(a->failed, b->failed) &&
        oracle_same(a->workflow, b->workflow) && oracle_same(a->undo, b->undo) &&
        a->delay_us == b->delay_us && a->timeout_us == b->timeout_us &&
        a->priority == b->priority && a->max_attempts == b->max_attempts &&
        a->base_us == b->base_us;
}

static void
add(struct oracle *o, struct oracle_workflow *flow, const struct oracle_step_spec *spec)
{
    struct oracle_flow_step *step = &flow->steps[flow->steps_count];

    *step = (struct oracle_flow_step){.name = oracle_keep(o, spec->step), .spec = *spec};
    step->no = ++flow->steps_count;
    step->spreads = (spec->condition != NULL && oracle_same(spec->unmet, "skip_all")) ||
        oracle_same(spec->failed, "skip_all");
    for (int i = 0; i < ORACLE_DEPS_MAX && spec->deps[i] != NULL; i++) {
        const struct oracle_flow_step *dep = find_step(flow, spec->deps[i]);

        step->deps[step->deps_count++] = dep->no;
        step->spreads = step->spreads || dep->spreads;
    }
    step->map_from = spec->map == NULL  ? -1
        : strcmp(spec->map, "run") == 0 ? 0
                                        : find_step(flow, spec->map)->no;
    step->child =
        spec->workflow == NULL ? -1 : (int)(oracle_find_workflow(o, spec->workflow) - o->workflows);
    step->queue = step->child != -1
        ? -1
        : oracle_add_queue(o, oracle_keepf(o, "%s/%s", flow->name, spec->step), flow,
              spec->timeout_us == ORACLE_NONE ? flow->step_timeout_us : spec->timeout_us,
              spec->timeout_us != ORACLE_NONE);
}

const char *
oracle_add_step(struct oracle *oracle, const struct oracle_step_spec *spec)
{
    struct oracle_workflow *flow = oracle_find_workflow(oracle, spec->flow);
    const struct oracle_flow_step *old;
    const char *problem;

    if (flow == NULL || !flow->flow)
        return "PW002";
    if (!name_is_good(spec->step) || strcmp(spec->step, "run") == 0 || !deps_are_good(flow, spec))
        return "PW003";
    problem = option_problem(oracle, spec);
    if (problem != NULL)
        return problem;
    old = find_step(flow, spec->step);
    if (old != NULL && is_the_same(&old->spec, spec))
        return "exists";
    if (flow->frozen)
        return "PW003";
    if (old != NULL)
        return "differs";
    add(oracle, flow, spec);
    return "created";
}
