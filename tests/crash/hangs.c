/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps hang while their processes live and send heartbeats. The engine takes each away a while after its limit, another try does it, what
 * the first one says in the end is refused, and then all the places of the workers are free again.
 */
#include "crash.h"

enum {
    hangs = 200,
    workers = 4,
    slots = 64,
    /* As the handler says, and what the engine adds to it. */
    limit_ms = 300 + 5000,
    /* Until somebody who claims or sends a heartbeat, which is due every 1.7 s, sees it. */
    seen_ms = 3000
};

/* How long after its limit the last one was taken away, as far as the machine let anybody do it. */
static void
check_times(struct crash *crash)
{
    long late = race_count(crash->direct,
        "select coalesce(max(1000 * extract(epoch from a.at - t.started_at))::bigint, 0) from "
        "pawl_data.audit a"
        " join pawl_data.run t on t.run_id = a.run_id where a.what = 'step_timeout'");
    long stood = (long)meter_stalled_ms(crash->meter, crash->measured_us, meter_now_us());

    race_note("the last was taken away %ld ms after its start; the machine stood still for %ld ms",
        late, stood);
    race_in_time(&crash->race, late <= limit_ms + seen_ms + stood,
        "each within its limit and three seconds");
}

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {
        .count = workers, .lease_ms = 5000, .concurrency = slots, .step_us = 1000};
    long total, taken;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, hangs);
    crash_spawn(&crash, &spec);
    crash_wait_sessions(&crash, workers);
    crash_trigger(&crash, "crash.hang.v1", total);
    race_ok(&crash.race, crash_wait_left(&crash, 0, 60), "all that hung end");
    check_times(&crash);
    taken = race_count(
        crash.direct, "select count(*) from pawl_data.audit a where a.what = 'step_timeout'");
    race_ok(&crash.race, taken == total, "%ld of %ld were taken away", taken, total);
    /* More than there are places, if some were still taken. */
    crash_trigger(&crash, "crash.steps.v1", 4L * workers * slots);
    race_ok(&crash.race, crash_wait_left(&crash, 0, 60), "others follow in their places");
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.hang.v1", total, 's');
    crash_check_ended(&crash, "crash.steps.v1", 4L * workers * slots, 's');
    crash_check_records(&crash, total + 12L * workers * slots);
    return crash_end(&crash);
}
