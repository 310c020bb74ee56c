/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What flows cost: tasks per second of a diamond of four steps and of a map, beside hand-written SQL that writes the same
 * rows in the same batches over the same one connection; the cost of a task in maps of all sizes; and that of a step in
 * graphs of all sizes. Exits 1 if a figure is out of bounds.
 */
#include "harness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 100,
    ROUNDS = 5,
    QUICK_ROUNDS = 3,
    FLAT_ROUNDS = 3,
    STEP_TASKS = 1000000, /* the elements of a step that is a map have the numbers behind its own */
};

#define PAYLOAD                                                                           \
    "{\"text\": \"0123456789012345678901234567890123456789012345678901234567890123456789" \
    "0123456789012345678901234567890123456789012345678901234567890123456789"              \
    "0123456789012345678901234567890123456789012345678901234567890123456789\"}"

static const char bare_claim[] =
    "with picked as materialized ("
    "    select t.ctid as tid from task t where t.place = 0 order by t.due_at limit $1::int"
    "    for update skip locked)"
    " update task t set place = 2, fence = t.fence + 1, claimed_at = now()"
    " from picked p where t.ctid = p.tid"
    " returning t.run_id, t.fence, t.task_no, json_build_object("
    "    'run', (select z.input from task z where z.run_id = t.run_id and z.task_no = 0), 'item', "
    "t.input,"
    "    'deps', case when t.task_no % 1000000 = 0 then ("
    "        select json_agg(s.output) from edge e join step s on s.run_id = t.run_id"
    "        and s.task_no between e.step_no * 1000000 and e.step_no * 1000000 + 999999"
    "        where e.dependent_no = t.task_no / 1000000) end)";

static const char bare_record[] =
    "with done as ("
    "    delete from task t using unnest($1::uuid[], $2::int[], $3::text[]) d (run_id, task_no, "
    "output)"
    "    where t.run_id = d.run_id and t.task_no = d.task_no"
    "    returning t.run_id, t.task_no, t.fence, t.claimed_at, d.output)"
    " insert into step select run_id, task_no, 'step', fence, claimed_at, now(), output::json from "
    "done";

/* Counts what came, and starts what may start. */
static const char bare_advance[] =
    "with came as materialized ("
    "    select d.run_id, e.dependent_no, e.needed, count(*)::int as n"
    "    from unnest($1::uuid[], $2::int[]) d (run_id, task_no)"
    "    join edge e on e.step_no = d.task_no / 1000000"
    "    where d.task_no % 1000000 = 0 and e.dependent_no > 0 group by 1, 2, 3"
    "), counted as ("
    "    update gate g set missing = g.missing - c.n from came c"
    "    where g.run_id = c.run_id and g.step_no = c.dependent_no and c.n < c.needed"
    "    returning g.run_id, g.step_no, g.missing"
    "), made as ("
    "    insert into gate select c.run_id, c.dependent_no, c.needed - c.n from came c"
    "    where c.n < c.needed and not exists ("
    "        select from gate g where g.run_id = c.run_id and g.step_no = c.dependent_no)"
    ")"
    " insert into task (run_id, task_no, place, due_at)"
    " select r.run_id, r.step_no * 1000000, 0, now() from ("
    "    select c.run_id, c.dependent_no as step_no from came c where c.n = c.needed"
    "    union all select o.run_id, o.step_no from counted o where o.missing = 0) r";

/* The same for the elements of the map, which is step 2. */
static const char bare_elements[] =
    "with came as materialized ("
    "    select d.run_id, count(*)::int as n from unnest($1::uuid[], $2::int[]) d (run_id, task_no)"
    "    where d.task_no between 2000001 and 2999999 group by 1"
    "), counted as ("
    "    update gate g set missing = g.missing - c.n from came c where g.run_id = c.run_id and "
    "g.step_no = 2"
    "    returning g.run_id, g.missing"
    ")"
    " insert into task (run_id, task_no, place, due_at)"
    " select o.run_id, 3000000, 0, now() from counted o where o.missing = 0";

