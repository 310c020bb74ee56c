/* SPDX-License-Identifier: Apache-2.0 */
/* A seed: phase after phase, and what is done between them by one client alone. */
#include "history.h"

#include "chance.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const all[] = {"*", NULL};

enum {
    STEPS = 12, /* that are added to flows, before anything else */
};

void
history_open(struct history *history, struct player *player, struct history_counts *counts)
{
    *history = (struct history){.player = player, .counts = counts, .nodes_max = 1000000};
    history->clients_count = HISTORY_CLIENTS_MAX;
    for (int i = 0; i < HISTORY_CLIENTS_MAX; i++)
        history_connect(&history->clients[i]);
    player->put_in_order = history_put_in_order;
    /* A server process that is to end may have ended by itself. */
    history_silence(player->conn);
    pw_buf_init(&history->state, (size_t)1 << 26);
}

static void
forget_calls(struct history *h)
{
    for (int i = 0; i < h->calls_count; i++) {
        free(h->calls[i].arguments);
        free(h->calls[i].got);
        free(h->calls[i].chosen);
    }
    h->calls_count = 0;
}

void
history_close(struct history *history)
{
    forget_calls(history);
    for (int i = 0; i < HISTORY_CLIENTS_MAX; i++)
        PQfinish(history->clients[i].conn);
    PQclear(history->children);
    PQclear(history->swept);
    pw_buf_done(&history->state);
}

/* One call of one client, as in a sequence. */
static bool
play_alone(struct history *h, struct call *call)
{
    call->number = ++h->number;
    if (player_play(h->player, call) != PLAYER_DIFFERS)
        return true;
    printf(
        "# between phases, %s: %s\n", call_verb_name(call->verb), pw_buf_text(&h->player->problem));
    return false;
}

/* No chance in their delays: what the engine chose could not be asked for. */
static bool
create_workflows(struct history *h)
{
    for (size_t i = 0; i < 4; i++) {
        struct call call = {.verb = CALL_CREATE_WORKFLOW};
        struct oracle_workflow_spec *w = &call.workflow;

        w->name = chance_workflows[i];
        w->runtime = i == 3 ? "c" : NULL;
        w->strict_order = i == 3;
        w->priority = 100;
        w->policy = (struct oracle_policy){2 + (int)i % 2, 1000000, 2, 4000000, 0};
        w->run_timeout_us = i == 2 ? INT64_C(90000123) : ORACLE_NONE;
        w->step_timeout_us = i == 2 ? 4000000 : ORACLE_NONE;
        if (!play_alone(h, &call))
            return false;
    }
    return true;
}

static bool
create_flow(struct history *h, const char *name)
{
    struct call call = {.verb = CALL_CREATE_FLOW,
        .workflow = {.name = name,
            .priority = 100,
            .policy = {2, 1000000, 2, 4000000, 0},
            .run_timeout_us = strcmp(name, "f.c") == 0 ? INT64_C(80000321) : ORACLE_NONE,
            .step_timeout_us = strcmp(name, "f.b") == 0 ? 3000000 : ORACLE_NONE}};

    return play_alone(h, &call);
}

/* Graphs by chance, which stay: what is triggered is frozen. */
static bool
create_flows(struct history *h)
{
    for (size_t i = 0; i < 4; i++)
        if (!create_flow(h, chance_flows[i]))
            return false;
    for (int i = 0; i < STEPS; i++) {
        struct call call = {.verb = CALL_ADD_STEP};

        shape_step(&h->generator, h->player, &call);
        if (!play_alone(h, &call))
            return false;
    }
    return true;
}

static bool
register_one(struct history *h)
{
    struct call call = {.verb = CALL_REGISTER,
        .worker = {.name = "w",
            .handles = all,
            .runtime = "c",
            .lease_us = (int64_t)(5 + chance_below(&h->generator, 26)) * 1000000,
            .protocol = 1}};

    return play_alone(h, &call);
}

/* Mostly a flow, where there are some; the last has no steps. */
static const char *
pick_workflow(struct history *h)
{
    return h->flows && chance_of(&h->generator, 70)
        ? chance_pick(&h->generator, chance_flows, 3)
        : chance_pick(&h->generator, chance_workflows, 4);
}

static bool
trigger_one(struct history *h)
{
    static const char *const inputs[] = {
        "{}", "[1, 2]", "{\"id\": 1}", "{\"id\": 2, \"tag\": \"x\"}"};
    struct call call = {.verb = CALL_TRIGGER,
        .trigger = {.workflow = pick_workflow(h),
            .input = chance_pick(&h->generator, inputs, h->flows ? 4 : 1),
            .tenant = "",
            .priority = -1,
            .delay_us = ORACLE_NONE,
            .key_ttl_us = ORACLE_NONE,
            .expires_us = ORACLE_NONE,
            .debounce_us = ORACLE_NONE,
            .debounce_max_us = ORACLE_NONE}};

    return play_alone(h, &call);
}

static bool
advance(struct history *h)
{
    struct generator *g = &h->generator;
    int64_t ms = 1 + chance_below(g, 1500);
    struct call call = {.verb = CALL_ADVANCE};

    if (chance_of(g, 30))
        ms = 2000 + chance_below(g, 8000);
    else if (chance_of(g, 12))
        ms = 31000 + chance_below(g, 10000);
    call.advance_us = ms * 1000;
    return play_alone(h, &call);
}

/* Tasks of a flow are done at the same time only if somebody has them. */
static bool
claim_some(struct history *h)
{
    struct call call = {.verb = CALL_CLAIM,
        .session = chance_session(&h->generator, h->player),
        .claim = {.most = 4, .start = chance_of(&h->generator, 88)}};

    return play_alone(h, &call);
}

