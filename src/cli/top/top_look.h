/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pawl top looks at the database: the verbs that it calls, how often, and the view that their answers make. To ask and to take in
 * what was answered are apart, so that the view stands still for whoever draws it while the database is asked.
 *
 * A question is left alone for forty times as long as its answer took, at most for twenty seconds, so that none of them keeps the
 * database busy.
 */
#ifndef PW_CLI_TOP_TOP_LOOK_H
#define PW_CLI_TOP_TOP_LOOK_H

#include "cli/top/top_model.h"

#include <pawl/pawl.h>

struct top_look;

/* NULL: out of memory. The client stays the caller's. */
struct top_look *top_look_new(pawl_client *client, int64_t every_us);
void top_look_free(struct top_look *look);

/* Asks what is due for this list; the view is as it was. The caller frees the error. */
pawl_status top_look_ask(struct top_look *look, enum top_list list, pawl_error **error);

/* Makes the view of all answers. False: out of memory. */
bool top_look_take(struct top_look *look);

/* Asks for the texts of errors that the view does not have yet, and then puts them into it. */
pawl_status top_look_ask_texts(struct top_look *look, pawl_error **error);
void top_look_take_texts(struct top_look *look);

const struct top_view *top_look_view(const struct top_look *look);

/* When there is something to ask again, on the clock of pw_now_us(). */
int64_t top_look_due_us(const struct top_look *look);

/* All is to be asked again at once. */
void top_look_hurry(struct top_look *look);

#endif