static const char bare_forget[] =
    "delete from gate g where g.run_id = any ($1::uuid[]) and g.missing = 0";

static const char bare_end[] = "with gone as ("
                               "    delete from task t using unnest($1::uuid[], $2::int[], "
                               "$3::text[]) d (run_id, task_no, output)"
                               "    where t.run_id = d.run_id and t.task_no = 0"
                               "    and d.task_no = (select max(e.step_no) from edge e) * 1000000"
                               "    returning t.run_id, t.input, d.output)"
                               " insert into run select run_id, now(), input, "
                               "json_build_object('last', output::json) from gone";

static const char bare_expand[] =
    "with items as ("
    "    select r.run_id, e.value, e.n from unnest($1::uuid[]) r (run_id)"
    "    cross join json_array_elements($2::json) with ordinality e (value, n)"
    "), made as ("
    "    insert into task (run_id, task_no, place, due_at, input)"
    "    select run_id, 2000000 + n, 0, now(), value from items)"
    " insert into gate select r.run_id, 2, json_array_length($2::json) from unnest($1::uuid[]) r "
    "(run_id)";

/* One connection of either kind, with the texts of its calls. */
struct hand {
    PGconn *conn;
    bool bare;
    char session[24];
    struct bench_text runs, fences, tasks, kinds, outputs;
    /* How many of what was claimed last are elements of a map, and the time that such tasks took of the server's process so far. */
    int elements;
    double elements_s;
};

