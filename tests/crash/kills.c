/* SPDX-License-Identifier: Apache-2.0 */
/* Workers are killed at random while they execute runs of three steps: no run is lost, no step recorded twice, nothing stuck. */
#include "crash.h"

enum {
    kills = 1000,
    runs = 50000
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = 8, .lease_ms = 1000, .concurrency = 16, .step_us = 1000};
    long total;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, runs);
    crash_spawn(&crash, &spec);
    crash_under_kills(&crash, "crash.steps.v1", total, race_share(&crash.race, kills));
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.steps.v1", total, 's');
    crash_check_records(&crash, 3 * total);
    return crash_end(&crash);
}
