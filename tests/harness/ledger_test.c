/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger keeps whole entries whoever is killed, and the checker finds what does not fit the records. Started with the
 * name of a ledger and a number, this program is one of its writers.
 */
#include "ledger.h"

#include "killer.h"
#include "session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    writers = 8
};

static const char some_run[] = "01890000-0000-7000-8000-000000000000";

/* Adds so many entries as fast as possible; 0: until it is killed. */
static int
write_entries(const char *path, long count)
{
    int ledger = ledger_open(path);

    for (long i = 1; count == 0 || i <= count; i++)
        ledger_add(ledger,
            &(struct ledger_entry){.kind = LEDGER_END,
                .run = some_run,
                .step = "a_branch/a_step_with_a_name_of_some_length#1",
                .fence = 7,
                .attempt = (int)(i % 5),
                .value = i});
    return close(ledger) == 0 ? 0 : 1;
}

struct test {
    struct race race;
    PGconn *direct;
    char self[256];
    char path[64];
};

static void
start_ledger(struct test *test)
{
    int fd;

    (void)snprintf(test->path, sizeof(test->path), "/tmp/pawl-ledger-test.XXXXXX");
    fd = mkstemp(test->path);
    if (fd < 0 || close(fd) != 0)
        bench_die("cannot make a ledger");
}

static void
writers_do_not_disturb_each_other(struct test *test)
{
    long count = race_share(&test->race, 50000);
    char number[24];
    const char *const argv[] = {test->self, test->path, number, NULL};
    struct killer_command command = {.argv = argv};
    struct killer *killer = killer_new(test->race.seed);
    long length;

    start_ledger(test);
    (void)snprintf(number, sizeof(number), "%ld", count);
    (void)killer_spawn(killer, &command, writers);
    if (!killer_wait_all(killer, 120000))
        bench_die("the writers do not end");
    killer_free(killer);
    length = ledger_load(test->path, test->direct);
    race_ok(&test->race, length == writers * count && ledger_length(test->path) == length,
        "%d processes added %ld whole entries", writers, length);
    race_ok(&test->race,
        race_count(test->direct,
            "select count(*) from (select from pg_temp.ledger where kind = 'end' and fence = 7"
            " group by pid having count(*) = max(value) and count(distinct value) = max(value)) "
            "l") == writers,
        "no entry is missing or twice");
    race_ok(&test->race,
        race_count(test->direct,
            "select count(*) from (select value - lag(value) over (partition by pid order by place)"
            " as step, at_ns - lag(at_ns) over (partition by pid order by place) as ns"
            " from pg_temp.ledger) l where step <> 1 or ns < 0") == 0,
        "each process finds its entries in order");
    (void)unlink(test->path);
}

static long
size_of(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        bench_die("no ledger \"%s\"", path);
    return (long)status.st_size;
}

static void
a_killed_writer_leaves_no_torn_entry(struct test *test)
{
    const char *const argv[] = {test->self, test->path, "0", NULL};
    struct killer_command command = {.argv = argv, .restart = true};
    struct killer *killer = killer_new(test->race.seed);
    struct race_random random = race_random(&test->race, 2);
    double until_s = bench_limit_s(200);
    long kills = race_share(&test->race, 500);
    long length;

    start_ledger(test);
    (void)killer_spawn(killer, &command, 2);
    for (long i = 0; i < kills; i++) {
        long size = size_of(test->path);

        /* Each kill comes while somebody writes. */
        while (size_of(test->path) == size && bench_now_s() < until_s)
            race_breathe();
        race_stagger(&random, 1000);
        (void)killer_kill_random(killer, KILLER_KILL, 0);
    }
    race_ok(&test->race, killer_counts(killer).killed == kills, "%ld writers were killed", kills);
    killer_free(killer);
    length = ledger_length(test->path);
    race_ok(&test->race, length >= kills, "all %ld entries are whole", length);
    (void)unlink(test->path);
}

static void
add(struct test *test, enum ledger_kind kind, const char *run, const char *step, int fence)
{
    int ledger = ledger_open(test->path);

    ledger_add(
        ledger, &(struct ledger_entry){.kind = kind, .run = run, .step = step, .fence = fence});
    (void)close(ledger);
}

/* The same of a task of a flow's run. */
static void
add_of_task(struct test *test, enum ledger_kind kind, const char *run, const char *step, int fence)
{
    int ledger = ledger_open(test->path);

    ledger_add(ledger,
        &(struct ledger_entry){
            .kind = kind, .run = run, .step = step, .task = 3000001, .fence = fence});
    (void)close(ledger);
}

