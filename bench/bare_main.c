/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the yardstick's figures: all of them, or the one that is asked for. */
#include "bare.h"
#include "harness.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void
print_one(enum bench_bare_mode mode, int batch, int connections, long total)
{
    char name[32];
    struct bench_figure figure = {
        .name = name,
        .unit = "runs/s",
        .batch = batch,
        .connections = connections,
    };

    (void)snprintf(name, sizeof(name), "bare_%s", bench_bare_name(mode)); /* All names fit. */
    figure.value = bench_bare_run(mode, batch, connections, total);
    (void)bench_figure_print(&figure); /* It has no bound to keep. */
}

static void
print_all(bool quick)
{
    static const struct {
        enum bench_bare_mode mode;
        int batch;
        int connections;
        long total;
        long quick_total;
    } rounds[] = {
        {BENCH_BARE_LIFE, 100, 2, 300000, 50000},
        {BENCH_BARE_LIFE, 1, 16, 30000, 4000},
        {BENCH_BARE_INSERT, 1, 8, 100000, 10000},
        {BENCH_BARE_INSERT, 1000, 2, 1000000, 100000},
        {BENCH_BARE_INSERT_KEY, 1000, 2, 1000000, 100000},
        {BENCH_BARE_DELETE, 100, 2, 300000, 50000},
        {BENCH_BARE_MOVE, 100, 2, 300000, 50000},
        {BENCH_BARE_DRAIN, 100, 2, 300000, 50000},
    };

    for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++)
        print_one(rounds[i].mode, rounds[i].batch, rounds[i].connections,
            quick ? rounds[i].quick_total : rounds[i].total);
}

int
main(int argc, char **argv)
{
    bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
    int batch, connections;
    long total;

    if (argc == 1 || quick) {
        bench_need_cluster(argv);
        print_all(quick);
        return 0;
    }
    for (int mode = 0; argc == 5 && mode < BENCH_BARE_MODES; mode++) {
        if (strcmp(argv[1], bench_bare_name((enum bench_bare_mode)mode)) != 0)
            continue;
        batch = (int)bench_number(argv[2], "BATCH", 1, 100000);
        connections = (int)bench_number(argv[3], "CONNECTIONS", 1, BENCH_BARE_CONNECTIONS_MAX);
        total = bench_number(argv[4], "RUNS", batch, LONG_MAX / 2);
        bench_need_cluster(argv);
        print_one((enum bench_bare_mode)mode, batch, connections, total);
        return 0;
    }
    (void)fputs("usage: bare [--quick]\n"
                "       bare life|insert|delete|move|drain BATCH CONNECTIONS RUNS\n",
        stderr);
    return 2;
}
