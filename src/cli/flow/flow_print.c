/* SPDX-License-Identifier: Apache-2.0 */
/* A flow as a drawing: in the terminal, for Graphviz, for Mermaid. */
#include "cli/flow/flow.h"
#include "cli/flow/graph.h"

#include <string.h>

/* The marks of steps that are not plain, and their meanings. */
static const struct {
    const char *mark;
    const char *meaning;
} marks[] = {
    {"[]", "a task for each element"},
    {"?", "only if its condition holds"},
    {">", "a run of another workflow"},
};

static bool
is_marked(const struct flow_step *step, size_t mark)
{
    return mark == 0 ? step->is_map : mark == 1 ? step->has_condition : step->child != NULL;
}

static bool
make_nodes(const struct flow *flow, struct pw_arena *arena, struct graph_node *nodes)
{
    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_step *step = &flow->steps[i];
        char name[120];
        size_t size = (size_t)snprintf(name, sizeof(name), "%.100s", step->name);

        for (size_t j = 0; j < sizeof(marks) / sizeof(marks[0]); j++)
            if (is_marked(step, j))
                size += (size_t)snprintf(name + size, sizeof(name) - size, "%s", marks[j].mark);
        nodes[i] =
            (struct graph_node){pw_arena_copy(arena, name, strlen(name)), step->note, step->style};
        if (nodes[i].name == NULL)
            return false;
    }
    return true;
}

static void
print_legend(FILE *out, const struct flow *flow)
{
    bool any = false;

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        bool used = false;

        for (size_t j = 0; j < flow->count; j++)
            used = used || is_marked(&flow->steps[j], i);
        if (!used)
            continue;
        (void)fprintf(out, "%s%s%-2s %s%s\n", any ? "" : "\n", term_style(TERM_OUT, TERM_DIM),
            marks[i].mark, marks[i].meaning, term_style(TERM_OUT, TERM_PLAIN));
        any = true;
    }
}

bool
flow_print_text(FILE *out, const struct flow *flow, size_t columns)
{
    struct graph_look look = {.columns = columns, .utf8 = term_is_utf8(), .colours = true};
    struct graph graph = {.node_count = flow->count};
    struct graph_node *nodes;
    struct graph_edge *edges;
    struct pw_arena arena;
    size_t most = 1;
    bool good;

    for (size_t i = 0; i < flow->count; i++)
        most += flow->steps[i].dep_count;
    pw_arena_init(&arena, most * sizeof(*edges) + (flow->count + 1) * 1000 + 65536);
    nodes = pw_arena_alloc(&arena, (flow->count + 1) * sizeof(*nodes));
    edges = pw_arena_alloc(&arena, most * sizeof(*edges));
    good = nodes != NULL && edges != NULL && make_nodes(flow, &arena, nodes);
    if (good) {
        for (size_t i = 0; i < flow->count; i++)
            for (size_t j = 0; j < flow->steps[i].dep_count; j++)
                edges[graph.edge_count++] = (struct graph_edge){flow->steps[i].deps[j], i};
        graph.nodes = nodes;
        graph.edges = edges;
        good = graph_print(out, &graph, &look);
        print_legend(out, flow);
    }
    pw_arena_done(&arena);
    return good;
}

/* The colors of states in drawings; name is the class in Mermaid. */
static const struct {
    enum term_style style;
    const char *name;
    const char *colour;
} looks[] = {
    {TERM_GOOD, "good", "#c8e6c9"},
    {TERM_BAD, "bad", "#ffcdd2"},
    {TERM_WAIT, "paused", "#fff3cd"},
    {TERM_BOLD, "running", "#bbdefb"},
    {TERM_DIM, "idle", "#eeeeee"},
};

static const char *
colour_of(const struct flow_step *step)
{
    for (size_t i = 0; step->note != NULL && i < sizeof(looks) / sizeof(looks[0]); i++)
        if (looks[i].style == step->style)
            return looks[i].colour;
    return "white";
}

void
flow_print_dot(FILE *out, const struct flow *flow)
{
    (void)fprintf(out,
        "digraph \"%s\" {\n    node [shape=box, style=filled, fillcolor=white, "
        "fontname=\"sans-serif\"];\n",
        flow->name);
    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_step *step = &flow->steps[i];

        (void)fprintf(out, "    \"%s\" [label=\"%s%s%s%s%s\", fillcolor=\"%s\"%s%s];\n", step->name,
            step->name, step->child != NULL ? "\\n" : "", step->child != NULL ? step->child : "",
            step->note != NULL ? "\\n" : "", step->note != NULL ? step->note : "", colour_of(step),
            step->is_map ? ", peripheries=2" : "",
            step->has_condition ? ", style=\"filled,dashed\"" : "");
    }
    for (size_t i = 0; i < flow->count; i++)
        for (size_t j = 0; j < flow->steps[i].dep_count; j++)
            (void)fprintf(out, "    \"%s\" -> \"%s\";\n", flow->steps[flow->steps[i].deps[j]].name,
                flow->steps[i].name);
    (void)fputs("}\n", out);
}

/* Mermaid reserves words such as "end", so steps are numbered there. */
void
flow_print_mermaid(FILE *out, const struct flow *flow)
{
    bool run = false;

    (void)fputs("flowchart TD\n", out);
    for (size_t i = 0; i < flow->count; i++) {
        const struct flow_step *step = &flow->steps[i];
        const char *open = step->is_map ? "[[" : step->has_condition ? "{{" : "[";
        const char *close = step->is_map ? "]]" : step->has_condition ? "}}" : "]";

        (void)fprintf(out, "    s%zu%s\"%s%s%s%s%s\"%s", i + 1, open, step->name,
            step->child != NULL ? "<br/>" : "", step->child != NULL ? step->child : "",
            step->note != NULL ? "<br/>" : "", step->note != NULL ? step->note : "", close);
        for (size_t j = 0; step->note != NULL && j < sizeof(looks) / sizeof(looks[0]); j++)
            if (looks[j].style == step->style)
                (void)fprintf(out, ":::%s", looks[j].name);
        (void)fputc('\n', out);
        run = run || step->note != NULL;
    }
    for (size_t i = 0; i < flow->count; i++)
        for (size_t j = 0; j < flow->steps[i].dep_count; j++)
            (void)fprintf(out, "    s%zu --> s%zu\n", flow->steps[i].deps[j] + 1, i + 1);
    for (size_t i = 0; run && i < sizeof(looks) / sizeof(looks[0]); i++)
        (void)fprintf(out, "    classDef %s fill:%s,color:#000\n", looks[i].name, looks[i].colour);
}
