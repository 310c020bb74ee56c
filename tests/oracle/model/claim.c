/* SPDX-License-Identifier: Apache-2.0 */
/* Claiming: who may be given what, and what is handed out with it. */
#include "flow.h"

#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int
least(int a, int b)
{
    return a < b ? a : b;
}

static const char *
or_null(const char *json)
{
    return json == NULL ? "null" : json;
}

static int
compare_steps(const void *a, const void *b)
{
    const struct oracle_step *const *x = a;
    const struct oracle_step *const *y = b;

    if ((*x)->seq != (*y)->seq)
        return (*x)->seq < (*y)->seq ? -1 : 1;
    return strcmp((*x)->name, (*y)->name);
}

/* What replay needs: a line for each record that counts, each open wait, each failed try and each undo to do. */
static void
show_record(struct oracle *o, struct oracle_run *run, struct pw_buf *reply)
{
    static const char *const states[] = {"", "SUCCESS", "ERROR", "RUNNING", "SKIPPED"};
    const struct oracle_step **list = NULL;
    size_t count = 0;

    for (size_t i = 0; i < run->steps_count; i++)
        if ((run->steps[i].state != ORACLE_ERROR || run->steps[i].round == run->round) &&
            run->steps[i].full_name == NULL) {
            const struct oracle_step **place = oracle_push(&list, &count, sizeof(*place));

            *place = &run->steps[i];
        }
    if (count > 1)
        qsort(list, count, sizeof(*list), compare_steps);
    for (size_t i = 0; i < count; i++)
        pw_buf_addf(reply, " step %s %d %s %d %s %s\n", list[i]->name, list[i]->kind,
            states[list[i]->state], list[i]->seq, or_null(list[i]->output),
            or_null(list[i]->error));
    free(list);
    oracle_sort_lists(run);
    for (size_t i = 0; i < run->waits_count; i++)
        pw_buf_addf(reply, " wait %s %d %s\n", run->waits[i].name, run->waits[i].kind,
            run->waits[i].child == NULL ? "-" : run->waits[i].child);
    for (size_t i = 0; i < run->tries_count; i++)
        pw_buf_addf(reply, " try \"%s\" %d\n", run->tries[i].name, run->tries[i].n);
    if (run->rolling_back)
        pw_buf_addf(reply, " undo %s\n", oracle_undone(o, run, NULL));
}

int64_t
oracle_left_ms(const struct oracle *o, const struct oracle_run *run)
{
    if (run->timeout_at == ORACLE_NONE)
        return -1;
    return run->timeout_at < o->now ? 0 : (run->timeout_at - o->now) / 1000;
}

static void
hand_out(struct oracle *o, struct oracle_run *run, struct pw_buf *reply)
{
    const struct oracle_queue *queue = &o->queues[run->queue];
    int64_t left = oracle_left_ms(o, run->whole);

    pw_buf_addf(reply, "%s/%d %d %s %d %d '%s' %s %s %s ", run->id, run->task, run->fence,
        queue->name, run->round, run->attempt, run->tenant, run->rolling_back ? "t" : "f",
        run->crashes >= ORACLE_SUSPECT_AT ? "t" : "f",
        run->task > 0 ? oracle_task_input(o, run) : run->input);
    pw_buf_addf(reply, "%s %" PRId64 " %" PRId64 "\n", or_null(run->metadata),
        queue->step_timeout_us == ORACLE_NONE ? -1 : queue->step_timeout_us / 1000, left);
    show_record(o, run, reply);
}

void
oracle_settle_due(struct oracle *o, struct oracle_run *run, size_t at)
{
    struct oracle_wait wait = run->waits[at];
    struct oracle_step *step = oracle_record(o, run, wait.name, wait.kind,
        wait.kind == ORACLE_SLEEP ? ORACLE_SUCCESS : ORACLE_ERROR, wait.seq);

    step->started_at = wait.created_at;
    if (wait.kind != ORACLE_SLEEP)
        step->error = oracle_error(o, "timeout", "the wait timed out");
    oracle_drop(run->waits, &run->waits_count, sizeof(wait), at);
}

/* A claim comes to it. */
static bool
may_find(struct oracle *o, const struct oracle_session *s, const struct oracle_run *run,
    enum oracle_place place)
{
    return !o->all_paused && run->living && run->place == place &&
        !run->workflow->workflow_paused && !o->queues[run->queue].paused &&
        (s->queues >> run->queue & 1) != 0 && !oracle_locked(o, run);
}

static bool
may_take(struct oracle *o, const struct oracle_session *s, const struct oracle_run *run,
    enum oracle_place place)
{
    return may_find(o, s, run, place) && !oracle_is_left_over(run) && !oracle_has_expired(o, run) &&
        oracle_room_of(o, run) > 0;
}

