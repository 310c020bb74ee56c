/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph as text: boxes in layers, from top to bottom, with lines from each to what depends on it. What does not fit is made smaller:
 * boxes that stand alike between the same others become one, names are cut, and at last it is a list. Knows nothing of flows.
 */
#ifndef PW_CLI_FLOW_GRAPH_H
#define PW_CLI_FLOW_GRAPH_H

#include "cli/show/term.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct graph_node {
    const char *name; /* printable ASCII */
    const char *note; /* a second line, printable ASCII; NULL: none */
    enum term_style style;
};

/* to depends on from. No cycles, each edge once. */
struct graph_edge {
    size_t from;
    size_t to;
};

struct graph {
    const struct graph_node *nodes;
    size_t node_count;
    const struct graph_edge *edges;
    size_t edge_count;
};

struct graph_look {
    size_t columns;
    bool utf8;    /* lines and dots of Unicode; else of ASCII */
    bool colours; /* as term_style() has them for TERM_OUT */
};

/* Prints a graph, no line of it longer than the columns, of which there are 20 at least. False: out of memory. */
bool graph_print(FILE *out, const struct graph *graph, const struct graph_look *look);

#endif
