/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A saga: each step names an undo, stored before the step begins. If the run fails permanently they are executed, last step first.
 * One order here succeeds, and one cannot be shipped.
 *
 *     order_saga &
 *     pawl trigger demo.order.v1 -i '{"to": "Bern"}' --wait
 *     pawl trigger demo.order.v1 -i '{"by": "rocket"}' --wait
 */
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

/* One step, in place of a call to another service; pawl_step_key() is what that would recognise a second call by. */
static pawl_status
act(pawl_run *run, const char *name)
{
    pawl_bytes what;
    pawl_status status;

    if ((status = pawl_run_quote(run, name, &what)) != PAWL_OK)
        return status;
    pawl_run_set_option(run, "undo", "demo.take_back");
    pawl_run_set_option(run, "undo_input", what.data);
    if ((status = pawl_step_begin(run, name, NULL)) != PAWL_EXECUTE)
        return status;
    printf("    %s\n", name);
    if (strcmp(name, "ship") == 0 && pawl_json_find(pawl_run_input(run), "/by", NULL) == PAWL_OK) {
        pawl_run_set_error(run, "no_rocket", "no carrier ships by rocket");
        return pawl_step_finish(run, PAWL_EPERMANENT, what, NULL);
    }
    return pawl_step_finish(run, PAWL_OK, what, NULL);
}

static pawl_status
order(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    *output = input;
    if ((status = act(run, "reserve")) != PAWL_OK || (status = act(run, "charge")) != PAWL_OK)
        return status;
    return act(run, "ship");
}
PAWL_WORKFLOW("demo.order.v1", order);

/* Uncertain: the step has failed, or was begun and its end is not known. An undo must cope with that. */
static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)output;
    printf("    take back %s%s\n", input.data, pawl_run_undo_uncertain(run) ? ", if need be" : "");
    return PAWL_OK;
}
PAWL_UNDO("demo.take_back", take_back);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
