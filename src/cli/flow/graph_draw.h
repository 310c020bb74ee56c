/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a graph that has been laid out: boxes, and lines in the rows between the layers. */
#ifndef PW_CLI_FLOW_GRAPH_DRAW_H
#define PW_CLI_FLOW_GRAPH_DRAW_H

#include "cli/flow/graph_layout.h"

/* Prints the graph. name_columns must be the value of graph_lay_out(). Returns false if out of memory. */
bool graph_draw(FILE *out, const struct graph *graph, const struct graph_layout *layout,
    size_t name_columns, const struct graph_look *look);

#endif
