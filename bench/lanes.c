/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what lanes cost, and how fair they are: shares of a thousand tenants, claimers of one tenant beside a plain queue, how long a tenant with
 * few runs waits behind one with a million, claims beside full lanes, and claims under a held snapshot. Exits 1 if a figure is out of bounds.
 */
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *option;
    void (*run)(struct engine_report *report);
} sections[] = {
    {"--shares", lanes_shares},
    {"--claimers", lanes_claimers},
    {"--newcomer", lanes_newcomer},
    {"--full", lanes_full},
    {"--snapshot", lanes_snapshot},
};

enum {
    SECTIONS = sizeof(sections) / sizeof(sections[0]),
    WARM_UP = 8, /* claims that make plans and fill caches */
    SAMPLES = 15,
};

struct member {
    int number, batch;
    lanes_turn *turn;
    void *shared;
};

static void *
work(void *arg)
{
    struct member *member = arg;
    struct engine_hand *hand = engine_hand_new(member->batch, "{bench.*}");

    while (member->turn(hand, member->number, member->shared))
        continue;
    engine_hand_done(hand);
    return NULL;
}

void
lanes_crew(int count, int batch, lanes_turn *turn, void *shared)
{
    pthread_t threads[LANES_CREW_MAX];
    struct member members[LANES_CREW_MAX];

    for (int i = 0; i < count; i++) {
        members[i] = (struct member){i, batch, turn, shared};
        if (pthread_create(&threads[i], NULL, work, &members[i]) != 0)
            bench_die("cannot start a thread");
    }
    for (int i = 0; i < count; i++)
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
}

/* A call takes 10,000 inputs at most. */
static long
at_most_a_call(long count)
{
    return count < 10000 ? count : 10000;
}

void
lanes_fill_tenants(PGconn *conn, long first, long last, long runs)
{
    struct bench_text sql;

    bench_text_init(&sql, 400);
    for (long made = 0; made < runs; made += at_most_a_call(runs)) {
        bench_text_clear(&sql);
        bench_text_addf(&sql,
            "select count(*) from generate_series(%ld, %ld) n cross join lateral "
            "pawl.trigger_many('" ENGINE_WORKFLOW "', array_fill('{}'::json, array[%ld]), "
            "tenant => 't' || n) t",
            first, last, at_most_a_call(runs - made));
        bench_do(conn, sql.data);
    }
    bench_text_done(&sql);
}

void
lanes_fill_keys(PGconn *conn, long count, long runs)
{
    struct bench_text sql;

    bench_text_init(&sql, 400);
    for (long n = 0; n < runs; n++)
        for (long first = 0; first < count; first += 10000) {
            long some = at_most_a_call(count - first);

            bench_text_clear(&sql);
            bench_text_addf(&sql,
                "select count(*) from pawl.trigger_many('" ENGINE_WORKFLOW
                "', array_fill('{}'::json, "
                "array[%ld]), limit_keys => array(select 'k' || n from generate_series(%ld, %ld) "
                "n))",
                some, first, first + some - 1);
            bench_do(conn, sql.data);
        }
    bench_text_done(&sql);
}

PGconn *
lanes_fresh(const char *options)
{
    struct bench_text sql;
    PGconn *conn;

    engine_fresh("bench_lanes");
    conn = bench_connect();
    bench_do(conn, "set synchronous_commit to off");
    bench_text_init(&sql, 300);
    bench_text_addf(&sql, "select pawl.alter_workflow('" ENGINE_WORKFLOW "', '%s')", options);
    bench_do(conn, sql.data);
    bench_text_done(&sql);
    return conn;
}

double
lanes_buffers(struct engine_hand *hand, int most)
{
    struct bench_text call;
    double values[SAMPLES];

    bench_text_init(&call, 200);
    bench_text_addf(
        &call, "select bench.buffers('select * from pawl.claim(%s, %d)')", hand->session, most);
    for (int i = -WARM_UP; i < SAMPLES; i++) {
        double value;

        bench_do(hand->conn, "select bench.set_tick(false)");
        value = bench_value(hand->conn, call.data);
        if (i >= 0)
            values[i] = value;
    }
    bench_text_done(&call);
    return bench_percentile(values, SAMPLES, 0.5);
}

static void
usage(void)
{
    (void)fputs(
        "usage: lanes [--quick] [--shares] [--claimers] [--newcomer] [--full] [--snapshot]\n"
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
        if (!any || asked[s])
            sections[s].run(&report);
    }
    engine_say_plain(&report, "figures_out_of_bounds", report.failed, "figures", BENCH_NO_BOUND, 0);
    return report.failed == 0 ? 0 : 1;
}
