/* SPDX-License-Identifier: Apache-2.0 */
/* What would change in a flow, as the database answers: told without anything that a terminal would obey. */
#include "cli/flow/flow_diff.h"
#include "fuzz.h"

#include <stdlib.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"change", "step", "was", "becomes", NULL};
    struct fuzz_input input = fuzz_input(data, size);
    pawl_rows *changes = fuzz_rows(&input, columns);
    struct fuzz_printed printed;

    fuzz_print_begin(&printed);
    flow_diff_print("fuzz", changes);
    (void)flow_diff_has_steps(changes);
    fuzz_print_end(&printed);
    pawl_rows_free(changes);
    return 0;
}
