/* SPDX-License-Identifier: Apache-2.0 */
/* Workers with a line each; see the header. */
#include "lines.h"

#include <stdio.h>
#include <time.h>

void
lines_open(struct lines *lines, struct crash *crash, const struct crash_workers *spec, int count)
{
    struct crash_workers one = *spec;

    if (count > lines_max)
        bench_die("too many lines");
    lines->count = count;
    one.count = 1;
    for (int i = 0; i < count; i++) {
        const struct proxy_options options = {.seed = crash->race.seed + (unsigned)i};
        char host[256], port[24];
        const char *env[] = {host, port, NULL};

        lines->line[i] = proxy_new(&options);
        (void)snprintf(host, sizeof(host), "PGHOST=%s", proxy_host(lines->line[i]));
        (void)snprintf(port, sizeof(port), "PGPORT=%d", proxy_port(lines->line[i]));
        one.env = env;
        crash_spawn(crash, &one);
    }
}

void
lines_close(struct lines *lines)
{
    for (int i = 0; i < lines->count; i++)
        proxy_free(lines->line[i]);
}

int64_t
lines_now_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        bench_die("no monotonic clock");
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
lines_wall_us(int64_t at_ns)
{
    return meter_now_us() - (lines_now_ns() - at_ns) / 1000;
}
