/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow with a map step: each page is a task with its own attempts, on whichever worker is free. If the last step finds that rows
 * are missing, the pages that were loaded are removed, each by the undo handler that flow/etl.json names.
 *
 *     pawl flow apply examples/flow/etl.json >/dev/null
 *     flow_etl &
 *     pawl trigger etl.orders.v1 -i '{"expected": 35}' --wait
 *     pawl trigger etl.orders.v1 -i '{"expected": 36}' --wait
 */
#include <pawl/pawl.h>
#include <stdio.h>

static pawl_status
list_pages(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_run_printf(run, output, "[{\"rows\": 10}, {\"rows\": 20}, {\"rows\": 5}]");
}
PAWL_WORKFLOW("etl.orders.v1/list_pages", list_pages);

/* {"run": ..., "item": {"rows": 10}, "index": 0} */
static pawl_status
load_page(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t rows;

    if (pawl_json_int(input, "/item/rows", &rows) != PAWL_OK)
        return PAWL_EPERMANENT;
    if (rows == 20 && pawl_run_execution(run) == 1)
        return PAWL_EFAILED; /* tried again, by itself: the other pages do not wait for it */
    return pawl_run_printf(run, output, "{\"loaded\": %d}", (int)rows);
}
PAWL_WORKFLOW("etl.orders.v1/load_page", load_page);

static pawl_status
unload_page(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run, (void)input;
    printf("taken out again: %.*s\n", (int)output.size, output.data);
    return PAWL_OK;
}
PAWL_UNDO("unload_page", unload_page);

/* "load_page" has the outputs of all its tasks, in order. */
static pawl_status
check_sum(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t expected = 0;
    int64_t sum = 0;
    int64_t rows;
    char pointer[60] = "/load_page/0/loaded";

    for (int i = 1; pawl_json_int(input, pointer, &rows) == PAWL_OK; i++, sum += rows)
        (void)snprintf(pointer, sizeof(pointer), "/load_page/%d/loaded", i);
    if (pawl_json_int(input, "/run/expected", &expected) == PAWL_OK && sum == expected)
        return pawl_run_printf(run, output, "%d", (int)sum);
    pawl_run_set_error(run, "sum", "%d rows instead of %d", (int)sum, (int)expected);
    return PAWL_EPERMANENT;
}
PAWL_WORKFLOW("etl.orders.v1/check_sum", check_sum);

/* Rollbacks are claimed under the flow's own name. */
PAWL_WORKFLOW("etl.orders.v1*", NULL);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
