/* SPDX-License-Identifier: Apache-2.0 */
/* Workers are killed while they execute transactional steps: each has its effect on the database exactly once. */
#include "crash.h"

enum {
    kills = 500,
    runs = 10000
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = 8, .lease_ms = 1000, .concurrency = 4, .step_us = 3000};
    long total, rows, paid;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, runs);
    /* No constraint keeps a second row out. */
    bench_do(crash.direct, "create table public.crash_row (run_id uuid not null)");
    crash_spawn(&crash, &spec);
    crash_under_kills(&crash, "crash.pay.v1", total, race_share(&crash.race, kills));
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.pay.v1", total, 's');
    rows = race_count(crash.direct, "select count(*) from public.crash_row");
    paid = race_count(crash.direct, "select count(distinct run_id) from public.crash_row");
    race_ok(&crash.race, rows == total && paid == total, "%ld rows of %ld runs for %ld steps", rows,
        paid, total);
    crash_check_records(&crash, total);
    return crash_end(&crash);
}
