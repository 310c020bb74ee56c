/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library that declares a workflow and an undo handler, for a program that loads it while it runs. */
#include <pawl/worker.h>

/* Registers what this library declares, and nothing of the program's. */
PAWL_API pawl_status module_register(pawl_worker *worker, void *userdata, pawl_error **error);

static pawl_status
from_module(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    *output = pawl_text("\"from the module\"");
    return PAWL_OK;
}
PAWL_WORKFLOW("executor.module", from_module);

static pawl_status
undo_in_module(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}
PAWL_UNDO("executor.module_undo", undo_in_module);

pawl_status
module_register(pawl_worker *worker, void *userdata, pawl_error **error)
{
    return pawl_worker_handle_declared(worker, userdata, error);
}
