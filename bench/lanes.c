/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what lanes cost, and how fair they are: shares of a thousand tenants, claimers of one tenant against a plain queue, how long a tenant with
 * few runs waits while another has a million, claims while keys are at their limit, and claims under a held snapshot. Exits 1 if a figure is out of bounds.
 */
#include "lanes.h"

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

int
main(int argc, char **argv)
{
    static const char usage[] =
        "usage: lanes [--quick] [--shares] [--claimers] [--newcomer] [--full] [--snapshot]\n"
        "       without a section, all of them\n";
    static const struct bench_section sections[] = {
        {"--shares", lanes_shares},
        {"--claimers", lanes_claimers},
        {"--newcomer", lanes_newcomer},
        {"--full", lanes_full},
        {"--snapshot", lanes_snapshot},
    };

    return bench_play(argc, argv, usage, sections, sizeof(sections) / sizeof(sections[0]));
}
