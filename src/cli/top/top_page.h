/* SPDX-License-Identifier: Apache-2.0 */
/* A text that is read in a part of the screen: lines with styles, broken at its width. Here it is the view of a run. */
#ifndef PW_CLI_TOP_TOP_PAGE_H
#define PW_CLI_TOP_TOP_PAGE_H

#include "cli/show/canvas.h"

#include <pawl/pawl.h>
#include <stdint.h>

/* What pawl run show and pawl why say of a run, with the sequences of term_style() in it. Malloced; NULL: out of memory. */
char *top_page_run_view(const pawl_rows *run, const pawl_rows *why, int64_t now_us);

/* Draws rows of a text from a line on, and returns how many lines it has in all. */
size_t top_page_draw(struct canvas *canvas, size_t row, size_t rows, const char *text, size_t from);

#endif
