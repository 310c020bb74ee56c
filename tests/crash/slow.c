/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database that answers late and now and then loses a connection: each answer takes 200 ms more, and one request in twenty is cut, half
 * of them before they arrive and half of them after they were done. Half of the workers' places are taken. No lease is lost.
 */
#include "crash.h"
#include "proxy.h"

enum {
    workers = 4,
    concurrency = 16,
    load = workers * concurrency / 2,
    seconds = 120,
    delay_ms = 200,
    one_in = 40,
    lease_ms = 10000
};

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {
        .count = workers, .lease_ms = lease_ms, .concurrency = concurrency, .step_us = 3000};
    const struct proxy_rule before = {.text = "", .when = PROXY_BEFORE, .one_in = one_in};
    const struct proxy_rule after = {.text = "", .when = PROXY_AFTER, .one_in = one_in};
    struct proxy_options options = {0};
    struct proxy_counts counts;
    struct proxy *proxy;
    double from_s, until_s, span_s;

    crash_start(&crash, argc, argv);
    options.seed = crash.race.seed;
    proxy = proxy_new(&options);
    proxy_use(proxy);
    crash_trigger(&crash, "crash.steps.v1", load);
    crash_spawn(&crash, &spec);
    crash_wait_sessions(&crash, workers);
    proxy_delay(proxy, delay_ms);
    (void)proxy_rule_add(proxy, &before);
    (void)proxy_rule_add(proxy, &after);
    from_s = bench_now_s();
    span_s = (double)race_share(&crash.race, seconds) * (crash.race.divisor == 1 ? 1 : 0.7);
    until_s = from_s + span_s;
    while (bench_now_s() < until_s) {
        long left = crash_left(&crash);

        if (left < load)
            crash_trigger(&crash, "crash.steps.v1", load - left);
        crash_watch(&crash);
        crash_rest();
    }
    race_ok(&crash.race, crash_wait_left(&crash, 0, 60), "all runs end");
    counts = proxy_counts(proxy);
    race_note("%.0f s, runs %ld, requests %ld, cut %ld before and %ld after they were done",
        bench_now_s() - from_s, crash.triggered, counts.requests, counts.cuts_before,
        counts.cuts_after);
    race_ok(&crash.race,
        counts.cuts_before > 0 && counts.cuts_after > 0 &&
            60 * (counts.cuts_before + counts.cuts_after) > counts.requests,
        "about one request in twenty is cut");
    proxy_rules_clear(proxy);
    proxy_delay(proxy, 0);
    crash_end_workers(&crash);
    crash_check_ended(&crash, "crash.steps.v1", crash.triggered, 's');
    crash_check_records(&crash, 3 * crash.triggered);
    crash_check_attempts(&crash);
    proxy_free(proxy);
    return crash_end(&crash);
}
