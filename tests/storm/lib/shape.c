/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of a storm. */
#include "storm.h"

const struct storm_shape storm_sharp = {
    .name = "sharp",
    .concurrency = 16,
    .step_us = 10000,
    .connections = "connections=2",
    .open_max = 1000,
    .kill_min_ms = 50,
    .kill_max_ms = 400,
    .restart_min_ms = 5000,
    .restart_max_ms = 11000,
    .fault_min_ms = 150,
    .fault_max_ms = 700,
    .episode_s = 90,
};

/*
 * A million runs are to come with 20,000 kills and 200 restarts. A run that waits, branches or is rolled back costs the engine many times what one of
 * three steps costs, so there are more of those. Each kill, each restart and each cut costs new connections, which have to make their
 * plans.
 */
const struct storm_shape storm_broad = {
    .name = "broad",
    .concurrency = 32,
    .step_us = 5000,
    .connections = "connections=1",
    .open_max = 2500,
    .plain = 400,
    .kill_min_ms = 60,
    .kill_max_ms = 240,
    .restart_min_ms = 14000,
    .restart_max_ms = 26000,
    .fault_min_ms = 600,
    .fault_max_ms = 2800,
    .episode_s = 240,
};
