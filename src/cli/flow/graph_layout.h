/* SPDX-License-Identifier: Apache-2.0 */
/* Where the boxes of a graph are: their layers, their order in a layer, and their columns. */
#ifndef PW_CLI_FLOW_GRAPH_LAYOUT_H
#define PW_CLI_FLOW_GRAPH_LAYOUT_H

#include "base/arena.h"
#include "cli/flow/graph.h"

enum {
    GRAPH_NO_NODE = -1,
    GRAPH_PLACES_MAX = 20000,
};

/* A box, or a place where a line to a lower layer passes through this one. */
struct graph_place {
    long node; /* or GRAPH_NO_NODE */
    size_t layer;
    size_t order; /* within its layer */
    long left;    /* the first column */
    long width;
};

/* A line from a place to a place of the next layer. */
struct graph_line {
    size_t upper;
    size_t lower;
};

struct graph_layout {
    struct graph_place *places;
    size_t place_count;
    struct graph_line *lines; /* by layer, then by the places above and below */
    size_t line_count;
    size_t *line_at; /* where the lines of each layer begin; one more than there are layers */
    size_t **layers; /* the places of each layer, in their order */
    size_t *layer_sizes;
    size_t layer_count;
    long width; /* columns in all */
};

/* Returns the column in which lines enter and leave. */
long graph_centre(const struct graph_place *place);

/* Sets the layer of each node: below all nodes that it depends on, and near above its dependents. Returns false if out of memory. */
bool graph_rank(const struct graph *graph, struct pw_arena *arena, size_t *ranks);

/*
 * Lays out a graph. name_columns: the width of a name; longer names are cut. The arena owns all memory. Returns false if out of memory, or
 * if there would be more than GRAPH_PLACES_MAX places.
 */
bool graph_lay_out(const struct graph *graph, size_t name_columns, struct pw_arena *arena,
    struct graph_layout *layout);

#endif
