/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes from the kernel; splitmix64 for jitter. */
#include "rand.h"

#include "time.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

bool
pw_random(void *out, size_t size)
{
    uint8_t *bytes = out;

    while (size > 0) {
        ssize_t got = getrandom(bytes, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

void
pw_rand_init(struct pw_rand *rand, uint64_t seed)
{
    rand->state = seed;
}

void
pw_rand_init_any(struct pw_rand *rand)
{
    if (!pw_random(&rand->state, sizeof(rand->state)))
        rand->state = (uint64_t)pw_now_us() ^ ((uint64_t)getpid() << 40);
}

uint64_t
pw_rand_next(struct pw_rand *rand)
{
    uint64_t z = rand->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double
pw_rand_unit(struct pw_rand *rand)
{
    return (double)(pw_rand_next(rand) >> 11) * 0x1p-53;
}

int64_t
pw_jitter(struct pw_rand *rand, int64_t value, double share)
{
    double jittered;

    if (!(share > 0)) /* also where share is not a number */
        return value;
    if (share > 1)
        share = 1;
    jittered = (double)value * (1 + share * (2 * pw_rand_unit(rand) - 1));
    if (jittered >= 0x1p63)
        return INT64_MAX;
    if (jittered < -0x1p63)
        return INT64_MIN;
    return (int64_t)jittered;
}

int64_t
pw_backoff_us(struct pw_rand *rand, unsigned tries, int64_t base_us, int64_t cap_us)
{
    unsigned doublings = tries > 1 ? tries - 1 : 0;
    int64_t most;

    if (base_us < 1)
        base_us = 1;
    if (cap_us < 1)
        cap_us = 1;
    /* guard:wait_cap */
    if (doublings > 62 || base_us > cap_us >> doublings)
        most = cap_us;
    else
        most = base_us << doublings;
    /* guard:wait_jitter */
    return most - most / 2 + (int64_t)(pw_rand_next(rand) % ((uint64_t)most / 2 + 1));
}
