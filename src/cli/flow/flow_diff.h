/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the changes to a flow, for users. */
#ifndef PW_CLI_FLOW_FLOW_DIFF_H
#define PW_CLI_FLOW_FLOW_DIFF_H

#include <pawl/pawl.h>
#include <stdbool.h>

/* Prints the answer of apply_flow, a few lines for each change. */
void flow_diff_print(const char *flow, const pawl_rows *changes);

/* Returns true if a step would be added, changed or removed, which is refused for a flow that was triggered. */
bool flow_diff_has_steps(const pawl_rows *changes);

#endif
