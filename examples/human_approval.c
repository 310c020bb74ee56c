/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person decides. While a run waits for that, for days, it holds no thread and no connection: it is a row in the database. The
 * first expense is approved, the second one is rejected, and for the third one the time passes.
 *
 *     human_approval &
 *     run=$(pawl trigger demo.expense.v1 -i '{"for": "tea"}')
 *     until pawl approval list -o json | grep -q "$run"; do sleep 0.1; done
 *     pawl approve "$run" manager --by dora --why good
 *     pawl run wait "$run"
 *     run=$(pawl trigger demo.expense.v1 -i '{"for": "a yacht"}')
 *     until pawl approval list -o json | grep -q "$run"; do sleep 0.1; done
 *     pawl reject "$run" manager --by dora --why 'too small'
 *     pawl run wait "$run"
 *     pawl trigger demo.expense.v1 -i '{"patience_ms": 300}' --wait
 */
#include <pawl/pawl.h>

static pawl_status
pay(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const pawl_bytes *decision = userdata;

    return pawl_run_printf(run, output, "{\"paid\": true, \"decision\": %s}", decision->data);
}

static pawl_status
expense(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t timeout_ms;
    pawl_bytes decision;
    pawl_status status;

    if (pawl_json_int(input, "/patience_ms", &timeout_ms) != PAWL_OK)
        timeout_ms = (int64_t)3 * 24 * 3600 * 1000; /* it does not say */
    /* PAWL_SUSPENDED at first. When there is an answer the handler is executed again, and gets it here. */
    status = pawl_wait_approval(run, "manager", input, timeout_ms, &decision);
    if (status == PAWL_EREFUSED)
        return pawl_run_printf(run, output, "{\"paid\": false, \"decision\": %s}", decision.data);
    if (status == PAWL_ETIMEOUT)
        return pawl_run_printf(run, output, "{\"paid\": false, \"because\": \"no decision came\"}");
    if (status != PAWL_OK)
        return status;
    return pawl_step(run, "pay", pay, &decision, output);
}
PAWL_WORKFLOW("demo.expense.v1", expense);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
