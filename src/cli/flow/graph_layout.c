/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of Sugiyama, Tagawa and Toda. The layer of a node is the length of the longest way from a start. A line has its own place in
 * each layer that it passes. The order within a layer follows the mean of the neighbors. Columns are as near to the neighbors as that order
 * allows.
 */
#include "cli/flow/graph_layout.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEPS = 12,
    GAP = 2,         /* columns between two places */
    FRAME = 4,       /* columns of a box in addition to its name */
    LINE_WEIGHT = 4, /* a straight line matters more than the best column of a box */
    BOX_WEIGHT = 1,
};

/* Allocates count elements of zeros in the arena. Returns NULL if out of memory. */
static void *
take(struct pw_arena *arena, size_t count, size_t size)
{
    void *taken = count > SIZE_MAX / 2 / size ? NULL : pw_arena_alloc(arena, count * size + 1);

    if (taken != NULL)
        memset(taken, 0, count * size);
    return taken;
}

long
graph_centre(const struct graph_place *place)
{
    return place->left + place->width / 2;
}

/* Repeats over all edges until no node moves. There are so few edges that they need not be sorted. */
static void
rank_down(const struct graph *graph, size_t *ranks)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (size_t i = 0; i < graph->edge_count; i++) {
            const struct graph_edge *edge = &graph->edges[i];

            if (ranks[edge->to] <= ranks[edge->from]) {
                ranks[edge->to] = ranks[edge->from] + 1;
                moved = true;
            }
        }
    }
}

bool
graph_rank(const struct graph *graph, struct pw_arena *arena, size_t *ranks)
{
    bool *has_deps = take(arena, graph->node_count, sizeof(*has_deps));
    size_t *nearest = take(arena, graph->node_count, sizeof(*nearest));

    if (has_deps == NULL || nearest == NULL)
        return false;
    memset(ranks, 0, graph->node_count * sizeof(*ranks));
    rank_down(graph, ranks);
    for (size_t i = 0; i < graph->node_count; i++)
        nearest[i] = SIZE_MAX;
    for (size_t i = 0; i < graph->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[i];

        has_deps[edge->to] = true;
        if (ranks[edge->to] < nearest[edge->from])
            nearest[edge->from] = ranks[edge->to];
    }
    /* A node without dependencies may be in any layer above its dependents. Right above them its lines are short. */
    for (size_t i = 0; i < graph->node_count; i++)
        if (!has_deps[i] && nearest[i] != SIZE_MAX)
            ranks[i] = nearest[i] - 1;
    return true;
}

static long
box_width(const struct graph_node *node, size_t name_columns)
{
    size_t size = strlen(node->name);
    size_t note = node->note == NULL ? 0 : strlen(node->note);

    if (size > name_columns)
        size = name_columns;
    if (note > size)
        size = note;
    return (long)((size + FRAME) | 1U); /* odd, so that the box has a center */
}

/* Makes places for the nodes, and for each line in the layers that it passes. */
static bool
make_places(const struct graph *graph, size_t name_columns, const size_t *ranks,
    struct pw_arena *arena, struct graph_layout *layout)
{
    size_t count = graph->node_count;
    size_t next = graph->node_count;

    for (size_t i = 0; i < graph->edge_count; i++)
        count += ranks[graph->edges[i].to] - ranks[graph->edges[i].from] - 1;
    if (count > GRAPH_PLACES_MAX)
        return false;
    layout->places = take(arena, count, sizeof(*layout->places));
    layout->lines =
        take(arena, count - graph->node_count + graph->edge_count, sizeof(*layout->lines));
    if (layout->places == NULL || layout->lines == NULL)
        return false;
    for (size_t i = 0; i < graph->node_count; i++)
        layout->places[i] = (struct graph_place){
            .node = (long)i, .layer = ranks[i], .width = box_width(&graph->nodes[i], name_columns)};
    for (size_t i = 0; i < graph->edge_count; i++) {
        size_t above = graph->edges[i].from;

        for (size_t layer = ranks[above] + 1; layer < ranks[graph->edges[i].to]; layer++) {
            layout->places[next] =
                (struct graph_place){.node = GRAPH_NO_NODE, .layer = layer, .width = 1};
            layout->lines[layout->line_count++] = (struct graph_line){above, next};
            above = next++;
        }
        layout->lines[layout->line_count++] = (struct graph_line){above, graph->edges[i].to};
    }
    layout->place_count = count;
    return true;
}

