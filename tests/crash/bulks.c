/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bulk retries failed runs. The client that begins it, and whoever ticks, is killed again and again, and the server is stopped as by a
 * power cut, twice. Each run has its turn once, and not faster than at the rate. --full: 100,000 runs.
 */
#include "cluster.h"
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    runs = 100000,
    /* Of the other sizes a twentieth of their share, because a retry takes its time. */
    small_part = 20,
    batch = 500,
    rate = 1000,
};

/* All runs fail. */
static const char make_sql[] =
    "do $$ declare s bigint := (select session from pawl.register('failer', array['bulk.*'])); "
    "n int; begin loop "
    "with c as materialized (select * from pawl.claim(s, 1000)), i as (select array_agg(run_id) r, "
    "array_agg(fence) f, count(*)::int k from c) "
    "select count(*) into n from i cross join lateral pawl.commit(s, i.r, i.f, "
    "array_fill('fail'::text, array[i.k]), null, array_fill('\"broken\"'::text, array[i.k]), null, "
    "null, null, array_fill('{\"final\": true}'::text, array[i.k])) where i.k > 0; "
    "exit when n = 0; end loop; perform pawl.leave(s); end $$";

/* Starts psql with a script that never ends. */
static pid_t
start_client(const char *script)
{
    pid_t pid = fork();

    if (pid < 0)
        bench_die("fork failed");
    if (pid == 0) {
        (void)execlp("psql", "psql", "--no-psqlrc", "-qAt", "-o", "/dev/null", "-f", script, NULL);
        _exit(127);
    }
    return pid;
}

static void
kill_client(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static void
write_script(char *path, const char *text)
{
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
        bench_die("cannot write %s", path);
}

/* How many runs have had their turn. */
static long
handled(struct crash *crash)
{
    return race_count(crash->direct, "select coalesce(sum(handled), 0) from pawl.list_bulks()");
}

static void
await_handled(struct crash *crash, long count)
{
    double until_s = bench_limit_s(60 + (double)count / 100);

    while (handled(crash) < count) {
        if (bench_now_s() > until_s)
            bench_die("the bulk has stopped at %ld runs", handled(crash));
        crash_rest();
    }
}

int
main(int argc, char **argv)
{
    struct crash crash;
    struct cluster cluster;
    struct cluster_options options = {.pawl = true};
    char begin[] = "/tmp/pawl-bulk-XXXXXX", go_on[] = "/tmp/pawl-bulk-XXXXXX";
    double from_s, took_s;
    long total;
    pid_t client;

    crash_start(&crash, argc, argv);
    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    crash_connect(&crash);
    total = race_share(&crash.race, runs) / (crash.race.divisor > 1 ? small_part : 1);
    bench_do(crash.direct, "select pawl.create_workflow('bulk.fails', max_attempts => 1)");
    for (long i = 0; i < total; i += batch)
        bench_do(crash.direct,
            "select count(*) from pawl.trigger_many('bulk.fails', array_fill('{}'::json, "
            "array[500]))");
    bench_do(crash.direct, make_sql);
    total = (total + batch - 1) / batch * batch;
    write_script(begin,
        "select pawl.begin_bulk('retry', '{\"workflow\": \"bulk.*\", \"status\": \"ERROR\"}', "
        "1000);\ncall pawl.tick() \\watch 0.05\n");
    write_script(go_on, "call pawl.tick() \\watch 0.05\n");
    from_s = bench_now_s();
    client = start_client(begin);
    for (long part = 1; part <= 8; part++) {
        await_handled(&crash, total * part / 10);
        kill_client(client);
        if (part % 4 == 0) {
            cluster_crash(&cluster);
            cluster_start(&cluster);
            crash_connect(&crash);
        }
        client = start_client(go_on);
    }
    await_handled(&crash, total);
    took_s = bench_now_s() - from_s;
    kill_client(client);
    race_ok(&crash.race, handled(&crash) == total, "%ld of %ld runs had their turn",
        handled(&crash), total);
    race_ok(&crash.race,
        race_count(crash.direct,
            "select count(*) from pawl_data.task where round = 2 and place = 'r'") == total,
        "all run again, in their second round");
    race_ok(&crash.race,
        race_count(crash.direct,
            "select count(*) from (select a.run_id from pawl_data.audit a where a.what = 'retry' "
            "group by 1 having count(*) = 1) o") == total,
        "the audit log has one retry of each");
    race_ok(&crash.race, took_s >= (double)(total - 1000) / rate,
        "%.1f s, not faster than at the rate", took_s);
    (void)unlink(begin);
    (void)unlink(go_on);
    PQfinish(crash.direct);
    crash.direct = NULL;
    cluster_close(&cluster);
    return crash_end(&crash);
}
