/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest worker: one workflow of two steps, and the main() of every worker.
 *
 *     hello &
 *     pawl trigger demo.hello.v1 -i '{"name": "Ada"}' --wait
 */
#include <pawl/pawl.h>

/* A step does one thing. What it returns is recorded, and never computed again for this run. */
static pawl_status
choose_words(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text("\"good morning\"");
    return PAWL_OK;
}

/* The workflow. Whatever a call returns that is not PAWL_OK is returned: that is the whole rule. */
static pawl_status
hello(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes words;
    pawl_status status;

    if ((status = pawl_step(run, "words", choose_words, NULL, &words)) != PAWL_OK)
        return status;

    /* The same in two halves, for steps that want their local variables. */
    status = pawl_step_begin(run, "letter", output);
    if (status != PAWL_EXECUTE)
        return status;
    status = pawl_run_printf(run, output, "{\"say\": %s, \"to\": %s}", words.data, input.data);
    return pawl_step_finish(run, status, *output, output);
}
PAWL_WORKFLOW("demo.hello.v1", hello);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
