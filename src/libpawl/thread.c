/* SPDX-License-Identifier: Apache-2.0 */
/* Starts threads. */
#include "libpawl/thread.h"

#include <signal.h>

int
pw_thread_start(pthread_t *thread, size_t stack, void *(*function)(void *), void *argument)
{
    pthread_attr_t attr;
    sigset_t all;
    int errnum = pthread_attr_init(&attr);

    if (errnum != 0)
        return errnum;
    (void)sigfillset(&all); /* cannot fail */
    errnum = pthread_attr_setsigmask_np(&attr, &all);
    if (errnum == 0 && stack > 0)
        errnum = pthread_attr_setstacksize(&attr, stack);
    if (errnum == 0)
        errnum = pthread_create(thread, &attr, function, argument);
    (void)pthread_attr_destroy(&attr);
    return errnum;
}
