/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy passes, delays, holds and loses what it is told to and nothing else, and keeps up. Cuts are tested apart. */
#include "proxy.h"

#include "race.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const double patience_s = 20;

struct test {
    struct race race;
    PGconn *direct;
    struct proxy *proxy;
};

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

/* Empties the table. */
static void
begin(struct test *test)
{
    bench_do(test->direct, "truncate t");
}

static void
what_is_sent_arrives(struct test *test)
{
    PGconn *conn = proxy_connect(test->proxy);
    char *large = race_alloc(300001, 1);
    const char *params[] = {large};
    PGresult *res;

    begin(test);
    memset(large, 'x', 300000);
    res = bench_exec_params(conn, "select length($1), repeat('y', 5000000)", 1, params);
    race_ok(&test->race,
        race_field(res, 0, 0) == 300000 && PQgetlength(res, 0, 1) == 5000000 &&
            works(conn, "insert into t values (1)") && rows(test) == 1,
        "small and large messages pass in both directions");
    PQclear(res);
    free(large);
    PQfinish(conn);
}

static void
answers_are_delayed(struct test *test)
{
    PGconn *conn = proxy_connect(test->proxy);
    double start_s, one_s, ten_s;

    begin(test);
    proxy_delay(test->proxy, 200);
    start_s = bench_now_s();
    bench_do(conn, "select 1");
    one_s = bench_now_s() - start_s;
    start_s = bench_now_s();
    if (PQenterPipelineMode(conn) != 1)
        bench_die("no pipeline: %s", PQerrorMessage(conn));
    for (int i = 0; i < 10; i++) {
        if (PQsendQueryParams(conn, "select 1", 0, NULL, NULL, NULL, NULL, 0) != 1 ||
            PQpipelineSync(conn) != 1 || PQflush(conn) != 0)
            bench_die("cannot send: %s", PQerrorMessage(conn));
    }
    for (int i = 0; i < 10; i++) {
        PQclear(PQgetResult(conn));
        PQclear(PQgetResult(conn));
        PQclear(PQgetResult(conn));
    }
    ten_s = bench_now_s() - start_s;
    race_ok(&test->race, one_s >= 0.2, "an answer comes %.0f ms late", one_s * 1e3);
    race_ok(&test->race, ten_s >= 0.2, "ten answers on their way at once come %.0f ms late",
        ten_s * 1e3);
    race_in_time(&test->race, ten_s < 1.5, "not one after the other");
    if (PQexitPipelineMode(conn) != 1)
        bench_die("cannot leave the pipeline: %s", PQerrorMessage(conn));
    proxy_delay(test->proxy, 0);
    start_s = bench_now_s();
    bench_do(conn, "select 1");
    race_in_time(&test->race, bench_now_s() - start_s < 0.2, "without a delay it is quick again");
    PQfinish(conn);
}

/* Whether nothing comes on the socket for a tenth of a second. */
static bool
is_silent(PGconn *conn)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = POLLIN};

    return poll(&fd, 1, 100) == 0;
}

static void
a_blackhole_swallows_everything(struct test *test)
{
    PGconn *conn = proxy_connect(test->proxy);
    char port[12];
    const char *const names[] = {"host", "port", NULL};
    const char *const values[] = {proxy_host(test->proxy), port, NULL};
    PGconn *new;
    bool silent, new_silent;

    begin(test);
    (void)snprintf(port, sizeof(port), "%d", proxy_port(test->proxy));
    proxy_mode(test->proxy, PROXY_BLACKHOLE, 0);
    if (PQsendQuery(conn, "insert into t values (1)") != 1)
        bench_die("cannot send: %s", PQerrorMessage(conn));
    silent = is_silent(conn);
    new = PQconnectStartParams(names, values, 0);
    if (PQconnectPoll(new) == PGRES_POLLING_FAILED)
        bench_die("cannot begin to connect: %s", PQerrorMessage(new));
    new_silent = is_silent(new);
    race_ok(&test->race, silent && new_silent && rows(test) == 0,
        "in a blackhole a request does not arrive, and neither it nor a new connection is "
        "answered");
    proxy_mode(test->proxy, PROXY_NORMAL, 0);
    PQclear(PQgetResult(conn));
    race_ok(&test->race, PQstatus(conn) == CONNECTION_BAD && rows(test) == 0,
        "afterwards a connection that lost something is dead");
    PQreset(conn);
    race_ok(&test->race, works(conn, "select 1"), "and a new one works");
    PQfinish(conn);
    PQfinish(new);
}

static void
what_is_held_arrives_late(struct test *test)
{
    PGconn *conn = proxy_connect(test->proxy);
    PGresult *res;
    bool silent;

    begin(test);
    proxy_mode(test->proxy, PROXY_HOLD, 0);
    if (PQsendQuery(conn, "insert into t values (1)") != 1)
        bench_die("cannot send: %s", PQerrorMessage(conn));
    silent = is_silent(conn) && rows(test) == 0;
    proxy_mode(test->proxy, PROXY_NORMAL, 0);
    res = PQgetResult(conn);
    race_ok(&test->race, silent && PQresultStatus(res) == PGRES_COMMAND_OK && rows(test) == 1,
        "what is held arrives when it is over, and its answer too");
    PQclear(res);
    PQfinish(conn);
}

