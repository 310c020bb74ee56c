/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the oracle: one run as lines of text, everything else as lines of text, and which runs changed. */
#include "state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *
or_dash(const char *text)
{
    return text == NULL ? "-" : text;
}

static void
add_time(struct pw_buf *out, int64_t at)
{
    if (at == ORACLE_NONE)
        pw_buf_adds(out, " -");
    else if (at == ORACLE_NEVER)
        pw_buf_adds(out, " inf");
    else
        pw_buf_addf(out, " %" PRId64, at);
}

/* Steps by name and round, and all else that has its name first, by that. */
static int
compare_names(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;

    return strcmp(*x, *y);
}

static int
compare_steps(const void *a, const void *b)
{
    const struct oracle_step *x = a;
    const struct oracle_step *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->round < y->round ? -1 : x->round > y->round;
}

void
oracle_sort_lists(struct oracle_run *run)
{
    if (run->tries_count > 1)
        qsort(run->tries, run->tries_count, sizeof(*run->tries), compare_names);
    if (run->waits_count > 1)
        qsort(run->waits, run->waits_count, sizeof(*run->waits), compare_names);
}

/* What is a task's has its number behind the word. */
static void
add_word(struct pw_buf *out, const char *word, const struct oracle_run *task)
{
    pw_buf_adds(out, word);
    if (task->task > 0)
        pw_buf_addf(out, "/%d", task->task);
}

static void
add_parent(struct pw_buf *out, const char *parent, const char *step, int task)
{
    pw_buf_addf(out, " %s %s", or_dash(parent), or_dash(step));
    if (task > 0)
        pw_buf_addf(out, "@%d", task);
}

static void
show_living(const struct oracle_run *run, const char *queue, struct pw_buf *out)
{
    add_word(out, "task", run);
    pw_buf_addf(out, " %c %d %d %d %d %d %s %s %s %" PRId64 " %d", "rwhso"[run->place],
        run -> priority, run -> round, run -> crashes, run -> fence, run -> attempt,
        run -> started ? "t" : "f", run->rolling_back ? "t" : "f", or_dash(run->reason),
        run->session, run->request);
    /* An open run is not due: its tasks are. */
    add_time(out, run->place == ORACLE_OPEN ? ORACLE_NONE : run->due_at);
    add_time(out, run->triggered_at);
    add_time(out, run->started_at);
    add_time(out, run->claimed_at);
    pw_buf_addf(
        out, " %s '%s' %s %s", queue, run->tenant, or_dash(run->limit_key), or_dash(run->key));
    add_parent(out, run->parent, run->parent_step, run->parent_task);
    pw_buf_addf(out, " %s %s%s\n", or_dash(run->input), or_dash(run->metadata),
        run->whole->kept ? " kept" : "");
    if (run->ending)
        pw_buf_addf(out, "ending %s %s %s %s %s\n",
            run->ending_status == ORACLE_ERROR ? "ERROR" : "CANCELLED", or_dash(run->ending_by),
            or_dash(run->ending_why), run->ending_rollback ? "t" : "f", or_dash(run->ending_error));
    if (run->paused) {
        pw_buf_addf(out, "paused %s %s", run->paused_by, or_dash(run->paused_reason));
        add_time(out, run->paused_due);
        pw_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < run->tries_count; i++) {
        const struct oracle_try *t = &run->tries[i];

        pw_buf_addf(out, "try \"%s\" %d %d", t->name, t->n, t->of);
        add_time(out, t->due_at);
        pw_buf_addf(out, " %s\n", t->error);
    }
}

static void
show_waits(const struct oracle_run *run, struct pw_buf *out)
{
    for (size_t i = 0; i < run->waits_count; i++) {
        const struct oracle_wait *w = &run->waits[i];

        add_word(out, "wait", run);
        pw_buf_addf(out, " %s %c %d %s %s %s %s %s", w->name, "?szegca"[w->kind], w -> seq,
            or_dash(w->topic), w -> key == NULL ? "-" : w->key, or_dash(w->match), or_dash(w->form),
            or_dash(w->child));
        add_time(out, w->created_at);
        add_time(out, w->due_at);
        pw_buf_addc(out, '\n');
    }
}

/* How many more are waited for; not counted on when the run is to end. */
static void
show_gates(const struct oracle_run *run, struct pw_buf *out)
{
    for (int i = 0; run->place == ORACLE_OPEN && !run->ending && i <= run->workflow->steps_count;
         i++)
        if (run->missing[i] > 0)
            pw_buf_addf(out, "gate %d %d\n", i, run->missing[i]);
}

static void
show_lists(const struct oracle_run *run, struct pw_buf *out)
{
    for (size_t i = 0; i < run->signals_count; i++)
        pw_buf_addf(out, "signal %s %s\n", run->signals[i].name, run->signals[i].payload);
    pw_buf_adds(out, "limits");
    add_time(out, run->cancel_at);
    add_time(out, run->grace_at);
    add_time(out, run->timeout_at);
    add_time(out, run->expires_at);
    pw_buf_addc(out, '\n');
    show_gates(run, out);
}

