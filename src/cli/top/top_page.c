/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/top_page.h"

#include "cli/command/why_text.h"
#include "cli/show/run_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_SHOWN = 100, /* as in pawl run show */
};

char *
top_page_run_view(const pawl_rows *run, const pawl_rows *why, int64_t now_us)
{
    char *text = NULL;
    char *sentence;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    sentence = why_text(pawl_rows_text(why, 0, "why"), pawl_rows_text(run, 0, "run_id"));
    run_view_print(out, run, now_us, sentence, STEPS_SHOWN);
    free(sentence);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/*
 * Reads the sequence of a style at this place, and returns its length; 0: there is none. Texts from the database have no control characters
 * here.
 */
static size_t
read_style(const char *text, unsigned *style)
{
    for (enum term_style i = TERM_PLAIN; i <= TERM_WAIT && text[0] == '\033'; i++) {
        const char *sequence = term_style(TERM_OUT, i);
        size_t size = strlen(sequence);

        if (size > 0 && strncmp(text, sequence, size) == 0) {
            *style = i;
            return size;
        }
    }
    return 0;
}

/* Returns the columns of the next word, with the blanks ahead of it. */
static size_t
word_columns(const char *text)
{
    size_t sum = 0;
    bool inside = false;

    while (*text != '\0' && *text != '\n' && *text != '\033' && !(inside && *text == ' ')) {
        wchar_t glyph;
        size_t columns;

        inside = inside || *text != ' ';
        text += term_next(text, &glyph, &columns);
        sum += columns;
    }
    return sum;
}

/* Puts one character, and returns the text after it. */
static const char *
put_one(struct canvas *canvas, size_t row, size_t *column, unsigned style, const char *text)
{
    char one[16];
    wchar_t glyph;
    size_t columns;
    size_t size = term_next(text, &glyph, &columns);

    if (size < sizeof(one)) {
        memcpy(one, text, size);
        one[size] = '\0';
        (void)canvas_put(canvas, row, *column, columns, style, one);
    }
    *column += columns;
    return text + size;
}

size_t
top_page_draw(struct canvas *canvas, size_t row, size_t rows, const char *text, size_t from)
{
    unsigned style = TERM_PLAIN;
    size_t line = 0;
    size_t column = 0;

    while (*text != '\0') {
        size_t skip = read_style(text, &style);
        size_t word;

        if (skip > 0) {
            text += skip;
            continue;
        }
        if (*text == '\n') {
            line++;
            column = 0;
            text++;
            continue;
        }
        word = word_columns(text);
        if (word == 0) { /* a character that takes no column */
            text = put_one(canvas, SIZE_MAX, &column, style, text);
            continue;
        }
        if (column > 0 && column + word > canvas->width) {
            line++;
            column = 0;
            text += strspn(text, " ");
            continue;
        }
        /* Put the word; a word that is wider than the screen continues in the next line. */
        for (size_t end = column + word; column < end && *text != '\0';) {
            if (column >= canvas->width) {
                line++;
                end -= column;
                column = 0;
            }
            text =
                put_one(canvas, line >= from && line - from < rows ? row + line - from : SIZE_MAX,
                    &column, style, text);
        }
    }
    return line + (column > 0 ? 1 : 0);
}
