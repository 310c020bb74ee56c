/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/rest.h"

#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <assert.h>

/*
 * Looks: claims of a worker that rests, so long after its last notification, its last run, or the reply of rest(). 1. A triggers a run, and
 * decides that no worker needs to be notified, because B has just been. 2. B claims, and does not see A's run. 3. A commits. B finds the
 * run at its next look.
 */
static const int64_t looks_us[] = {3000, 10000, 40000, 150000};

enum {
    LOOKS = sizeof(looks_us) / sizeof(looks_us[0])
};

/* Calls of pass_on() after claims that returned all that they asked for are at least so far apart. */
static const int64_t pass_gap_us = 20000;
/*
 * A worker that was notified in vain passes on at most once in this time. 1. A run is ready, and no claim gets it: another transaction has
 * locked it. 2. A is notified, finds nothing, and passes on to B, which passes on to A. Without the pause they would do nothing else.
 */
static const int64_t vain_gap_us = 1000000;

/* Producers rely on this worker from now on, as far as the looks reach. */
static void
owe(pawl_worker *worker, int64_t now_us)
{
    worker->claimer.rest.owes = true;
    worker->claimer.rest.owes_until_us = pw_add_us(now_us, looks_us[LOOKS - 1]);
}

void
pw_rest_begin(pawl_worker *worker, bool woken, int64_t now_us)
{
    worker->claimer.rest.since_us = now_us;
    worker->claimer.rest.looks = 0;
    worker->claimer.rest.woken = woken;
    if (woken)
        owe(worker, now_us);
}

int64_t
pw_rest_look_us(const pawl_worker *worker)
{
    const struct pw_rest *rest = &worker->claimer.rest;

    /* guard:rest_looks */
    return rest->looks < LOOKS ? pw_add_us(rest->since_us, looks_us[rest->looks]) : INT64_MAX;
}

static void
send_pass_on(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;
    struct pw_params params;
    struct pw_error err = {0};

    /* Behind a pooler a claim is in flight alone, and no worker there listens. */
    if (rest->pass.sent || !pw_conn_can_send(conn))
        return;
    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    rest->pass = pw_claim_request(worker, PW_REQUEST_PASS_ON, now_us);
    rest->passer = writer->conn == conn ? writer : NULL;
    rest->pass.sent =
        pw_conn_send(conn, pw_statement(PW_STMT_PASS_ON), &params, &rest->pass, &err) == PAWL_OK;
    rest->passed = rest->pass.sent;
    rest->pass_at_us = pw_add_us(now_us, pass_gap_us);
}

void
pw_rest_look(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;

    while (pw_rest_look_us(worker) <= now_us)
        rest->looks++;
    rest->passed = false;
    /* guard:pass_on_vain */
    if (worker->claimer.idle == PW_IDLE &&
        (rest->passes || (rest->woken && now_us >= rest->vain_at_us)))
        send_pass_on(worker, writer, conn, now_us);
}

/*
 * 1. A triggers a run, and notifies B. 2. C triggers a run, and notifies no worker, because B was just notified. 3. B claims the run of A, and has
 * no place for another one. 4. C commits. Without this no worker would be notified of its run, although D rests. The same if B has got a
 * run in another way before it is notified.
 */
int64_t
pw_rest_full_us(const pawl_worker *worker)
{
    const struct pw_rest *rest = &worker->claimer.rest;
    int64_t at_us = pw_rest_look_us(worker);

    if (rest->pass.sent || (!rest->owes && !worker->claimer.hint_pending))
        return INT64_MAX;
    if (worker->claimer.hint_pending)
        at_us = 0;
    else if (at_us == INT64_MAX)
        at_us = rest->owes_until_us;
    /* guard:pass_on_full */
    return at_us > rest->pass_at_us ? at_us : rest->pass_at_us;
}

void
pw_rest_full(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;

    if (worker->claimer.hint_pending)
        pw_rest_begin(worker, true, now_us);
    worker->claimer.hint_pending = false;
    while (pw_rest_look_us(worker) <= now_us)
        rest->looks++;
    rest->owes = now_us < rest->owes_until_us;
    send_pass_on(worker, writer, conn, now_us);
    pw_conn_pump(conn);
}

