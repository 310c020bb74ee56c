/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts programs and does them harm: SIGKILL, SIGSTOP and SIGCONT later, SIGTERM; by hand or by a schedule that a seed
 * decides; and starts again what has ended. It ends only what it has started, by process id, and waits for each. If the
 * test program dies, its children die with it, whatever state they are in.
 *
 * All calls may be made from any thread. What goes wrong in the killer itself ends the program.
 */
#ifndef PAWL_KILLER_H
#define PAWL_KILLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    killer_children_max = 64
};

struct killer;

/* What to start. All of it is copied. */
struct killer_command {
    /* Ends with NULL. The first is a path, not searched for; the process that it becomes is the one that is hurt. */
    const char *const *argv;
    /* NAME=VALUE to have besides the environment of this program; ends with NULL, or is NULL. */
    const char *const *env;
    /* The file to which standard output and error are added; NULL: standard error of this program. */
    const char *output;
    /* Whether it is started again when it ends; if it ended by itself, no sooner than 100 ms after its last start. */
    bool restart;
};

enum killer_act {
    KILLER_KILL,      /* SIGKILL */
    KILLER_STOP_CONT, /* SIGSTOP, and SIGCONT after a time */
    KILLER_TERM,      /* SIGTERM, and SIGKILL if it has not ended after a time */
};

struct killer_schedule {
    /* Between acts. */
    int pause_min_ms;
    int pause_max_ms;
    /* How often each act is chosen, compared with the others. */
    unsigned kill;
    unsigned stop_cont;
    unsigned term;
    /* How long a child stays stopped, from the moment it has really stopped. */
    int stop_min_ms;
    int stop_max_ms;
    /* What a child has to end after SIGTERM. */
    int term_grace_ms;
    /* Only children that have run for so long are chosen. */
    int age_min_ms;
    /* The schedule rests after so many acts; 0: never. */
    long acts_max;
};

struct killer_counts {
    long spawned;   /* started, the first time or again */
    long acts;      /* done by the schedule */
    long killed;    /* ended by our SIGKILL */
    long stopped;   /* really stopped by our SIGSTOP */
    long continued; /* continued after that */
    long termed;    /* ended after our SIGTERM, with code 0 or by the signal */
    long overdue;   /* did not, and ended by SIGKILL */
    long finished;  /* ended by themselves with code 0 */
    long failed;    /* ended in any other way; the first ones are told on standard error */
};

struct killer *killer_new(uint64_t seed);

/* Kills what is left and waits for it. */
void killer_free(struct killer *killer);

/*
 * Starts `count` children and returns the number of the first; numbers go up from 0. Each has become its program by then, and
 * has its number in its environment as KILLER_CHILD, which stays the same when it is started again.
 */
int killer_spawn(struct killer *killer, const struct killer_command *command, int count);

/* The process of a child now, or 0. It may have ended, but it has not been waited for, so the id is its own. */
pid_t killer_pid(struct killer *killer, int child);

/*
 * Hurts a child, and returns when it has ended (KILLER_KILL, KILLER_TERM) or has stopped (KILLER_STOP_CONT). time_ms is how
 * long it stays stopped (0: until killer_continue()), or what it has to end after SIGTERM (0: ten seconds). Returns false if
 * the child does not run, is stopped, or was told to end already.
 */
bool killer_hit(struct killer *killer, int child, enum killer_act act, int time_ms);

/* The same for a child chosen at random; returns its number, or -1 if there is none to choose. */
int killer_kill_random(struct killer *killer, enum killer_act act, int time_ms);

void killer_continue(struct killer *killer, int child);

/*
 * A rolling restart: SIGTERM to one child after the other, the next one when the last has ended and started again. Returns
 * how many had to be killed after time_ms.
 */
long killer_roll(struct killer *killer, int time_ms);

/* Begins a schedule in the background, and ends it. Ending it continues what is stopped, and changes nothing else. */
void killer_start(struct killer *killer, const struct killer_schedule *schedule);
void killer_stop(struct killer *killer);

/* Starts nothing again, and waits until all have ended by themselves; returns false if some have not after timeout_ms. */
bool killer_wait_all(struct killer *killer, int timeout_ms);

/* Starts nothing again, tells all to end and waits for it. Returns how many had to be killed after time_ms. */
long killer_end_all(struct killer *killer, int time_ms);

struct killer_counts killer_counts(struct killer *killer);

#endif
