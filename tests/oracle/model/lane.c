/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: the runs of one queue with the same tenant and limit key, of which workers hold only so many at a time. Of the lanes that have room a
 * claim takes what it likes, so that no turn is known here; within one lane there is an order.
 */
#include "flow.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct oracle_lane *
find(struct oracle *o, int queue, const char *tenant, const char *limit_key)
{
    for (size_t i = 0; i < o->lanes_count; i++) {
        struct oracle_lane *lane = &o->lanes[i];

        if (lane->queue == queue && strcmp(lane->tenant, tenant) == 0 &&
            oracle_same(lane->limit_key, limit_key))
            return lane;
    }
    return NULL;
}

bool
oracle_same_lane(const struct oracle_run *a, const struct oracle_run *b)
{
    return a->queue == b->queue && strcmp(a->tenant, b->tenant) == 0 &&
        oracle_same(a->limit_key, b->limit_key);
}

int
oracle_room_of(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_queue *queue = &o->queues[run->queue];
    const struct oracle_lane *lane = find(o, run->queue, run->tenant, run->limit_key);
    int limit = queue->key_limit, held = 0;

    if (!queue->laned)
        return INT_MAX;
    if (lane != NULL && lane->paused)
        limit = -1;
    else if (lane != NULL && lane->limit > 0)
        limit = lane->limit;
    if (limit == 0)
        return INT_MAX;
    for (struct oracle_run *other = o->runs; other != NULL; other = oracle_next_task(other))
        held += other->living && other->place == ORACLE_HELD && other->counted &&
            oracle_same_lane(other, run);
    return held >= limit ? 0 : limit - held;
}

/* --- the verbs --- */

/* The workflow of a lane whose settings change; NULL: problem says why not. */
static struct oracle_workflow *
grab(struct oracle *o, const struct oracle_lane_spec *spec, const char **problem)
{
    struct oracle_workflow *w = oracle_find_workflow(o, spec->workflow);

    *problem = w == NULL ? "PW002" : w->flow ? "PW003" : NULL;
    return *problem == NULL ? w : NULL;
}

/* A row without any setting is none. */
static void
put(struct oracle *o, const struct oracle_lane *lane)
{
    struct oracle_lane *old = find(o, lane->queue, lane->tenant, lane->limit_key);

    if (old != NULL)
        oracle_drop(o->lanes, &o->lanes_count, sizeof(*old), (size_t)(old - o->lanes));
    if (lane->limit == 0 && lane->weight == 0 && !lane->paused)
        return;
    *(struct oracle_lane *)oracle_push(&o->lanes, &o->lanes_count, sizeof(*lane)) = *lane;
    o->queues[lane->queue].laned = true;
}

static struct oracle_lane
settings_of(struct oracle *o, const struct oracle_workflow *w, const struct oracle_lane_spec *spec)
{
    const struct oracle_lane *old = find(o, w->queue, spec->tenant, spec->limit_key);

    return old != NULL
        ? *old
        : (struct oracle_lane){
              .queue = w->queue, .tenant = spec->tenant, .limit_key = spec->limit_key};
}

const char *
oracle_set_lane(struct oracle *oracle, const struct oracle_lane_spec *spec)
{
    const char *problem;
    const struct oracle_workflow *w = grab(oracle, spec, &problem);
    struct oracle_lane lane;

    if (w == NULL)
        return problem;
    if (spec->limit < 0 || spec->weight < 0 || spec->weight > 100)
        return "PW003";
    lane = settings_of(oracle, w, spec);
    if (lane.limit == spec->limit && lane.weight == spec->weight)
        return "already";
    lane.limit = spec->limit;
    lane.weight = spec->weight;
    put(oracle, &lane);
    return "ok";
}

const char *
oracle_pause_lane(struct oracle *oracle, const struct oracle_lane_spec *spec, bool paused)
{
    const char *problem;
    const struct oracle_workflow *w = grab(oracle, spec, &problem);
    struct oracle_lane lane;

    if (w == NULL)
        return problem;
    lane = settings_of(oracle, w, spec);
    if (lane.paused == paused)
        return "already";
    lane.paused = paused;
    put(oracle, &lane);
    return "ok";
}

/* --- looking --- */

/* A claim has found a run that it may not take because of its lane. */
void
oracle_count_shut(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_lane *lane = find(o, run->queue, run->tenant, run->limit_key);

    if (lane != NULL && lane->paused)
        o->shut_paused++;
    else if (lane != NULL && lane->limit > 0)
        o->shut_own++;
    else
        o->shut_full++;
}

void
oracle_each_shut_lane(struct oracle *o,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata)
{
    if (o->shut_full > 0)
        tell("lane", "full", userdata);
    if (o->shut_own > 0)
        tell("lane", "own_limit", userdata);
    if (o->shut_paused > 0)
        tell("lane", "paused", userdata);
}

static int
compare_lanes(const void *a, const void *b)
{
    const struct oracle_lane *x = a;
    const struct oracle_lane *y = b;
    int order = strcmp(x->tenant, y->tenant);

    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    return order != 0 ? order
                      : strcmp(x->limit_key == NULL ? "-" : x->limit_key,
                            y->limit_key == NULL ? "-" : y->limit_key);
}

void
oracle_show_lanes(struct oracle *o, struct pw_buf *out)
{
    if (o->lanes_count > 1)
        qsort(o->lanes, o->lanes_count, sizeof(*o->lanes), compare_lanes);
    for (size_t i = 0; i < o->lanes_count; i++) {
        const struct oracle_lane *lane = &o->lanes[i];

        pw_buf_addf(out, "lane %s '%s' %s %d %d %s\n", o->queues[lane->queue].name, lane->tenant,
            lane->limit_key == NULL ? "-" : lane->limit_key, lane->limit, lane->weight,
            lane->paused ? "t" : "f");
    }
    for (const struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (run->living && run->place == ORACLE_HELD && run->counted)
            pw_buf_addf(out, "counted %s\n", run->id);
}
