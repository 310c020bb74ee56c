/* SPDX-License-Identifier: Apache-2.0 */
/* The workflow p.either in C, for test_faults.py: the same names as its handler in Python, so that workers of both languages execute one run. */
#include <pawl/pawl.h>

static pawl_status
mine(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_run_printf(run, output, "\"c\"");
}

static pawl_status
either(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes first, second, go;
    pawl_status status = pawl_step(run, "first", mine, NULL, &first);

    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, &go);
    if (status == PAWL_OK)
        status = pawl_step(run, "second", mine, NULL, &second);
    if (status == PAWL_OK)
        status = pawl_run_printf(run, output, "[%.*s,%.*s,%.*s,%.*s]", (int)input.size,
            (const char *)input.data, (int)first.size, (const char *)first.data, (int)go.size,
            (const char *)go.data, (int)second.size, (const char *)second.data);
    return status;
}
PAWL_WORKFLOW("p.either", either);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
