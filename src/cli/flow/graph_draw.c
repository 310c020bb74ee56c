/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between two layers, lines with the same upper ends or the same lower ends share a row in which they run sideways: a net. Nets that would
 * touch get separate rows. Where a line crosses the row of another net, that row is interrupted, so that the crossing does not look like a
 * junction.
 */
#include "cli/flow/graph_draw.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    UP = 1,
    DOWN = 2,
    LEFT = 4,
    RIGHT = 8,
    NO_ROW = -1,
};

struct cell {
    unsigned char lines; /* UP, DOWN, LEFT, RIGHT */
    char letter;         /* or 0 */
    unsigned char style; /* enum term_style */
    uint16_t net;        /* the net that has this row, from 1; 0: none */
};

/* Some rows of the drawing: one layer, or the lines between two layers. */
struct canvas {
    struct cell *cells;
    size_t columns;
    size_t rows;
};

/* Lines that join each of their upper ends with each of their lower ends. */
struct net {
    size_t first_line; /* of one of the upper ends; the lower ends are those of its lines */
    size_t bottom_count;
    long least; /* columns */
    long most;
    long row;
    bool routed;
};

struct channel {
    const struct graph_layout *layout;
    size_t layer; /* the upper one */
    struct net *nets;
    size_t *net_of; /* of each place of the upper layer, from 1; 0: no line begins there */
    size_t count;
    size_t rows;
    bool apart; /* lines leave boxes left of the center, and enter boxes right of it */
    bool bad;   /* two nets would each have to be above the other */
};

/* Returns the column where lines leave a place for the next layer. */
static long
way_out(const struct graph_place *place, bool apart)
{
    return graph_centre(place) - (apart && place->node != GRAPH_NO_NODE);
}

/* Returns the column where lines enter a place. */
static long
way_in(const struct graph_place *place, bool apart)
{
    return graph_centre(place) + (apart && place->node != GRAPH_NO_NODE);
}

static struct cell *
cell_at(struct canvas *canvas, size_t row, long column)
{
    return &canvas->cells[row * canvas->columns + (size_t)column];
}

static const char *
glyph_of(unsigned char lines, bool utf8)
{
    static const char *const unicode[] = {
        " ", "╵", "╷", "│", "╴", "┘", "┐", "┤", "╶", "└", "┌", "├", "─", "┴", "┬", "┼"};
    static const char *const ascii[] = {
        " ", "|", "|", "|", "-", "+", "+", "+", "-", "+", "+", "+", "-", "+", "+", "+"};

    return utf8 ? unicode[lines & 15U] : ascii[lines & 15U];
}

static void
print_cell(FILE *out, const struct cell *cell, const struct graph_look *look)
{
    if (cell->letter == '\t') /* the place where a name is cut */
        (void)fputs(look->utf8 ? "…" : "~", out);
    else if (cell->letter != 0)
        (void)fputc(cell->letter, out);
    else
        (void)fputs(glyph_of(cell->lines, look->utf8), out);
}

