/* SPDX-License-Identifier: Apache-2.0 */
/* Plays seeds, in several processes, and reports; see the header. */
#include "match.h"

#include "generate.h"
#include "harness.h"
#include "reduce.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    COMPARE_ALL_EVERY = 1000,
    DEFINITIONS = 24,
};

void
match_prepare_database(char *server, size_t size)
{
    PGconn *conn = bench_connect();

    bench_do(conn, "set client_min_messages to warning");
    bench_do_file(conn, "sql/test/clock.sql");
    bench_do_file(conn, "tests/oracle/lib/oracle.sql");
    bench_do_file(conn, "tests/oracle/lib/choices.sql");
    (void)snprintf(server, size, "%s", PQparameterStatus(conn, "server_version")); /* for people */
    PQfinish(conn);
}

static void
tell(struct player *player, long seed, struct call *calls, size_t count,
    const struct match_plan *plan)
{
    printf("# seed %ld, call %zu (%s):\n", seed, count, call_verb_name(calls[count - 1].verb));
    reduce_print_comment(pw_buf_text(&player->problem));
    if (!plan->reduce)
        return;
    count = reduce_calls(player, calls, count);
    if (count == 0) {
        printf("# it did not come again: it takes an order of rows that no seed decides\n");
        return;
    }
    printf("# reduced to %zu calls:\n", count);
    reduce_print(player, calls, count);
}

static void
count_outcome(const char *what, const char *kind, void *userdata)
{
    coverage_count(userdata, what, kind);
}

bool
match_seed(struct player *player, long seed, const struct match_plan *plan)
{
    struct call *calls = calloc((size_t)plan->calls, sizeof(*calls));
    struct generator generator;
    bool same = true;

    if (calls == NULL)
        bench_die("out of memory");
    generator_init(&generator, (uint64_t)seed);
    generator.flows = plan->flows;
    generator.definitions = plan->flows ? DEFINITIONS : 0;
    player->seed = seed;
    player_reset(player);
    for (long i = 0; i < plan->calls && same; i++) {
        enum player_outcome outcome;

        generator_next(&generator, player, (int)i + 1, &calls[i]);
        outcome = player_play(player, &calls[i]);
        if (outcome != PLAYER_DIFFERS && ((i + 1) % COMPARE_ALL_EVERY == 0 || i + 1 == plan->calls))
            outcome = player_compare_all(player);
        if (outcome == PLAYER_DIFFERS) {
            same = false;
            tell(player, seed, calls, (size_t)i + 1, plan);
        }
    }
    oracle_each_outcome(player->oracle, count_outcome, player->coverage);
    oracle_each_schedule_time(player->oracle, count_outcome, player->coverage);
    oracle_each_bulk(player->oracle, count_outcome, player->coverage);
    oracle_each_shut_lane(player->oracle, count_outcome, player->coverage);
    oracle_each_subscription(player->oracle, count_outcome, player->coverage);
    free(calls);
    return same;
}

/* What a job tells, in memory that it shares; or all of them together. */
struct tally {
    struct coverage coverage;
    long failed;
    long done;
};

static void
work(const struct match_plan *plan, long job, struct tally *shared)
{
    struct player player;

    player_open(&player, &shared->coverage);
    for (long seed = plan->first_seed + job; seed <= plan->last_seed; seed += plan->jobs) {
        bool same = match_seed(&player, seed, plan);

        shared->done++;
        shared->failed += !same;
        printf("# seed %ld, answers %016llx: %s\n", seed, (unsigned long long)player.digest,
            same ? "the same" : "differs");
        (void)fflush(stdout); /* several write; each its own lines */
    }
    player_close(&player);
}

/* Each job has a copy of the database. */
static void
name_database(long job)
{
    static char name[128];
    const char *base = getenv("PGDATABASE");
    char sql[300];
    PGconn *conn;

    if (job == 0)
        return;
    (void)snprintf(name, sizeof(name), "%s_%ld", base == NULL ? "postgres" : base, job);
    (void)snprintf(sql, sizeof(sql), "create database \"%s\" template \"%s\"", name, base);
    if (setenv("PGDATABASE", "postgres", 1) != 0)
        bench_die("no memory for the environment");
    conn = bench_connect();
    bench_do(conn, sql);
    PQfinish(conn);
    if (setenv("PGDATABASE", name, 1) != 0)
        bench_die("no memory for the environment");
}

static void
drop_database(long job, const char *base)
{
    char sql[300];
    PGconn *conn;

    (void)snprintf(sql, sizeof(sql), "drop database if exists \"%s_%ld\" with (force)", base, job);
    if (setenv("PGDATABASE", "postgres", 1) != 0)
        bench_die("no memory for the environment");
    conn = bench_connect();
    bench_do(conn, sql);
    PQfinish(conn);
}

