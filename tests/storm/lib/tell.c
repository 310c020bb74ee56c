/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a storm: notes for the reader, and a line of JSON that adds up with those of other storms. */
#include "storm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    line_bytes = 4000,
    lines_bytes = 64000000
};

static void
note_faults(struct storm *storm)
{
    const struct storm_faults *f = &storm->faults;
    struct killer_counts killed = killer_counts(storm->crash.killer);
    struct proxy_counts cut = proxy_counts(storm->proxy);

    race_note("workers: %ld killed, %ld stopped and continued, %ld told to end, %ld started",
        killed.killed, killed.continued, killed.termed, killed.spawned);
    race_note(
        "server: %ld immediate stops, %ld fast ones, %ld times frozen, %ld sessions terminated",
        f->crashes, f->stops, f->freezes, f->terminated);
    race_note("connections: %ld requests cut before, %ld after, %ld cut by hand; %ld delays, %ld "
              "silences",
        cut.cuts_before, cut.cuts_after, cut.cuts_by_hand, f->delays, f->silences);
    race_note("%ld runs were open on average", f->counts > 0 ? f->open / f->counts : 0);
    race_note(
        "%ld rounds of housekeeping, %ld installs, the clock moved %ld times and was set back "
        "%ld times (%ld events once more for it), %ld looks at gates",
        f->housekeeps, f->installs, f->moves, f->setbacks, f->reminders, f->looks);
    race_note("disk full %ld times, for which the server was down %ld times, and said so %ld times",
        f->full, f->full_down, f->full > 0 ? disk_complaints(&storm->disk) : 0);
    if (f->failovers > 0)
        race_note("failover to the standby in %.2f s", f->failover_s);
    race_note("callers: %ld unknown; %ld events, %ld signals, %ld cancels (%ld held open), %ld "
              "retries acknowledged",
        atomic_load(&storm->told.unknown), atomic_load(&storm->told.emits),
        atomic_load(&storm->told.signals), atomic_load(&storm->told.cancels),
        atomic_load(&storm->told.blocks), atomic_load(&storm->told.retries));
}

static void
write_line(struct storm *storm, const char *state)
{
    PGconn *conn = storm->crash.direct;
    struct killer_counts killed = killer_counts(storm->crash.killer);
    struct proxy_counts cut = proxy_counts(storm->proxy);
    const struct storm_faults *f = &storm->faults;
    FILE *file = fopen(state, "ae");

    if (file == NULL)
        bench_die("cannot open \"%s\": error %d", state, errno);
    (void)fprintf(file,
        "{\"seed\": %llu, \"failed\": %d, \"seconds\": %.0f, \"kills\": %ld, \"stops\": %ld,"
        " \"terms\": %ld, \"restarts\": %ld, \"freezes\": %ld, \"terminated\": %ld, \"runs\": %ld,"
        " \"success\": %ld, \"error\": %ld, \"cancelled\": %ld, \"records\": %ld, \"unknown\": %ld",
        (unsigned long long)storm->crash.race.seed, storm->crash.race.failed, storm->seconds,
        killed.killed, killed.stopped, killed.termed, f->crashes + f->stops + f->failovers,
        f->freezes, f->terminated, race_count(conn, "select count(*) from pg_temp.ended"),
        race_count(conn, "select count(*) from pg_temp.ended e where e.status = 's'"),
        race_count(conn, "select count(*) from pg_temp.ended e where e.status = 'e'"),
        race_count(conn, "select count(*) from pg_temp.ended e where e.status = 'c'"),
        race_count(conn, "select count(*) from pawl_data.step"), atomic_load(&storm->told.unknown));
    (void)fprintf(file,
        ", \"cuts_before\": %ld, \"cuts_after\": %ld, \"cuts_by_hand\": %ld, \"moves\": %ld,"
        " \"setbacks\": %ld, \"installs\": %ld, \"full\": %ld, \"days\": %ld, \"failovers\": %ld",
        cut.cuts_before, cut.cuts_after, cut.cuts_by_hand, f->moves, f->setbacks, f->installs,
        f->full, f->days, f->failovers);
    for (int i = 0; i < storm_kinds; i++)
        (void)fprintf(file, ", \"%s\": %ld", storm_kind_specs[i].workflow,
            atomic_load(&storm->told.acked[i]));
    (void)fputs("}\n", file);
    if (fclose(file) != 0)
        bench_die("cannot write \"%s\": error %d", state, errno);
}

/* The database adds them up. */
static void
note_sums(struct storm *storm, const char *state)
{
    char *text = race_alloc(lines_bytes, 1);
    const char *params[] = {text};
    FILE *file = fopen(state, "re");
    PGresult *res;

    if (file == NULL)
        bench_die("cannot open \"%s\": error %d", state, errno);
    text[fread(text, 1, lines_bytes - 1, file)] = '\0';
    (void)fclose(file); /* It was only read. */
    res = bench_exec_params(storm->crash.direct,
        "select count(*), sum((l.j ->> 'kills')::bigint), sum((l.j ->> 'restarts')::bigint),"
        " sum((l.j ->> 'runs')::bigint), sum((l.j ->> 'records')::bigint),"
        " sum((l.j ->> 'failed')::bigint) from (select x::json as j from"
        " string_to_table(rtrim($1, E'\\n'), E'\\n') x) l",
        1, params);
    race_note("in all: %s storms, %s kills, %s restarts of the server, %s runs, %s records, %s "
              "checks failed",
        PQgetvalue(res, 0, 0), PQgetvalue(res, 0, 1), PQgetvalue(res, 0, 2), PQgetvalue(res, 0, 3),
        PQgetvalue(res, 0, 4), PQgetvalue(res, 0, 5));
    PQclear(res);
    free(text);
}

void
storm_tell(struct storm *storm, const char *state)
{
    note_faults(storm);
    race_note("%ld runs with children, %ld records",
        race_count(storm->crash.direct, "select count(*) from pg_temp.ended"),
        race_count(storm->crash.direct, "select count(*) from pawl_data.step"));
    if (state == NULL)
        return;
    write_line(storm, state);
    note_sums(storm, state);
}