static void
print_canvas(FILE *out, const struct canvas *canvas, const struct graph_look *look)
{
    for (size_t row = 0; row < canvas->rows; row++) {
        const struct cell *cells = &canvas->cells[row * canvas->columns];
        size_t size = canvas->columns;
        unsigned char style = TERM_PLAIN;

        while (size > 0 && cells[size - 1].letter == 0 && cells[size - 1].lines == 0)
            size--;
        for (size_t i = 0; i < size; i++) {
            if (look->colours && cells[i].style != style) {
                (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
                style = cells[i].style;
                if (style != TERM_PLAIN)
                    (void)fputs(term_style(TERM_OUT, style), out);
            }
            print_cell(out, &cells[i], look);
        }
        if (style != TERM_PLAIN)
            (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
        (void)fputc('\n', out);
    }
}

static bool
canvas_new(struct canvas *canvas, size_t columns, size_t rows)
{
    *canvas = (struct canvas){NULL, columns, rows};
    canvas->cells = calloc(columns * rows + 1, sizeof(*canvas->cells));
    return canvas->cells != NULL;
}

/* Writes a text in the center of a box. */
static void
put_text(struct canvas *canvas, size_t row, const struct graph_place *place, const char *text,
    size_t most)
{
    size_t size = strlen(text);
    bool cut = size > most;
    long at;

    if (cut)
        size = most;
    at = place->left + (place->width - (long)size) / 2;
    for (size_t i = 0; i < size; i++)
        cell_at(canvas, row, at + (long)i)->letter = cut && i + 1 == size ? '\t' : text[i];
}

static void
put_box(struct canvas *canvas, const struct graph_place *place, const struct graph_node *node,
    size_t name_columns)
{
    long right = place->left + place->width - 1;
    size_t bottom = canvas->rows - 1;

    for (long column = place->left; column <= right; column++) {
        unsigned char sides =
            (unsigned char)((column > place->left ? LEFT : 0) | (column < right ? RIGHT : 0));

        cell_at(canvas, 0, column)->lines |= sides;
        cell_at(canvas, bottom, column)->lines |= sides;
        for (size_t row = 0; row <= bottom; row++)
            cell_at(canvas, row, column)->style = (unsigned char)node->style;
    }
    for (size_t row = 0; row <= bottom; row++) {
        unsigned char ends = (unsigned char)((row > 0 ? UP : 0) | (row < bottom ? DOWN : 0));

        cell_at(canvas, row, place->left)->lines |= ends;
        cell_at(canvas, row, right)->lines |= ends;
    }
    put_text(canvas, 1, place, node->name, name_columns);
    if (node->note != NULL)
        put_text(canvas, 2, place, node->note, (size_t)place->width - 2);
}

static bool
has_notes(const struct graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].note != NULL)
            return true;
    return false;
}

/* Draws the boxes of a layer, with the ends of their lines, and the lines that pass through the layer. */
static bool
draw_layer(FILE *out, const struct graph *graph, const struct channel *above,
    const struct channel *below, size_t name_columns, const struct graph_look *look)
{
    const struct graph_layout *layout = below->layout;
    size_t layer = below->layer;
    struct canvas canvas;

    if (!canvas_new(&canvas, (size_t)layout->width, has_notes(graph) ? 4 : 3))
        return false;
    for (size_t i = 0; i < layout->layer_sizes[layer]; i++) {
        const struct graph_place *place = &layout->places[layout->layers[layer][i]];

        if (place->node != GRAPH_NO_NODE)
            put_box(&canvas, place, &graph->nodes[place->node], name_columns);
        else
            for (size_t row = 0; row < canvas.rows; row++)
                cell_at(&canvas, row, place->left)->lines = UP | DOWN;
    }
    for (size_t i = layout->line_at[layer]; i < layout->line_at[layer + 1]; i++)
        cell_at(&canvas, canvas.rows - 1,
            way_out(&layout->places[layout->lines[i].upper], below->apart))
            ->lines |= DOWN;
    for (size_t i = layer > 0 ? layout->line_at[layer - 1] : layout->line_at[layer];
         i < layout->line_at[layer]; i++)
        cell_at(&canvas, 0, way_in(&layout->places[layout->lines[i].lower], above->apart))->lines |=
            UP;
    print_canvas(out, &canvas, look);
    free(canvas.cells);
    return true;
}

/* Returns the column of a lower end of a net. */
static long
bottom_at(const struct channel *channel, const struct net *net, size_t index)
{
    const struct graph_layout *layout = channel->layout;

    return way_in(&layout->places[layout->lines[net->first_line + index].lower], channel->apart);
}

/* Returns true if a lower end of the net is in this column. */
static bool
ends_in(const struct channel *channel, const struct net *net, long column)
{
    for (size_t i = 0; i < net->bottom_count; i++)
        if (bottom_at(channel, net, i) == column)
            return true;
    return false;
}

/* Returns the column of a place of the upper layer. */
static long
top_at(const struct channel *channel, size_t index)
{
    return way_out(
        &channel->layout->places[channel->layout->layers[channel->layer][index]], channel->apart);
}