static bool
is_all(const struct ledger_findings *findings, const struct ledger_findings *expected)
{
    race_note("recorded %ld, repeated %ld, unrecorded %ld, twice %ld, unfounded %ld, lost %ld, "
              "after_record %ld, after_refusal %ld",
        findings->recorded, findings->repeated, findings->unrecorded, findings->twice,
        findings->unfounded, findings->lost, findings->after_record, findings->after_refusal);
    return memcmp(findings, expected, sizeof(*findings)) == 0;
}

/* Claims one run and records two steps of it. */
static void
record_two_steps(char *run, size_t size, int *fence)
{
    struct race_session session;
    struct race_item items[2];
    PGresult *claimed;

    race_session_open(&session, "ledger.test");
    claimed = race_claim(&session, 1, 0);
    if (PQntuples(claimed) != 1)
        bench_die("nothing was claimed");
    (void)snprintf(run, size, "%s", PQgetvalue(claimed, 0, RACE_RUN));
    *fence = (int)race_field(claimed, 0, RACE_FENCE);
    race_item_set(&items[0], run, *fence, "step", "one#1", "1", NULL);
    race_item_set(&items[1], run, *fence, "step", "two#1", "2", NULL);
    race_commit_all(&session, items, 2);
    PQclear(claimed);
    race_session_close(&session);
}

static void
the_checker_joins_effects_with_records(struct test *test)
{
    struct ledger_findings good = {.recorded = 2}, bad = good, found;
    char run[40];
    int fence;

    start_ledger(test);
    bench_do(test->direct, "select pawl.create_workflow('ledger.test')");
    race_trigger(test->direct, "ledger.test", 1, 1);
    record_two_steps(run, sizeof(run), &fence);
    for (int i = 0; i < 2; i++) {
        const char *step = i == 0 ? "one#1" : "two#1";

        add(test, LEDGER_START, run, step, fence);
        add(test, LEDGER_END, run, step, fence);
        add(test, LEDGER_RECORDED, run, step, fence);
    }
    add(test, LEDGER_ACKED, run, NULL, 0);
    add(test, LEDGER_NOTE, NULL, NULL, 0);
    (void)ledger_load(test->path, test->direct);
    ledger_join(test->direct, &found);
    race_ok(&test->race, is_all(&found, &good), "effects and records that fit are found to fit");

    add(test, LEDGER_START, run, "three#1", fence);
    add(test, LEDGER_END, run, "three#1", fence);
    add(test, LEDGER_START, run, "three#1", fence);
    add(test, LEDGER_RECORDED, run, "four#1", fence);
    add(test, LEDGER_START, run, "one#1", fence + 1);
    add(test, LEDGER_START, run, "two#1", fence - 1); /* A zombie that does not know yet. */
    add(test, LEDGER_REFUSED, run, NULL, fence - 1);
    add(test, LEDGER_START, run, "five#1", fence - 1);
    add(test, LEDGER_START, run, "five#1", fence);
    bad.repeated = 4;
    bad.unrecorded = 1;
    bad.lost = 1;
    bad.after_record = 1;
    bad.after_refusal = 1;
    (void)ledger_load(test->path, test->direct);
    ledger_join(test->direct, &found);
    race_ok(&test->race, is_all(&found, &bad), "what does not fit is found, each in its place");

    add_of_task(test, LEDGER_START, run, "five#1", fence - 1);
    add_of_task(test, LEDGER_RECORDED, run, "one#1", fence);
    bad.lost = 2;
    (void)ledger_load(test->path, test->direct);
    ledger_join(test->direct, &found);
    race_ok(&test->race, is_all(&found, &bad), "a step of another task is another step");

    (void)unlink(test->path);
    start_ledger(test);
    good.unfounded = 2;
    (void)ledger_load(test->path, test->direct);
    ledger_join(test->direct, &found);
    race_ok(&test->race, is_all(&found, &good), "records without effects are found");
    (void)unlink(test->path);
}

int
main(int argc, char **argv)
{
    struct test test = {0};

    if (argc == 3 && argv[1][0] == '/')
        return write_entries(argv[1], bench_number(argv[2], "count", 0, LONG_MAX));
    race_start(&test.race, argc, argv);
    if (readlink("/proc/self/exe", test.self, sizeof(test.self) - 1) < 0)
        bench_die("this program has no name");
    test.direct = race_connect_direct();
    writers_do_not_disturb_each_other(&test);
    a_killed_writer_leaves_no_torn_entry(&test);
    the_checker_joins_effects_with_records(&test);
    PQfinish(test.direct);
    return race_end(&test.race);
}
