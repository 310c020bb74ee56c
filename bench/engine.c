/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the engine costs beside what it may cost: counts, plans, retention under load, and ratios to the
 * yardstick, in that order. Exits 1 if a figure is out of bounds.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    void (*run)(struct engine_report *report);
} sections[] = {
    {"--counts", engine_counts},
    {"--claims", engine_claims},
    {"--plans", engine_plans},
    {"--retention", engine_retention},
    {"--ratios", engine_ratios},
};

enum {
    SECTIONS = sizeof(sections) / sizeof(sections[0])
};

static void
usage(void)
{
    (void)fputs("usage: engine [--quick] [--counts] [--claims] [--plans] [--retention] [--ratios]\n"
                "       without a section, all of them\n",
        stderr);
    exit(2);
}

int
main(int argc, char **argv)
{
    struct engine_report report = {.quick = false};
    bool asked[SECTIONS] = {false};
    bool any = false;

    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--quick") == 0;

        report.quick = report.quick || known;
        for (size_t s = 0; s < SECTIONS; s++) {
            if (strcmp(argv[i], sections[s].option) == 0)
                known = any = asked[s] = true;
        }
        if (!known)
            usage();
    }
    bench_need_cluster(argv);
    for (size_t s = 0; s < SECTIONS; s++) {
        double start = bench_now_s();

        if (any && !asked[s])
            continue;
        sections[s].run(&report);
        engine_say_plain(&report, sections[s].option + 2, bench_now_s() - start,
            "s for this section", BENCH_NO_BOUND, 0);
    }
    engine_say_plain(&report, "figures_out_of_bounds", report.failed, "figures", BENCH_NO_BOUND, 0);
    return report.failed == 0 ? 0 : 1;
}
