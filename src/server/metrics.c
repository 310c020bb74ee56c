/* SPDX-License-Identifier: Apache-2.0 */
#include "server/metrics.h"

#include "base/alloc.h"
#include "base/json_write.h"
#include "server/api/route.h"
#include "server/callers.h"
#include "server/live.h"
#include "server/reaper.h"
#include "server/server.h"
#include "server/waits.h"

#include <inttypes.h>
#include <stdatomic.h>

enum {
    ROUTES_MAX = 160,
    CLASSES = 5, /* of statuses: 1xx to 5xx */
    BUCKETS = 10,
};

static const int64_t bounds_us[BUCKETS] = {
    1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000, 10000000};

struct metrics {
    /* All relaxed: each number stands alone. The last route stands for none. */
    _Atomic uint64_t requests[ROUTES_MAX + 1][CLASSES];
    _Atomic uint64_t buckets[BUCKETS + 1];
    _Atomic uint64_t sum_us;
};

struct metrics *
metrics_new(void)
{
    return pw_calloc(1, sizeof(struct metrics));
}

void
metrics_free(struct metrics *metrics)
{
    pw_free(metrics);
}

static void
add(_Atomic uint64_t *number, uint64_t value)
{
    (void)atomic_fetch_add_explicit(number, value, memory_order_relaxed);
}

static uint64_t
get(_Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

void
metrics_count(struct metrics *metrics, const struct route *route, unsigned status, int64_t took_us)
{
    size_t index = route != NULL ? (size_t)(route - route_at(0)) : ROUTES_MAX;
    size_t bucket = 0;

    if (status < 100 || status > 599)
        status = 500;
    add(&metrics->requests[index < ROUTES_MAX ? index : ROUTES_MAX][status / 100 - 1], 1);
    while (bucket < BUCKETS && took_us > bounds_us[bucket])
        bucket++;
    add(&metrics->buckets[bucket], 1);
    add(&metrics->sum_us, (uint64_t)took_us);
}

static void
write_requests(struct metrics *metrics, struct pw_buf *out)
{
    pw_buf_adds(out,
        "# HELP pawl_serve_requests_total Requests by route and class of status.\n"
        "# TYPE pawl_serve_requests_total counter\n");
    for (size_t i = 0; i <= ROUTES_MAX; i++) {
        const struct route *route = i < ROUTES_MAX ? route_at(i) : NULL;

        for (size_t j = 0; j < CLASSES; j++) {
            uint64_t count = get(&metrics->requests[i][j]);

            if (count > 0)
                pw_buf_addf(out,
                    "pawl_serve_requests_total{route=\"%s%s%s\",status=\"%zuxx\"} %" PRIu64 "\n",
                    route != NULL ? route->method : "none", route != NULL ? " " : "",
                    route != NULL ? route->path : "", j + 1, count);
        }
    }
}

static void
write_durations(struct metrics *metrics, struct pw_buf *out)
{
    uint64_t count = 0;

    pw_buf_adds(out,
        "# HELP pawl_serve_request_seconds Time from the first line of a request to "
        "the end of its reply.\n"
        "# TYPE pawl_serve_request_seconds histogram\n");
    for (size_t i = 0; i <= BUCKETS; i++) {
        count += get(&metrics->buckets[i]);
        pw_buf_adds(out, "pawl_serve_request_seconds_bucket{le=\"");
        if (i < BUCKETS)
            pw_json_double(out, (double)bounds_us[i] / 1e6);
        else
            pw_buf_adds(out, "+Inf");
        pw_buf_addf(out, "\"} %" PRIu64 "\n", count);
    }
    pw_buf_adds(out, "pawl_serve_request_seconds_sum ");
    pw_json_double(out, (double)get(&metrics->sum_us) / 1e6);
    pw_buf_addf(out, "\npawl_serve_request_seconds_count %" PRIu64 "\n", count);
}

static void
write_gauge(struct pw_buf *out, const char *name, const char *help, size_t value)
{
    pw_buf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %zu\n", name, help, name, name, value);
}

void
metrics_write(struct server *server, struct pw_buf *out)
{
    write_requests(server->metrics, out);
    write_durations(server->metrics, out);
    write_gauge(
        out, "pawl_serve_connections", "Open connections of clients.", reaper_open(server->reaper));
    write_gauge(out, "pawl_serve_queued_calls", "Calls that wait for a connection to the database.",
        callers_waiting(server->callers));
    write_gauge(out, "pawl_serve_waiting_requests", "Requests that wait for the end of a run.",
        waits_count(server->waits));
    write_gauge(out, "pawl_serve_streams", "Open streams of events.", live_count(server->live));
}
