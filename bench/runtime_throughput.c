/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three-step runs in one worker process as a share of the yardstick's: rounds of the yardstick and then pawl, each with fresh
 * tables after a checkpoint, stock durability and stock autovacuum settings, the same number of runs and bytes. On both sides
 * the runs are there before the clock starts, and connecting is part of the time.
 */
#include "bare.h"
#include "runtime.h"

/* What one drain costs, by name; each is one field of struct runtime_drained. */
struct cost {
    const char *name;
    const char *unit;
    const char *note;
    size_t offset;
};

static const struct cost costs[] = {
    {"commits", "commits per run", NULL, offsetof(struct runtime_drained, commits)},
    {"xids", "transaction ids per run", NULL, offsetof(struct runtime_drained, xids)},
    {"wal", "bytes of WAL per run", "page images included",
        offsetof(struct runtime_drained, wal_bytes)},
    {"worker_cpu", "s per 10,000 runs", NULL, offsetof(struct runtime_drained, worker_cpu_s)},
    {"server_cpu", "s per 10,000 runs", "all processes of the server",
        offsetof(struct runtime_drained, server_cpu_s)},
    {"switches", "context switches of the worker per run", NULL,
        offsetof(struct runtime_drained, switches)},
};

enum {
    COSTS = sizeof(costs) / sizeof(costs[0]),
    BATCH = 100,
    BATCH_CONNECTIONS = 2,
    SINGLE_CONNECTIONS = 16,
};

static double
cost_of(const struct runtime_drained *drained, const struct cost *cost)
{
    return *(const double *)(const void *)((const char *)drained + cost->offset);
}

static void
say_speed(struct runtime_report *report, const char *name, int batch, int connections,
    double *values, int rounds)
{
    struct bench_figure figure = {
        .name = name, .unit = "runs/s", .batch = batch, .connections = connections};

    runtime_say_median(report, &figure, values, rounds);
}

static void
say_ratio(struct runtime_report *report, const char *name, const char *unit, double floor,
    double goal, double *values, int rounds)
{
    struct bench_figure figure = {
        .name = name,
        .unit = unit,
        .bound_kind = floor == 0 ? BENCH_NO_BOUND : BENCH_AT_LEAST,
        .bound = floor,
        .gate = bench_ratio_gate(report->figures.quick, BENCH_AT_LEAST, floor),
        .goal = goal,
        .note = "stock autovacuum settings on both sides",
    };

    runtime_say_median(report, &figure, values, rounds);
}

static void
say_costs(struct runtime_report *report, const char *prefix, const struct runtime_drained *drained,
    int rounds)
{
    for (size_t c = 0; c < COSTS; c++) {
        double values[RUNTIME_ROUNDS];
        struct bench_text name;
        struct bench_figure figure = {.unit = costs[c].unit, .note = costs[c].note};

        for (int i = 0; i < rounds; i++)
            values[i] = cost_of(&drained[i], &costs[c]);
        bench_text_init(&name, 100);
        bench_text_addf(&name, "%s_%s", prefix, costs[c].name);
        figure.name = name.data;
        runtime_say_median(report, &figure, values, rounds);
        bench_text_done(&name);
    }
}

/* A way to execute the runs, beside the one of three_steps_pawl. */
struct form {
    const char *name, *ratio_name;
    const char *unit;
    double floor, goal;
    bool pull;  /* one thread with pawl_worker_next(), which has no thread to wake for each step */
    bool plain; /* with default settings */
    bool against_threads; /* a share of three_steps_pawl, not of the yardstick */
};

static const struct form forms[] = {
    {"three_steps_pulled", "three_steps_pulled_ratio", "of the yardstick", 0.6, 0.68, .pull = true},
    {"three_steps_default", "three_steps_default_ratio", "of three_steps_pawl", 0.5, 0.8,
        .plain = true, .against_threads = true},
};

enum {
    FORMS = sizeof(forms) / sizeof(forms[0])
};

struct form_rounds {
    struct runtime_drained drained[RUNTIME_ROUNDS];
    double speeds[RUNTIME_ROUNDS], shares[RUNTIME_ROUNDS];
};

