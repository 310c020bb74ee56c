/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of a race program; see the header. */
#include "race.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    threads_max = 128,
    inputs_max = 5000
};

void
race_start(struct race *race, int argc, char **argv)
{
    const char *share = getenv("PAWL_SHARE"), *seed = getenv("PAWL_SEED");
    PGconn *conn;

    memset(race, 0, sizeof(*race));
    race->started_s = bench_now_s();
    race->pooled = getenv("PAWL_DIRECT_PGHOST") != NULL;
    race->divisor = race->pooled ? 50 : 10;
    if (share != NULL)
        race->divisor = bench_number(share, "PAWL_SHARE", 1, 1000000);
    race->seed = seed != NULL ? (uint64_t)bench_number(seed, "PAWL_SEED", 0, LONG_MAX)
                              : (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0) {
            race->divisor = 1;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            race->seed = (uint64_t)bench_number(argv[++i], "seed", 0, LONG_MAX);
        } else {
            (void)fprintf(stderr, "usage: %s [--full] [--seed N]\n", argv[0]);
            exit(2);
        }
    }
    if (getenv("PGHOST") == NULL)
        bench_die("no server: run tools/pg_tmp tests/harness/run_race");
    if (setvbuf(stdout, NULL, _IOLBF, 0) != 0)
        bench_die("cannot write line by line");
    race_note("seed %llu, 1/%ld of the full size%s", (unsigned long long)race->seed, race->divisor,
        race->pooled ? ", behind a pooler" : "");
    conn = race_connect_direct();
    if (race_count(conn, "select count(*) from pg_proc p where p.proname = 'test_clock_set'") > 0)
        bench_do(conn, "select pawl.test_clock_set(null)");
    PQfinish(conn);
}

long
race_share(const struct race *race, long full)
{
    long share = full / race->divisor;

    return share > 0 ? share : 1;
}

__attribute__((format(printf, 3, 0))) static void
print_check(struct race *race, bool ok, const char *format, va_list args)
{
    race->checks++;
    if (!ok)
        race->failed++;
    (void)printf("%sok %d - ", ok ? "" : "not ", race->checks);
    (void)vprintf(format, args);
    (void)putchar('\n');
}

void
race_ok(struct race *race, bool ok, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_check(race, ok, format, args);
    va_end(args);
}

void
race_in_time(struct race *race, bool ok, const char *format, ...)
{
    char name[40];
    va_list args;

    (void)snprintf(name, sizeof(name), "check %d", race->checks + 1); /* fits */
    /* Whoever asks for the full size asks for its bounds, too. */
    ok = race->divisor == 1 ? ok : bench_in_time(ok, name);
    va_start(args, format);
    print_check(race, ok, format, args);
    va_end(args);
}

void
race_note(const char *format, ...)
{
    va_list args;

    (void)fputs("# ", stdout);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    (void)putchar('\n');
}

int
race_end(struct race *race)
{
    race_note("%.1f s", bench_now_s() - race->started_s);
    (void)printf("1..%d\n", race->checks);
    return race->failed == 0 ? 0 : 1;
}

static uint64_t
next_random(struct race_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct race_random
race_random(const struct race *race, unsigned stream)
{
    struct race_random random = {.state = race->seed * 1000003u + stream};

    (void)next_random(&random); /* Neighbouring seeds part after the first number. */
    return random;
}

unsigned
race_below(struct race_random *random, unsigned below)
{
    return (unsigned)(next_random(random) % below);
}

static void
pass(long us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

void
race_stagger(struct race_random *random, unsigned most_us)
{
    if (race_below(random, 2) == 0)
        pass((long)race_below(random, most_us));
}

void
race_breathe(void)
{
    pass(100);
}

void
race_threads(int count, void *(*body)(void *), void *elements, size_t size)
{
    pthread_t threads[threads_max];

    if (count > threads_max)
        bench_die("more than %d threads", threads_max);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, body, (char *)elements + size * (size_t)i) != 0)
            bench_die("cannot start a thread");
    }
    for (int i = 0; i < count; i++) {
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
    }
}

PGconn *
race_try_connect_direct(void)
{
    const char *host = getenv("PAWL_DIRECT_PGHOST");
    const char *port = getenv("PAWL_DIRECT_PGPORT");
    const char *const names[] = {"host", "port", NULL};
    const char *const values[] = {host, port, NULL};

    return host == NULL ? PQconnectdb("") : PQconnectdbParams(names, values, 0);
}

PGconn *
race_connect_direct(void)
{
    PGconn *conn = race_try_connect_direct();

    if (PQstatus(conn) != CONNECTION_OK)
        bench_die("%s", PQerrorMessage(conn));
    return conn;
}

PGresult *
race_try(PGconn *conn, const char *sql, int count, const char *const *params)
{
    PGresult *res = PQexecParams(conn, sql, count, NULL, params, NULL, NULL, 0);

    if (PQstatus(conn) != CONNECTION_OK)
        bench_die("lost the connection: %s", PQerrorMessage(conn));
    return res;
}

const char *
race_state(const PGresult *res)
{
    const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

    return state == NULL ? "" : state;
}

long
race_field(const PGresult *res, int row, int column)
{
    const char *text = PQgetvalue(res, row, column);

    if (text[0] == '\0')
        return 0;
    return bench_number(text, "a field", 0, LONG_MAX);
}

long
race_count(PGconn *conn, const char *sql)
{
    PGresult *res = bench_exec(conn, sql);
    long count = race_field(res, 0, 0);

    PQclear(res);
    return count;
}

void
race_no_housekeeping(PGconn *direct)
{
    bench_do(direct,
        "select setval('pawl_data.housekeeping_clock', pawl._micros(clock_timestamp() + interval "
        "'9 "
        "s'))");
}

void
race_trigger(PGconn *conn, const char *workflow, long first, long count)
{
    while (count > 0) {
        long piece = count < inputs_max ? count : inputs_max;
        char from[24], to[24];
        const char *params[] = {workflow, from, to};

        (void)snprintf(from, sizeof(from), "%ld", first);
        (void)snprintf(to, sizeof(to), "%ld", first + piece - 1);
        PQclear(bench_exec_params(conn,
            "select count(*) from pawl.trigger_many($1, array(select json_build_object('n', n)"
            " from generate_series($2::bigint, $3::bigint) n))",
            3, params));
        first += piece;
        count -= piece;
    }
}

void
race_load_ids(PGconn *conn, char (*ids)[race_id_bytes])
{
    PGresult *res = bench_exec(
        conn, "select (input ->> 'n')::bigint, run_id from pawl_data.task where task_no = 0");

    for (int row = 0; row < PQntuples(res); row++)
        (void)snprintf(ids[race_field(res, row, 0)], race_id_bytes, "%s", PQgetvalue(res, row, 1));
    PQclear(res);
}

void *
race_alloc(long count, size_t size)
{
    void *memory = calloc((size_t)count, size);

    if (memory == NULL)
        bench_die("out of memory");
    return memory;
}
