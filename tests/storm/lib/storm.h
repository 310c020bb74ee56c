/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storm: workers, callers of all kinds and faults at the same time, against a cluster of its own, for a while; then no more faults, and
 * everything has to end. What each part does is in the file of its name. An episode is one such storm; a long profile has many.
 */
#ifndef PAWL_STORM_H
#define PAWL_STORM_H

#include "cluster.h"
#include "crash.h"
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
    storm_kinds
};

/* A kind of run: its workflow, how often it is chosen compared with the others, and the status that it ends with if nobody cancels it. */
struct storm_kind_spec {
    const char *workflow;
    unsigned weight;
    /* 1 SUCCESS, 2 ERROR; 0: either. */
    int status;
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
    long housekeeps; /* rounds of housekeeping that were asked for */
    long installs;   /* of pawl.sql again, and those that failed */
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
    atomic_long retries;
};

struct storm {
    struct crash crash;
    struct cluster cluster;
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
    /* How many runs may be open before producers wait. */
    long open_max;
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

/* A line of the trace: what a caller does with a run (which may be NULL), and what it was told: invoke, ok, fail, unknown. */
void storm_trace(struct storm *storm, unsigned caller, const char *call, const char *told,
    const char *run, long value);

/* For connections whose server is taken away on purpose: nobody wants to read its farewell. */
void storm_ignore(void *userdata, const char *message);

/* The body of caller number 0 and on, as long as the storm lasts and there is something left to do. */
enum {
    storm_callers = storm_producers + 5
};
void storm_call(struct storm *storm, unsigned number);

/* Does harm until the time is over; then ends all of it and says so to the callers. */
void storm_harm(struct storm *storm);

/* What must hold when all have ended. */
void storm_check(struct storm *storm);

/* Notes the figures, and adds them as a line of JSON to a file, if there is one, and notes what its lines sum up to. */
void storm_tell(struct storm *storm, const char *state);

#endif
