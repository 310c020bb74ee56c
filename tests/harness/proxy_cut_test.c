/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy cuts where its rules say: before a request, or after its answer. */
#include "proxy.h"

#include "race.h"

#include <stdio.h>

struct test {
    struct race race;
    PGconn *direct;
    struct proxy *proxy;
};

/* A connection with the prepared statement pawl_put, which adds a number to table t. */
static PGconn *
connect_putter(struct proxy *proxy)
{
    PGconn *conn = proxy_connect(proxy);

    bench_prepare(conn, "pawl_put", "insert into t values ($1::int) on conflict (n) do nothing", 1);
    return conn;
}

/* Whether the prepared insert was acknowledged. */
static bool
put(PGconn *conn, long n)
{
    char number[24];
    const char *params[] = {number};
    PGresult *res;
    bool done;

    (void)snprintf(number, sizeof(number), "%ld", n);
    res = PQexecPrepared(conn, "pawl_put", 1, params, NULL, NULL, 0);
    done = PQresultStatus(res) == PGRES_COMMAND_OK;
    PQclear(res);
    return done;
}

static bool
works(PGconn *conn, const char *sql)
{
    PGresult *res = PQexec(conn, sql);
    bool done = PQresultStatus(res) == PGRES_COMMAND_OK || PQresultStatus(res) == PGRES_TUPLES_OK;

    PQclear(res);
    return done;
}

static long
rows(struct test *test)
{
    return race_count(test->direct, "select count(*) from t");
}

/* Empties the table and takes all rules away. */
static void
begin(struct test *test)
{
    bench_do(test->direct, "truncate t");
    proxy_rules_clear(test->proxy);
}

static void
a_cut_before_keeps_the_request_from_the_server(struct test *test)
{
    struct proxy_rule rule = {.text = "pawl_put", .when = PROXY_BEFORE, .nth = 3};
    PGconn *conn = connect_putter(test->proxy);
    int number;
    bool first, second, third;

    begin(test);
    number = proxy_rule_add(test->proxy, &rule);
    first = put(conn, 1);
    second = put(conn, 2);
    third = put(conn, 3);
    race_ok(&test->race,
        first && second && !third && PQstatus(conn) == CONNECTION_BAD && rows(test) == 2,
        "a cut before the third request: the client sees an error, and its row is not there");
    race_ok(&test->race,
        proxy_rule_counts(test->proxy, number).matches == 3 &&
            proxy_rule_counts(test->proxy, number).cuts == 1,
        "the rule counts three matches and one cut");
    PQreset(conn);
    race_ok(&test->race, works(conn, "insert into t values (4)"), "the client can connect again");
    PQfinish(conn);
}

static void
a_cut_after_keeps_the_answer_from_the_client(struct test *test)
{
    struct proxy_rule rule = {.text = "pawl_put", .when = PROXY_AFTER, .nth = 2};
    PGconn *conn = connect_putter(test->proxy);
    int number;
    bool first, second;

    begin(test);
    number = proxy_rule_add(test->proxy, &rule);
    first = put(conn, 1);
    second = put(conn, 2);
    race_ok(&test->race, first && !second && PQstatus(conn) == CONNECTION_BAD && rows(test) == 2,
        "a cut after the second request: the client sees an error, and its row is there");
    race_ok(&test->race,
        proxy_rule_counts(test->proxy, number).cuts == 1 &&
            proxy_rule_counts(test->proxy, number).errors == 0,
        "the rule counts one cut, after no error");
    PQfinish(conn);
}

static void
a_cut_after_an_error_is_counted_as_one(struct test *test)
{
    struct proxy_rule rule = {.text = "nowhere", .when = PROXY_AFTER};
    PGconn *conn = proxy_connect(test->proxy);
    int number;

    begin(test);
    number = proxy_rule_add(test->proxy, &rule);
    race_ok(&test->race,
        !works(conn, "select * from nowhere") && PQstatus(conn) == CONNECTION_BAD &&
            proxy_rule_counts(test->proxy, number).errors == 1,
        "a cut after an answer that was an error is counted as such");
    PQfinish(conn);
}

/* Tries a text in both ways it may be sent without a name; returns how often the rule cut. */
static long
cuts_at(struct test *test, const char *text, const char *sql)
{
    struct proxy_rule rule = {.text = text, .when = PROXY_BEFORE};
    int number;
    PGconn *conn;

    begin(test);
    number = proxy_rule_add(test->proxy, &rule);
    conn = proxy_connect(test->proxy);
    PQclear(PQexec(conn, sql));
    PQfinish(conn);
    conn = proxy_connect(test->proxy);
    PQclear(PQexecParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0));
    PQfinish(conn);
    return proxy_rule_counts(test->proxy, number).cuts;
}

static void
requests_are_known_by_whole_words_of_their_text(struct test *test)
{
    race_ok(&test->race, cuts_at(test, "pawl.commit", "select 1 /* pawl.commit($1) */") == 2,
        "a word of the text is found in a simple query and in a statement without a name");
    race_ok(&test->race,
        cuts_at(test, "pawl.commit", "select 1 /* pawl.commit_each($1), xpawl.commit */") == 0,
        "a part of a word is not");
    race_ok(&test->race, cuts_at(test, "", "select 1") == 2, "an empty text is in every request");
}

