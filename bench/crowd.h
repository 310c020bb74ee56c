/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of bench/crowd: one section for each crowd, and what the sections share: the server's disk, processor time and memory,
 * producers, sessions that are idle, and worker processes. A worker process is this program again, and knows nothing of pawl but
 * <pawl/pawl.h>.
 */
#ifndef PAWL_BENCH_CROWD_H
#define PAWL_BENCH_CROWD_H

#include "harness.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define CROWD_WORKFLOW "bench.run"

enum {
    CROWD_ROUNDS = 5,
    CROWD_QUICK_ROUNDS = 3,
    CROWD_STAMPS_MAX = 1 << 23,
    CROWD_PROCESSES_MAX = 16,
    CROWD_PRODUCERS_MAX = 64,
    CROWD_SETTINGS_MAX = 8,
    CROWD_SLOW_US = 1000, /* a flush on the slow disk */
    CROWD_FAST_US = 100,  /* and on a fast one, where the machine's own disk has other users */
};

/* The options, and how many figures are out of bounds so far. */
struct crowd_report {
    bool quick;
    int rounds;
    int failed;
};

/* The name of a figure, and its bound; 0 for none. */
struct crowd_name {
    const char *name;
    const char *unit;
    enum bench_bound kind;
    double bound, goal;
    bool is_time; /* nothing to be compared with: a quick figure never fails */
};

/* Prints a figure and counts it if it is out of bounds. A quick ratio fails past twice its bound only, a quick time never. */
void crowd_say(struct crowd_report *report, const struct crowd_name *name, double value);

/* The same for the median of some rounds; sorts the values. */
void crowd_say_median(struct crowd_report *report, const struct crowd_name *name, double *values);

/* The same for a count, which fails above its bound also when it is quick. */
void crowd_say_count(struct crowd_report *report, const char *name, double value, double most);

/* The same for a figure without a bound whose name is made of a format. */
void crowd_say_plain(struct crowd_report *report, double value, const char *unit,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The sections. Each makes the databases it needs. */
void crowd_producers(struct crowd_report *report);
void crowd_triggers(struct crowd_report *report);
void crowd_queues(struct crowd_report *report);
void crowd_pickup(struct crowd_report *report);
void crowd_snapshot(struct crowd_report *report);
void crowd_waits(struct crowd_report *report);
void crowd_idle(struct crowd_report *report);
void crowd_steady(struct crowd_report *report);

/* --- the server --- */

/* A fresh database with pawl and one workflow, named in the environment. */
void crowd_fresh(void);

/* A fresh database for the yardstick, named in the environment. */
void crowd_bare(void);

/* Empties the queue and the keys, so that one measurement does not slow down the next. */
void crowd_empty(void);

/* Sets how long each flush of the WAL takes from now on; 0 for the disk as it is. */
void crowd_disk(long us);

/* Processor time of all processes of the server. Those that ended between two calls are not counted. */
struct crowd_cpu {
    size_t count;
    struct {
        long pid;
        double s;
    } processes[4096];
};

void crowd_cpu_read(PGconn *conn, struct crowd_cpu *cpu);

/* Seconds from the one to the other. */
double crowd_cpu_between(const struct crowd_cpu *before, const struct crowd_cpu *after);

/* Processor time of processes of the server that have ended, in steps of a hundredth. */
double crowd_cpu_ended(PGconn *conn);

/* Bytes that no other process shares, of all clients' processes of the server. */
double crowd_private_bytes(PGconn *conn);

void crowd_sleep_ms(long ms);
int64_t crowd_now_ns(void);

/* --- sessions that are idle --- */

/*
 * Sessions that are registered, listen and are marked as idle, as libpawl's are, but claim nothing: they stay idle under load. One thread
 * serves all of them.
 */
struct crowd_idlers;

struct crowd_idlers *crowd_idlers_start(int count, const char *handles);

/* Ends them; returns how many notifications they have had. */
long crowd_idlers_stop(struct crowd_idlers *idlers);

/* --- worker processes --- */

/* Memory that this program and its worker processes share; it lasts as long as the program. */
struct crowd_shared {
    atomic_long started; /* workers that are registered */
    atomic_long called;
    /* By the number in the input, on the monotonic clock; 0 for not yet. */
    int64_t sent_ns[CROWD_STAMPS_MAX];
    int64_t called_ns[CROWD_STAMPS_MAX];
};

extern struct crowd_shared *crowd_shared;

/* Forgets all stamps. */
void crowd_stamps_clear(void);

/* Waits until the handler of each number from first on that was sent has been called. Returns how many are missing after limit_s. */
long crowd_await(long first, long count, double limit_s);

/* Milliseconds from sent to called of these numbers, as far as both are there. Returns how many. */
size_t crowd_waited(long first, long count, double *values);

struct crowd_crew_spec {
    int workers;
    int per_process;
    const char *handles; /* a last # becomes the number of the worker */
    int steps;
    const char *settings[CROWD_SETTINGS_MAX + 1];
};

struct crowd_crew {
    int drain_fd;
    int processes;
    pid_t pids[CROWD_PROCESSES_MAX];
};

/* Starts the processes and returns when all workers are registered. */
void crowd_crew_start(struct crowd_crew *crew, const struct crowd_crew_spec *spec);

/* Lets them finish and end. */
void crowd_crew_stop(struct crowd_crew *crew);

/* Ends them without notice. */
void crowd_crew_kill(struct crowd_crew *crew);

/* The main function of a worker process. */
int crowd_worker_main(int argc, char **argv);

/* --- producers --- */

enum crowd_form {
    CROWD_LIBPAWL,           /* pawl_client_trigger(), or pawl_client_trigger_many() for a batch */
    CROWD_LIBPAWL_KEY,       /* the same with a key for each run */
    CROWD_BLOCK,             /* begin, an insert of the caller's, pawl.trigger(), commit */
    CROWD_LIBPAWL_AND_BLOCK, /* as the first, and some of them as the last, which stay open for a while */
};

struct crowd_load {
    enum crowd_form form;
    int producers;
    int batch;
    double seconds;
    double rate;      /* runs per second of all producers; 0: as many as they can */
    int open_percent; /* of CROWD_LIBPAWL_AND_BLOCK: how many are blocks, and how long these stay open */
    int open_ms;
    int queues; /* 0: all for CROWD_WORKFLOW; otherwise for bench.q0 and so on, in turn */
    long first; /* the number of the first run */
};

struct crowd_loaded {
    long made;
    double per_s;
    double server_us; /* processor time of the server for each run */
};

/* Connects, warms up, and triggers for as long as it says. Each run has its number in its input and its time in crowd_shared. */
void crowd_produce(const struct crowd_load *load, struct crowd_loaded *loaded);

#endif
