/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a text in a part of the screen: lines with styles, wrapped at its width. Here it is the view of a run. */
#ifndef PW_CLI_TOP_TOP_PAGE_H
#define PW_CLI_TOP_TOP_PAGE_H

#include "cli/show/canvas.h"

#include <pawl/pawl.h>
#include <stdint.h>

/* Returns the texts of pawl run show and pawl why about a run, with the sequences of term_style(). Malloced; NULL: out of memory. */
char *top_page_run_view(const pawl_rows *run, const pawl_rows *why, int64_t now_us);

/* Draws rows of a text, from line from on, and returns how many lines it has in all. */
size_t top_page_draw(struct canvas *canvas, size_t row, size_t rows, const char *text, size_t from);

#endif