/* There is something to do, and somebody to do it. */
static bool
prepare_phase(struct history *h)
{
    if (chance_of(&h->generator, 75) && !advance(h))
        return false;
    while (chance_count_sessions(h->player) < 2)
        if (!register_one(h))
            return false;
    while (oracle_count_living(h->player->oracle) < (h->flows ? 3 : 2))
        if (!trigger_one(h))
            return false;
    return !h->flows || !chance_of(&h->generator, 50) || claim_some(h);
}

/* What the engine was free to choose, and what the tables hold now. */
static void
read_state(struct history *h)
{
    PGresult *result;

    for (int i = 0; i < h->calls_count; i++)
        for (int k = 0; k < h->calls[i].call.items_count; k++) {
            struct history_call *call = &h->calls[i];
            const char *kind = call->items[k].kind;

            call->items[k].chosen_due_us = ORACLE_NONE;
            if (strcmp(kind, "suspend") != 0 && strcmp(kind, "event") != 0)
                continue;
            player_learn_choice(
                h->player, &call->call.items[k], &call->choices[k], &call->items[k]);
            call->items[k].chosen_due_us = ORACLE_NONE;
        }
    history_ask(h);
    pw_buf_clear(&h->state);
    result = bench_exec(h->player->conn,
        "select (select string_agg(oracle.show_run(r::uuid), '' order by r) from oracle.runs() r)"
        " || oracle.show_rest(), (select last_value from pawl_data.housekeeping_clock)"
        " < 1000000 * extract(epoch from pawl.now()) - 2000000");
    pw_buf_adds(&h->state, player_column(result, 0));
    history_put_in_order(&h->state);
    h->tick_is_due = strcmp(player_column(result, 1), "t") == 0;
    PQclear(result);
}

/* The run that a call is about, if that is one of a flow; or NULL. */
static const char *
flow_of(struct history *h, const struct history_call *call)
{
    const char *run = call->call.items_count > 0 ? call->items[0].run
        : call->call.run != 0                    ? player_find(&h->player->runs, call->call.run)
                                                 : NULL;
    struct oracle_view view;

    if (run == NULL)
        return NULL;
    oracle_look(h->player->oracle, run, &view);
    return view.flow ? run : NULL;
}

static void
count_flows(struct history *h)
{
    struct history_counts *c = h->counts;

    for (int i = 0; i < h->calls_count; i++) {
        const struct history_call *call = &h->calls[i];
        const char *run = flow_of(h, call);
        bool together = false;

        for (int k = 0; run != NULL && k < h->calls_count; k++) {
            const char *other = flow_of(h, &h->calls[k]);

            together = together ||
                (i != k && other != NULL && strcmp(run, other) == 0 &&
                    history_overlap(call, &h->calls[k]));
        }
        c->tasks += run != NULL && call->call.items_count > 0 && call->items[0].task > 0;
        c->together += together;
    }
}

static void
count_phase(struct history *h)
{
    struct history_counts *c = h->counts;

    count_flows(h);
    c->phases++;
    c->calls += h->calls_count;
    for (int i = 0; i < h->calls_count; i++) {
        const struct history_call *call = &h->calls[i];
        bool overlapped = false;

        for (int k = 0; k < h->calls_count; k++)
            overlapped = overlapped || (i != k && history_overlap(call, &h->calls[k]));
        c->overlapped += overlapped;
        c->held_open += call->held_open;
        c->unknown += call->answered == HISTORY_UNKNOWN;
        c->busy += call->got != NULL && strstr(call->got, "busy") != NULL;
    }
    for (int i = 0; i < h->ways_count; i++) {
        const struct history_way *way = &h->ways[i];

        c->happened += h->calls[way->at].answered == HISTORY_UNKNOWN && !way->lost_tick;
        c->passed_over += way->held_count > 0 || way->other_tick || way->other_claim;
    }
}

static bool
play_phase(struct history *h)
{
    struct generator *g = &h->generator;
    bool found;

    h->clients_count = 2 + chance_below(g, HISTORY_CLIENTS_MAX - 1);
    for (int i = 0; i < h->clients_count; i++) {
        h->clients[i].left = 2 + chance_below(g, 3);
        h->clients[i].again = -1;
    }
    history_choose_hot(h);
    h->base = h->player->oracle;
    h->belief = oracle_copy(h->base);
    history_play_phase(h);
    oracle_free(h->belief);
    h->belief = NULL;
    read_state(h);
    found = history_explain(h);
    if (found)
        count_phase(h);
    return found;
}

static void
count_round(const char *what, const char *kind, void *userdata)
{
    struct history_counts *c = userdata;

    (void)kind;
    c->flows += strcmp(what, "flow round") == 0;
}

bool
history_seed(struct history *history, long seed, long phases)
{
    struct history *h = history;

    generator_init(&h->generator, (uint64_t)seed);
    player_reset(h->player);
    history_answer_oracle(h);
    h->explaining = false;
    h->number = 0;
    if (!create_workflows(h) || (h->flows && !create_flows(h)))
        return false;
    h->generator.flows = h->flows;
    for (long phase = 1; phase <= phases; phase++) {
        if (!prepare_phase(h))
            return false;
        if (!play_phase(h)) {
            history_tell(h, seed, phase);
            forget_calls(h);
            return false;
        }
        forget_calls(h);
    }
    oracle_each_outcome(h->player->oracle, count_round, h->counts);
    return true;
}