static bool
make_layers(struct pw_arena *arena, struct graph_layout *layout)
{
    for (size_t i = 0; i < layout->place_count; i++)
        if (layout->places[i].layer >= layout->layer_count)
            layout->layer_count = layout->places[i].layer + 1;
    layout->layers = take(arena, layout->layer_count, sizeof(*layout->layers));
    layout->layer_sizes = take(arena, layout->layer_count, sizeof(*layout->layer_sizes));
    if (layout->layers == NULL || layout->layer_sizes == NULL)
        return false;
    for (size_t i = 0; i < layout->place_count; i++)
        layout->layer_sizes[layout->places[i].layer]++;
    for (size_t i = 0; i < layout->layer_count; i++) {
        layout->layers[i] = take(arena, layout->layer_sizes[i], sizeof(**layout->layers));
        if (layout->layers[i] == NULL)
            return false;
        layout->layer_sizes[i] = 0;
    }
    for (size_t i = 0; i < layout->place_count; i++) {
        struct graph_place *place = &layout->places[i];

        place->order = layout->layer_sizes[place->layer]++;
        layout->layers[place->layer][place->order] = i;
    }
    return true;
}

/* The result of a sweep for a place: the sum and number of its neighbors' positions in the previous layer. */
struct wish {
    double sum;
    long count;
};

struct sweep {
    struct graph_layout *layout;
    struct wish *wishes;
    bool down;    /* from the first layer to the last */
    bool columns; /* the columns of neighbors count, not their order */
};

static double
where(const struct sweep *sweep, size_t at)
{
    const struct graph_place *place = &sweep->layout->places[at];

    return sweep->columns ? (double)graph_centre(place) : (double)place->order;
}

/* Returns the wanted position of a place: the mean of its neighbors, or its own position without neighbors. */
static double
wanted(const struct sweep *sweep, size_t at)
{
    const struct wish *wish = &sweep->wishes[at];

    return wish->count > 0 ? wish->sum / (double)wish->count : where(sweep, at);
}

/* After a layer is placed, adds its positions to the places of the next layer. */
static void
tell_next(const struct sweep *sweep, size_t layer)
{
    const struct graph_layout *layout = sweep->layout;

    for (size_t i = layout->line_at[layer]; i < layout->line_at[layer + 1]; i++) {
        const struct graph_line *line = &layout->lines[i];
        size_t from = sweep->down ? line->upper : line->lower;
        struct wish *wish = &sweep->wishes[sweep->down ? line->lower : line->upper];

        wish->sum += where(sweep, from);
        wish->count++;
    }
}

/* A stable sort. Layers are short, and nearly sorted after the first sweeps. */
static void
order_layer(const struct sweep *sweep, size_t layer)
{
    struct graph_layout *layout = sweep->layout;
    size_t *places = layout->layers[layer];

    for (size_t i = 1; i < layout->layer_sizes[layer]; i++) {
        size_t moving = places[i];
        double key = wanted(sweep, moving);
        size_t at = i;

        for (; at > 0 && wanted(sweep, places[at - 1]) > key; at--)
            places[at] = places[at - 1];
        places[at] = moving;
    }
    for (size_t i = 0; i < layout->layer_sizes[layer]; i++)
        layout->places[places[i]].order = i;
}

/* Places of a layer that touch, and move together. */
struct block {
    double sum; /* of the wanted positions, by weight, minus the widths between them */
    double weight;
    size_t size;
};

static double
mean(const struct block *block)
{
    return block->sum / block->weight;
}

/*
 * Finds the columns with the least squares of distances to the wanted ones, in the given order. Neighbors that would overlap become a
 * block.
 */
static void
place_layer(const struct sweep *sweep, size_t layer, struct block *blocks)
{
    struct graph_layout *layout = sweep->layout;
    const size_t *places = layout->layers[layer];
    size_t count = 0;
    size_t at = 0;
    long offset = 0;

    for (size_t i = 0; i < layout->layer_sizes[layer]; i++) {
        const struct graph_place *place = &layout->places[places[i]];
        double weight = place->node == GRAPH_NO_NODE ? LINE_WEIGHT : BOX_WEIGHT;
        double want = wanted(sweep, places[i]) - (double)(place->width / 2) - (double)offset;

        blocks[count++] = (struct block){want * weight, weight, 1};
        while (count > 1 && mean(&blocks[count - 2]) > mean(&blocks[count - 1])) {
            blocks[count - 2].sum += blocks[count - 1].sum;
            blocks[count - 2].weight += blocks[count - 1].weight;
            blocks[count - 2].size += blocks[count - 1].size;
            count--;
        }
        offset += place->width + GAP;
    }
    offset = 0;
    for (size_t i = 0; i < count; i++) {
        double begin = mean(&blocks[i]);
        long left = (long)(begin < 0 ? begin - 0.5 : begin + 0.5);

        for (size_t j = 0; j < blocks[i].size; j++, at++) {
            struct graph_place *place = &layout->places[places[at]];

            place->left = left + offset;
            offset += place->width + GAP;
        }
    }
}

