/* SPDX-License-Identifier: Apache-2.0 */
/* An eventfd as a flag. */
#include "wake.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
pw_wake_open(struct pw_wake *wake)
{
    wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wake->fd >= 0 ? 0 : errno;
}

void
pw_wake_close(struct pw_wake *wake)
{
    if (wake->fd >= 0)
        (void)close(wake->fd); /* Linux has closed it whatever is returned */
    wake->fd = -1;
}

void
pw_wake_set(struct pw_wake *wake)
{
    const uint64_t one = 1;

    /* The only other failure is EAGAIN, at 2^64 - 2 sets without a clear: it is readable then all the same. */
    while (write(wake->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

bool
pw_wake_clear(struct pw_wake *wake)
{
    uint64_t count;
    ssize_t got;

    do
        got = read(wake->fd, &count, sizeof(count));
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(count);
}