static bool
run_jobs(const struct match_plan *plan, struct tally *shared)
{
    char base[128];
    bool good = true;

    (void)snprintf(
        base, sizeof(base), "%s", getenv("PGDATABASE") == NULL ? "postgres" : getenv("PGDATABASE"));
    /* The last job first, because a database is copied only while nobody is connected. */
    for (long job = plan->jobs - 1; job >= 0; job--) {
        name_database(job);
        (void)fflush(stdout);
        switch (fork()) {
        case -1:
            bench_die("cannot fork");
        case 0:
            work(plan, job, &shared[job]);
            exit(0);
        default:
            break;
        }
        if (setenv("PGDATABASE", base, 1) != 0)
            bench_die("no memory for the environment");
    }
    for (long job = 0; job < plan->jobs; job++) {
        int status;

        good = wait(&status) > 0 && status == 0 && good;
    }
    for (long job = 1; job < plan->jobs; job++)
        drop_database(job, base);
    if (setenv("PGDATABASE", base, 1) != 0) /* there may be more seeds to play */
        bench_die("no memory for the environment");
    return good;
}

void
match_read_seeds(const char *text, struct match_plan *plan)
{
    char first[24];
    const char *dots = strstr(text, "..");

    if (dots == NULL || (size_t)(dots - text) >= sizeof(first))
        bench_die("--seeds takes A..B, not \"%s\"", text);
    memcpy(first, text, (size_t)(dots - text));
    first[dots - text] = '\0';
    plan->first_seed = bench_number(first, "the first seed", 1, 1000000000);
    plan->last_seed = bench_number(dots + 2, "the last seed", plan->first_seed, 1000000000);
}

static void
read_plan(int argc, char **argv, struct match_plan *plan)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--seeds") == 0)
            match_read_seeds(value, plan);
        else if (strcmp(argv[i], "--calls") == 0)
            plan->calls = bench_number(value, "--calls", 1, 1000000);
        else if (strcmp(argv[i], "--jobs") == 0)
            plan->jobs = bench_number(value, "--jobs", 1, 64);
        else if (strcmp(argv[i], "--reduce") == 0)
            plan->reduce = bench_number(value, "--reduce", 0, 1) == 1;
        else if (strcmp(argv[i], "--flows") == 0)
            plan->flows = bench_number(value, "--flows", 0, 1) == 1;
        else
            bench_die("unknown option \"%s\": see the head of tests/oracle/compare.c", argv[i]);
    }
    /* A few calls cannot give every answer. */
    plan->whole = plan->flows && plan->calls * (plan->last_seed - plan->first_seed + 1) >= 100000;
}

static void
add_up(struct tally *sum, const struct match_plan *plan, const struct tally *shared)
{
    *sum = (struct tally){.done = 0};
    for (long job = 0; job < plan->jobs; job++) {
        coverage_add(&sum->coverage, &shared[job].coverage);
        sum->done += shared[job].done;
        sum->failed += shared[job].failed;
    }
}

/* Some answers are rare: then a few seeds more are played, at most as many again. Returns how many were played, or 0: something went wrong. */
static long
play_until_whole(struct match_plan plan, struct tally *shared, struct tally *sum)
{
    long seeds = plan.last_seed - plan.first_seed + 1, played = seeds;

    for (;;) {
        if (!run_jobs(&plan, shared))
            return 0;
        add_up(sum, &plan, shared);
        if (!plan.whole || sum->failed > 0 || played >= 2 * seeds ||
            coverage_missing(&sum->coverage) == 0)
            return played;
        plan.first_seed = plan.last_seed + 1;
        plan.last_seed += (seeds + 4) / 5;
        played += (seeds + 4) / 5;
        printf("# seeds %ld..%ld as well, because %d kinds of answers have not come\n",
            plan.first_seed, plan.last_seed, coverage_missing(&sum->coverage));
    }
}

int
match_main(int argc, char **argv)
{
    struct match_plan plan = {1, 80, 2500, 2, true, true, true};
    static struct tally sum;
    struct tally *shared;
    double started_s = bench_now_s();
    long played;
    bool good, whole;
    char server[64];

    read_plan(argc, argv, &plan);
    match_prepare_database(server, sizeof(server));
    shared = mmap(NULL, sizeof(*shared) * (size_t)plan.jobs, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        bench_die("no shared memory");
    printf("1..2\n# PostgreSQL %s, seeds %ld..%ld, %ld calls each, %ld jobs\n", server,
        plan.first_seed, plan.last_seed, plan.calls, plan.jobs);
    played = play_until_whole(plan, shared, &sum);
    coverage_print(&sum.coverage);
    printf("# %.0f s, %.0f calls a second\n", bench_now_s() - started_s,
        (double)sum.coverage.calls / (bench_now_s() - started_s));
    good = played > 0 && sum.failed == 0 && sum.done == played;
    whole = !plan.whole || coverage_missing(&sum.coverage) == 0;
    printf("%s 1 - engine and oracle say the same, %ld of %ld seeds differ\n",
        good ? "ok" : "not ok", sum.failed, sum.done);
    printf("%s 2 - every verb has given every kind of answer%s\n", whole ? "ok" : "not ok",
        plan.whole ? "" : " # SKIP fewer than 100,000 calls, or none of flows");
    return good && whole ? 0 : 1;
}