static bool
is_laned(const struct oracle *o, const struct oracle_run *run)
{
    return o->queues[run->queue].laned;
}

/* RUN, or RUN/TASK. */
static struct oracle_run *
find_chosen(struct oracle *o, const char *chosen)
{
    const char *slash = strchr(chosen, '/');
    struct oracle_run *run;
    int64_t task = 0;
    char id[40];

    if (slash == NULL)
        return oracle_find_run(o, chosen);
    if (slash - chosen >= (ptrdiff_t)sizeof(id) || !pw_parse_i64(slash + 1, 0, INT32_MAX, &task))
        return NULL;
    memcpy(id, chosen, (size_t)(slash - chosen));
    id[slash - chosen] = '\0';
    run = oracle_find_run(o, id);
    return run == NULL ? NULL : oracle_find_task(run, (int)task);
}

/* What a call took, as it was told and as it is known here. */
struct taken {
    const char *const *names;
    struct oracle_run **runs; /* NULL: there is no such */
    size_t count;
};

static struct taken
find_taken(struct oracle *o, const char *const *chosen)
{
    struct taken taken = {.names = chosen};

    while (chosen[taken.count] != NULL) {
        struct oracle_run **place =
            oracle_push(&taken.runs, &taken.count, sizeof(struct oracle_run *));

        *place = find_chosen(o, chosen[taken.count - 1]);
    }
    return taken;
}

static bool
is_taken(const struct taken *taken, const struct oracle_run *run)
{
    for (size_t i = 0; i < taken->count; i++)
        if (taken->runs[i] == run)
            return true;
    return false;
}

static bool
comes_before(const struct oracle_run *a, const struct oracle_run *b)
{
    return a->priority != b->priority ? a->priority < b->priority : a->due_at < b->due_at;
}

/* How many a claim is given: at least, and at most. */
struct wanted {
    int least;
    int most;
};

enum {
    MOVED_LEAST =
        5, /* so many ready tasks, if there are, a claim of a queue with lanes puts in line */
};

/* Whether a claim of the queue puts all ready tasks in line that are not there yet. A trigger has put its tasks in line itself. */
static bool
are_all_in_line(struct oracle *o, const struct oracle_session *s, int queue)
{
    int outside = 0;

    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
        outside += run->queue == queue && !run->in_line && may_find(o, s, run, ORACLE_READY);
    return outside <= MOVED_LEAST;
}

/* Of one queue, or one lane of it, the first comes first. */
static bool
is_before(struct oracle *o, const struct oracle_session *s, const struct oracle_run *a,
    const struct oracle_run *b)
{
    if (a->queue != b->queue || !comes_before(a, b))
        return false;
    return !is_laned(o, a) || (oracle_same_lane(a, b) && are_all_in_line(o, s, a->queue));
}

/* More of one lane than it has room for. */
static bool
is_over_limit(struct oracle *o, const struct taken *taken, const struct oracle_run *run)
{
    int count = 0;

    for (size_t i = 0; i < taken->count; i++)
        count += taken->runs[i] != NULL && oracle_same_lane(taken->runs[i], run);
    return count > oracle_room_of(o, run);
}

/* Everything that was taken could be, and nothing that comes before it was left. */
static const char *
choice_problem(struct oracle *o, const struct oracle_session *s, const struct taken *taken,
    enum oracle_place place, struct wanted wanted)
{
    for (size_t i = 0; i < taken->count; i++) {
        const struct oracle_run *run = taken->runs[i];

        if (run == NULL || !may_take(o, s, run, place))
            return oracle_keepf(o, "not allowed: %s could not be claimed", taken->names[i]);
        if (is_over_limit(o, taken, run))
            return oracle_keepf(
                o, "not allowed: with %s its lane is over its limit", taken->names[i]);
        for (struct oracle_run *other = o->runs; other != NULL; other = oracle_next_task(other))
            if (is_before(o, s, other, run) && may_take(o, s, other, place) &&
                !is_taken(taken, other))
                return oracle_keepf(o, "not allowed: %s/%d comes before %s", other->id, other->task,
                    taken->names[i]);
    }
    if ((int)taken->count < wanted.least || (int)taken->count > wanted.most)
        return oracle_keepf(o, "not allowed: %d tasks were claimed, not %d to %d",
            (int)taken->count, wanted.least, wanted.most);
    return NULL;
}

