/* SPDX-License-Identifier: Apache-2.0 */
/* The databases of bench/engine and bench/lanes, the server's settings, and the buffers of a call. */
#include "engine.h"

enum {
    WARM_UP = 8, /* calls that make plans and fill caches */
    SAMPLES = 15,
};

void
engine_fresh(const char *database)
{
    PGconn *conn = bench_install(database);

    bench_do_file(conn, "bench/engine/fill.sql");
    bench_do(conn, "select pawl.create_workflow('" ENGINE_WORKFLOW "')");
    PQfinish(conn);
}

void
engine_quiet(bool quiet)
{
    PGconn *conn = bench_connect();
    double until = bench_limit_s(10);

    bench_do(conn, quiet ? "alter system set autovacuum to off" : "alter system reset autovacuum");
    bench_do(conn,
        quiet ? "alter system set full_page_writes to off" : "alter system reset full_page_writes");
    bench_do(conn, "select pg_reload_conf()");
    PQfinish(conn);
    /* A new connection has the settings when the server has read them. */
    for (bool done = false; !done;) {
        if (bench_now_s() > until)
            bench_die("the server did not take its new settings");
        conn = bench_connect();
        done = bench_value(conn, "select (current_setting('autovacuum') = 'off')::int") == quiet;
        if (done)
            bench_do(conn, "checkpoint"); /* The checkpointer decides on page images. */
        PQfinish(conn);
    }
}

double
engine_buffers(struct engine_hand *hand, const char *call, bool tick)
{
    double values[SAMPLES];
    const char *params[] = {call};

    for (int i = -WARM_UP; i < SAMPLES; i++) {
        PGresult *res;

        bench_do(hand->conn, tick ? "select bench.set_tick(true)" : "select bench.set_tick(false)");
        res = bench_exec_params(hand->conn, "select bench.buffers($1)", 1, params);
        if (i >= 0)
            values[i] = (double)bench_number(PQgetvalue(res, 0, 0), "buffers", 0, 1000000000);
        PQclear(res);
    }
    return bench_percentile(values, SAMPLES, 0.5);
}

double
engine_claim_buffers(struct engine_hand *hand, int most, bool tick)
{
    struct bench_text call;
    double value;

    bench_text_init(&call, 100);
    bench_text_addf(&call, "select * from pawl.claim(%s, %d)", hand->session, most);
    value = engine_buffers(hand, call.data, tick);
    bench_text_done(&call);
    return value;
}
