/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storm: workers, callers of all kinds and faults at the same time, against a cluster of its own, for a while; then no more faults, and
 * everything has to end. What each part does is in the file of its name. An episode is one such storm; a long profile has many.
 */
#ifndef PAWL_STORM_H
#define PAWL_STORM_H

#include "cluster.h"
#include "crash.h"
#include "disk.h"
#include "duties.h"
#include "proxy.h"

#include <stdatomic.h>

enum {
    storm_workers = 8,
    storm_lease_ms = 1000,
    storm_producers = 4,
    storm_grace_s = 3
};

enum storm_kind {
    STORM_STEPS,
    STORM_SLEEP,
    STORM_BAD_SAGA,
    STORM_SAGA,
    STORM_PAY,
    STORM_EVENT,
    STORM_SIGNALLED,
    STORM_PARENT,
    STORM_FAIL,
    STORM_FLOWS,
    STORM_WIDE,
    storm_kinds
};

/* A kind of run: its workflow, how often it is chosen compared with the others, and the status that it ends with if nobody cancels it. */
struct storm_kind_spec {
    const char *workflow;
    unsigned weight;
    /* s SUCCESS, e ERROR; '\0': either. */
    char status;
};
extern const struct storm_kind_spec storm_kind_specs[storm_kinds];

/* Faults that were done, besides those that the killer counts. */
struct storm_faults {
    long crashes;    /* immediate stops of the server */
    long stops;      /* fast ones */
    long freezes;    /* the server's processes stood still */
    long cuts;       /* of all connections through the proxy */
    long rules;      /* times in which some requests were cut before or after */
    long delays;     /* times in which answers came late */
    long silences;   /* times in which nothing passed, or nobody was let in */
    long terminated; /* sessions ended by the server */
    long moves;      /* of the clock, forward */
    long setbacks;   /* of the clock, back */
    long
        reminders; /* events emitted once more, because the clock was set back behind a run's trigger */
    long full;     /* times in which the disk of the log was full, and the server was down for it */
    long full_down;
    long days; /* of history that were to be dropped */
    long failovers;
    double failover_s; /* from the end of the primary to the end of the promotion */
    long housekeeps;   /* rounds of housekeeping that were asked for */
    long installs;     /* of pawl.sql again, and those that failed */
    long installs_failed;
    long counts; /* of open runs, and how many these were in all */
    long open;
    long looks;       /* at gates, in between */
    long gates_wrong; /* that differed from a recount then */
};

/* What callers were told. */
struct storm_told {
    atomic_long acked[storm_kinds];
    atomic_long unknown;
    atomic_long failed;
    atomic_long wrong;
    atomic_long emits;
    atomic_long signals;
    atomic_long cancels;
    atomic_long blocks; /* of those, in a transaction that was open for a while */
    atomic_long retries;
};

/* How a storm blows. */
struct storm_shape {
    const char *name;
    int concurrency;
    int step_us;
    /* A setting of the workers. */
    const char *connections;
    /* How many runs may be open before producers wait. */
    long open_max;
    /* What is added to the weight of runs of three steps. */
    unsigned plain;
    /* Between faults of the killer, and between restarts of the server. */
    int kill_min_ms;
    int kill_max_ms;
    int restart_min_ms;
    int restart_max_ms;
    /* Between the other faults. */
    int fault_min_ms;
    int fault_max_ms;
    /* How long one storm lasts at most. */
    long episode_s;
};
/* Many faults for each run, as the suite has it; many runs and kills for each second, for the long ones. */
extern const struct storm_shape storm_sharp;
extern const struct storm_shape storm_broad;

struct storm {
    struct crash crash;
    const struct storm_shape *shape;
    struct cluster cluster;
    /* One that may take its place. */
    struct cluster standby;
    bool with_standby;
    bool failed_over;
    /* One that can be filled, for the log of the first. */
    struct disk disk;
    bool with_disk;
    /* What the journal cannot put in order is left out: days that are dropped, cancels in transactions that stay open. */
    bool journalled;
    struct proxy *proxy;
    /* libpq's words for the way through the proxy. */
    char database[600];
    int ledger;
    int trace;
    char trace_path[crash_path_bytes + 16];
    double seconds;
    /* When the last fault ended, by both clocks. */
    double calm_s;
    int64_t calm_us;
    atomic_long open;
    atomic_long next;
    atomic_int producing;
    atomic_bool over;
    struct storm_told told;
    struct storm_faults faults;
    struct duties emits;
    struct duties signals;
    struct duties cancels;
    struct duties retries;
    char gates[4000];
    /* pawl.sql, to be installed again; NULL: not in this storm. */
    char *install;
};

/* Makes workflows and tables, and reads what a recount of gates is, and what installs pawl if that is wanted. */
void storm_prepare(struct storm *storm, bool install);

/* The server that takes writes. */
struct cluster *storm_server(struct storm *storm);

/*
 * Days of history that are long over, with runs that have not ended; retention is told to drop one after the other while these go on.
 * storm_plant() comes before the workers, storm_check_days() when all has ended.
 */
enum {
    storm_days = 3
};
void storm_plant(struct storm *storm);
const char *storm_next_day(struct storm *storm);
void storm_check_days(struct storm *storm);

/* A second server, which waits for its turn, and what takes the first one's place with it. Clients know both. */
void storm_standby_open(struct storm *storm);
void storm_standby_follow(struct storm *storm);
void storm_standby_promote(struct storm *storm);
void storm_standby_close(struct storm *storm);

/* A line of the trace: what a caller does with a run (which may be NULL), and what it was told: invoke, ok, fail, unknown. */
void storm_trace(struct storm *storm, unsigned caller, const char *call, const char *told,
    const char *run, long value);

/* For connections whose server is taken away on purpose: nobody wants to read its farewell. */
void storm_ignore(void *userdata, const char *message);

/* The body of caller number 0 and on, as long as the storm lasts and there is something left to do. */
enum {
    storm_callers = storm_producers + 6
};
void storm_call(struct storm *storm, unsigned number);

/* Does harm until the time is over; then ends all of it and says so to the callers. */
void storm_harm(struct storm *storm);

/* Emits once more what the clock has made an event from before its run's trigger: that is not what the run waits for. The storm is over. */
void storm_remind(struct storm *storm);

/* What must hold when all have ended. */
void storm_check(struct storm *storm);

/* Notes the figures, and adds them as a line of JSON to a file, if there is one, and notes what its lines sum up to. */
void storm_tell(struct storm *storm, const char *state);

#endif