static int
compare_lines(const void *left, const void *right)
{
    const struct graph_line *a = left;
    const struct graph_line *b = right;

    if (a->upper != b->upper)
        return a->upper < b->upper ? -1 : 1;
    return a->lower < b->lower ? -1 : a->lower > b->lower;
}

/* Sorts lines by the layer in which they begin. Counting sort. */
static bool
sort_lines(struct graph_layout *layout, struct pw_arena *arena)
{
    struct graph_line *sorted = take(arena, layout->line_count, sizeof(*sorted));
    size_t *fill = take(arena, layout->layer_count + 1, sizeof(*fill));
    size_t *line_at = take(arena, layout->layer_count + 1, sizeof(*line_at));

    if (sorted == NULL || fill == NULL || line_at == NULL)
        return false;
    for (size_t i = 0; i < layout->line_count; i++)
        line_at[layout->places[layout->lines[i].upper].layer + 1]++;
    for (size_t i = 1; i <= layout->layer_count; i++)
        line_at[i] += line_at[i - 1];
    memcpy(fill, line_at, (layout->layer_count + 1) * sizeof(*fill));
    for (size_t i = 0; i < layout->line_count; i++)
        sorted[fill[layout->places[layout->lines[i].upper].layer]++] = layout->lines[i];
    for (size_t i = 0; i < layout->layer_count; i++)
        qsort(sorted + line_at[i], line_at[i + 1] - line_at[i], sizeof(*sorted), compare_lines);
    layout->lines = sorted;
    layout->line_at = line_at;
    return true;
}

static void
sweep_once(struct sweep *sweep, struct block *blocks)
{
    size_t count = sweep->layout->layer_count;

    memset(sweep->wishes, 0, sweep->layout->place_count * sizeof(*sweep->wishes));
    for (size_t i = 0; i < count; i++) {
        size_t layer = sweep->down ? i : count - 1 - i;

        if (sweep->columns)
            place_layer(sweep, layer, blocks);
        else
            order_layer(sweep, layer);
        if (sweep->down && layer + 1 < count)
            tell_next(sweep, layer);
        else if (!sweep->down && layer > 0)
            tell_next(sweep, layer - 1);
    }
}

/* Moves the drawing so that it begins at column 0. */
static void
shift(struct graph_layout *layout)
{
    long least = LONG_MAX;

    layout->width = 0;
    for (size_t i = 0; i < layout->place_count; i++)
        if (layout->places[i].left < least)
            least = layout->places[i].left;
    for (size_t i = 0; i < layout->place_count; i++) {
        struct graph_place *place = &layout->places[i];

        place->left -= least;
        if (place->left + place->width > layout->width)
            layout->width = place->left + place->width;
    }
}

bool
graph_lay_out(const struct graph *graph, size_t name_columns, struct pw_arena *arena,
    struct graph_layout *layout)
{
    size_t *ranks = take(arena, graph->node_count, sizeof(*ranks));
    struct sweep sweep = {.layout = layout};
    struct block *blocks;

    *layout = (struct graph_layout){0};
    if (ranks == NULL || !graph_rank(graph, arena, ranks) ||
        !make_places(graph, name_columns, ranks, arena, layout) || !make_layers(arena, layout))
        return false;
    sweep.wishes = take(arena, layout->place_count, sizeof(*sweep.wishes));
    blocks = take(arena, layout->place_count, sizeof(*blocks));
    if (sweep.wishes == NULL || blocks == NULL || !sort_lines(layout, arena))
        return false;
    for (int i = 0; i < 2 * SWEEPS; i++) {
        sweep.columns = i >= SWEEPS;
        sweep.down = i % 2 == 0;
        sweep_once(&sweep, blocks);
    }
    shift(layout);
    return true;
}
