/* SPDX-License-Identifier: Apache-2.0 */
/* A seed: phase after phase, and what is done between them by one client alone. */
#include "history.h"

#include "chance.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const all[] = {"*", NULL};

void
history_open(struct history *history, struct player *player, struct history_counts *counts)
{
    *history = (struct history){.player = player, .counts = counts, .nodes_max = 1000000};
    history->clients_count = HISTORY_CLIENTS_MAX;
    for (int i = 0; i < HISTORY_CLIENTS_MAX; i++)
        history_connect(&history->clients[i]);
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

static bool
trigger_one(struct history *h)
{
    struct call call = {.verb = CALL_TRIGGER,
        .trigger = {.workflow = chance_pick(&h->generator, chance_workflows, 4),
            .input = "{}",
            .tenant = "",
            .priority = -1,
            .delay_us = ORACLE_NONE,
            .key_ttl_us = ORACLE_NONE}};

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

/* There is something to do, and somebody to do it. */
static bool
prepare_phase(struct history *h)
{
    if (chance_of(&h->generator, 75) && !advance(h))
        return false;
    while (chance_count_sessions(h->player) < 2)
        if (!register_one(h))
            return false;
    while (oracle_count_living(h->player->oracle) < 2)
        if (!trigger_one(h))
            return false;
    return true;
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
    pw_buf_clear(&h->state);
    result = bench_exec(h->player->conn,
        "select (select string_agg(oracle.show_run(r::uuid), '' order by r) from oracle.runs() r)"
        " || oracle.show_rest(), (select last_value from pawl.housekeeping_clock)"
        " <= 1000000 * extract(epoch from pawl.now())");
    pw_buf_adds(&h->state, player_column(result, 0));
    h->tick_is_due = strcmp(player_column(result, 1), "t") == 0;
    PQclear(result);
}

static void
count_phase(struct history *h)
{
    struct history_counts *c = h->counts;

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

bool
history_seed(struct history *history, long seed, long phases)
{
    struct history *h = history;

    generator_init(&h->generator, (uint64_t)seed);
    player_reset(h->player);
    h->number = 0;
    if (!create_workflows(h))
        return false;
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
    return true;
}
