/* SPDX-License-Identifier: Apache-2.0 */
/* A few runs kill every worker that executes them. Exactly they end as crashed, and all others succeed. */
#include "crash.h"

enum {
    poisons = 50,
    runs = 5000
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = 8, .lease_ms = 500, .concurrency = 16, .step_us = 2000};
    long total, bad, crashed, deaths;
    bool ended;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, runs);
    bad = race_share(&crash.race, poisons);
    for (long i = 0; i < bad; i++) {
        crash_trigger(&crash, "crash.poison.v1", 1);
        crash_trigger(&crash, "crash.steps.v1", total * (i + 1) / bad - total * i / bad);
    }
    crash_spawn(&crash, &spec);
    ended = crash_wait_left(&crash, 0, 60 + 2 * (double)bad);
    race_ok(&crash.race, ended, "all runs end");
    deaths = killer_counts(crash.killer).failed;
    (void)killer_end_all(crash.killer, 30000);
    race_note(
        "poison runs %ld among %ld good ones, workers that died of it %ld", bad, total, deaths);
    crash_check_ended(&crash, "crash.steps.v1", total, 's');
    crash_check_ended(&crash, "crash.poison.v1", bad, 'e');
    crashed = race_count(
        crash.direct, "select count(*) from pawl_data.run r where r.error ->> 'code' = 'crashed'");
    race_ok(&crash.race, crashed == bad, "%ld runs ended as crashed", crashed);
    crash_check_records(&crash, 3 * total);
    return crash_end(&crash);
}
