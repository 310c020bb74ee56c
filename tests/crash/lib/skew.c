/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into a worker, it makes the wall clock of that process wrong by up to an hour, to either side, another time in each process:
 * for the library, for libpq and for the program alike, because what the program defines goes before libc. The monotonic clock, which
 * measures what passes, stays as it is.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    skew_max_s = 3600
};

int skew_s(void);

/* How wrong it is in this process. */
int
skew_s(void)
{
    uint64_t z = (uint64_t)getpid() * 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return (int)((z ^ (z >> 31)) % (2 * skew_max_s + 1)) - skew_max_s;
}

int
clock_gettime(clockid_t clock, struct timespec *out)
{
    int code = (int)syscall(SYS_clock_gettime, clock, out);

    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += skew_s();
    return code;
}

int
gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now = {0};

    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t
time(time_t *out)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}