static void
show_steps(struct oracle_run *run, struct pw_buf *out)
{
    if (run->steps_count > 1)
        qsort(run->steps, run->steps_count, sizeof(*run->steps), compare_steps);
    for (size_t i = 0; i < run->steps_count; i++) {
        const struct oracle_step *s = &run->steps[i];

        /* Which of a parent and its child is swept first is free, and so is the fence that the child's end finds. */
        add_word(out, "step", run);
        pw_buf_addf(out, " %s %d %c %c %d %d %d", s->name, s->round, "?serk"[s->state],
            "?szegca"[s->kind], s -> seq, s -> attempt, s -> kind == ORACLE_CHILD ? 0 : s -> fence);
        add_time(out, s->started_at);
        add_time(out, s->ended_at);
        pw_buf_addf(out, " %s %s %s %s\n", or_dash(s->output), or_dash(s->error), or_dash(s->undo),
            or_dash(s->source));
    }
}

static void
show_past(const struct oracle_run *run, struct pw_buf *out)
{
    for (size_t i = 0; i < run->rounds_count; i++) {
        const struct oracle_round *r = &run->rounds[i];

        pw_buf_addf(out, "round %d %c %d %d %d %" PRId64, r->round, "?sec"[r->status],
            run -> priority, r -> fence, r -> attempt, r -> session);
        add_time(out, run->triggered_at);
        add_time(out, r->started_at);
        add_time(out, r->ended_at);
        pw_buf_addf(out, " %s %s %s '%s' %s %s", r->rolled_back ? "t" : "f",
            r->key_freed ? "t" : "f", run->workflow->name, run->tenant, or_dash(run->limit_key),
            or_dash(run->key));
        add_parent(out, run->parent, r->parent_step, r->parent_task);
        pw_buf_addf(out, " %s %s %s %s\n", r->round == 1 ? run->input : "-", or_dash(run->metadata),
            or_dash(r->output), or_dash(r->error));
    }
    for (size_t i = 0; i < run->audits_count; i++) {
        pw_buf_addf(out, "audit %s %" PRId64 " %s", run->audits[i].what, run->audits[i].at,
            or_dash(run->audits[i].who));
        pw_buf_addf(out, run->audits[i].task > 0 ? " %d\n" : "\n", run->audits[i].task);
    }
    pw_buf_addf(out, "notes %d%s\n", run->notes, run->kept ? " kept" : "");
    if (run->tags != NULL)
        pw_buf_addf(out, "tags %s\n", run->tags);
}

void
oracle_show_task(struct oracle *oracle, const char *run, struct pw_buf *out)
{
    struct oracle_run *found = oracle_find_run(oracle, run);

    if (found == NULL || !found->living)
        return;
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next) {
        oracle_sort_lists(task);
        if (task->living)
            show_living(task, oracle->queues[task->queue].name, out);
    }
    for (const struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        show_waits(task, out);
    show_lists(found, out);
}

void
oracle_show_run(struct oracle *oracle, const char *run, struct pw_buf *out)
{
    struct oracle_run *found = oracle_find_run(oracle, run);

    pw_buf_addf(out, "run %s\n", run);
    if (found == NULL) {
        pw_buf_adds(out, "none\n");
        return;
    }
    oracle_show_task(oracle, run, out);
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        show_steps(task, out);
    show_past(found, out);
}

/* Those of runs that are gone are gone, too. */
static int
count_tags(const struct oracle *o)
{
    int count = 0;

    for (const struct oracle_run *run = o->runs; run != NULL; run = run->next)
        for (const char *at = run->gone ? NULL : run->tags; at != NULL; at = strchr(at + 1, ','))
            count++;
    return count;
}

