/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads. */
#include "libpawl/common/thread.h"

#include <signal.h>

/*
 * Signals that the processor raises in the thread that caused a fault. If one is blocked, no crash handler runs: the kernel ends the
 * process.
 */
static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

int
pw_thread_start(pthread_t *thread, size_t stack, void *(*function)(void *), void *argument)
{
    pthread_attr_t attr;
    sigset_t blocked;
    int errnum = pthread_attr_init(&attr);

    if (errnum != 0)
        return errnum;
    (void)sigfillset(&blocked); /* cannot fail, and nor can the next */
    /* guard:own_faults */
    for (size_t i = 0; i < sizeof(own_faults) / sizeof(own_faults[0]); i++)
        (void)sigdelset(&blocked, own_faults[i]);
    errnum = pthread_attr_setsigmask_np(&attr, &blocked);
    if (errnum == 0 && stack > 0)
        errnum = pthread_attr_setstacksize(&attr, stack);
    if (errnum == 0)
        errnum = pthread_create(thread, &attr, function, argument);
    (void)pthread_attr_destroy(&attr);
    return errnum;
}
