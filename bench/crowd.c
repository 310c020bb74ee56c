/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what many producers, workers, queues and waits cost, each compared with few of them or with bare PostgreSQL in the same run.
 * Exits 1 if a figure is out of bounds.
 */
#include "crowd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    void (*run)(struct crowd_report *report);
} sections[] = {
    {"--producers", crowd_producers},
    {"--triggers", crowd_triggers},
    {"--queues", crowd_queues},
    {"--pickup", crowd_pickup},
    {"--snapshot", crowd_snapshot},
    {"--waits", crowd_waits},
    {"--idle", crowd_idle},
    {"--steady", crowd_steady},
};

enum {
    SECTIONS = sizeof(sections) / sizeof(sections[0])
};

static void
say(struct crowd_report *report, const struct crowd_name *name, struct bench_figure *figure)
{
    figure->name = name->name;
    figure->unit = name->unit;
    figure->bound_kind = name->bound == 0 ? BENCH_NO_BOUND : name->kind;
    figure->bound = name->bound;
    figure->goal = name->goal;
    if (name->bound != 0)
        figure->gate = name->is_time ? bench_time_gate(report->quick)
                                     : bench_ratio_gate(report->quick, name->kind, name->bound);
    if (!bench_figure_print(figure))
        report->failed++;
}

void
crowd_say(struct crowd_report *report, const struct crowd_name *name, double value)
{
    struct bench_figure figure = {.value = value};

    say(report, name, &figure);
}

void
crowd_say_median(struct crowd_report *report, const struct crowd_name *name, double *values)
{
    struct bench_figure figure = {.name = NULL};

    bench_figure_median(&figure, values, report->rounds);
    say(report, name, &figure);
}

void
crowd_say_count(struct crowd_report *report, const char *name, double value, double most)
{
    struct bench_figure figure = {.name = name,
        .value = value,
        .unit = "relations",
        .bound_kind = BENCH_AT_MOST,
        .bound = most};

    if (!bench_figure_print(&figure))
        report->failed++;
}

void
crowd_say_plain(
    struct crowd_report *report, double value, const char *unit, const char *format, ...)
{
    struct crowd_name name = {.unit = unit, .kind = BENCH_NO_BOUND};
    char text[200];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args); /* All names fit. */
    va_end(args);
    name.name = text;
    crowd_say(report, &name, value);
}

static void
usage(void)
{
    (void)fputs(
        "usage: crowd [--quick] [--rounds N] [--producers] [--triggers] [--queues] [--pickup]\n"
        "             [--snapshot] [--waits] [--idle] [--steady]\n"
        "       without a section, all of them\n",
        stderr);
    exit(2);
}

static void
read_arguments(int argc, char **argv, struct crowd_report *report, bool *asked)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--quick") == 0;

        report->quick = report->quick || known;
        for (size_t s = 0; s < SECTIONS; s++) {
            if (strcmp(argv[i], sections[s].option) == 0)
                known = any = asked[s] = true;
        }
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            report->rounds = (int)bench_number(argv[++i], "--rounds", 1, CROWD_ROUNDS);
            known = true;
        }
        if (!known)
            usage();
    }
    if (report->rounds == 0)
        report->rounds = report->quick ? CROWD_QUICK_ROUNDS : CROWD_ROUNDS;
    for (size_t s = 0; s < SECTIONS; s++)
        asked[s] = asked[s] || !any;
}

int
main(int argc, char **argv)
{
    static const char *const cluster[] = {
        "--preload", BENCH_SLOW_DISK, "--set", "max_connections=2000", NULL};
    struct crowd_report report = {.quick = false};
    bool asked[SECTIONS] = {false};

    if (argc > 1 && strcmp(argv[1], "--worker") == 0)
        return crowd_worker_main(argc, argv);
    read_arguments(argc, argv, &report, asked);
    bench_need_cluster_with(argv, cluster);
    for (size_t s = 0; s < SECTIONS; s++) {
        double start = bench_now_s();

        if (!asked[s])
            continue;
        sections[s].run(&report);
        crowd_say_plain(
            &report, bench_now_s() - start, "s for this section", "%s", sections[s].option + 2);
    }
    crowd_say_plain(&report, report.failed, "figures", "figures_out_of_bounds");
    return report.failed == 0 ? 0 : 1;
}