void
pw_rest_claimed(pawl_worker *worker, int32_t count, bool resting, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;
    struct pw_writer *writer = worker->claimer.writer;

    if (count == 0) {
        if (rest->passed && !rest->passes)
            rest->vain_at_us = pw_add_us(now_us, vain_gap_us);
        return;
    }
    pw_rest_begin(worker, false, now_us);
    if (resting)
        owe(worker, now_us);
    rest->often = rest->ran_us > 0 && now_us < pw_add_us(rest->ran_us, PW_REST_AFTER_US);
    rest->ran_us = now_us;
    rest->due = false;
    rest->passes = true;
    /* guard:pass_on_claimed */
    if (!rest->passed && (resting || (count >= worker->claimer.most && now_us >= rest->pass_at_us)))
        send_pass_on(worker, writer,
            worker->claimer.on_control ? worker->session.conn : writer->conn, now_us);
}

bool
pw_rest_send(pawl_worker *worker, struct pw_conn *conn, bool none_held, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;
    int64_t next_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.poll_ms) * 13 / 10);
    struct pw_params params;
    struct pw_error err = {0};

    /* Instead of a heartbeat that would be due before the next request. */
    rest->renews =
        none_held && worker->session.heartbeat_at_us < next_us && !worker->session.heartbeat.sent;
    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    pw_params_bool(&params, rest->renews);
    pw_params_bool(&params, pw_session_can_listen(worker));
    rest->request = pw_claim_request(worker, PW_REQUEST_REST, now_us);
    rest->request.sent =
        pw_conn_send(conn, pw_statement(PW_STMT_REST), &params, &rest->request, &err) == PAWL_OK;
    return rest->request.sent;
}

/* Handles the reply to a worker that had asked before: it claims if there may be something. */
static void
polled(pawl_worker *worker, bool ready, bool tick_due, int64_t now_us)
{
    /*
     * If a tick makes a task ready, this worker is notified, or another one. Without notifications it claims after the tick; and if the
     * role may not tick, the claim does what is late.
     */
    bool claims = tick_due && (!worker->session.listening || worker->tick.failed);

    if (claims)
        pw_tick_ahead(worker);
    else if (tick_due)
        pw_tick_soon(worker);
    if (!ready && !claims)
        pw_claim_wait(worker, now_us);
}

void
pw_rest_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    struct pw_rest *rest = &worker->claimer.rest;
    bool listen = false, ready = true, tick_due = false, draining = false;

    assert(reply->tag == &rest->request);
    if (pw_session_check(worker, reply, now_us) || rest->request.session != worker->session.id ||
        worker->session.state != PW_SESSION_LIVE)
        return;
    rest->due = false;
    worker->claimer.at_us = now_us;
    if (reply->status != PAWL_OK || pw_rows_count(&reply->rows) != 1 ||
        !pw_rows_bool(&reply->rows, 0, 0, &listen) || !pw_rows_bool(&reply->rows, 0, 1, &ready) ||
        !pw_rows_bool(&reply->rows, 0, 2, &tick_due) ||
        !pw_rows_bool(&reply->rows, 0, 3, &draining)) {
        /* The claim that comes next shows whether there is something. */
        if (!rest->failed)
            pw_log_error(
                &worker->settings.logger, PAWL_LOG_WARNING, "rest_failed", NULL, &reply->error);
        rest->failed = true;
        return;
    }
    rest->failed = false;
    if (rest->renews && !reply->unreplicated)
        pw_session_renewed(worker, rest->request.sent_us);
    worker->session.listen_wanted = listen;
    if (draining)
        pawl_worker_drain(worker);
    if (worker->claimer.idle == PW_LOOKING) {
        if (tick_due)
            pw_tick_soon(worker);
        pw_rest_begin(worker, false, now_us);
        rest->owes = false;
    } else {
        polled(worker, ready, tick_due, now_us);
    }
}

void
pw_rest_broken(pawl_worker *worker, const struct pw_writer *writer)
{
    if (worker->claimer.rest.passer == writer)
        worker->claimer.rest.pass.sent = false;
}
