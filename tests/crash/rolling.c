/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling restarts: workers are told to end, one after the other, again and again, and no run notices. */
#include "crash.h"

enum {
    rolls = 200,
    runs_per_roll = 250
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = 3, .lease_ms = 5000, .concurrency = 16, .step_us = 5000};
    struct killer_counts counts;
    long total, overdue = 0, steps = 0, naps = 0;
    bool ended;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, rolls);
    crash_spawn(&crash, &spec);
    crash_wait_sessions(&crash, spec.count);
    for (long i = 0; i < total; i++) {
        crash_trigger(&crash, "crash.steps.v1", runs_per_roll - runs_per_roll / 6);
        crash_trigger(&crash, "crash.sleep.v1", runs_per_roll / 6);
        steps += runs_per_roll - runs_per_roll / 6;
        naps += runs_per_roll / 6;
        overdue += killer_roll(crash.killer, 5000);
        crash_wait_ready(&crash, runs_per_roll);
    }
    ended = crash_wait_left(&crash, 0, 60);
    counts = killer_counts(crash.killer);
    race_note("rolling restarts %ld, workers that were told to end %ld, runs %ld", total,
        counts.termed, crash.triggered);
    race_ok(&crash.race, ended, "all runs end");
    race_ok(&crash.race, overdue == 0, "%ld workers did not drain in time", overdue);
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.steps.v1", steps, 's');
    crash_check_ended(&crash, "crash.sleep.v1", naps, 's');
    crash_check_attempts(&crash);
    crash_check_records(&crash, 3 * steps + 2 * naps);
    return crash_end(&crash);
}
