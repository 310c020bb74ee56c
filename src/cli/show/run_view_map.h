/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map step with many elements, in the view of a run. It has one line for all elements, and one for each of the first few that are
 * executed, wait or have failed.
 */
#ifndef PW_CLI_SHOW_RUN_VIEW_MAP_H
#define PW_CLI_SHOW_RUN_VIEW_MAP_H

#include "base/json_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    RUN_VIEW_MAP_STATES = 7
};

/* The position of a walk over the steps of a run. Begins with zeros. */
struct run_view_map {
    char name[128]; /* of the map step whose elements the walk is at; "": none */
    bool begins;    /* the last step is the first of a map step that is summed up */
    bool summed;    /* it has many elements */
    size_t all;
    size_t states[RUN_VIEW_MAP_STATES];
    size_t lines; /* printed for its elements so far */
};

/* Returns true if a step, of this name and state, has no separate line. rest is the walk after this step. */
bool run_view_map_hides(
    struct run_view_map *map, const char *name, const char *state, const struct pw_json_walk *rest);

/* Prints the line for all elements. Call it if run_view_map_hides() has set begins. */
void run_view_map_print(FILE *out, const struct run_view_map *map, size_t name_columns);

#endif
