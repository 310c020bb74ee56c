/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of a worker between two turns. Each text below is one of them, and is returned if it is broken.
 *
 * A task that was claimed again under a newer fence leaves the map of tasks, but lives until its last item is answered. So counts of
 * the map are lower bounds of those that include such tasks, unless a check looks only at tasks of the map.
 */
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <stddef.h>

/* Items and tasks that the checks have counted. */
struct tally {
    size_t mapped_items;   /* of tasks in the map, in a writer or parked */
    size_t pending;        /* items that tasks in the map wait for */
    size_t posted_last;    /* last items in the inbox */
    size_t writers_active; /* tasks whose last item no writer has seen */
    size_t unfinished;     /* tasks in the map, the same */
};

/* Returns the length of a list, or SIZE_MAX if its links do not fit together. */
static size_t
length_of(const struct pw_list *list)
{
    size_t length = 0;

    for (const struct pw_list *link = list; link->next != list; link = link->next) {
        if (link->next == NULL || link->next->prev != link)
            return SIZE_MAX;
        length++;
    }
    return list->prev->next == list ? length : SIZE_MAX;
}

static bool
is_mapped(pawl_worker *worker, const struct pw_task *task)
{
    return pw_map_get(&worker->tasks, &task->id, task->number) == task;
}

static void
count_item(pawl_worker *worker, const struct pw_item *item, struct tally *tally)
{
    if (is_mapped(worker, item->task))
        tally->mapped_items++;
}

static const char *
check_writer(pawl_worker *worker, struct pw_writer *writer, struct tally *tally)
{
    size_t batch_max = (size_t)worker->settings.batch_max;

    if (writer->waiting_count != length_of(&writer->waiting))
        return "a writer counts the items that wait";
    if (writer->batch.count > batch_max || writer->batch_cap < 1 || writer->batch_cap > batch_max)
        return "a batch keeps to its limit";
    if (writer->resting && (writer->conn != NULL || writer->is_up))
        return "a writer that rests has no connection";
    if ((writer->resting && writer->number == 0 ? worker->session.conn : writer->conn) == NULL &&
        (writer->commit.sent || writer->confirm.sent || writer->is_up))
        return "a writer without a connection has no request in flight";
    if (writer->commit.sent && writer->confirm.sent)
        return "a writer has one request of its own in flight";
    for (struct pw_list *link = pw_list_first(&writer->waiting); link != NULL;
         link = pw_list_next(&writer->waiting, link)) {
        const struct pw_item *item = PW_CONTAINER(link, struct pw_item, link);

        if (item->answer != PW_ANSWER_NONE ||
            (item->task->writer != writer->number && is_mapped(worker, item->task)))
            return "an item that waits is not answered, and is of a task of its writer";
        count_item(worker, item, tally);
    }
    for (size_t i = 0; i < writer->batch.count; i++) {
        if (writer->batch.items[i]->answer != PW_ANSWER_NONE)
            return "an item of a batch is not answered";
        count_item(worker, writer->batch.items[i], tally);
    }
    tally->writers_active += writer->active;
    return NULL;
}

/* Parked: busy, or after a busy item of its run. */
static const char *
check_parked(pawl_worker *worker, struct tally *tally)
{
    if (length_of(&worker->parked) == SIZE_MAX || length_of(&worker->woken) == SIZE_MAX ||
        length_of(&worker->offered) == SIZE_MAX)
        return "the lists of parked tasks and of woken branches are whole";
    for (struct pw_list *link = pw_list_first(&worker->parked); link != NULL;
         link = pw_list_next(&worker->parked, link)) {
        struct pw_task *task = PW_CONTAINER(link, struct pw_task, parked_link);

        if (pw_list_empty(&task->items) || length_of(&task->items) == SIZE_MAX)
            return "a parked task has items";
        for (struct pw_list *at = pw_list_first(&task->items); at != NULL;
             at = pw_list_next(&task->items, at)) {
            const struct pw_item *item = PW_CONTAINER(at, struct pw_item, link);

            if (item->task != task || item->answer != PW_ANSWER_NONE)
                return "a parked item is not answered, and is of its task";
            count_item(worker, item, tally);
        }
    }
    return NULL;
}

static const char *
check_tasks(pawl_worker *worker, struct tally *tally)
{
    const struct pw_map_entry *entry;
    size_t at = 0;

    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        const struct pw_task *task = entry->value;

        if (task->worker != worker || task->writer < 0 ||
            (size_t)task->writer >= worker->writer_count)
            return "a task has this worker and one of its writers";
        if (pw_list_empty(&task->items) != pw_list_empty(&task->parked_link))
            return "a task with parked items is in the list of parked tasks";
        if (task->finished && task->pending == 0)
            return "a task without an item to wait for is forgotten";
        tally->pending += task->pending;
        tally->unfinished += !task->finished;
    }
    if (tally->pending != tally->mapped_items)
        return "each item that a task waits for is in one place";
    if (tally->unfinished > tally->writers_active)
        return "writers count the tasks that execute";
    return NULL;
}

