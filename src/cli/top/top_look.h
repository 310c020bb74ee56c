/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pawl top reads the database: the verbs that it calls, how often, and the view that it makes of their answers. One function asks and
 * another takes the answers, so that the view does not change while the thread asks and the screen is drawn.
 *
 * A question rests for forty times the duration of its answer, at most for twenty seconds, so that no question keeps the database busy.
 */
#ifndef PW_CLI_TOP_TOP_LOOK_H
#define PW_CLI_TOP_TOP_LOOK_H

#include "cli/top/top_model.h"

#include <pawl/pawl.h>

struct top_look;

/* Returns NULL if out of memory. The caller still owns the client. */
struct top_look *top_look_new(pawl_client *client, int64_t every_us);
void top_look_free(struct top_look *look);

/* Asks the questions that are due for this list. Does not change the view. The caller frees the error. */
pawl_status top_look_ask(struct top_look *look, enum top_list list, pawl_error **error);

/* Makes the view from all answers. Returns false if out of memory. */
bool top_look_take(struct top_look *look);

/* The first asks for texts of errors that the view does not have yet. The second puts them into the view. */
pawl_status top_look_ask_texts(struct top_look *look, pawl_error **error);
void top_look_take_texts(struct top_look *look);

const struct top_view *top_look_view(const struct top_look *look);

/* Returns when the next question is due, on the clock of pw_now_us(). */
int64_t top_look_due_us(const struct top_look *look);

/* Makes all questions due now. */
void top_look_hurry(struct top_look *look);

#endif
