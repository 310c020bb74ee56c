/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what a worker process of libpawl does and costs beside what it may cost: throughput, the works that other products were
 * measured with, latency and footprint, in that order. Exits 1 if a figure is out of bounds.
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
runtime_say(struct runtime_report *report, const struct bench_figure *figure)
{
    if (!bench_figure_print(figure))
        report->failed++;
}

void
runtime_say_plain(struct runtime_report *report, const char *name, double value, const char *unit,
    enum bench_bound kind, double bound)
{
    struct bench_figure figure = {
        .name = name,
        .value = value,
        .unit = unit,
        .bound_kind = kind,
        .bound = bound,
    };

    runtime_say(report, &figure);
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double
runtime_percentile(double *values, size_t count, double part)
{
    size_t at = (size_t)(part * (double)count);

    qsort(values, count, sizeof(*values), compare);
    return values[at < count ? at : count - 1];
}

void
runtime_say_median(
    struct runtime_report *report, struct bench_figure *figure, double *values, int rounds)
{
    figure->value = runtime_percentile(values, (size_t)rounds, 0.5);
    figure->rounds = rounds;
    figure->low = values[0];
    figure->high = values[rounds - 1];
    runtime_say(report, figure);
}

int
runtime_rounds(const struct runtime_report *report)
{
    return report->quick ? RUNTIME_QUICK_ROUNDS : RUNTIME_ROUNDS;
}

static void
usage(void)
{
    (void)fputs("usage: runtime [--quick] [--throughput] [--peers] [--latency] [--footprint]\n"
                "               [--set NAME=VALUE]...\n"
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

        report->quick = report->quick || known;
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

int
main(int argc, char **argv)
{
    struct runtime_report report = {.quick = false};
    bool asked[SECTIONS] = {false};

    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return runtime_worker_main(argc, argv);
    read_arguments(argc, argv, &report, asked);
    bench_need_cluster(argv);
    for (size_t s = 0; s < SECTIONS; s++) {
        double start = bench_now_s();

        if (!asked[s])
            continue;
        sections[s].run(&report);
        runtime_say_plain(&report, sections[s].option + 2, bench_now_s() - start,
            "s for this section", BENCH_NO_BOUND, 0);
    }
    runtime_say_plain(
        &report, "figures_out_of_bounds", report.failed, "figures", BENCH_NO_BOUND, 0);
    return report.failed == 0 ? 0 : 1;
}
