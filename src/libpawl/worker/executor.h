/* SPDX-License-Identifier: Apache-2.0 */
/* Executes runs with the handlers that a worker has. */
#ifndef PW_LIBPAWL_EXECUTOR_H
#define PW_LIBPAWL_EXECUTOR_H

#include "pawl/worker.h"

/* Executes a run that pawl_worker_next() returned, on the calling thread, and finishes it. */
void pw_executor_execute(pawl_worker *worker, pawl_run *run);

#endif
