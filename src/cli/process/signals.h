/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals ask this program to end. */
#ifndef PW_CLI_PROCESS_SIGNALS_H
#define PW_CLI_PROCESS_SIGNALS_H

#include <signal.h>

/*
 * Those that a program which tidies up blocks, and reads from a descriptor: SIGTERM, SIGINT, and SIGHUP unless whoever started it has it ignored,
 * as nohup does. SIGINT is taken in any case: shells have it ignored in all that they put into the background, so that a key does not reach it,
 * and who sends it by name means it.
 */
void signals_that_end(sigset_t *signals);

#endif
