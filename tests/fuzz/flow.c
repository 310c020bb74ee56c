/* SPDX-License-Identifier: Apache-2.0 */
/* A flow and a run of it, as the database answers: read and drawn in every way, with nothing that a terminal would obey, within the columns that there are. */
#include "cli/flow/flow.h"
#include "fuzz.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const char *const steps_columns[] = {"step", "child", "deps", "options", "frozen", NULL};
static const char *const run_columns[] = {"steps", NULL};

static void
check_flow(const struct flow *flow)
{
    for (size_t i = 0; i < flow->count; i++) {
        fuzz_check(flow->steps[i].name != NULL, "a step without a name");
        for (size_t j = 0; j < flow->steps[i].dep_count; j++)
            fuzz_check(flow->steps[i].deps[j] < i, "a step that depends on one behind it");
    }
}

static void
draw(const struct flow *flow, size_t columns)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fuzz_check(out != NULL, "out of memory");
    fuzz_check(flow_print_text(out, flow, columns), "out of memory");
    flow_print_dot(out, flow);
    flow_print_mermaid(out, flow);
    (void)fclose(out);
    fuzz_check_printable(text, size);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    size_t columns = 20 + fuzz_byte(&input);
    struct flow flow;
    pawl_rows *steps;
    pawl_rows *run;

    if (size > 4000)
        return 0;
    steps = fuzz_rows(&input, steps_columns);
    run = fuzz_rows(&input, run_columns);
    fuzz_check(flow_read(&flow, "fuzz", steps), "out of memory");
    check_flow(&flow);
    draw(&flow, columns);
    fuzz_check(flow_add_run(&flow, run), "out of memory");
    draw(&flow, columns);
    flow_done(&flow);
    pawl_rows_free(steps);
    pawl_rows_free(run);
    return 0;
}