/* A claim has found tasks of runs that are to end, and takes them away instead; whether it came to them is not told. */
static void
end_left_over(struct oracle *o, const struct oracle_session *s, enum oracle_place place)
{
    for (struct oracle_run *run = o->runs; run != NULL; run = run->next) {
        bool found = false;

        for (struct oracle_run *task = run->tasks; task != NULL; task = task->next)
            if (oracle_is_left_over(task) && may_find(o, s, task, place)) {
                found = true;
                for (size_t i = 0; i < task->waits_count;)
                    if (task->waits[i].due_at <= o->now)
                        oracle_settle_due(o, task, i);
                    else
                        i++;
            }
        if (found && !oracle_flow_is_locked(o, run))
            oracle_let_end(o, run);
        if (oracle_has_expired(o, run) && !oracle_locked(o, run))
            oracle_expire(o, run);
    }
}

/* What there is for a claim. */
struct found {
    int ready; /* at most so many: of each lane what it has room for */
    int sure;  /* at least so many, if it asks for that many */
    int suspects;
    int sure_suspects;
    int left;          /* of runs that are to end */
    int left_suspects; /* the same of suspects */
    int holds;         /* it has that many others */
};

/* Whether the run is one of those that its lane has room for. */
static bool
fits(struct oracle *o, const struct oracle_session *s, const struct oracle_run *run)
{
    int room = oracle_room_of(o, run);

    if (room == INT_MAX)
        return true;
    for (struct oracle_run *other = o->runs; other != run; other = oracle_next_task(other))
        room -= oracle_same_lane(other, run) && may_take(o, s, other, ORACLE_READY);
    return room > 0;
}

/* How much a claim takes of a queue with lanes: of a single lane its share of the claim, of several something, because lanes that give little
 * have their shares, too. Nothing is sure where ready tasks may have to be put in line first, and the claim may not come to it. */
static int
sure_of_lanes(struct oracle *o, const struct oracle_session *s, int queue, int most)
{
    const struct oracle_run *first = NULL;
    bool several = false, outside = false;
    int count = 0, queues = 0;

    for (int i = 0; i < o->queues_count; i++)
        queues += (int)(s->queues >> i & 1);
    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (run->queue == queue && may_take(o, s, run, ORACLE_READY)) {
            first = first == NULL ? run : first;
            several = several || !oracle_same_lane(first, run);
            outside = outside || !run->in_line;
            count += fits(o, s, run);
        }
    if (count == 0 || outside || !are_all_in_line(o, s, queue))
        return 0;
    return several ? 1 : least(count, (most + queues) / queues);
}

static struct found
look_around(struct oracle *o, const struct oracle_session *s, bool unseen, int most)
{
    struct found f = {0};

    for (int i = 0; i < o->queues_count; i++)
        if (o->queues[i].laned)
            f.sure += sure_of_lanes(o, s, i, most);
    for (struct oracle_run *run = o->runs; run != NULL; run = oracle_next_task(run)) {
        bool ready = may_take(o, s, run, ORACLE_READY);
        bool suspect = may_take(o, s, run, ORACLE_SUSPECT);

        if (!ready && may_find(o, s, run, ORACLE_READY) && oracle_room_of(o, run) == 0)
            oracle_count_shut(o, run);
        f.ready += ready && fits(o, s, run);
        f.sure += ready && !is_laned(o, run);
        f.suspects += suspect;
        /* A claim tries the first task of a lane, which another transaction may hold. */
        f.sure_suspects += suspect && (!is_laned(o, run) || o->locked == NULL);
        f.left += (oracle_is_left_over(run) || oracle_has_expired(o, run)) &&
            may_find(o, s, run, ORACLE_READY);
        f.left_suspects += oracle_is_left_over(run) && may_find(o, s, run, ORACLE_SUSPECT);
        f.holds += run->living && run->place == ORACLE_HELD && run->session == s->id && !unseen;
    }
    return f;
}

/* Whether a claim took what it could and nothing else; what it finds of runs that are to end counts, too. */
static const char *
judge(struct oracle *o, const struct oracle_session *s, const struct oracle_claim_spec *spec,
    const struct taken *taken, const struct found *f)
{
    bool ready =
        taken->count > 0 && taken->runs[0] != NULL && taken->runs[0]->place == ORACLE_READY;
    bool quiet = spec->quiet && f->sure + f->left == 0 && !ready && f->holds == 0 &&
        spec->most > 0 && f->suspects + f->left_suspects > 0;
    enum oracle_place place = quiet ? ORACLE_SUSPECT : ORACLE_READY;
    int most = quiet ? 1 : spec->most, sure = quiet ? f->sure_suspects : f->sure;
    int left = quiet ? f->left_suspects : f->left, all = least(most, sure + left);
    struct wanted wanted = {
        all > left ? all - left : 0, least(most, quiet ? f->suspects : f->ready)};
    const char *problem = choice_problem(o, s, taken, place, wanted);

    if (problem == NULL && (int)taken->count < all)
        end_left_over(o, s, place);
    return problem;
}

