/* SPDX-License-Identifier: Apache-2.0 */
/* Workflows: create, alter, pause, resume. */
#include "state.h"

#include <string.h>

static bool
name_is_good(const char *name)
{
    size_t length;

    if (name == NULL || (length = strlen(name)) == 0 || length > 200)
        return false;
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != length)
        return false;
    return name[0] != '.' && name[length - 1] != '.' && strstr(name, "..") == NULL;
}

static bool
options_are_good(const struct oracle_workflow_spec *spec)
{
    const struct oracle_policy *policy = &spec->policy;

    if (spec->priority < 0 || spec->priority > 32767)
        return false;
    if ((spec->run_timeout_us != ORACLE_NONE && spec->run_timeout_us <= 0) ||
        (spec->step_timeout_us != ORACLE_NONE && spec->step_timeout_us <= 0))
        return false;
    return policy->max_attempts >= 1 && policy->max_attempts <= 1000000 && policy->base_us >= 0 &&
        policy->factor >= 1 && policy->factor <= 1000 && policy->cap_us >= policy->base_us &&
        policy->jitter >= 0 && policy->jitter <= 1;
}

static bool
options_are_the_same(
    struct oracle *o, const struct oracle_workflow *w, const struct oracle_workflow_spec *spec)
{
    const struct oracle_policy *a = &w->policy, *b = &spec->policy;

    return oracle_same(w->runtime, spec->runtime) && w->priority == spec->priority &&
        w->run_timeout_us == spec->run_timeout_us && w->step_timeout_us == spec->step_timeout_us &&
        w->strict_order == spec->strict_order && w->fair == spec->fair &&
        o->queues[w->queue].key_limit == spec->key_limit && a->max_attempts == b->max_attempts &&
        a->base_us == b->base_us && a->cap_us == b->cap_us && !(a->factor < b->factor) &&
        !(a->factor > b->factor) && !(a->jitter < b->jitter) && !(a->jitter > b->jitter);
}

int
oracle_add_queue(struct oracle *o, const char *name, const struct oracle_workflow *workflow,
    int64_t step_timeout_us, bool own_timeout)
{
    o->queues[o->queues_count] = (struct oracle_queue){.name = name,
        .workflow = (int)(workflow - o->workflows),
        .step_timeout_us = step_timeout_us,
        .own_timeout = own_timeout};
    o->queues_version++;
    return o->queues_count++;
}

static void
set_options(struct oracle *o, struct oracle_workflow *w, const struct oracle_workflow_spec *spec)
{
    w->runtime = oracle_keep(o, spec->runtime);
    w->priority = spec->priority;
    w->policy = spec->policy;
    w->run_timeout_us = spec->run_timeout_us;
    w->step_timeout_us = spec->step_timeout_us;
    w->strict_order = spec->strict_order;
    for (int i = 0; i < o->queues_count; i++)
        if (&o->workflows[o->queues[i].workflow] == w && !o->queues[i].own_timeout)
            o->queues[i].step_timeout_us = w->step_timeout_us;
    o->queues_version++;
}

static void
set_lanes(struct oracle *o, struct oracle_workflow *w, const struct oracle_workflow_spec *spec)
{
    struct oracle_queue *queue = &o->queues[w->queue];

    queue->laned = queue->laned || spec->key_limit > 0 || spec->fair;
    queue->key_limit = spec->key_limit;
    w->fair = spec->fair;
}

const char *
oracle_create_workflow(struct oracle *oracle, const struct oracle_workflow_spec *spec)
{
    struct oracle_workflow *w;

    if (!name_is_good(spec->name) || !options_are_good(spec))
        return "PW003";
    w = oracle_find_workflow(oracle, spec->name);
    if (w != NULL)
        return options_are_the_same(oracle, w, spec) ? "exists" : "differs";
    if (spec->key_limit < 0)
        return "PW003";
    w = &oracle->workflows[oracle->workflows_count++];
    w->name = oracle_keep(oracle, spec->name);
    w->queue = oracle_add_queue(oracle, w->name, w, ORACLE_NONE, false);
    set_options(oracle, w, spec);
    set_lanes(oracle, w, spec);
    return "created";
}

const char *
oracle_alter_workflow(
    struct oracle *oracle, const struct oracle_workflow_spec *spec, bool unknown_option)
{
    struct oracle_workflow *w = oracle_find_workflow(oracle, spec->name);

    if (unknown_option)
        return "PW003";
    if (w == NULL)
        return "PW002";
    if (!options_are_good(spec))
        return "PW003";
    if (spec->sets_lanes) {
        if (spec->key_limit < 0 || (w->flow && (spec->key_limit > 0 || spec->fair)))
            return "PW003";
        set_lanes(oracle, w, spec);
    }
    set_options(oracle, w, spec);
    return "ok";
}

const char *
oracle_set_pause(struct oracle *oracle, const char *subject, const char *name, bool paused)
{
    struct oracle_workflow *w = oracle_find_workflow(oracle, name);
    bool *flag = w == NULL ? NULL : &w->workflow_paused;

    if (strcmp(subject, "queue") == 0) {
        flag = NULL;
        for (int i = 0; i < oracle->queues_count; i++)
            if (strcmp(oracle->queues[i].name, name) == 0)
                flag = &oracle->queues[i].paused;
    }
    if (flag == NULL)
        return "PW001";
    if (*flag == paused)
        return "already";
    *flag = paused;
    return "ok";
}

const char *
oracle_pause_all(struct oracle *oracle, bool refuse_triggers)
{
    bool paused = oracle->all_paused;

    oracle->all_paused = true;
    oracle->refuses_triggers = refuse_triggers;
    return paused ? "already" : "ok";
}

const char *
oracle_resume_all(struct oracle *oracle)
{
    if (!oracle->all_paused)
        return "already";
    oracle->all_paused = false;
    oracle->refuses_triggers = false;
    return "ok";
}
