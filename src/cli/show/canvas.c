/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/canvas.h"

#include <stdlib.h>

static struct canvas_cell *
cell_at(const struct canvas *canvas, size_t row, size_t column)
{
    if (row >= canvas->height || column >= canvas->width)
        return NULL;
    return &canvas->cells[row * canvas->width + column];
}

bool
canvas_resize(struct canvas *canvas, size_t width, size_t height)
{
    struct canvas_cell *cells;

    if (width > CANVAS_SIDE_MAX)
        width = CANVAS_SIDE_MAX;
    if (height > CANVAS_SIDE_MAX)
        height = CANVAS_SIDE_MAX;
    cells = realloc(canvas->cells, (width * height + 1) * sizeof(*cells));
    if (cells == NULL)
        return false;
    *canvas = (struct canvas){width, height, cells};
    for (size_t i = 0; i < width * height; i++)
        cells[i] = (struct canvas_cell){L' ', TERM_PLAIN};
    return true;
}

void
canvas_done(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){0};
}

static void
put_glyph(
    struct canvas *canvas, size_t row, size_t column, size_t columns, unsigned style, wchar_t glyph)
{
    for (size_t i = 0; i < columns; i++) {
        struct canvas_cell *cell = cell_at(canvas, row, column + i);

        if (cell != NULL)
            *cell = (struct canvas_cell){i == 0 ? glyph : 0, (unsigned char)style};
    }
    /* Half of a wide character cannot be shown. */
    if (columns == 2 && column + 1 == canvas->width && cell_at(canvas, row, column) != NULL)
        cell_at(canvas, row, column)->glyph = L' ';
}

size_t
canvas_put(struct canvas *canvas, size_t row, size_t column, size_t columns, unsigned style,
    const char *text)
{
    size_t used = 0;
    size_t room;
    bool cut;

    if (text == NULL || column >= canvas->width)
        return 0;
    if (columns > canvas->width - column)
        columns = canvas->width - column;
    cut = term_columns(text) > columns;
    room = cut && columns > 0 ? columns - 1 : columns;
    while (*text != '\0') {
        wchar_t glyph;
        size_t width;
        size_t size = term_next(text, &glyph, &width);

        if (used + width > room)
            break;
        put_glyph(canvas, row, column + used, width, style, glyph);
        used += width;
        text += size;
    }
    if (cut && columns > 0)
        put_glyph(canvas, row, column + used++, 1, style, L'…');
    return used;
}

void
canvas_put_right(struct canvas *canvas, size_t row, size_t column, size_t columns, unsigned style,
    const char *text)
{
    size_t wide = text == NULL ? 0 : term_columns(text);
    size_t skip = wide < columns ? columns - wide : 0;

    (void)canvas_put(canvas, row, column + skip, columns - skip, style, text);
}

void
canvas_mark(struct canvas *canvas, size_t row, unsigned style)
{
    for (size_t i = 0; i < canvas->width && row < canvas->height; i++)
        canvas->cells[row * canvas->width + i].style |= (unsigned char)style;
}

static size_t
used_columns(const struct canvas *canvas, size_t row)
{
    size_t used = canvas->width;

    while (used > 0 && cell_at(canvas, row, used - 1)->glyph == L' ')
        used--;
    return used;
}

void
canvas_print(const struct canvas *canvas, FILE *out)
{
    size_t rows = canvas->height;

    while (rows > 0 && used_columns(canvas, rows - 1) == 0)
        rows--;
    for (size_t row = 0; row < rows; row++) {
        size_t used = used_columns(canvas, row);

        for (size_t i = 0; i < used; i++) {
            const struct canvas_cell *cell = cell_at(canvas, row, i);

            if (cell->glyph != 0)
                (void)fprintf(out, "%lc", (wint_t)cell->glyph);
        }
        (void)fputc('\n', out);
    }
}