/* Whether the pipeline has the answer to an insert, and then to its Sync. */
static bool
is_answered(PGconn *conn)
{
    PGresult *res = PQgetResult(conn);
    bool done = PQresultStatus(res) == PGRES_COMMAND_OK;

    PQclear(res);
    if (!done)
        return false;
    PQclear(PQgetResult(conn)); /* The end of the insert. */
    res = PQgetResult(conn);
    done = PQresultStatus(res) == PGRES_PIPELINE_SYNC;
    PQclear(res);
    return done;
}

static void
a_pipeline_is_cut_at_its_syncs(struct test *test)
{
    struct proxy_rule rule = {.text = "pawl_put", .when = PROXY_AFTER, .nth = 2};
    PGconn *conn = connect_putter(test->proxy);
    const char *const numbers[] = {"1", "2"};
    bool first, second;

    begin(test);
    (void)proxy_rule_add(test->proxy, &rule);
    if (PQenterPipelineMode(conn) != 1)
        bench_die("no pipeline: %s", PQerrorMessage(conn));
    for (int i = 0; i < 2; i++) {
        if (PQsendQueryPrepared(conn, "pawl_put", 1, &numbers[i], NULL, NULL, 0) != 1 ||
            PQpipelineSync(conn) != 1)
            bench_die("cannot send: %s", PQerrorMessage(conn));
    }
    first = is_answered(conn);
    second = is_answered(conn);
    race_ok(&test->race, first && !second && rows(test) == 2,
        "in a pipeline the answer before the one that is withheld still arrives");
    PQfinish(conn);
}

/* Adds 1, 2, ... and again what was not acknowledged; returns how often it was not. */
static long
put_all(struct proxy *proxy, long count)
{
    PGconn *conn = connect_putter(proxy);
    long failures = 0;

    for (long n = 1; n <= count;) {
        if (put(conn, n)) {
            n++;
        } else {
            failures++;
            PQfinish(conn);
            conn = connect_putter(proxy);
        }
    }
    PQfinish(conn);
    return failures;
}

static void
chance_comes_from_the_seed(struct test *test)
{
    struct proxy_options options = {.seed = test->race.seed};
    struct proxy_rule before = {.text = "pawl_put", .when = PROXY_BEFORE, .one_in = 20};
    struct proxy_rule after = {.text = "pawl_put", .when = PROXY_AFTER, .one_in = 20};
    struct proxy_rule_counts counts[2][2];
    long failures[2], count = 1000;

    for (int i = 0; i < 2; i++) {
        struct proxy *proxy = proxy_new(&options);

        bench_do(test->direct, "truncate t");
        (void)proxy_rule_add(proxy, &before);
        (void)proxy_rule_add(proxy, &after);
        failures[i] = put_all(proxy, count);
        counts[i][0] = proxy_rule_counts(proxy, 0);
        counts[i][1] = proxy_rule_counts(proxy, 1);
        proxy_free(proxy);
    }
    race_ok(&test->race,
        counts[0][0].cuts + counts[0][1].cuts == failures[0] && failures[0] > 50 &&
            failures[0] < 200 && counts[0][0].matches == count + failures[0] && rows(test) == count,
        "%ld requests were cut before and %ld after, and the client saw each of it",
        counts[0][0].cuts, counts[0][1].cuts);
    race_ok(&test->race,
        counts[0][0].cuts == counts[1][0].cuts && counts[0][1].cuts == counts[1][1].cuts,
        "the same seed cuts the same requests");
}

static void
a_rule_rests_after_its_last_cut(struct test *test)
{
    struct proxy_rule rule = {.text = "pawl_put", .when = PROXY_AFTER, .cuts_max = 3};
    int number;

    begin(test);
    number = proxy_rule_add(test->proxy, &rule);
    race_ok(&test->race,
        put_all(test->proxy, 20) == 3 && proxy_rule_counts(test->proxy, number).cuts == 3,
        "a rule rests after its last cut");
}

int
main(int argc, char **argv)
{
    struct proxy_options options = {0};
    struct test test = {0};

    race_start(&test.race, argc, argv);
    options.seed = test.race.seed;
    test.direct = race_connect_direct();
    test.proxy = proxy_new(&options);
    bench_do(test.direct, "create table t (n int primary key)");
    a_cut_before_keeps_the_request_from_the_server(&test);
    a_cut_after_keeps_the_answer_from_the_client(&test);
    a_cut_after_an_error_is_counted_as_one(&test);
    requests_are_known_by_whole_words_of_their_text(&test);
    a_pipeline_is_cut_at_its_syncs(&test);
    chance_comes_from_the_seed(&test);
    a_rule_rests_after_its_last_cut(&test);
    proxy_free(test.proxy);
    PQfinish(test.direct);
    return race_end(&test.race);
}
