/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the engine costs beside what it may cost: counts, plans, retention under load, and ratios to the
 * yardstick, in that order. Exits 1 if a figure is out of bounds.
 */
#include "engine.h"

int
main(int argc, char **argv)
{
    static const char usage[] =
        "usage: engine [--quick] [--counts] [--claims] [--plans] [--retention] [--ratios]\n"
        "       without a section, all of them\n";
    static const struct bench_section sections[] = {
        {"--counts", engine_counts},
        {"--claims", engine_claims},
        {"--plans", engine_plans},
        {"--retention", engine_retention},
        {"--ratios", engine_ratios},
    };

    return bench_play(argc, argv, usage, sections, sizeof(sections) / sizeof(sections[0]));
}
