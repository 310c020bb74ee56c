/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/signals.h"

#include <stddef.h>

void
signals_that_end(sigset_t *signals)
{
    struct sigaction before;

    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGTERM);
    (void)sigaddset(signals, SIGINT);
    /* A signalfd delivers a blocked signal even if its action is to ignore it. */
    if (sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
        (void)sigaddset(signals, SIGHUP);
}
