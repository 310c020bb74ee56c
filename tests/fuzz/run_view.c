/* SPDX-License-Identifier: Apache-2.0 */
/* A run as the database answers, shown in full and in one line, without anything that a terminal would obey. */
#include "cli/show/run_view.h"
#include "fuzz.h"

#include <stdlib.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"steps", "status", "reason", "workflow", "run_id",
        "triggered_at", "started_at", "ended_at", "round", "execution", "priority", "ending",
        "rolling_back", "key", "tenant", "parent_id", "worker", "input", "metadata", "output",
        "error", "due_at", NULL};
    static const int64_t now_us = INT64_C(1772366400000000);
    struct fuzz_input input = fuzz_input(data, size);
    size_t most = fuzz_byte(&input);
    pawl_rows *run = fuzz_rows(&input, columns);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    fuzz_check(out != NULL, "out of memory");
    run_view_print(out, run, now_us, most % 3 == 0 ? NULL : "it waits", most % 30);
    run_view_print_line(out, run, now_us, 20 + most);
    (void)run_view_has_ended(run);
    (void)fclose(out);
    fuzz_check_printable(text, length);
    free(text);
    pawl_rows_free(run);
    return 0;
}