/* The same of a call of which not all is known: others may have been locked, or not fit in. */
static const char *
observed_problem(struct oracle *o, const struct oracle_session *s,
    const struct oracle_claim_spec *spec, const struct taken *taken, int holds)
{
    for (size_t i = 0; i < taken->count; i++) {
        const struct oracle_run *run = taken->runs[i];
        bool alone = spec->quiet && spec->taken == 1 && holds == 0;

        if (run == NULL ||
            (!may_take(o, s, run, ORACLE_READY) && !(alone && may_take(o, s, run, ORACLE_SUSPECT))))
            return oracle_keepf(o, "not allowed: %s could not be claimed", taken->names[i]);
    }
    return spec->taken > spec->most ? "not allowed: more was claimed than asked for" : NULL;
}

/* What a claim finds out about its session: a lease that ran out but was not swept lives again. False: it had run out, and
 * another call has the session. That may be a sweep which ends it, so there is nothing to claim until that is decided. */
static bool
look_after_session(struct oracle *o, struct oracle_session *s)
{
    if (oracle_session_locked(o, s))
        return false;
    if (s->queues_seen == o->queues_version && s->lease_until >= o->now)
        return true;
    s->queues = oracle_queues_of(o, s);
    s->queues_seen = o->queues_version;
    if (s->lease_until < o->now + s->lease_us)
        s->lease_until = o->now + s->lease_us;
    return true;
}

/* The reply to this request was lost: the same tasks again. */
static bool
repeat(struct oracle *o, const struct oracle_claim_spec *spec, struct pw_buf *reply)
{
    bool found = false;

    for (struct oracle_run *run = o->runs; spec->request != 0 && run != NULL;
         run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == spec->session &&
            run->request == spec->request) {
            hand_out(o, run, reply);
            found = true;
        }
    return found;
}

static void
take(struct oracle *o, const struct oracle_claim_spec *spec, struct oracle_run *run)
{
    for (size_t i = 0; spec->taken == 0 && i < run->waits_count;)
        if (run->waits[i].due_at <= o->now)
            oracle_settle_due(o, run, i);
        else
            i++;
    run->place = ORACLE_HELD;
    run->counted = is_laned(o, run);
    run->in_line = false;
    run->session = spec->session;
    run->request = spec->request;
    run->fence++;
    run->started = spec->start;
    run->claimed_at = o->now;
    if (spec->start) {
        run->attempt++;
        if (run->started_at == ORACLE_NONE)
            run->started_at = o->now;
    }
    run->reason = NULL;
    run->woken = false;
    run->touched = true;
}

/* The claim has come to the queues of what it took. */
static void
put_in_line(struct oracle *o, const struct oracle_session *s, const struct taken *taken)
{
    for (size_t i = 0; i < taken->count; i++) {
        int queue = taken->runs[i]->queue;

        if (!o->queues[queue].laned || taken->runs[i]->place != ORACLE_READY ||
            !are_all_in_line(o, s, queue))
            continue;
        for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
            if (run->queue == queue && may_find(o, s, run, ORACLE_READY))
                run->in_line = true;
    }
}

const char *
oracle_claim(struct oracle *oracle, const struct oracle_claim_spec *spec, const char *const *chosen,
    struct pw_buf *reply)
{
    const char *problem = oracle_session_problem(oracle, spec->session);
    struct found found;
    bool unseen = oracle->meanwhile != NULL && oracle->meanwhile->other_claim;
    struct oracle_session *s;
    struct taken taken;
    bool may_claim;

    s = oracle_find_session(oracle, spec->session);
    if (problem != NULL && !(spec->overtaken && s != NULL && s->ended != NULL))
        return problem;
    /* Of one that was observed, it is told when it renewed a lease: another may have had the session's row. */
    may_claim = spec->taken > 0 || look_after_session(oracle, s);
    oracle_tick(oracle);
    if (!unseen && repeat(oracle, spec, reply))
        return "repeated";
    if (!may_claim && chosen[0] == NULL)
        return "nothing";
    if (s->draining)
        return chosen[0] == NULL ? "draining" : "not allowed: the session is draining";
    taken = find_taken(oracle, chosen);
    found = look_around(oracle, s, unseen, spec->most);
    problem = spec->taken > 0 ? observed_problem(oracle, s, spec, &taken, found.holds)
                              : judge(oracle, s, spec, &taken, &found);
    if (problem == NULL && taken.count == 0)
        problem = "nothing";
    if (problem == NULL) {
        put_in_line(oracle, s, &taken);
        s->idle = false;
        problem = taken.runs[0]->place == ORACLE_SUSPECT ? "suspect" : "some";
        for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
            if (is_taken(&taken, run)) {
                take(oracle, spec, run);
                hand_out(oracle, run, reply);
            }
    }
    free(taken.runs);
    return problem;
}
