/* SPDX-License-Identifier: Apache-2.0 */
/* Sagas fail at random steps while workers are killed: each step that had started and has an undo is undone once, last first. */
#include "crash.h"

enum {
    kills = 250,
    runs = 5000
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = 8, .lease_ms = 1000, .concurrency = 8, .step_us = 1000};
    long total, failed;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, runs);
    crash_spawn(&crash, &spec);
    crash_under_kills(&crash, "crash.saga.v1", total, race_share(&crash.race, kills));
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.saga.v1", total, 'e');
    failed = race_count(crash.direct,
        "select count(*) from pawl_data.run r where not r.rolled_back or r.error ->> 'code' in"
        " ('crashed', 'rollback_failed')");
    race_ok(&crash.race, failed == 0, "%ld sagas were not rolled back to the end", failed);
    crash_check_undos(&crash);
    crash_check_records(&crash,
        race_count(crash.direct,
            "select count(*) from pawl_data.step s where s.kind = 's' and s.state = 's'"));
    return crash_end(&crash);
}
