/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's speed as a share of the yardstick's: rounds of the yardstick and then pawl, each with fresh tables after a
 * checkpoint, stock durability and stock autovacuum settings on both sides, the same number of runs, connections and bytes. The clock starts
 * when the connections of both have made their plans: these are many on pawl's side, are made once, and are a tenth of a quick round.
 */
#include "bare.h"
#include "engine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROUNDS = 5,
    QUICK_ROUNDS = 3,
};

struct ratio {
    const char *name;
    enum bench_bare_mode bare;
    enum engine_mode engine;
    int batch;
    int connections;
    long total, quick_total;
    double floor, goal;
};

static const struct ratio ratios[] = {
    {"trigger", BENCH_BARE_INSERT, ENGINE_INSERT, 1, 8, 60000, 3000, 0.45, 0},
    {"trigger_with_key", BENCH_BARE_INSERT, ENGINE_INSERT_KEY, 1, 8, 60000, 3000, 0.3, 0},
    {"trigger_many", BENCH_BARE_INSERT, ENGINE_INSERT, 1000, 2, 300000, 40000, 0.45, 0},
    {"trigger_many_with_keys", BENCH_BARE_INSERT_KEY, ENGINE_INSERT_KEY, 1000, 2, 300000, 40000,
        0.35, 0},
    {"noop_against_delete", BENCH_BARE_DELETE, ENGINE_NOOP, 100, 2, 200000, 10000, 0.35, 0},
    {"noop_against_move", BENCH_BARE_MOVE, ENGINE_NOOP, 100, 2, 200000, 10000, 0.6, 0},
    {"three_steps", BENCH_BARE_LIFE, ENGINE_LIFE, 100, 2, 200000, 10000, 0.5, 0.6},
};

/* The middle of some values with their spread. */
static void
say_median(struct bench_report *report, struct bench_figure *figure, double *values, int rounds)
{
    bench_figure_median(figure, values, rounds);
    bench_say(report, figure);
}

static void
say_speed(struct bench_report *report, const struct ratio *ratio, const char *side, double *values,
    int rounds)
{
    struct bench_text name;
    struct bench_figure figure = {
        .unit = "runs/s", .batch = ratio->batch, .connections = ratio->connections};

    bench_text_init(&name, 100);
    bench_text_addf(&name, "%s_%s", ratio->name, side);
    figure.name = name.data;
    say_median(report, &figure, values, rounds);
    bench_text_done(&name);
}

static void
measure(struct bench_report *report, const struct ratio *ratio)
{
    double bare[ROUNDS], pawl[ROUNDS], shares[ROUNDS];
    long total = report->quick ? ratio->quick_total : ratio->total;
    /* A quick round of single triggers takes a second, in which a machine that others use may stall: more of them. */
    int rounds = report->quick && ratio->batch > 1 ? QUICK_ROUNDS : ROUNDS;
    struct bench_text name;
    struct bench_figure figure = {
        .unit = "of the yardstick",
        .bound_kind = BENCH_AT_LEAST,
        .bound = ratio->floor,
        .gate = bench_ratio_gate(report->quick, BENCH_AT_LEAST, ratio->floor),
        .goal = ratio->goal,
        .note = "stock autovacuum settings on both sides",
    };

    for (int i = 0; i < rounds; i++) {
        bench_fresh_database("bench_bare");
        bare[i] = bench_bare_run_warm(ratio->bare, ratio->batch, ratio->connections, total);
        pawl[i] = engine_run(ratio->engine, ratio->batch, ratio->connections, total);
        shares[i] = pawl[i] / bare[i];
    }
    say_speed(report, ratio, "bare", bare, rounds);
    say_speed(report, ratio, "pawl", pawl, rounds);
    bench_text_init(&name, 100);
    bench_text_addf(&name, "%s_ratio", ratio->name);
    figure.name = name.data;
    say_median(report, &figure, shares, rounds);
    bench_text_done(&name);
}

/* All of them; with PAWL_SHARE=N in the environment one of N, which PAWL_SEED chooses, and the last, which is a whole run with steps. */
void
engine_ratios(struct bench_report *report)
{
    const char *share = getenv("PAWL_SHARE");
    const char *seed = getenv("PAWL_SEED");
    size_t number = share == NULL ? 1 : (size_t)bench_number(share, "PAWL_SHARE", 1, 1000000);
    size_t turn = seed == NULL ? 0 : (size_t)bench_number(seed, "PAWL_SEED", 0, INT_MAX);
    size_t count = sizeof(ratios) / sizeof(ratios[0]);

    for (size_t i = 0; i < count; i++) {
        if ((i + turn) % number == 0 || i + 1 == count)
            measure(report, &ratios[i]);
    }
}
