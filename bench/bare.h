/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: durable three-step runs with hand-written SQL and nothing else, which every ratio is measured against.
 */
#ifndef PAWL_BENCH_BARE_H
#define PAWL_BENCH_BARE_H

#define BENCH_BARE_CONNECTIONS_MAX 64

enum bench_bare_mode {
    BENCH_BARE_LIFE,       /* trigger, claim, record three steps, finish (move to history) */
    BENCH_BARE_INSERT,     /* trigger only */
    BENCH_BARE_INSERT_KEY, /* the same of rows that have a unique key */
    BENCH_BARE_DELETE,     /* claim, delete; rows made beforehand */
    BENCH_BARE_MOVE,       /* claim, move to history; rows made beforehand */
    BENCH_BARE_DRAIN,      /* claim, three steps, finish; rows made beforehand */
    BENCH_BARE_MODES,
};

/* The mode's name in arguments and output. */
const char *bench_bare_name(enum bench_bare_mode mode);

/*
 * Makes the tables afresh, fills them where the mode needs it, checkpoints, then does `total` runs in batches of `batch`
 * over `connections` connections, each phase of a batch its own commit. Returns runs per second of the last part.
 */
double bench_bare_run(enum bench_bare_mode mode, int batch, int connections, long total);

/*
 * The same without the start: each connection does bench_warm_up() batches more, before the clock starts. For comparison with what needs
 * longer to start and does so once.
 */
double bench_bare_run_warm(enum bench_bare_mode mode, int batch, int connections, long total);

/* After so many batches the server has made its plans for a connection. */
int bench_warm_up(int batch);

#endif