static bool
is_top(const struct channel *channel, const struct net *net, size_t index)
{
    return channel->net_of[index] == (size_t)(net - channel->nets) + 1;
}

static size_t
top_count(const struct channel *channel)
{
    return channel->layout->layer_sizes[channel->layer];
}

static void
widen(struct net *net, long column)
{
    if (column < net->least)
        net->least = column;
    if (column > net->most)
        net->most = column;
}

/* Returns true if net must be above other: an upper end of net has the column of a lower end of other. */
static bool
must_be_above(const struct channel *channel, const struct net *net, const struct net *other)
{
    if (net == other || net->least == net->most || other->least == other->most)
        return false;
    for (size_t i = 0; i < top_count(channel); i++)
        if (is_top(channel, net, i) && ends_in(channel, other, top_at(channel, i)))
            return true;
    return false;
}

/* Returns the first row, from row on, where the net touches no other net. */
static long
free_row(const struct channel *channel, const struct net *net, long row)
{
    for (size_t i = 0; i < channel->count; i++) {
        const struct net *other = &channel->nets[i];

        if (other->routed && other->row == row && net->least <= other->most + 1 &&
            other->least <= net->most + 1) {
            row++;
            i = SIZE_MAX; /* starts again from the first net */
        }
    }
    return row;
}

/* Returns a net that no other net must be above; if each waits for another, the first net. */
static struct net *
next_net(struct channel *channel, long *row)
{
    struct net *first = NULL;

    for (size_t i = 0; i < channel->count; i++) {
        struct net *net = &channel->nets[i];
        bool waits = false;

        if (net->routed)
            continue;
        *row = 0;
        for (size_t j = 0; j < channel->count; j++) {
            const struct net *other = &channel->nets[j];

            if (!must_be_above(channel, other, net))
                continue;
            if (!other->routed)
                waits = true;
            else if (other->row >= *row)
                *row = other->row + 1;
        }
        if (!waits)
            return net;
        if (first == NULL)
            first = net;
    }
    *row = 0;
    channel->bad = channel->bad || first != NULL;
    return first;
}

static void
route(struct channel *channel)
{
    struct net *net;
    long row;

    channel->rows = 1;
    while ((net = next_net(channel, &row)) != NULL) {
        net->row = net->least == net->most ? NO_ROW : free_row(channel, net, row);
        net->routed = true;
        if (net->row >= (long)channel->rows)
            channel->rows = (size_t)net->row + 1;
    }
}

static void
draw_row(struct canvas *canvas, const struct net *net, uint16_t number)
{
    for (long column = net->least; column <= net->most; column++) {
        struct cell *cell = cell_at(canvas, (size_t)net->row, column);

        cell->lines |=
            (unsigned char)((column > net->least ? LEFT : 0) | (column < net->most ? RIGHT : 0));
        cell->net = number;
    }
}

/* Draws a line down a column, over these rows. Interrupts rows of other nets in which the line does not end. */
static void
draw_column(struct canvas *canvas, const struct channel *channel, long column, long from, long to,
    uint16_t number)
{
    for (long row = from; row <= to; row++) {
        struct cell *cell = cell_at(canvas, (size_t)row, column);
        const struct net *other = cell->net > 0 ? &channel->nets[cell->net - 1] : NULL;

        if (other != NULL && cell->net != number && !ends_in(channel, other, column))
            cell->lines &= UP | DOWN;
        cell->lines |= UP | DOWN;
    }
}

static void
draw_net(struct canvas *canvas, const struct channel *channel, const struct net *net)
{
    uint16_t number = (uint16_t)(net - channel->nets + 1);
    long last = (long)channel->rows - 1;

    if (net->row == NO_ROW) {
        draw_column(canvas, channel, net->least, 0, last, number);
        return;
    }
    for (size_t i = 0; i < top_count(channel); i++) {
        long column = top_at(channel, i);

        if (!is_top(channel, net, i))
            continue;
        draw_column(canvas, channel, column, 0, net->row - 1, number);
        cell_at(canvas, (size_t)net->row, column)->lines |= UP;
    }
    for (size_t i = 0; i < net->bottom_count; i++) {
        long column = bottom_at(channel, net, i);

        draw_column(canvas, channel, column, net->row + 1, last, number);
        cell_at(canvas, (size_t)net->row, column)->lines |= DOWN;
    }
}

