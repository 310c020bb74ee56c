/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the crash programs share: a ledger, a killer with workers (tests/crash/worker.c), waiting for runs to end, and what must
 * hold of runs, records and ledger afterwards, whatever was done to the workers.
 */
#ifndef PAWL_CRASH_H
#define PAWL_CRASH_H

#include "killer.h"
#include "meter.h"
#include "race.h"

#include <libpq-fe.h>
#include <pawl/pawl.h>

enum {
    crash_path_bytes = 200
};

/* One program's run. */
struct crash {
    struct race race;
    struct race_random random;
    struct killer *killer;
    /* Past a pooler; for triggers and checks. */
    PGconn *direct;
    /* The ledger, and what workers print, in a directory of the program's own. */
    char dir[crash_path_bytes];
    char ledger[crash_path_bytes + 16];
    char output[crash_path_bytes + 16];
    /* The lease of the workers. */
    long lease_ms;
    /* When the machine itself stood still, from crash_measure() on. */
    struct meter *meter;
    int64_t measured_us;
    /* How long a session that held something was silent at most, as crash_watch() saw it while the machine did not stand still. */
    long silent_ms;
    double watched_s;
    /* Runs that were triggered. */
    long triggered;
};

/* Reads the arguments, as race_start() does, and makes the ledger and a killer without children. */
void crash_start(struct crash *crash, int argc, char **argv);

/* Ends what still runs; prints what workers said if a check has failed, and the plan. Returns what main returns. */
int crash_end(struct crash *crash);

/* Connects `direct` to the database that the environment names now. */
void crash_connect(struct crash *crash);

/* Starts workers; what they do not say, the library's defaults do. env as in killer.h. They start again when they end. */
struct crash_workers {
    int count;
    long lease_ms;
    int concurrency;
    int step_us;
    const char *const *env;
    /* Another program of that kind; NULL: tests/crash/worker.c. */
    const char *program;
    /* More NAME=VALUE for it; ends with NULL, or is NULL. */
    const char *const *words;
};
void crash_spawn(struct crash *crash, const struct crash_workers *workers);

/* Starts the meter, as the first crash_spawn() does. The environment names the server from now on. */
void crash_measure(struct crash *crash);

/* Whether the machine has stood still for so long since the meter was started that leases of this length may have ended; says so. */
bool crash_stalled(struct crash *crash, long lease_ms);

/* Waits until each has a live session, and dies if that takes a minute. */
void crash_wait_sessions(struct crash *crash, int count);

/* Triggers runs of a workflow, which is made if need be, with inputs {"n": 0}, {"n": 1}, … counted over all workflows. */
void crash_trigger(struct crash *crash, const char *workflow, long count);

/* How many runs have not ended. */
long crash_left(struct crash *crash);

/* Waits until no more than `most` runs are left; false if it takes longer. Watches meanwhile. */
bool crash_wait_left(struct crash *crash, long most, double timeout_s);

/* Waits until no more than `most` runs are ready to be claimed, whatever workers hold; dies if that takes two minutes. */
void crash_wait_ready(struct crash *crash, long most);

/* Looks, ten times a second at most, how long sessions that hold something have been silent. */
void crash_watch(struct crash *crash);

/* A little time between two looks at something that is waited for. */
void crash_rest(void);

/* Lets a random time pass, up to most_us. */
void crash_pause(struct crash *crash, unsigned most_us);

/* Lets the lease of the workers pass, and a little more. */
void crash_outlast(const struct crash *crash);

/* Kills a worker chosen at random, waiting until there is one, and returns when it has ended. */
void crash_kill(struct crash *crash);

/*
 * Triggers `runs` runs of a workflow a few at a time, and kills a worker for each part of them, `kills` times, with work always
 * there when one dies. Then waits until all runs have ended, and notes the figures; a check that they have, and in time.
 */
void crash_under_kills(struct crash *crash, const char *workflow, long runs, long kills);

/* Tells all workers to end; a check that none had to be killed, and that none failed by itself. */
void crash_end_workers(struct crash *crash);

/* Checks that all runs of a workflow have ended with this status: s SUCCESS, e ERROR. */
void crash_check_ended(struct crash *crash, const char *workflow, long count, char status);

/* Loads the ledger and joins it with the records; checks that the steps are `steps`, and all that must be 0. */
void crash_check_records(struct crash *crash, long steps);

/* Checks that no session held runs for longer than twice the lease without a sign of life, as far as was seen. */
void crash_check_silence(struct crash *crash);

/*
 * Checks that no lease was lost, other than by a machine that stood still for a good part of it, and that runs of three steps were started once. One that sleeps is started again when that is over;
 * now and then once more, if it is claimed while it is being woken.
 */
void crash_check_attempts(struct crash *crash);

/* Checks that each step which began with an undo has one record of it, that there are no others, and their order. */
void crash_check_undos(struct crash *crash);

/* A client's configuration, by default from the environment; dies if it makes no sense. Free it. */
pawl_config *crash_config(const char *database);

/* Dies if a call has failed. */
void crash_must(pawl_status status, pawl_error **error);

#endif
