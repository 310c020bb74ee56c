/* SPDX-License-Identifier: Apache-2.0 */
/* Tries one form of a graph after the other until one fits. */
#include "cli/flow/graph.h"

#include "base/arena.h"
#include "cli/flow/graph_draw.h"
#include "cli/flow/graph_layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIKE_LEAST = 3, /* this many nodes with the same neighbors become one */
    NAME_SIZE = 320,
    LIST_NAME_MOST = 40,
    LIST_NOTE_MOST = 20,
};

static const size_t memory_max = (size_t)256 * 1024 * 1024;

/* Orders styles like term_style_of(): a node that stands for many shows the worst style. */
static int
weight_of(enum term_style style)
{
    static const enum term_style styles[] = {
        TERM_DIM, TERM_GOOD, TERM_PLAIN, TERM_WAIT, TERM_BOLD, TERM_BAD};

    for (int i = 0; i < (int)(sizeof(styles) / sizeof(styles[0])); i++)
        if (styles[i] == style)
            return i;
    return 0;
}

/*
 * Computes a hash of the neighbors of each node. It is equal for nodes with the same neighbors above and below, and rarely for other nodes.
 */
static void
sign_nodes(const struct graph *graph, uint64_t *signs)
{
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];

        signs[edge->to] += (edge->from + 1) * 0x9e3779b97f4a7c15U;
        signs[edge->from] += ((edge->to + 1) * 0xc2b2ae3d27d4eb4fU) ^ 0x5555555555555555U;
    }
}

/* One node for all nodes with the same neighbors, and the states of these nodes. */
struct fold {
    size_t *target; /* of each node, its number in the smaller graph */
    size_t *members;
    size_t *done; /* number of members in good style */
    struct graph_node *nodes;
    struct graph_edge *edges;
};

static bool
fold_new(struct fold *fold, const struct graph *graph, struct pw_arena *arena)
{
    fold->target = pw_arena_alloc(arena, (graph->node_count + 1) * sizeof(*fold->target));
    fold->members = pw_arena_alloc(arena, (graph->node_count + 1) * sizeof(*fold->members));
    fold->done = pw_arena_alloc(arena, (graph->node_count + 1) * sizeof(*fold->done));
    fold->nodes = pw_arena_alloc(arena, (graph->node_count + 1) * sizeof(*fold->nodes));
    fold->edges = pw_arena_alloc(arena, (graph->edge_count + 1) * sizeof(*fold->edges));
    return fold->target != NULL && fold->members != NULL && fold->done != NULL &&
        fold->nodes != NULL && fold->edges != NULL;
}

/* Chooses the nodes that become one. Returns the number of nodes of the smaller graph. */
static size_t
find_alike(struct fold *fold, const struct graph *graph, const uint64_t *signs)
{
    size_t count = 0;

    for (size_t i = 0; i < graph->node_count; i++) {
        size_t alike = 0;
        size_t first = i;

        for (size_t j = graph->node_count; signs[i] != 0 && j > 0; j--)
            if (signs[j - 1] == signs[i]) {
                alike++;
                first = j - 1;
            }
        if (alike >= ALIKE_LEAST && first < i) {
            fold->target[i] = fold->target[first];
        } else {
            fold->target[i] = count;
            fold->members[count] = 0;
            fold->done[count] = 0;
            fold->nodes[count++] = graph->nodes[i];
        }
    }
    return count;
}

/* Names a node "check_01 +39 more", and notes how many of its members are done. */
static bool
name_folded(struct fold *fold, size_t count, struct pw_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        struct graph_node *node = &fold->nodes[i];
        char text[NAME_SIZE];

        if (fold->members[i] == 1)
            continue;
        (void)snprintf(text, sizeof(text), "%s +%zu more", node->name, fold->members[i] - 1);
        node->name = pw_arena_copy(arena, text, strlen(text));
        if (node->name == NULL)
            return false;
        if (node->note == NULL)
            continue;
        (void)snprintf(text, sizeof(text), "%zu/%zu", fold->done[i], fold->members[i]);
        node->note = pw_arena_copy(arena, text, strlen(text));
        if (node->note == NULL)
            return false;
    }
    return true;
}

static bool
fold_alike(const struct graph *graph, struct pw_arena *arena, struct graph *folded)
{
    struct fold fold;
    uint64_t *signs = pw_arena_alloc(arena, (graph->node_count + 1) * sizeof(*signs));
    size_t edge_count = 0;
    size_t count;

    if (signs == NULL || !fold_new(&fold, graph, arena))
        return false;
    memset(signs, 0, graph->node_count * sizeof(*signs));
    sign_nodes(graph, signs);
    count = find_alike(&fold, graph, signs);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct graph_node *node = &fold.nodes[fold.target[i]];

        fold.members[fold.target[i]]++;
        if (graph->nodes[i].style == TERM_GOOD)
            fold.done[fold.target[i]]++;
        if (weight_of(graph->nodes[i].style) > weight_of(node->style))
            node->style = graph->nodes[i].style;
    }
    for (size_t i = 0; i < graph->edge_count; i++) {
        struct graph_edge edge = {
            fold.target[graph->edges[i].from], fold.target[graph->edges[i].to]};
        bool known = false;

        for (size_t j = 0; j < edge_count && !known; j++)
            known = fold.edges[j].from == edge.from && fold.edges[j].to == edge.to;
        if (!known)
            fold.edges[edge_count++] = edge;
    }
    *folded = (struct graph){fold.nodes, count, fold.edges, edge_count};
    return name_folded(&fold, count, arena);
}