/* Returns true if the lines of two places go to the same lower places. Lines are sorted. */
static bool
same_bottoms(const struct graph_layout *layout, size_t line, size_t other, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (layout->lines[line + i].lower != layout->lines[other + i].lower)
            return false;
    return true;
}

/* Adds a place to the net with the same lower ends as its lines, or to a new net. */
static void
add_to_net(struct channel *channel, size_t first_line, size_t count)
{
    const struct graph_layout *layout = channel->layout;
    const struct graph_place *place = &layout->places[layout->lines[first_line].upper];
    struct net *net = channel->nets;

    while (net < channel->nets + channel->count &&
        !(net->bottom_count == count && same_bottoms(layout, net->first_line, first_line, count)))
        net++;
    if (net == channel->nets + channel->count) {
        *net = (struct net){.first_line = first_line,
            .bottom_count = count,
            .least = way_out(place, channel->apart),
            .most = way_out(place, channel->apart)};
        channel->count++;
        for (size_t i = 0; i < count; i++)
            widen(net, bottom_at(channel, net, i));
    }
    channel->net_of[place->order] = (size_t)(net - channel->nets) + 1;
    widen(net, way_out(place, channel->apart));
}

static void
make_nets(struct channel *channel)
{
    const struct graph_layout *layout = channel->layout;
    size_t end = layout->line_at[channel->layer + 1];

    for (size_t i = layout->line_at[channel->layer]; i < end;) {
        size_t next = i + 1;

        while (next < end && layout->lines[next].upper == layout->lines[i].upper)
            next++;
        add_to_net(channel, i, next - i);
        i = next;
    }
}

/* Chooses rows for the lines between a layer and the next; the last layer has none. Returns false if out of memory. */
static bool
plan(struct channel *channel, const struct graph_layout *layout, size_t layer)
{
    size_t count = layout->layer_sizes[layer] + 1;

    *channel = (struct channel){.layout = layout, .layer = layer};
    channel->nets = calloc(count, sizeof(*channel->nets));
    channel->net_of = calloc(count, sizeof(*channel->net_of));
    if (channel->nets == NULL || channel->net_of == NULL)
        return false;
    make_nets(channel);
    route(channel);
    if (channel->bad) {
        /* With separate columns for lines that leave and lines that enter, no two nets must each be above the other. */
        channel->count = 0;
        channel->apart = true;
        make_nets(channel);
        route(channel);
    }
    return true;
}

static void
plan_done(struct channel *channel)
{
    free(channel->nets);
    free(channel->net_of);
    channel->nets = NULL;
    channel->net_of = NULL;
}

/* Draws the lines between a layer and the next. */
static bool
draw_lines(FILE *out, const struct channel *channel, const struct graph_look *look)
{
    struct canvas canvas;

    if (!canvas_new(&canvas, (size_t)channel->layout->width, channel->rows))
        return false;
    for (size_t i = 0; i < channel->count; i++)
        if (channel->nets[i].row != NO_ROW)
            draw_row(&canvas, &channel->nets[i], (uint16_t)(i + 1));
    for (size_t i = 0; i < channel->count; i++)
        draw_net(&canvas, channel, &channel->nets[i]);
    print_canvas(out, &canvas, look);
    free(canvas.cells);
    return true;
}

bool
graph_draw(FILE *out, const struct graph *graph, const struct graph_layout *layout,
    size_t name_columns, const struct graph_look *look)
{
    struct channel above = {0};
    bool good = true;

    for (size_t i = 0; i < layout->layer_count && good; i++) {
        struct channel below;

        good = plan(&below, layout, i) &&
            draw_layer(out, graph, &above, &below, name_columns, look) &&
            (i + 1 == layout->layer_count || draw_lines(out, &below, look));
        plan_done(&below);
        above = below;
    }
    return good;
}