static void
new_connections_are_refused_for_a_while(struct test *test)
{
    PGconn *old = proxy_connect(test->proxy);
    PGconn *new;
    double until_s;
    bool refused;

    begin(test);
    proxy_mode(test->proxy, PROXY_REFUSE, 400);
    new = proxy_try_connect(test->proxy);
    refused = PQstatus(new) == CONNECTION_BAD;
    race_ok(&test->race, refused && works(old, "select 1"),
        "a new connection is refused, and an old one goes on");
    for (until_s = bench_limit_s(patience_s); bench_now_s() < until_s; race_breathe()) {
        PQreset(new);
        if (PQstatus(new) == CONNECTION_OK)
            break;
    }
    race_ok(&test->race, PQstatus(new) == CONNECTION_OK, "after a while it is let in");
    PQfinish(new);
    PQfinish(old);
}

static void
a_request_to_cancel_passes(struct test *test)
{
    PGconn *conn = proxy_connect(test->proxy);
    PGcancel *cancel = PQgetCancel(conn);
    double until_s = bench_limit_s(patience_s);
    char error[256];
    PGresult *res;

    begin(test);
    if (PQsendQuery(conn, "select pg_sleep(60)") != 1)
        bench_die("cannot send: %s", PQerrorMessage(conn));
    while (bench_now_s() < until_s &&
        race_count(test->direct,
            "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
            " and datname = current_database()") == 0)
        race_breathe();
    if (cancel == NULL || PQcancel(cancel, error, sizeof(error)) != 1)
        bench_die("cannot cancel");
    res = PQgetResult(conn);
    race_ok(&test->race, strcmp(race_state(res), "57014") == 0, "a request to cancel passes");
    PQclear(res);
    PQfreeCancel(cancel);
    PQfinish(conn);
}

static void
encryption_is_declined(struct test *test)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint32_t request[] = {htonl(8), htonl(80877103)};
    char answers[2] = {0, 0};

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/.s.PGSQL.%d",
        proxy_host(test->proxy), proxy_port(test->proxy));
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        bench_die("cannot connect to the proxy");
    for (int i = 0; i < 2; i++) {
        request[1] = htonl(80877103 + (uint32_t)i);
        if (write(fd, request, sizeof(request)) != (ssize_t)sizeof(request) ||
            read(fd, &answers[i], 1) != 1)
            bench_die("no answer from the proxy");
    }
    race_ok(&test->race, answers[0] == 'N' && answers[1] == 'N',
        "requests for encryption are declined");
    (void)close(fd);
}

static void
a_server_that_is_not_there_is_counted(struct test *test)
{
    struct proxy_options options = {.target_port = 1};
    struct proxy *proxy = proxy_new(&options);
    PGconn *conn = proxy_try_connect(proxy);
    char path[300];

    race_ok(&test->race,
        PQstatus(conn) == CONNECTION_BAD && proxy_counts(proxy).unreachable > 0 &&
            proxy_counts(proxy).open == 0,
        "a client of a server that is not there is told so");
    PQfinish(conn);
    (void)snprintf(path, sizeof(path), "%s/.s.PGSQL.%d", proxy_host(proxy), proxy_port(proxy));
    proxy_free(proxy);
    race_ok(&test->race, access(path, F_OK) != 0, "the socket goes with the proxy");
}

struct load {
    struct proxy *proxy;
    long count;
};

static void *
exchange(void *argument)
{
    struct load *load = argument;
    PGconn *conn = load->proxy != NULL ? proxy_connect(load->proxy) : bench_connect();

    bench_prepare(conn, "pawl_one", "select 1", 0);
    for (long i = 0; i < load->count; i++)
        PQclear(bench_exec_prepared(conn, "pawl_one", 0, NULL));
    PQfinish(conn);
    return NULL;
}

/* Requests per second over eight connections. */
static double
measure(struct proxy *proxy, long count)
{
    struct load loads[8];
    double start_s = bench_now_s();

    for (int i = 0; i < 8; i++)
        loads[i] = (struct load){.proxy = proxy, .count = count};
    race_threads(8, exchange, loads, sizeof(loads[0]));
    return 8 * (double)count / (bench_now_s() - start_s);
}

static void
the_proxy_keeps_up(struct test *test)
{
    long count = race_share(&test->race, 20000);
    struct proxy_rule rule = {.text = "pawl.commit", .when = PROXY_AFTER};
    double bare, proxied;

    begin(test);
    (void)proxy_rule_add(test->proxy, &rule);
    bare = measure(NULL, count);
    proxied = measure(test->proxy, count);
    race_note("8 connections, one request at a time: %.0f/s without the proxy, %.0f/s with it",
        bare, proxied);
    race_in_time(&test->race, proxied >= 1000, "the proxy passes thousands of requests a second");
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
    what_is_sent_arrives(&test);
    answers_are_delayed(&test);
    a_blackhole_swallows_everything(&test);
    what_is_held_arrives_late(&test);
    new_connections_are_refused_for_a_while(&test);
    a_request_to_cancel_passes(&test);
    encryption_is_declined(&test);
    a_server_that_is_not_there_is_counted(&test);
    the_proxy_keeps_up(&test);
    proxy_free(test.proxy);
    PQfinish(test.direct);
    return race_end(&test.race);
}