void
oracle_show_rest(struct oracle *oracle, struct pw_buf *out)
{
    pw_buf_addf(out, "epoch %d\ntags %d\n", oracle->epoch, count_tags(oracle));
    for (size_t i = 0; i < oracle->workflows_count; i++) {
        const struct oracle_workflow *w = &oracle->workflows[i];

        pw_buf_addf(out, "workflow %s %s %d %d %" PRId64 " %" PRId64, w->name, or_dash(w->runtime),
            w->priority, w->policy.max_attempts, w->policy.base_us, w->policy.cap_us);
        add_time(out, w->run_timeout_us);
        add_time(out, w->step_timeout_us);
        pw_buf_addf(out, " %s %d %s %s %s%s\n", w->strict_order ? "t" : "f",
            oracle->queues[w->queue].key_limit, w->fair ? "t" : "f", w->workflow_paused ? "t" : "f",
            oracle->queues[w->queue].paused ? "t" : "f",
            w->flow ? w->frozen ? " frozen" : " flow" : "");
    }
    for (int i = 0; i < oracle->queues_count; i++) {
        const struct oracle_queue *q = &oracle->queues[i];

        pw_buf_addf(out, "queue %s", q->name);
        add_time(out, q->step_timeout_us);
        pw_buf_adds(out, q->paused ? " t\n" : " f\n");
    }
    for (size_t i = 0; i < oracle->sessions_count; i++) {
        const struct oracle_session *s = &oracle->sessions[i];

        pw_buf_addf(out, "session %" PRId64 " %s %" PRId64 " %" PRId64 " %s %s %s\n", s->id,
            s->name, s->lease_us, s->lease_until, s->idle ? "t" : "f", s->draining ? "t" : "f",
            or_dash(s->ended));
    }
    if (oracle->keys_count > 1)
        qsort(oracle->keys, oracle->keys_count, sizeof(*oracle->keys), compare_names);
    for (size_t i = 0; i < oracle->keys_count; i++) {
        const struct oracle_key *k = &oracle->keys[i];

        pw_buf_addf(out, "key %s '%s' %s %s", k->run, k->tenant, k->workflow->name, k->key);
        add_time(out, k->expires_at);
        pw_buf_addc(out, '\n');
    }
    if (oracle->events_count > 1)
        qsort(oracle->events, oracle->events_count, sizeof(*oracle->events), compare_names);
    for (size_t i = 0; i < oracle->events_count; i++) {
        const struct oracle_event *e = &oracle->events[i];

        pw_buf_addf(out, "event %s %" PRId64 " '%s' %s %s %s\n", e->id, e->emitted_at, e->tenant,
            e->topic, e->key, e->payload);
    }
    oracle_show_schedules(oracle, out);
    oracle_show_bulks(oracle, out);
    oracle_show_lanes(oracle, out);
    oracle_show_subscriptions(oracle, out);
}

static void
look_past(const struct oracle_run *run, struct oracle_view *view)
{
    const struct oracle_round *last = oracle_last_round(run);

    view->found = true;
    view->flow = run->workflow->flow;
    view->status = last == NULL ? 0 : last->status;
    view->undone = oracle_first_undone(run);
    view->stuck = last != NULL && oracle_rollback_is_stuck(last);
    view->has_timeout = run->workflow->run_timeout_us != ORACLE_NONE;
    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        view->tasks += task->was_task;
}

static void
look_living(const struct oracle_run *task, struct oracle_view *view)
{
    const struct oracle_round *last = oracle_last_round(task);

    view->living = task->living;
    view->place = (int)task->place;
    /* The last fence of a task stays with it. */
    view->fence = task->living || last == NULL ? task->fence : last->fence;
    view->session = task->living || last == NULL ? task->session : last->session;
    view->rolling_back = task->living && task->rolling_back;
    view->ending = task->living && task->ending;
    view->paused = task->living && task->paused;
    view->started = task->living && task->started;
    view->next_seq = oracle_next_seq(task);
    for (size_t i = 0; task->living && i < task->waits_count; i++)
        if (task->waits[i].topic != NULL) {
            view->waits_for = task->waits[i].topic;
            view->waits_name = task->waits[i].name;
            view->waits_kind = (int)task->waits[i].kind;
        }
}

void
oracle_look_task(struct oracle *oracle, const char *run, int task, struct oracle_view *view)
{
    struct oracle_run *found = oracle_find_run(oracle, run), *part;

    *view = (struct oracle_view){0};
    part = found == NULL ? NULL : oracle_find_task(found, task);
    if (part == NULL)
        return;
    look_past(found, view);
    look_living(part, view);
}

void
oracle_look(struct oracle *oracle, const char *run, struct oracle_view *view)
{
    oracle_look_task(oracle, run, 0, view);
}

bool
oracle_are_related(struct oracle *oracle, const char *a, const char *b)
{
    const char *roots[] = {a, b};
    bool flows = false;

    for (int i = 0; i < 2; i++) {
        const struct oracle_run *run = oracle_find_run(oracle, roots[i]);

        while (run != NULL) {
            flows = flows || run->workflow->flow;
            roots[i] = run->id;
            run = run->parent == NULL ? NULL : oracle_find_run(oracle, run->parent);
        }
    }
    return flows && strcmp(a, b) != 0 && strcmp(roots[0], roots[1]) == 0;
}

size_t
oracle_count_living(const struct oracle *oracle)
{
    size_t count = 0;

    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        count += run->living;
    return count;
}

void
oracle_each_touched(
    struct oracle *oracle, void (*tell)(const char *run, void *userdata), void *userdata)
{
    for (struct oracle_run *run = oracle->runs; run != NULL; run = run->next) {
        bool touched = run->touched;

        for (struct oracle_run *task = run->tasks; task != NULL; task = task->next) {
            touched = touched || task->touched;
            task->touched = false;
        }
        run->touched = false;
        if (touched && !run->gone)
            tell(run->id, userdata);
    }
}

void
oracle_each_run(
    struct oracle *oracle, void (*tell)(const char *run, void *userdata), void *userdata)
{
    for (struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        if (!run->gone)
            tell(run->id, userdata);
}
