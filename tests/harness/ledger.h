/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ledger of outside effects: a file to which any number of processes and threads add what they did, and a checker that
 * joins it with pawl's records. It stands for the world outside of the database: what is in it has happened.
 *
 * An entry is a line of a fixed size, added by one write. A process that is killed in the middle leaves the whole entry or
 * nothing, because no entry crosses a page of the file. The order of lines is the order in which things happened.
 */
#ifndef PAWL_LEDGER_H
#define PAWL_LEDGER_H

#include <libpq-fe.h>

enum {
    ledger_entry_bytes = 256,
    ledger_step_bytes = 120
};

enum ledger_kind {
    LEDGER_NOTE,     /* anything else; the value says what */
    LEDGER_START,    /* a step begins */
    LEDGER_END,      /* its effect has happened */
    LEDGER_RECORDED, /* its author was told that it is recorded */
    LEDGER_UNDO,     /* its effect was undone */
    LEDGER_REFUSED, /* its author was told that the run is no longer his: lease lost, or cancelled */
    LEDGER_ACKED, /* a caller was told that something is durable: a run is triggered, has ended, ... */
};

struct ledger_entry {
    enum ledger_kind kind;
    const char *run;  /* a run id, or NULL */
    const char *step; /* the identity of a step, BRANCH/NAME#n, or NULL */
    int task;         /* of a flow's run, whose tasks have steps of their own; 0: the run itself */
    int fence;
    int attempt;
    long value; /* of any meaning */
};

/* Opens a ledger to add to, making it if it is not there; returns a descriptor that all threads may use. Close it. */
int ledger_open(const char *path);

/* Adds an entry with this process's id and the time. Exits the program if that fails. */
void ledger_add(int ledger, const struct ledger_entry *entry);

/* How many entries a ledger has. A torn one ends the program. */
long ledger_length(const char *path);

/*
 * Copies a ledger into a temporary table of the connection and returns how many entries there are:
 *
 *   ledger(place bigint, kind text, run_id uuid, step text, task int, fence int, attempt int, pid int, at_ns bigint, value bigint)
 *
 * place counts from 1 in the order of the file; at_ns is the monotonic clock, which is the same for all processes.
 * Kinds are in lower case: start, end, recorded, undo, refused, acked, note. A table from an earlier call is replaced.
 */
long ledger_load(const char *path, PGconn *conn);

/* What a ledger and pawl's records say of each other, steps and undos alike; sleeps, waits, children and what tasks of flows came to are left out. */
struct ledger_findings {
    long recorded; /* steps recorded as a success */
    /* Allowed: the price of a crash. */
    long repeated;   /* steps that started more than once */
    long unrecorded; /* steps that had their effect and are not recorded */
    /* Must be 0, whatever crashes. */
    long twice;     /* steps with more than one record of success */
    long unfounded; /* steps recorded, but never started or undone */
    long lost;      /* steps of which somebody was told that they are recorded, and they are not */
    long
        after_record; /* starts after somebody was told of the record, under the same fence or a later one */
    long after_refusal; /* starts by a process that had been refused for that run and fence */
};

/* Joins the table that ledger_load() made with pawl's tables, over a connection that may read them. */
void ledger_join(PGconn *conn, struct ledger_findings *findings);

#endif