/* With the lock held. */
static const char *
check_inbox(pawl_worker *worker, struct tally *tally)
{
    const struct pw_inbox *inbox = &worker->inbox;
    size_t fresh = length_of(&inbox->new_runs);

    for (struct pw_list *link = pw_list_first(&inbox->notices); link != NULL;
         link = pw_list_next(&inbox->notices, link)) {
        const struct pw_notice *notice = PW_CONTAINER(link, struct pw_notice, link);

        if (notice->pending == 0 || notice->task->closed || !notice->task->handed)
            return "a listed notice is of a task that a handler has";
    }
    if (fresh == SIZE_MAX || length_of(&inbox->posted) == SIZE_MAX ||
        length_of(&inbox->answered) == SIZE_MAX || length_of(&inbox->unsure) == SIZE_MAX)
        return "the lists of the inbox are whole";
    if (length_of(&inbox->posted) != inbox->posted_count || fresh != inbox->new_count ||
        length_of(&inbox->answered) != inbox->answered_count ||
        length_of(&inbox->unsure) != inbox->unsure_count)
        return "the inbox counts what is in its lists";
    if (inbox->woken > inbox->sleepers)
        return "only threads that sleep are woken";
    for (struct pw_list *link = pw_list_first(&inbox->posted); link != NULL;
         link = pw_list_next(&inbox->posted, link)) {
        const struct pw_item *item = PW_CONTAINER(link, struct pw_item, link);

        if (item->task == NULL || item->answer != PW_ANSWER_NONE)
            return "a posted item is not answered";
        tally->posted_last += item == &item->task->last;
    }
    if (fresh > inbox->active || inbox->active + inbox->unwritten > inbox->held)
        return "tasks that execute and tasks to be recorded are held";
    if (pw_map_count(&worker->tasks) > inbox->held)
        return "held counts every task";
    if (tally->writers_active != inbox->active + tally->posted_last)
        return "writers and inbox count the same tasks";
    return NULL;
}

static const char *
check_session(const pawl_worker *worker)
{
    const struct pw_session *session = &worker->session;

    if (session->conn == NULL &&
        (session->request.sent || session->heartbeat.sent || worker->tick.request.sent ||
            session->listening))
        return "a session without a connection has no request in flight";
    if (session->state == PW_SESSION_REGISTERING && !session->request.sent)
        return "a session that registers waits for a reply";
    if (session->state == PW_SESSION_LIVE && (session->id == 0 || session->heartbeat_every_us <= 0))
        return "a live session has a number and heartbeats";
    if (session->create_next > worker->handlers.count)
        return "a workflow to be created has a handler";
    return NULL;
}

static const char *
check_claimer(const pawl_worker *worker)
{
    const struct pw_claimer *claimer = &worker->claimer;
    bool claims = claimer->claim.sent || claimer->rest.request.sent;
    bool present =
        worker->session.state == PW_SESSION_LIVE && claimer->claim.session == worker->session.id;

    if ((claims || claimer->held_request.sent) &&
        (claimer->writer == NULL ||
            (claimer->on_control ? worker->session.conn : claimer->writer->conn) == NULL))
        return "a claim in flight has a connection";
    if (claims && claimer->held_request.sent)
        return "claims and looks at what is held take turns";
    if (claimer->claim.sent && present && !claimer->pending)
        return "a claim in flight is pending";
    if (claimer->cap < 1 || claimer->cap > PW_CLAIM_MAX || claimer->most > PW_CLAIM_MAX ||
        (claimer->pending && claimer->most < 1))
        return "a claim keeps to its limit";
    return NULL;
}

/* Returns NULL, or the invariant that is broken. */
static const char *
find_broken(pawl_worker *worker)
{
    struct tally tally = {0};
    const char *broken = check_session(worker);

    if (broken == NULL)
        broken = check_claimer(worker);
    for (size_t i = 0; i < PW_WRITERS_MAX && broken == NULL; i++)
        broken = check_writer(worker, &worker->writers[i], &tally);
    if (broken == NULL)
        broken = check_parked(worker, &tally);
    if (broken == NULL)
        broken = check_tasks(worker, &tally);
    if (broken != NULL)
        return broken;
    (void)pthread_mutex_lock(&worker->inbox.lock);
    broken = check_inbox(worker, &tally);
    (void)pthread_mutex_unlock(&worker->inbox.lock);
    return broken;
}

void
pw_worker_check(pawl_worker *worker)
{
#ifdef NDEBUG
    (void)find_broken;
    (void)worker;
#else
    const char *broken = find_broken(worker);

    if (broken != NULL)
        __assert_fail(broken, __FILE__, __LINE__, __func__);
#endif
}