/* One round, right after those that it is compared with. */
static void
measure_form(struct runtime_report *report, const struct form *form,
    const struct runtime_spec *spec, double bare, double threads, struct form_rounds *rounds,
    int round)
{
    struct runtime_spec own = *spec;

    own.pull = form->pull;
    if (form->plain)
        own.settings[0] = NULL;
    runtime_drain(report, &own, &rounds->drained[round]);
    rounds->speeds[round] = rounds->drained[round].per_s;
    rounds->shares[round] = rounds->speeds[round] / (form->against_threads ? threads : bare);
}

static void
say_form(
    struct runtime_report *report, const struct form *form, struct form_rounds *rounds, int count)
{
    say_speed(report, form->name, 0, 0, rounds->speeds, count);
    say_ratio(report, form->ratio_name, form->unit, form->floor, form->goal, rounds->shares, count);
    say_costs(report, form->name, rounds->drained, count);
}

static void
measure_ratios(struct runtime_report *report)
{
    struct runtime_drained drained[RUNTIME_ROUNDS];
    struct form_rounds others[FORMS];
    double batched[RUNTIME_ROUNDS], single[RUNTIME_ROUNDS], speeds[RUNTIME_ROUNDS],
        shares[RUNTIME_ROUNDS], times[RUNTIME_ROUNDS];
    int rounds = runtime_rounds(report), other_rounds = report->figures.quick ? 1 : rounds;
    struct runtime_spec spec = {
        .steps = RUNTIME_STEPS,
        .total = report->figures.quick ? 20000 : 100000,
        .processes = 1,
        .settings = {"concurrency=1024"},
    };

    for (int i = 0; i < rounds; i++) {
        runtime_bare();
        single[i] = bench_bare_run(
            BENCH_BARE_DRAIN, 1, SINGLE_CONNECTIONS, report->figures.quick ? 2000 : 20000);
        batched[i] = bench_bare_run(BENCH_BARE_DRAIN, BATCH, BATCH_CONNECTIONS, spec.total);
        runtime_drain(report, &spec, &drained[i]);
        speeds[i] = drained[i].per_s;
        shares[i] = speeds[i] / batched[i];
        times[i] = speeds[i] / single[i];
        for (size_t f = 0; f < FORMS && i < other_rounds; f++)
            measure_form(report, &forms[f], &spec, batched[i], speeds[i], &others[f], i);
    }
    say_speed(report, "three_steps_bare", BATCH, BATCH_CONNECTIONS, batched, rounds);
    say_speed(report, "three_steps_bare_one_by_one", 1, SINGLE_CONNECTIONS, single, rounds);
    say_speed(report, "three_steps_pawl", 0, 0, speeds, rounds);
    say_ratio(report, "three_steps_ratio", "of the yardstick", 0.45, 0.55, shares, rounds);
    say_ratio(report, "three_steps_ratio_one_by_one", "times the yardstick one by one", 3, 0, times,
        rounds);
    say_costs(report, "three_steps", drained, rounds);
    for (size_t f = 0; f < FORMS; f++)
        say_form(report, &forms[f], &others[f], other_rounds);
}

static void
measure_in_flight(struct runtime_report *report)
{
    static const struct {
        const char *setting;
        int in_flight;
        long total, quick_total;
    } sizes[] = {
        {"concurrency=1", 1, 5000, 300},
        {"concurrency=16", 16, 20000, 2000},
        {"concurrency=256", 256, 50000, 5000},
        {"concurrency=1024", 1024, 50000, 5000},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct runtime_drained drained;
        struct runtime_spec spec = {
            .steps = RUNTIME_STEPS,
            .total = report->figures.quick ? sizes[i].quick_total : sizes[i].total,
            .processes = 1,
            .settings = {sizes[i].setting},
        };
        struct bench_text name;

        runtime_drain(report, &spec, &drained);
        bench_text_init(&name, 100);
        bench_text_addf(&name, "in_flight_%d", sizes[i].in_flight);
        bench_say_plain(&report->figures, name.data, drained.per_s, "runs/s", BENCH_NO_BOUND, 0);
        say_costs(report, name.data, &drained, 1);
        bench_text_done(&name);
    }
}

void
runtime_throughput(struct runtime_report *report)
{
    measure_ratios(report);
    measure_in_flight(report);
}
