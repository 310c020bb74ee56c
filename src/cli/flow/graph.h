/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a graph as text: boxes in layers, from top to bottom, with lines from each box to its dependents. A drawing that is too wide is
 * made smaller. Boxes with the same neighbors become one, then names are cut, and the last form is a list. It does not depend on flows.
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
    bool utf8;    /* draws with lines and dots of Unicode; else of ASCII */
    bool colours; /* those of term_style() for TERM_OUT */
};

/* Prints a graph; no line is longer than look's columns, which are at least 20. Returns false if out of memory. */
bool graph_print(FILE *out, const struct graph *graph, const struct graph_look *look);

#endif
