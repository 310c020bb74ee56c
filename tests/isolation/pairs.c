/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every write verb against every other, on one run. A verb is one statement, so the schedules of a pair are: A begins and
 * calls, B calls while A's transaction is open, then A commits or rolls back. What both were answered, whether B had to
 * wait and how the run ended stands in matrix.txt, one line for each schedule; what must hold after every schedule is
 * asked of iso.faults() and iso.probe() in lib.sql.
 *
 *     tests/harness/with_isolation_database pairs [--accept] [A [B]]
 *
 * --accept writes matrix.txt; read the difference before you commit it. With names, only those pairs are run and compared; '' as the first is any.
 * With PAWL_SHARE=N in the environment one pair of N is, and PAWL_SEED says which. The output is TAP.
 */
#include "harness.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a verb finds; made by the first of a pair. */
static const struct state {
    const char *name;
    const char *sql;
} states[] = {
    {"queued", "select iso.trigger('r', 'k')"},
    {"held", "select iso.trigger('r', 'k'); select iso.claim('w1')"},
    {"waits event",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.wait('r', 'w1', 'event', 'e#1', '{\"topic\": \"t\"}')"},
    {"waits signal",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.wait('r', 'w1', 'signal', 'g#1', '{\"signal\": \"go\"}')"},
    {"waits child",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.start_child('r', 'w1', 'c#1', 'c'); select iso.commit('r', 'w1', 'suspend', "
        "null, null);"
        "select iso.claim('w1')"},
    {"slept",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.wait('r', 'w1', 'sleep', 'nap#1', '{\"ms\": 60000}'); select iso.moves_on('1 "
        "min');"
        "update pawl_data.worker set lease_until = pawl.now() + lease"},
    {"sleeps",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.wait('r', 'w1', 'sleep', 'nap#1', '{\"ms\": 60000}')"},
    {"paused", "select iso.trigger('r', 'k'); select pawl.pause(array[iso.id('r')])"},
    {"failed",
        "select iso.trigger('r', 'k'); select iso.claim('w1'); select iso.commit('r', 'w1', "
        "'step', 'a#1');"
        "select iso.commit('r', 'w1', 'fail', null, '\"broken\"', '{\"final\": true}')"},
    {"stuck",
        "select iso.trigger('r', 'k'); select iso.claim('w1');"
        "select iso.commit('r', 'w1', 'begin', 'u#1', '{}', '{\"undo\": {\"handler\": \"h\"}}');"
        "select iso.commit('r', 'w1', 'fail', null, '\"broken\"', '{\"final\": true}'); select "
        "iso.claim('w1');"
        "select iso.commit('r', 'w1', 'fail', null, '\"no undo\"', '{\"final\": true}')"},
    {"flow queued", "select iso.trigger('r', 'k', workflow => 'f')"},
    {"flow held", "select iso.trigger('r', 'k', workflow => 'f'); select iso.claim('w1', 10)"},
    {"flow sleeps",
        "select iso.trigger('r', 'k', workflow => 'f'); select iso.claim('w1', 10);"
        "select iso.task('r', 'w1', 'a', 'sleep', null, 'nap#1', '{\"ms\": 60000}');"
        "select iso.task('r', 'w1', 'a', 'suspend', null)"},
    {"flow lost",
        "select iso.trigger('r', 'k', workflow => 'f'); select iso.claim('w1', 10);"
        "select iso.moves_on('1 min')"},
    {"flow failed",
        "select iso.trigger('r', 'k', workflow => 'f'); select iso.claim('w1', 10);"
        "select iso.task('r', 'w1', 'b', 'complete'); select iso.task('r', 'w1', 'a', 'fail')"},
    {"lost", "select iso.trigger('r', 'k'); select iso.claim('w1'); select iso.moves_on('1 min')"},
    {"expired", "select iso.trigger('r', 'k', expires => '1 s'); select from iso.moves_on('1 s')"},
    {"schedule none", "select from iso.moves_on('0')"},
    {"schedule due", "select iso.schedule(); select from iso.moves_on('1 min')"},
    {"schedule paused",
        "select iso.schedule(); select pawl.pause_schedule('s'); select from iso.moves_on('1 "
        "min')"},
    /* The run of the last time is held, and the next one is due. */
    {"overlap",
        "select iso.schedule('cancel'); select from iso.moves_on('1 min');"
        "select iso.fire(); insert into iso.run select 'r', last_run from pawl_data.schedule;"
        "select iso.claim('w1'); select from iso.moves_on('1 min');"
        "update pawl_data.worker set lease_until = pawl.now() + lease"},
};

/*
 * The verbs. %s in a call is the side, a or b, where both must not write the same. A verb that never waits answers at
 * once whatever others hold; a forward verb records progress, which no cancelled run may have. One verb alone stops all
 * writes until it commits, or a token of the old epoch could still be taken after it has returned. The run of a verb whose
 * state is that of a flow is one of a flow, so what a worker does with the task of a coded run is left out there.
 */
enum kind {
    VERB_PLAIN = 0,
    VERB_NEVER_WAITS = 1,
    VERB_FORWARD = 2,
    VERB_CANCELS = 4,
    VERB_STOPS_ALL = 8,
    VERB_ANY_RUN = 16, /* means something for a flow, too */
};

static const struct verb {
    const char *name;
    const char *state;
    unsigned kind;
    const char *call;
} verbs[] = {
    {"trigger_key", "queued", VERB_PLAIN, "iso.trigger('%s', 'k')"},
    {"trigger_new_key", "queued", VERB_PLAIN, "iso.trigger('%s', 'n')"},
    {"trigger_id", "held", VERB_PLAIN, "iso.trigger('%s', id => iso.id('r'))"},
    {"trigger_replace", "queued", VERB_PLAIN, "iso.trigger('%s', 'k', replace => true)"},
    {"trigger_debounce", "queued", VERB_PLAIN, "iso.trigger('%s', 'k', debounce => '10 s')"},
    {"replace_begun", "held", VERB_PLAIN, "iso.trigger('%s', 'k', replace => true)"},
    {"expire", "expired", VERB_NEVER_WAITS, "iso.tick()"},
    {"claim_expired", "expired", VERB_NEVER_WAITS, "iso.claim('w2')"},
    {"claim", "queued", VERB_NEVER_WAITS, "iso.claim('w2')"},
    {"heartbeat", "held", VERB_ANY_RUN,
        "coalesce((select notice from pawl.heartbeat(iso.session('w1'))), 'nothing')"},
    {"step", "held", VERB_NEVER_WAITS | VERB_FORWARD, "iso.commit('r', 'w1', 'step', 's#1')"},
    {"begin_undo", "held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.commit('r', 'w1', 'begin', 'u#1', '{}', '{\"undo\": {\"handler\": \"h\"}}')"},
    {"failed_try", "held", VERB_NEVER_WAITS,
        "iso.commit('r', 'w1', 'retry', 's#1', '\"try again\"')"},
    {"complete", "held", VERB_NEVER_WAITS | VERB_FORWARD, "iso.commit('r', 'w1', 'complete')"},
    {"fail", "held", VERB_NEVER_WAITS,
        "iso.commit('r', 'w1', 'fail', null, '\"broken\"', '{\"final\": true}')"},
    {"sleep", "held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.wait('r', 'w1', 'sleep', 'nap#1', '{\"ms\": 60000}')"},
    {"wait_event", "held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.wait('r', 'w1', 'event', 'e#1', '{\"topic\": \"t\"}')"},
    {"wait_signal", "held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.wait('r', 'w1', 'signal', 'g#1', '{\"signal\": \"go\"}')"},
    {"child_start", "held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.start_child('r', 'w1', 'c#1', 'c%s')"},
    {"child_complete", "waits child", VERB_NEVER_WAITS, "iso.commit('c', 'w1', 'complete')"},
    {"release", "held", VERB_NEVER_WAITS, "iso.commit('r', 'w1', 'release', null, null)"},
    {"record_step", "held", VERB_FORWARD, "iso.record_step('r', 'w1', 's#1')"},
    {"emit", "waits event", VERB_PLAIN, "iso.emit('t')"},
    {"signal", "waits signal", VERB_ANY_RUN, "iso.signal('r', 'go')"},
    {"cancel", "held", VERB_CANCELS | VERB_ANY_RUN,
        "(select answer from pawl.cancel(array[iso.id('r')]))"},
    {"kill", "held", VERB_CANCELS | VERB_ANY_RUN,
        "(select answer from pawl.kill(array[iso.id('r')]))"},
    {"pause", "queued", VERB_ANY_RUN, "(select answer from pawl.pause(array[iso.id('r')]))"},
    {"resume", "paused", VERB_ANY_RUN, "(select answer from pawl.resume(array[iso.id('r')]))"},
    {"wake", "sleeps", VERB_FORWARD | VERB_ANY_RUN,
        "(select answer from pawl.wake(array[iso.id('r')]))"},
    {"retry", "failed", VERB_ANY_RUN, "(select answer from pawl.retry(array[iso.id('r')]))"},
    {"fork", "failed", VERB_ANY_RUN, "(select answer from pawl.fork(iso.id('r')))"},
    {"purge", "failed", VERB_ANY_RUN, "(select answer from pawl.purge(array[iso.id('r')]))"},
    {"sweep", "lost", VERB_NEVER_WAITS, "coalesce(pawl.housekeep()::text, '')"},
    {"timer", "slept", VERB_NEVER_WAITS, "iso.tick()"},
    {"leave", "held", VERB_ANY_RUN, "pawl.leave(iso.session('w1'))"},
    {"raise_epoch", "held", VERB_STOPS_ALL | VERB_ANY_RUN, "pawl.raise_epoch('test')"},
    {"pause_all", "queued", VERB_STOPS_ALL | VERB_ANY_RUN, "pawl.pause_all('test')"},
    {"rollback_retry", "stuck", VERB_PLAIN,
        "(select answer from pawl.rollback_retry(array[iso.id('r')]))"},
    {"rollback_skip", "stuck", VERB_PLAIN, "pawl.rollback_skip(iso.id('r'), 'u#1')"},
    {"flow_claim", "flow queued", VERB_NEVER_WAITS, "iso.claim('w2', 10)"},
    {"flow_complete", "flow held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.task('r', 'w1', 'a', 'complete')"},
    {"flow_sibling", "flow held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.task('r', 'w1', 'b', 'complete')"},
    {"flow_fail", "flow held", VERB_NEVER_WAITS, "iso.task('r', 'w1', 'a', 'fail')"},
    {"flow_sibling_fail", "flow held", VERB_NEVER_WAITS, "iso.task('r', 'w1', 'b', 'fail')"},
    {"flow_step", "flow held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.task('r', 'w1', 'b', 'step', '{}', 's#1')"},
    {"flow_record_step", "flow held", VERB_FORWARD, "iso.record_step('r', 'w1', 's#1', 'b')"},
    {"flow_wait", "flow held", VERB_NEVER_WAITS | VERB_FORWARD,
        "iso.task('r', 'w1', 'b', 'signal', null, 'g#1', '{\"signal\": \"go\"}')"},
    {"flow_cancel", "flow held", VERB_CANCELS,
        "(select answer from pawl.cancel(array[iso.id('r')]))"},
    {"flow_kill", "flow held", VERB_CANCELS, "(select answer from pawl.kill(array[iso.id('r')]))"},
    {"flow_pause", "flow held", VERB_PLAIN, "(select answer from pawl.pause(array[iso.id('r')]))"},
    {"flow_wake", "flow sleeps", VERB_FORWARD,
        "(select answer from pawl.wake(array[iso.id('r')]))"},
    {"flow_sweep", "flow lost", VERB_NEVER_WAITS, "coalesce(pawl.housekeep()::text, '')"},
    {"flow_retry", "flow failed", VERB_PLAIN,
        "(select answer from pawl.retry(array[iso.id('r')]))"},
    {"schedule_fire", "schedule due", VERB_NEVER_WAITS, "iso.fire()"},
    {"schedule_create", "schedule none", VERB_PLAIN, "iso.schedule()"},
    {"schedule_pause", "schedule due", VERB_PLAIN, "pawl.pause_schedule('s')"},
    {"schedule_resume", "schedule paused", VERB_PLAIN,
        "pawl.resume_schedule('s', catch_up => 'all')"},
    {"schedule_delete", "schedule due", VERB_PLAIN, "pawl.delete_schedule('s')"},
    {"schedule_backfill", "schedule due", VERB_PLAIN, "iso.backfill()"},
    {"schedule_key", "schedule due", VERB_NEVER_WAITS, "iso.trigger('%s', iso.schedule_key())"},
    {"overlap_fire", "overlap", VERB_NEVER_WAITS, "iso.fire()"},
};

enum {
    STATES = sizeof(states) / sizeof(states[0]),
    VERBS = sizeof(verbs) / sizeof(verbs[0])
};

struct session {
    PGconn *conn;
    char answer[200];
};

static struct session a, b;
static PGconn *control;
static int faults;

static void
keep_answer(struct session *session, PGresult *result)
{
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        (void)snprintf(session->answer, sizeof(session->answer), "%s", PQgetvalue(result, 0, 0));
    else if (code != NULL)
        (void)snprintf(session->answer, sizeof(session->answer), "error %s", code);
    else
        bench_die("%s", PQresultErrorMessage(result));
    if (session->answer[0] == '\0')
        (void)snprintf(session->answer, sizeof(session->answer), "done");
}

static void
send_call(struct session *session, const struct verb *verb, const char *side)
{
    char sql[400];
    char call[300];
    const char *mark = strstr(verb->call, "%s");

    if (mark == NULL)
        (void)snprintf(call, sizeof(call), "%s", verb->call);
    else
        (void)snprintf(
            call, sizeof(call), "%.*s%s%s", (int)(mark - verb->call), verb->call, side, mark + 2);
    (void)snprintf(sql, sizeof(sql), "select %s", call);
    if (PQsendQuery(session->conn, sql) != 1)
        bench_die("%s", PQerrorMessage(session->conn));
}

/* Takes the answer if there is one within so many milliseconds. */
static bool
take_answer(struct session *session, int timeout_ms)
{
    struct pollfd fd = {.fd = PQsocket(session->conn), .events = POLLIN};
    double until = bench_now_s() + timeout_ms / 1000.0;
    PGresult *result;

    while (PQisBusy(session->conn) == 1) {
        int left = (int)((until - bench_now_s()) * 1000.0);

        if (left < 0)
            return false;
        if (poll(&fd, 1, left + 1) < 0 && errno != EINTR)
            bench_die("poll failed");
        if (fd.revents != 0 && PQconsumeInput(session->conn) != 1)
            bench_die("%s", PQerrorMessage(session->conn));
    }
    while ((result = PQgetResult(session->conn)) != NULL) {
        keep_answer(session, result);
        PQclear(result);
    }
    return true;
}

static char *
ask(const char *sql)
{
    PGresult *result = bench_exec(control, sql);
    char *text = strdup(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");

    if (text == NULL)
        bench_die("out of memory");
    PQclear(result);
    return text;
}

/* Whether B waits for a lock, or sleeps between two looks at one. Another reason to be slow is waited out. */
static bool
is_waiting(struct session *session)
{
    char sql[200];
    char *text;
    bool waits;

    (void)snprintf(sql, sizeof(sql),
        "select wait_event_type = 'Lock' or wait_event = 'PgSleep' from pg_stat_activity where pid "
        "= %d",
        PQbackendPID(session->conn));
    text = ask(sql);
    waits = text[0] == 't';
    free(text);
    return waits;
}

static void
fault(const struct verb *first, const struct verb *second, bool commits, const char *what)
{
    faults++;
    (void)printf(
        "# %s, %s, %s: %s\n", first->name, second->name, commits ? "commit" : "rollback", what);
}

static bool
starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void
prepare(const char *name)
{
    bench_do(control, "select from iso.reset()");
    for (size_t i = 0; i < STATES; i++) {
        if (strcmp(states[i].name, name) == 0) {
            bench_do(control, states[i].sql);
            return;
        }
    }
    bench_die("no state \"%s\"", name);
}

static bool
must_not_wait(const struct verb *first, const struct verb *second)
{
    return (second->kind & VERB_NEVER_WAITS) != 0 && (first->kind & VERB_STOPS_ALL) == 0;
}

/*
 * What the two find. A firing that meets the run of the last time has made it; another verb finds what it needs if it comes first.
 */
static const char *
state_of(const struct verb *first, const struct verb *second)
{
    return starts_with(second->state, "overlap") ? second->state : first->state;
}

/*
 * Whether the two can meet: what a flow's worker does needs a flow, and there is nothing else there for others. Verbs of schedules meet
 * each other, and a firing meets what is done with the run of the last time.
 */
static bool
can_meet(const struct verb *first, const struct verb *second)
{
    bool flow = starts_with(first->state, "flow");

    if (starts_with(first->state, "overlap") || starts_with(second->state, "overlap"))
        return strcmp(first->state, "held") == 0 || strcmp(second->state, "held") == 0;
    if (starts_with(first->state, "schedule") || starts_with(second->state, "schedule"))
        return starts_with(first->state, "schedule") && starts_with(second->state, "schedule");
    return starts_with(second->state, "flow") ? flow : !flow || (second->kind & VERB_ANY_RUN) != 0;
}

/* What must hold whatever the two verbs are. */
static void
check(const struct verb *first, const struct verb *second, bool commits, const char *fence_before)
{
    bool first_done = commits && starts_with(a.answer, "ok");
    bool cancelled = ((first->kind & VERB_CANCELS) != 0 && first_done) ||
        ((second->kind & VERB_CANCELS) != 0 && starts_with(b.answer, "ok"));
    char sql[200];
    char *text;

    if ((first->kind & VERB_CANCELS) != 0 && first_done && (second->kind & VERB_FORWARD) != 0 &&
        starts_with(b.answer, "ok"))
        fault(first, second, commits, "progress was taken after an acknowledged cancel");
    text = ask("select iso.faults()");
    if (strcmp(text, "none") != 0)
        fault(first, second, commits, text);
    free(text);
    (void)snprintf(sql, sizeof(sql),
        "select 'the fence went back' where iso.top_fence() < '0%s'::int", fence_before);
    text = ask(sql);
    if (text[0] != '\0')
        fault(first, second, commits, text);
    free(text);
    bench_do(control, "begin");
    text = ask(cancelled ? "select iso.probe(true)" : "select iso.probe(false)");
    if (text[0] != '\0')
        fault(first, second, commits, text);
    free(text);
    bench_do(control, "rollback");
}

static void
run_schedule(const struct verb *first, const struct verb *second, bool commits, FILE *out)
{
    bool waited = false;
    char *fence;
    char *end;

    prepare(state_of(first, second));
    fence = ask("select iso.top_fence()");
    bench_do(a.conn, "begin");
    send_call(&a, first, "a");
    if (!take_answer(&a, 10000))
        bench_die("%s does not answer", first->name);
    bench_do(b.conn, "begin");
    send_call(&b, second, "b");
    for (int i = 0; i < 3000 && !waited; i++) {
        if (take_answer(&b, 3))
            break;
        waited = is_waiting(&b);
        /*
         * A large claim looks a few times whether it is its turn: that is no wait, however coarse the machine's
         * timer is. A verb that may wait gets less time, because many do.
         */
        if (waited && take_answer(&b, must_not_wait(first, second) ? 2000 : 20)) {
            waited = false;
            break;
        }
    }
    bench_do(a.conn, commits ? "commit" : "rollback");
    if (waited && !take_answer(&b, 10000))
        bench_die("%s still waits after %s has ended", second->name, first->name);
    bench_do(b.conn, "commit");
    end = ask("select iso.outcome()");
    (void)fprintf(out, "%s | %s | %s | %s | %s%s | %s\n", first->name, second->name,
        commits ? "commit" : "rollback", a.answer, waited ? "waits, " : "", b.answer, end);
    if (waited && must_not_wait(first, second))
        fault(first, second, commits, "the second waits, and must not");
    check(first, second, commits, fence);
    free(fence);
    free(end);
}

/* Which pairs were played. */
static bool played[VERBS][VERBS];

/* Whether a pair belongs to this call: the pairs of these names, or all; with PAWL_SHARE=N one of N, which PAWL_SEED chooses. */
static bool
is_wanted(size_t i, size_t j, const char *first, const char *second)
{
    const char *share = getenv("PAWL_SHARE");
    const char *seed = getenv("PAWL_SEED");
    long number = share == NULL ? 1 : bench_number(share, "PAWL_SHARE", 1, 1000000);
    long turn = seed == NULL ? 0 : bench_number(seed, "PAWL_SEED", 0, INT_MAX);

    if ((first != NULL && first[0] != '\0' && strcmp(first, verbs[i].name) != 0) ||
        (second != NULL && strcmp(second, verbs[j].name) != 0))
        return false;
    return ((long)(i * 7 + j) + turn) % number == 0;
}

/* Whether a line of the matrix is about a pair that was played. */
static bool
is_played(const char *line)
{
    char start[100];

    for (size_t i = 0; i < VERBS; i++) {
        for (size_t j = 0; j < VERBS; j++) {
            (void)snprintf(start, sizeof(start), "%s | %s | ", verbs[i].name, verbs[j].name);
            if (played[i][j] && starts_with(line, start))
                return true;
        }
    }
    return false;
}

/* Prints lines that differ, and returns how many do. Both files have their lines in the same order. */
static int
compare(FILE *expected, FILE *seen)
{
    char *want = NULL;
    char *have = NULL;
    size_t want_size = 0;
    size_t have_size = 0;
    int count = 0;

    for (;;) {
        ssize_t want_length;
        ssize_t have_length = getline(&have, &have_size, seen);

        do
            want_length = getline(&want, &want_size, expected);
        while (want_length > 0 && (want[0] == '#' || !is_played(want)));
        if (want_length < 0 && have_length < 0)
            break;
        if (want_length < 0 || have_length < 0 || strcmp(want, have) != 0) {
            count++;
            if (want_length >= 0)
                (void)printf("# - %s", want);
            if (have_length >= 0)
                (void)printf("# + %s", have);
        }
    }
    free(want);
    free(have);
    return count;
}

int
main(int argc, char **argv)
{
    static const char matrix[] = PAIRS_SOURCE_ROOT "/tests/isolation/matrix.txt";
    bool accept = argc > 1 && strcmp(argv[1], "--accept") == 0;
    const char *first = argc > 1 + accept ? argv[1 + accept] : NULL;
    const char *second = argc > 2 + accept ? argv[2 + accept] : NULL;
    FILE *seen = accept ? fopen(matrix, "w") : tmpfile();
    int schedules = 0;
    int different = 0;

    if (seen == NULL)
        bench_die("cannot write the matrix");
    if (accept && first != NULL)
        bench_die("--accept is for the whole matrix");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    a.conn = bench_connect();
    b.conn = bench_connect();
    control = bench_connect();
    /* The helpers of pgTAP are loud. */
    bench_do(control, "set client_min_messages to warning");
    if (accept)
        (void)fprintf(seen,
            "# first | second | the first does | first's answer | second's answer | how it ends\n");
    for (size_t i = 0; i < VERBS; i++) {
        for (size_t j = 0; j < VERBS; j++) {
            if (!is_wanted(i, j, first, second) || !can_meet(&verbs[i], &verbs[j]))
                continue;
            played[i][j] = true;
            run_schedule(&verbs[i], &verbs[j], true, seen);
            run_schedule(&verbs[i], &verbs[j], false, seen);
            schedules += 2;
        }
    }
    PQfinish(a.conn);
    PQfinish(b.conn);
    PQfinish(control);
    (void)printf("# %d schedules\n1..2\n", schedules);
    (void)printf("%s 1 - no schedule breaks an invariant\n", faults == 0 ? "ok" : "not ok");
    if (!accept) {
        FILE *expected = fopen(matrix, "r");

        rewind(seen);
        different = expected == NULL ? schedules : compare(expected, seen);
        if (expected != NULL)
            (void)fclose(expected);
    }
    (void)printf(
        "%s 2 - every schedule ends as matrix.txt says\n", different == 0 ? "ok" : "not ok");
    if (fclose(seen) != 0)
        bench_die("cannot write the matrix");
    return faults == 0 && different == 0 ? 0 : 1;
}