/* Draws the graph if it fits. */
static bool
try_drawing(FILE *out, const struct graph *graph, size_t name_columns,
    const struct graph_look *look, bool *printed)
{
    struct graph_layout layout;
    struct pw_arena arena;
    bool good = true;

    pw_arena_init(&arena, memory_max);
    if (graph_lay_out(graph, name_columns, &arena, &layout) &&
        layout.width <= (long)look->columns) {
        good = graph_draw(out, graph, &layout, name_columns, look);
        *printed = true;
    }
    pw_arena_done(&arena);
    return good;
}

static void
print_padded(FILE *out, const char *text, size_t columns, const struct graph_look *look)
{
    bool cut = strlen(text) > columns;

    (void)fprintf(out, "%-*.*s", (int)columns - cut, (int)columns - cut, text);
    if (cut)
        (void)fputs(look->utf8 ? "…" : "~", out);
}

static bool
has_deps(const struct graph *graph, size_t node)
{
    for (size_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].to == node)
            return true;
    return false;
}

/* Prints "  after a, b +7", as many names as fit. */
static void
print_after(FILE *out, const struct graph *graph, size_t node, size_t room)
{
    size_t used = 0;
    size_t left = 0;

    for (size_t i = 0; i < graph->edge_count; i++)
        left += graph->edges[i].to == node;
    for (size_t i = 0; i < graph->edge_count && left > 0; i++) {
        const char *name = graph->nodes[graph->edges[i].from].name;
        size_t size = strlen(used == 0 ? "  after " : ", ") + strlen(name);

        if (graph->edges[i].to != node)
            continue;
        if (used + size + (left > 1 ? strlen(" +2000") : 0) > room) {
            if (used == 0 && strlen("  after 2000") <= room)
                (void)fprintf(out, "  after %zu", left);
            else if (used > 0)
                (void)fprintf(out, " +%zu", left);
            return;
        }
        (void)fputs(used == 0 ? "  after " : ", ", out);
        term_print(out, name);
        used += size;
        left--;
    }
}

/* Prints name and note, in separate columns. */
static void
print_item(FILE *out, const struct graph_node *node, size_t names, size_t notes,
    const struct graph_look *look)
{
    (void)fputs(look->colours ? term_style(TERM_OUT, node->style) : "", out);
    print_padded(out, node->name, names, look);
    if (notes > 0) {
        (void)fputs("  ", out);
        print_padded(out, node->note == NULL ? "" : node->note, notes, look);
    }
    (void)fputs(look->colours ? term_style(TERM_OUT, TERM_PLAIN) : "", out);
}

/* Prints the last form, which always fits: a line for each node, in the order of the layers. */
static bool
print_list(FILE *out, const struct graph *graph, const struct graph_look *look)
{
    struct pw_arena arena;
    size_t *ranks;
    size_t names = 0;
    size_t notes = 0;
    size_t left = graph->node_count;

    pw_arena_init(&arena, memory_max);
    ranks = pw_arena_alloc(&arena, (graph->node_count + 1) * sizeof(*ranks));
    if (ranks == NULL || !graph_rank(graph, &arena, ranks)) {
        pw_arena_done(&arena);
        return false;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t name = strlen(graph->nodes[i].name);
        size_t note = graph->nodes[i].note == NULL ? 0 : strlen(graph->nodes[i].note);

        names = name > names ? name : names;
        notes = note > notes ? note : notes;
    }
    names = names > LIST_NAME_MOST ? LIST_NAME_MOST : names;
    names = names > look->columns / 2 ? look->columns / 2 : names;
    notes = notes > LIST_NOTE_MOST ? LIST_NOTE_MOST : notes;
    notes = notes > look->columns / 4 ? look->columns / 4 : notes;
    for (size_t rank = 0; left > 0; rank++)
        for (size_t i = 0; i < graph->node_count; i++) {
            const struct graph_node *node = &graph->nodes[i];

            if (ranks[i] != rank)
                continue;
            print_item(out, node, names, notes, look);
            if (has_deps(graph, i))
                print_after(out, graph, i, look->columns - names - (notes > 0 ? notes + 2 : 0));
            (void)fputc('\n', out);
            left--;
        }
    pw_arena_done(&arena);
    return true;
}

bool
graph_print(FILE *out, const struct graph *graph, const struct graph_look *look)
{
    static const size_t cuts[] = {NAME_SIZE, 32, 24, 16, 12, 8};
    struct graph folded;
    struct pw_arena arena;
    bool printed = false;
    bool good;

    good = try_drawing(out, graph, NAME_SIZE, look, &printed);
    pw_arena_init(&arena, memory_max);
    if (good && !printed)
        good = fold_alike(graph, &arena, &folded);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]) && good && !printed; i++)
        good = try_drawing(out, &folded, cuts[i], look, &printed);
    if (good && !printed)
        good = print_list(out, graph, look);
    pw_arena_done(&arena);
    return good;
}
