/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what a worker process of libpawl does and costs beside what it may cost: throughput, the works that other products were
 * measured with, latency and footprint, in that order. Exits 1 if a figure is out of bounds. With --drain it measures once how fast
 * one form of a worker executes runs, for bench/peers/run.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    void (*run)(struct runtime_report *report);
} sections[] = {
    {"--throughput", runtime_throughput},
    {"--peers", runtime_peers},
    {"--latency", runtime_latency},
    {"--footprint", runtime_footprint},
};

enum {
    SECTIONS = sizeof(sections) / sizeof(sections[0])
};

void
runtime_say_median(
    struct runtime_report *report, struct bench_figure *figure, double *values, int rounds)
{
    bench_figure_median(figure, values, rounds);
    bench_say(&report->figures, figure);
}

int
runtime_rounds(const struct runtime_report *report)
{
    return report->figures.quick ? RUNTIME_QUICK_ROUNDS : RUNTIME_ROUNDS;
}

static void
usage(void)
{
    (void)fputs("usage: runtime [--quick] [--throughput] [--peers] [--latency] [--footprint]\n"
                "               [--set NAME=VALUE]...\n"
                "       runtime --drain next|run CONCURRENCY RUNS\n"
                "       without a section, all of them; --set is a setting of every worker\n",
        stderr);
    exit(2);
}

static void
read_arguments(int argc, char **argv, struct runtime_report *report, bool *asked)
{
    int settings = 0;
    bool any = false;

    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--quick") == 0;

        report->figures.quick = report->figures.quick || known;
        for (size_t s = 0; s < SECTIONS; s++) {
            if (strcmp(argv[i], sections[s].option) == 0)
                known = any = asked[s] = true;
        }
        if (strcmp(argv[i], "--set") == 0 && i + 1 < argc && settings < RUNTIME_SETTINGS_MAX &&
            strchr(argv[i + 1], '=') != NULL) {
            report->settings[settings++] = argv[++i];
            known = true;
        }
        if (!known)
            usage();
    }
    for (size_t s = 0; s < SECTIONS; s++)
        asked[s] = asked[s] || !any;
}

/* One drain of three-step runs, without bounds: runs per second and the worker's CPU. */
static int
drain_once(char **argv)
{
    struct runtime_report report = {.figures = {.quick = false}};
    struct runtime_drained drained;
    struct bench_text concurrency;
    struct runtime_spec spec = {
        .steps = RUNTIME_STEPS,
        .pull = strcmp(argv[2], "next") == 0,
        .total = bench_number(argv[4], "RUNS", 1, 100000000),
        .processes = 1,
    };

    bench_need_cluster(argv);
    bench_text_init(&concurrency, 40);
    bench_text_addf(&concurrency, "concurrency=%s", argv[3]);
    spec.settings[0] = concurrency.data;
    runtime_drain(&report, &spec, &drained);
    bench_say_plain(&report.figures, "speed", drained.per_s, "runs/s", BENCH_NO_BOUND, 0);
    bench_say_plain(
        &report.figures, "cpu", drained.worker_cpu_s * 100, "us of CPU per run", BENCH_NO_BOUND, 0);
    bench_text_done(&concurrency);
    return 0;
}

int
main(int argc, char **argv)
{
    struct runtime_report report = {.figures = {.quick = false}};
    bool asked[SECTIONS] = {false};

    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return runtime_worker_main(argc, argv);
    if (argc == 5 && strcmp(argv[1], "--drain") == 0)
        return drain_once(argv);
    read_arguments(argc, argv, &report, asked);
    bench_need_cluster(argv);
    for (size_t s = 0; s < SECTIONS; s++) {
        double start = bench_now_s();

        if (!asked[s])
            continue;
        sections[s].run(&report);
        bench_say_plain(&report.figures, sections[s].option + 2, bench_now_s() - start,
            "s for this section", BENCH_NO_BOUND, 0);
    }
    bench_say_plain(&report.figures, "figures_out_of_bounds", report.figures.failed, "figures",
        BENCH_NO_BOUND, 0);
    return report.figures.failed == 0 ? 0 : 1;
}