static void
hand_init(struct hand *hand, bool bare)
{
    *hand = (struct hand){.bare = bare, .conn = bench_connect()};
    bench_do(hand->conn, "set jit to off; set client_min_messages to warning");
    bench_text_init(&hand->runs, (size_t)BATCH * 40 + 16);
    bench_text_init(&hand->fences, (size_t)BATCH * 12 + 16);
    bench_text_init(&hand->tasks, (size_t)BATCH * 12 + 16);
    bench_text_init(&hand->kinds, (size_t)BATCH * 12 + 16);
    bench_text_init(&hand->outputs, (size_t)BATCH * 400 + 16);
    if (bare) {
        bench_do(hand->conn, "set enable_seqscan to off; set enable_bitmapscan to off");
        bench_prepare(hand->conn, "claim", bare_claim, 1);
        bench_prepare(hand->conn, "record", bare_record, 3);
        bench_prepare(hand->conn, "advance", bare_advance, 2);
        bench_prepare(hand->conn, "elements", bare_elements, 2);
        bench_prepare(hand->conn, "forget", bare_forget, 1);
        bench_prepare(hand->conn, "end", bare_end, 3);
        bench_prepare(hand->conn, "expand", bare_expand, 2);
        return;
    }
    bench_prepare(hand->conn, "claim",
        "select run_id, fence, task, input from pawl.claim($1::bigint, $2::int)", 2);
    bench_prepare(hand->conn, "commit",
        "select count(*) from pawl.commit($1::bigint, $2::uuid[], $3::int[], $4::text[], null,"
        " $5::text[], null, $6::int[]) c where c.answer = 'ok'",
        6);
    PGresult *result = bench_exec(hand->conn, "select session from pawl.register('bench', '{*}')");

    (void)snprintf(hand->session, sizeof(hand->session), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static void
hand_done(struct hand *hand)
{
    PQfinish(hand->conn);
    bench_text_done(&hand->runs);
    bench_text_done(&hand->fences);
    bench_text_done(&hand->tasks);
    bench_text_done(&hand->kinds);
    bench_text_done(&hand->outputs);
}

static void
call(struct hand *hand, const char *name, int count, const char *const *params)
{
    PQclear(bench_exec_prepared(hand->conn, name, count, params));
}

/* An item more in each of the lists. */
static void
add(struct hand *hand, bool first, const char *run, const char *fence, const char *task)
{
    const char *comma = first ? "{" : ",";

    bench_text_addf(&hand->runs, "%s%s", comma, run);
    bench_text_addf(&hand->fences, "%s%s", comma, fence);
    bench_text_addf(&hand->tasks, "%s%s", comma, task);
    bench_text_addf(&hand->kinds, "%scomplete", comma);
    bench_text_add(&hand->outputs, comma);
    bench_text_add(&hand->outputs, "\"");
    for (const char *at = PAYLOAD; *at != '\0'; at++)
        bench_text_addf(&hand->outputs, *at == '"' ? "\\%c" : "%c", *at);
    bench_text_add(&hand->outputs, "\"");
}

static int
claim(struct hand *hand)
{
    const char *bare[] = {"100"};
    const char *pawl[] = {hand->session, "100"};
    PGresult *result =
        bench_exec_prepared(hand->conn, "claim", hand->bare ? 1 : 2, hand->bare ? bare : pawl);
    int count = PQntuples(result);

    bench_text_clear(&hand->runs);
    bench_text_clear(&hand->fences);
    bench_text_clear(&hand->tasks);
    bench_text_clear(&hand->kinds);
    bench_text_clear(&hand->outputs);
    hand->elements = 0;
    for (int i = 0; i < count; i++) {
        add(hand, i == 0, PQgetvalue(result, i, 0), PQgetvalue(result, i, 1),
            PQgetvalue(result, i, 2));
        hand->elements +=
            bench_number(PQgetvalue(result, i, 2), "task", 0, INT_MAX) % STEP_TASKS > 0;
    }
    bench_text_add(&hand->runs, "}");
    bench_text_add(&hand->fences, "}");
    bench_text_add(&hand->tasks, "}");
    bench_text_add(&hand->kinds, "}");
    bench_text_add(&hand->outputs, "}");
    PQclear(result);
    return count;
}

/* Completes what was claimed last. `items`: the array that its only step, a list, yields. */
static void
finish(struct hand *hand, int count, const char *items)
{
    const char *outputs = items == NULL ? hand->outputs.data : items;

    if (hand->bare) {
        const char *params[] = {hand->runs.data, hand->tasks.data, outputs};
        const char *expand[] = {hand->runs.data, items};

        bench_do(hand->conn, "begin");
        if (items == NULL) {
            call(hand, "record", 3, params);
            call(hand, "advance", 2, params);
            call(hand, "elements", 2, params);
            call(hand, "forget", 1, params);
            call(hand, "end", 3, params);
        } else {
            params[2] = hand->outputs.data;
            call(hand, "record", 3, params);
            call(hand, "expand", 2, expand);
        }
        bench_do(hand->conn, "commit");
        return;
    }
    const char *params[] = {hand->session, hand->runs.data, hand->fences.data, hand->kinds.data,
        outputs, hand->tasks.data};
    PGresult *result;

    if (items != NULL) {
        /* The same list for each run. */
        PGresult *lists = bench_exec_params(hand->conn,
            "select array_agg($1::text) from generate_series(1, $2::int)", 2,
            (const char *const[]){items, count == 1 ? "1" : "100"});

        params[4] = PQgetvalue(lists, 0, 0);
        result = bench_exec_prepared(hand->conn, "commit", 6, params);
        PQclear(lists);
    } else {
        result = bench_exec_prepared(hand->conn, "commit", 6, params);
    }
    if (bench_number(PQgetvalue(result, 0, 0), "taken", 0, BATCH) != count)
        bench_die("not all of %d tasks were taken", count);
    PQclear(result);
}

static void
trigger(struct hand *hand, const char *flow, int count)
{
    char sql[1000];

    if (hand->bare)
        (void)snprintf(sql, sizeof(sql),
            "with made as (select gen_random_uuid() as id from generate_series(1, %d)),"
            " runs as (insert into task select id, 0, 4, 0, now(), null, '%s' from made)"
            " insert into task select id, 1000000, 0, 0, now() from made",
            count, PAYLOAD);
    else
        (void)snprintf(sql, sizeof(sql),
            "select count(*) from pawl.trigger_many('%s', array_fill('%s'::json, array[%d]))", flow,
            PAYLOAD, count);
    bench_do(hand->conn, sql);
}

/* The time that the server's process of this connection was executed: unlike that of a clock, others on the machine are not part of it. */
static double
executed_s(const struct hand *hand)
{
    char path[64], text[64];
    FILE *file;
    size_t length;

    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", PQbackendPID(hand->conn));
    file = fopen(path, "re");
    if (file == NULL)
        bench_die("cannot read \"%s\": the server must be on this machine", path);
    length = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file); /* It was only read. */
    text[length] = '\0';
    text[strcspn(text, " ")] = '\0';
    return 1e-9 * (double)bench_number(text, path, 0, LONG_MAX);
}

/* Works until nothing is left; returns how many tasks. The time of a batch is shared by what is in it. */
static long
work(struct hand *hand)
{
    double start = executed_s(hand);
    long total = 0;
    int count;

    while ((count = claim(hand)) > 0) {
        double now;

        finish(hand, count, NULL);
        total += count;
        now = executed_s(hand);
        hand->elements_s += (now - start) * hand->elements / count;
        start = now;
    }
    return total;
}

static void
make_database(bool bare)
{
    PGconn *conn;

    if (bare) {
        bench_fresh_database("bench_bare");
        conn = bench_connect();
        bench_do(conn, "set client_min_messages to warning");
        bench_do_file(conn, "bench/flow/bare.sql");
    } else {
        conn = bench_install("bench_flow");
        bench_do(conn,
            "select pawl.create_flow('diamond'), pawl.add_step('diamond', 'a');"
            "select pawl.add_step('diamond', 'b', '{a}'), pawl.add_step('diamond', 'c', '{a}');"
            "select pawl.add_step('diamond', 'd', '{b,c}');"
            "select pawl.create_flow('map'), pawl.add_step('map', 'list');"
            "select pawl.add_step('map', 'each', '{list}', '{\"map\": \"list\"}');"
            "select pawl.add_step('map', 'end', '{each}')");
    }
    PQfinish(conn);
}

static double
run_diamonds(bool bare, int total)
{
    struct hand hand;
    double start;

    make_database(bare);
    hand_init(&hand, bare);
    if (bare)
        bench_do(hand.conn,
            "insert into edge values (1, 2, 1), (1, 3, 1), (2, 4, 2), (3, 4, 2), (4, 0, 1)");
    bench_do(hand.conn, "checkpoint");
    start = bench_now_s();
    for (int left = total; left > 0; left -= BATCH)
        trigger(&hand, "diamond", left < BATCH ? left : BATCH);
    if (work(&hand) != 4L * total)
        bench_die("the diamonds did not end");
    start = bench_now_s() - start;
    hand_done(&hand);
    return 4.0 * total / start;
}

static char *
make_items(int count)
{
    struct bench_text text;

    bench_text_init(&text, (size_t)count * 20 + 16);
    bench_text_add(&text, "[");
    for (int i = 0; i < count; i++)
        bench_text_addf(&text, "%s%d", i == 0 ? "" : ",", i);
    bench_text_add(&text, "]");
    return text.data;
}

/* So many maps of so many elements, one after the other up to a hundred at a time. Also tells what an element took by itself, of the server's process. */
static double
run_maps(bool bare, int maps, int elements, double *element_us)
{
    struct hand hand;
    char *items = make_items(elements);
    double start;

    make_database(bare);
    hand_init(&hand, bare);
    if (bare)
        bench_do(hand.conn, "insert into edge values (1, 2, 1), (2, 3, 1), (3, 0, 1)");
    bench_do(hand.conn, "checkpoint");
    start = bench_now_s();
    for (int left = maps; left > 0;) {
        int count = left < BATCH ? 1 : BATCH;

        trigger(&hand, "map", count);
        if (claim(&hand) != count)
            bench_die("the lists are not there");
        finish(&hand, count, items);
        if (work(&hand) != (long)count * (elements + 1))
            bench_die("the maps did not end");
        left -= count;
    }
    start = bench_now_s() - start;
    *element_us = 1e6 * hand.elements_s / maps / elements;
    hand_done(&hand);
    free(items);
    return (double)maps * (elements + 2) / start;
}

static bool
say(const char *name, const char *unit, double *values, int rounds, enum bench_bound kind,
    double bound, double goal, double gate)
{
    struct bench_figure figure = {
        .name = name, .unit = unit, .bound_kind = kind, .bound = bound, .goal = goal, .gate = gate};

    bench_figure_median(&figure, values, rounds);
    return bench_figure_print(&figure);
}

/* The engine's share of bare speed. */
static bool
compare_sides(const char *name, bool quick, int maps, int elements, int diamonds)
{
    double bare[ROUNDS], pawl[ROUNDS], shares[ROUNDS];
    int rounds = quick ? QUICK_ROUNDS : ROUNDS;
    char label[64];
    double us;

    for (int i = 0; i < rounds; i++) {
        bare[i] = maps > 0 ? run_maps(true, maps, elements, &us) : run_diamonds(true, diamonds);
        pawl[i] = maps > 0 ? run_maps(false, maps, elements, &us) : run_diamonds(false, diamonds);
        shares[i] = pawl[i] / bare[i];
    }
    (void)snprintf(label, sizeof(label), "%s_bare", name);
    (void)say(label, "tasks/s", bare, rounds, BENCH_NO_BOUND, 0, 0, 0);
    (void)snprintf(label, sizeof(label), "%s_pawl", name);
    (void)say(label, "tasks/s", pawl, rounds, BENCH_NO_BOUND, 0, 0, 0);
    (void)snprintf(label, sizeof(label), "%s_ratio", name);
    return say(label, "of bare", shares, rounds, BENCH_AT_LEAST, 0.5, 0,
        quick ? bench_ratio_gate(quick, BENCH_AT_LEAST, 0.5) : 0.4);
}

/*
 * The same number of elements in many small maps, or in few large ones: what an element takes of the server's process in the least
 * disturbed of the rounds, in which all sizes take turns, each to be within a fifth of the middle. What a run with such a map takes besides, its own two tasks and
 * its record, is told as well, shared by its tasks.
 */
static int
measure_flatness(bool quick)
{
    static const int sizes[] = {10, 100, 1000, 10000, 100000};
    int count = quick ? 4 : 5;
    int total = quick ? 10000 : 100000;
    double tasks[5][FLAT_ROUNDS], elements[5][FLAT_ROUNDS], sorted[5], middle;
    char label[64];
    int failed = 0;

    for (int j = 0; j < FLAT_ROUNDS; j++)
        for (int i = 0; i < count; i++)
            tasks[i][j] = 1e6 / run_maps(false, total / sizes[i], sizes[i], &elements[i][j]);
    for (int i = 0; i < count; i++) {
        (void)snprintf(label, sizeof(label), "task_of_run_with_map_of_%d", sizes[i]);
        (void)say(label, "us", tasks[i], FLAT_ROUNDS, BENCH_NO_BOUND, 0, 0, 0);
        (void)snprintf(label, sizeof(label), "element_of_map_of_%d", sizes[i]);
        (void)say(label, "us", elements[i], FLAT_ROUNDS, BENCH_NO_BOUND, 0, 0, 0);
        sorted[i] = elements[i][0];
    }
    middle = bench_percentile(sorted, (size_t)count, 0.5);
    for (int i = 0; i < count; i++) {
        double share = elements[i][0] / middle;
        struct bench_figure figure = {.name = label,
            .unit = "times",
            .value = share > 1 ? share - 1 : 1 - share,
            .bound_kind = BENCH_AT_MOST,
            .bound = 0.2,
            .gate = quick ? 2 : 1};

        (void)snprintf(label, sizeof(label), "element_of_map_of_%d_off_the_middle", sizes[i]);
        failed += !bench_figure_print(&figure);
    }
    return failed;
}

/* A graph in layers of ten, each step after two of the layer before. */
static double
run_graph(int steps, double *define_us, double *trigger_us)
{
    struct hand hand;
    char sql[300];
    double start;
    double work_us;

    make_database(false);
    hand_init(&hand, false);
    start = bench_now_s();
    /* One transaction, or the disk is what is measured. */
    bench_do(hand.conn, "begin; select pawl.create_flow('graph')");
    for (int i = 0; i < steps; i++) {
        if (i < 10)
            (void)snprintf(sql, sizeof(sql), "select pawl.add_step('graph', 's%d')", i);
        else
            (void)snprintf(sql, sizeof(sql), "select pawl.add_step('graph', 's%d', '{s%d,s%d}')", i,
                i / 10 * 10 - 10 + i % 10, i / 10 * 10 - 10 + (i + 1) % 10);
        bench_do(hand.conn, sql);
    }
    bench_do(hand.conn, "commit");
    *define_us = (bench_now_s() - start) * 1e6 / steps;
    bench_do(hand.conn, "checkpoint");
    start = bench_now_s();
    for (int i = 0; i < 20; i++)
        trigger(&hand, "graph", 1);
    *trigger_us = (bench_now_s() - start) * 1e6 / 20;
    start = bench_now_s();
    if (work(&hand) != 20L * steps)
        bench_die("the graphs did not end");
    work_us = (bench_now_s() - start) * 1e6 / (20.0 * steps);
    hand_done(&hand);
    return work_us;
}

static int
measure_graphs(bool quick)
{
    static const int sizes[] = {10, 100, 1000};
    double costs[3];
    double define[3];
    int failed = 0;

    for (int i = 0; i < 3; i++) {
        double trigger_us = 0;
        double define_us = 0;
        char label[64];

        costs[i] = run_graph(sizes[i], &define_us, &trigger_us);
        define[i] = define_us;
        (void)snprintf(label, sizeof(label), "graph_of_%d_definition_per_step", sizes[i]);
        (void)say(label, "us", &define_us, 1, BENCH_NO_BOUND, 0, 0, 0);
        (void)snprintf(label, sizeof(label), "graph_of_%d_trigger", sizes[i]);
        (void)say(label, "us", &trigger_us, 1, BENCH_NO_BOUND, 0, 0, 0);
        (void)snprintf(label, sizeof(label), "graph_of_%d_per_step", sizes[i]);
        (void)say(label, "us", &costs[i], 1, BENCH_NO_BOUND, 0, 0, 0);
    }
    costs[2] /= costs[1];
    define[2] /= define[1];
    failed += !say("graph_of_1000_to_100_per_step", "times", &costs[2], 1, BENCH_AT_MOST, 1.5, 1,
        bench_ratio_gate(quick, BENCH_AT_MOST, 1.5));
    failed += !say("graph_of_1000_to_100_definition", "times", &define[2], 1, BENCH_AT_MOST, 2, 1,
        bench_ratio_gate(quick, BENCH_AT_MOST, 2));
    return failed;
}

int
main(int argc, char **argv)
{
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int failed = 0;

    bench_need_cluster(argv);
    failed += !compare_sides("diamond", quick, 0, 0, quick ? 2000 : 20000);
    failed += !compare_sides("map", quick, quick ? 1 : 10, 10000, 0);
    failed += measure_flatness(quick);
    failed += measure_graphs(quick);
    return failed > 0 ? 1 : 0;
}
