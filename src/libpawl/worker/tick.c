/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Housekeeping: the worker calls pawl.tick() when a claim or a heartbeat has answered that a tick is due. The procedure commits, so it is
 * a separate request. It uses the control connection, where no commit of a run waits for it.
 */
#include "libpawl/worker/tick.h"

#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <assert.h>

/* The engine does housekeeping at most ten times a second. */
static const int64_t tick_every_us = 100000;
/* After a tick that failed: the role may lack the right, or the schema may be older than the library. */
static const int64_t tick_failed_us = 10000000;

void
pw_tick_soon(pawl_worker *worker)
{
    worker->tick.wanted = true;
}

void
pw_tick_ahead(pawl_worker *worker)
{
    worker->tick.first = true;
    pw_tick_soon(worker);
}

/* Behind a pooler the next heartbeat waits for the tick's reply, so a third of the lease is the most that it may take. */
static int64_t
tick_limit_us(const pawl_worker *worker)
{
    int64_t limit_us = pw_ms_to_us(worker->settings.connect_timeout_ms);
    int64_t third_us = pw_ms_to_us(worker->settings.lease_ms) / 3;

    return pw_conn_pooled(worker->session.conn) && third_us < limit_us ? third_us : limit_us;
}

void
pw_tick_turn(pawl_worker *worker, int64_t now_us)
{
    struct pw_params params;
    struct pw_error err = {0};

    if (!worker->tick.wanted || worker->tick.request.sent || now_us < worker->tick.at_us ||
        worker->session.state != PW_SESSION_LIVE || worker->session.conn == NULL ||
        !pw_conn_can_send(worker->session.conn))
        return;
    pw_params_init(&params);
    worker->tick.request =
        (struct pw_request){.kind = PW_REQUEST_TICK, .session = worker->session.id};
    worker->tick.request.sent_us = now_us;
    worker->tick.request.deadline_us = pw_add_us(now_us, tick_limit_us(worker));
    worker->tick.request.sent = pw_conn_send(worker->session.conn, pw_statement(PW_STMT_TICK),
                                    &params, &worker->tick.request, &err) == PAWL_OK;
    worker->tick.at_us = pw_add_us(now_us, tick_every_us);
    if (!worker->tick.request.sent)
        return;
    worker->tick.wanted = false;
    pw_conn_pump(worker->session.conn);
}

bool
pw_tick_first(pawl_worker *worker, int64_t now_us)
{
    if (!worker->tick.first)
        return false;
    pw_tick_turn(worker, now_us);
    /* If no tick could be sent, the claim does not wait. */
    worker->tick.first = worker->tick.request.sent;
    return worker->tick.first;
}

int64_t
pw_tick_next_us(const pawl_worker *worker)
{
    if (worker->tick.request.sent)
        return worker->tick.request.deadline_us;
    /* A connection that cannot send now can send again after its next reply, which wakes the thread. */
    return worker->tick.wanted && pw_conn_can_send(worker->session.conn) ? worker->tick.at_us
                                                                         : INT64_MAX;
}

void
pw_tick_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    assert(reply->tag == &worker->tick.request);
    worker->tick.first = false;
    if (reply->status == PAWL_OK) {
        worker->tick.failed = false;
        return;
    }
    if (!worker->tick.failed)
        pw_log_error(
            &worker->settings.logger, PAWL_LOG_WARNING, "tick_failed", NULL, &reply->error);
    worker->tick.failed = true;
    worker->tick.at_us = pw_add_us(now_us, tick_failed_us);
}
