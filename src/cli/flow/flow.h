/* SPDX-License-Identifier: Apache-2.0 */
/* A flow as the database has it, with the states of one run of it, and the ways to draw it. */
#ifndef PW_CLI_FLOW_FLOW_H
#define PW_CLI_FLOW_FLOW_H

#include "base/arena.h"
#include "cli/command/invocation.h"
#include "cli/show/term.h"

#include <stdio.h>

/* One task of a step: the step itself, or an element of a map step. */
struct flow_task {
    char state; /* the first letter of its state, K for SKIPPED; 0: none */
    int64_t round;
};

struct flow_step {
    const char *name;
    const char *child; /* the workflow that it runs, or NULL */
    size_t *deps;
    size_t dep_count;
    bool is_map;
    bool has_condition;
    struct flow_task own;
    struct flow_task *elements;
    size_t element_count;
    /* The state in a run: "SUCCESS", "17/200 RUNNING"; NULL: there is no run. */
    const char *note;
    enum term_style style;
};

struct flow {
    const char *name;
    struct flow_step *steps;
    size_t count;
    bool frozen;
    struct pw_arena arena; /* owns all memory of the flow */
};

/* Reads the answer of list_steps. Returns false if out of memory. The caller must call flow_done() in both cases. */
bool flow_read(struct flow *flow, const char *name, const pawl_rows *steps);
void flow_done(struct flow *flow);

/* Adds the states of a run, from the answer of get_run. Returns false if out of memory. */
bool flow_add_run(struct flow *flow, const pawl_rows *run);

/* Draw the flow: as text of at most columns columns, for Graphviz, for Mermaid. flow_print_text() returns false if out of memory. */
bool flow_print_text(FILE *out, const struct flow *flow, size_t columns);
void flow_print_dot(FILE *out, const struct flow *flow);
void flow_print_mermaid(FILE *out, const struct flow *flow);

#endif
