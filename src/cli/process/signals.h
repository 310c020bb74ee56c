/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that ask this program to end. */
#ifndef PW_CLI_PROCESS_SIGNALS_H
#define PW_CLI_PROCESS_SIGNALS_H

#include <signal.h>

/*
 * Returns the signals that a program with cleanup must block and read from a descriptor: SIGTERM, SIGINT and SIGHUP. SIGHUP is left out if
 * the parent process has ignored it, as nohup does. SIGINT is always included. Shells ignore it in background processes, so that Ctrl-C
 * does not reach them; a SIGINT that does arrive was sent on purpose.
 */
void signals_that_end(sigset_t *signals);

#endif
