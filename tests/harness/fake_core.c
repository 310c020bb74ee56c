/* SPDX-License-Identifier: Apache-2.0 */
/* The fake core: everything that handlers' code calls of the worker's. */
#include "fake_core.h"

#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/common/config.h"
#include "libpawl/common/error.h"
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ITEMS_MAX = 40000,
    ANSWERS_MAX = 200,
    TASKS_MAX = 1000
};

/* Texts come from malloc, so that an allocation of the library that fails does not make the fake fail. */
struct kept {
    char *text;
    int seq;
};

struct undo {
    const char *name;
    pawl_undo_fn function;
    void *userdata;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct kept items[ITEMS_MAX];
static size_t item_count;
static char *last;
static struct fake_answer answers[ANSWERS_MAX];
static size_t answer_count, answer_next;
static struct pw_item *queue[ITEMS_MAX];
static size_t queue_count, queue_next;
static pthread_t answerer;
static bool threaded, ending;
static struct pw_list ready = {&ready, &ready};
static enum pw_standing standing;
static int standing_from;
static int unsure; /* calls that find the lease unsure */
static size_t payload_max, memory_max;
static struct pawl_worker worker;
static pawl_handler_fn handler;
static void *handler_userdata;
static struct undo undo_handler;
static struct pw_task *claimed[TASKS_MAX];
static size_t claimed_count, claimed_next;
static size_t active;
static pawl_status broken;
static int drain_fd, waiting, waiting_max, starts, looks, quiet_looks;

static char *
text_of(const struct pw_item *item)
{
    size_t size =
        64 + (item->name != NULL ? strlen(item->name) : 0) + item->payload.size + item->option.size;
    char *text = malloc(size);

    assert(text != NULL);
    (void)snprintf(text, size, "%s %s %.*s %.*s", pw_kind_name(item->kind),
        item->name != NULL ? item->name : "-",
        item->payload.data != NULL ? (int)item->payload.size : 1,
        item->payload.data != NULL ? item->payload.data : "-",
        item->option.data != NULL ? (int)item->option.size : 1,
        item->option.data != NULL ? item->option.data : "-");
    return text;
}

/* With the lock held. */
static void
keep_item(const struct pw_item *item)
{
    assert(item_count < ITEMS_MAX);
    items[item_count++] = (struct kept){text_of(item), item->seq};
}

static pawl_bytes
bytes_of(struct pw_item *item, const char *text)
{
    const char *copy;

    if (text == NULL)
        return (pawl_bytes){0};
    copy = pw_arena_copy(pw_run_arena(item->branch), text, strlen(text));
    return copy != NULL ? (pawl_bytes){copy, strlen(text)} : (pawl_bytes){0};
}

/* Writes the answer and wakes the branch. */
static void
answer_item(struct pw_item *item)
{
    struct fake_answer answer = {0};

    (void)pthread_mutex_lock(&lock);
    if (answer_next < answer_count)
        answer = answers[answer_next++];
    (void)pthread_mutex_unlock(&lock);
    item->answer = answer.answer == PW_ANSWER_NONE ? PW_ANSWER_OK : answer.answer;
    item->reason = answer.reason != NULL ? answer.reason : "";
    item->state = answer.state;
    item->output = bytes_of(item, answer.output);
    item->error = bytes_of(item, answer.error);
    if (answer.error_code != NULL)
        item->error_code = answer.error_code;
    item->final = answer.final;
    item->approved = answer.approved;
    /* A lost copy is what a real core answers with this. */
    if ((answer.output != NULL && item->output.data == NULL) ||
        (answer.error != NULL && item->error.data == NULL))
        item->answer = PW_ANSWER_FAILED;
    pw_run_answered(item->branch);
}

static void *
answer_items(void *argument)
{
    struct pw_item *item;

    (void)argument;
    for (;;) {
        (void)pthread_mutex_lock(&lock);
        while (queue_next == queue_count && !ending)
            (void)pthread_cond_wait(&changed, &lock);
        item = queue_next < queue_count ? queue[queue_next++] : NULL;
        (void)pthread_mutex_unlock(&lock);
        if (item == NULL)
            return NULL;
        answer_item(item);
    }
}

void
pw_task_post(struct pw_item *item)
{
    bool at_once = item->branch != NULL;

    (void)pthread_mutex_lock(&lock);
    keep_item(item);
    if (at_once && threaded) {
        queue[queue_count++] = item;
        (void)pthread_cond_broadcast(&changed);
        at_once = false;
    }
    (void)pthread_mutex_unlock(&lock);
    if (item->branch == NULL)
        pw_free(item);
    else if (at_once)
        answer_item(item);
}

void
pw_task_post_last(struct pw_task *task)
{
    (void)pthread_mutex_lock(&lock);
    keep_item(&task->last);
    free(last);
    last = text_of(&task->last);
    if (active > 0)
        active--;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    pw_run_free(task->run);
    task->run = NULL;
    task->finished = true;
}

bool
pw_task_await_lease(struct pw_task *task, pawl_run *branch)
{
    (void)task;
    if (unsure == 0)
        return false;
    unsure--;
    pw_worker_ready(&worker, branch);
    return true;
}

enum pw_standing
pw_task_may_start(struct pw_task *task)
{
    (void)pthread_mutex_lock(&lock);
    if (standing_from > 0 && --standing_from == 0)
        atomic_store(&task->standing, standing);
    (void)pthread_mutex_unlock(&lock);
    return (enum pw_standing)atomic_load(&task->standing);
}

bool
pw_task_foreign(const struct pw_task *task)
{
    (void)task;
    return false;
}

void
pw_task_notify(struct pw_notice *notice, int reason)
{
    notice->pending |= 1U << reason;
}

void
pw_task_drop_notice(struct pw_notice *notice, int reason)
{
    notice->pending &= ~(1U << reason);
}

void
pw_task_watch(struct pw_task *task, int64_t deadline_us)
{
    (void)task;
    (void)deadline_us;
}

bool
pw_worker_here(const pawl_worker *given, struct pw_error *err)
{
    if (given == NULL)
        pw_error_set(err, PAWL_EINVAL, "no worker was given");
    return given != NULL;
}

size_t
pw_task_payload_max(const struct pw_task *task)
{
    (void)task;
    return payload_max;
}

size_t
pw_task_memory_max(const struct pw_task *task)
{
    (void)task;
    return memory_max;
}

void
pw_worker_ready(struct pawl_worker *of, struct pawl_run *branch)
{
    (void)of;
    (void)pthread_mutex_lock(&lock);
    pw_list_add_tail(&ready, pw_run_link(branch));
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

pawl_run *
fake_core_next(void)
{
    struct pw_list *link;

    (void)pthread_mutex_lock(&lock);
    while ((link = pw_list_first(&ready)) == NULL && threaded)
        (void)pthread_cond_wait(&changed, &lock);
    if (link != NULL)
        pw_list_remove(link);
    (void)pthread_mutex_unlock(&lock);
    return link != NULL ? pw_run_of_link(link) : NULL;
}

void
fake_core_done(void)
{
    if (threaded) {
        (void)pthread_mutex_lock(&lock);
        ending = true;
        (void)pthread_cond_broadcast(&changed);
        (void)pthread_mutex_unlock(&lock);
        (void)pthread_join(answerer, NULL);
    }
    for (size_t i = 0; i < item_count; i++)
        free(items[i].text);
    free(last);
    last = NULL;
    item_count = 0;
    threaded = false;
    ending = false;
}

void
fake_core_reset(void)
{
    fake_core_done();
    answer_count = answer_next = 0;
    queue_count = queue_next = 0;
    standing_from = 0;
    unsure = 0;
    payload_max = 1024 * 1024;
    memory_max = (size_t)64 * 1024 * 1024;
    pw_list_init(&ready);
    claimed_count = claimed_next = 0;
    active = 0;
    broken = PAWL_OK;
    drain_fd = -1;
    waiting = waiting_max = starts = looks = quiet_looks = 0;
    handler = NULL;
    undo_handler = (struct undo){0};
    worker = (struct pawl_worker){.settings = {.concurrency = 4, .drain_timeout_ms = 1000}};
    (void)pthread_mutex_init(&worker.inbox.lock, NULL);
    worker.inbox.started = true;
}

void
fake_core_answer(struct fake_answer answer)
{
    assert(answer_count < ANSWERS_MAX);
    answers[answer_count++] = answer;
}

void
fake_core_threaded(void)
{
    threaded = true;
    if (pthread_create(&answerer, NULL, answer_items, NULL) != 0)
        abort();
}

size_t
fake_core_count(void)
{
    return item_count;
}

const char *
fake_core_item(size_t n)
{
    return n < item_count ? items[n].text : "";
}

int
fake_core_seq(size_t n)
{
    return n < item_count ? items[n].seq : INT32_MIN;
}

const char *
fake_core_last(void)
{
    return last != NULL ? last : "";
}

void
fake_core_stand(enum pw_standing as, int from)
{
    standing = as;
    standing_from = from;
}

void
fake_core_unsure(int calls)
{
    unsure = calls;
}

void
fake_core_limits(size_t payload, size_t memory)
{
    payload_max = payload;
    memory_max = memory;
}

struct pw_task *
fake_core_task(const char *record)
{
    const int64_t noon_us = INT64_C(1772366400000000);
    struct pw_task *task = calloc(1, sizeof(*task));

    if (task == NULL)
        return NULL;
    pw_arena_init(&task->arena, (size_t)1 << 30);
    task->worker = &worker;
    (void)snprintf(task->id_text, sizeof(task->id_text), "019ab000-0000-7000-8000-000000000001");
    task->fence = 3;
    task->round = 1;
    task->execution = 1;
    task->session = INT64_C(4294967297);
    task->workflow = "demo.v1";
    task->tenant = "";
    task->input = pawl_text("{\"n\":1}");
    task->step_timeout_ms = -1;
    task->run_deadline_us = INT64_MAX;
    if (record != NULL &&
        !pw_record_read(&task->record, &task->arena, pawl_text(record), noon_us, pw_now_us())) {
        fake_core_end(task);
        return NULL;
    }
    task->rolling_back = task->record.undos != NULL;
    task->run = pw_run_new(task);
    if (task->run == NULL) {
        fake_core_end(task);
        return NULL;
    }
    return task;
}

void
fake_core_end(struct pw_task *task)
{
    pw_run_free(task->run);
    pw_arena_done(&task->arena);
    free(task);
}

pawl_worker *
fake_core_worker(void)
{
    return &worker;
}

void
fake_core_handle(pawl_handler_fn function, void *userdata)
{
    handler = function;
    handler_userdata = userdata;
}

void
fake_core_undo(const char *name, pawl_undo_fn function, void *userdata)
{
    undo_handler = (struct undo){name, function, userdata};
}

void
fake_core_claim(struct pw_task *task)
{
    (void)pthread_mutex_lock(&lock);
    assert(claimed_count < TASKS_MAX);
    claimed[claimed_count++] = task;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

void
fake_core_break(pawl_status status)
{
    broken = status;
}

void
fake_core_drain_on(int fd)
{
    drain_fd = fd;
}

int
fake_core_waiting_max(void)
{
    return waiting_max;
}

int
fake_core_starts(void)
{
    return starts;
}

int
fake_core_looks(void)
{
    return looks;
}

bool
pw_worker_find(pawl_worker *of, const char *workflow, pawl_handler_fn *function, void **userdata)
{
    (void)of;
    *function = handler;
    *userdata = handler_userdata;
    return strcmp(workflow, "demo.v1") == 0;
}

bool
pw_worker_find_undo(pawl_worker *of, const char *name, pawl_undo_fn *function, void **userdata)
{
    (void)of;
    if (undo_handler.name == NULL || strcmp(name, undo_handler.name) != 0)
        return false;
    *function = undo_handler.function;
    *userdata = undo_handler.userdata;
    return true;
}

size_t
pw_task_thread_stack(const struct pw_task *task)
{
    return task->worker->settings.thread_stack;
}

const struct pw_settings *
pw_worker_settings(pawl_worker *of)
{
    return &of->settings;
}

int
pw_worker_drain_fd(pawl_worker *of)
{
    (void)of;
    return drain_fd;
}

void
pw_worker_look(pawl_worker *of)
{
    (void)of;
    looks++;
}

bool
pw_worker_quiet(pawl_worker *of)
{
    (void)of;
    /* The answer to a look is there a little later. */
    if (quiet_looks == looks)
        return true;
    quiet_looks = looks;
    return false;
}

int64_t
pawl_worker_counter(pawl_worker *of, const char *counter)
{
    int64_t held;

    (void)of;
    (void)counter;
    (void)pthread_mutex_lock(&lock);
    held = (int64_t)(active + claimed_count - claimed_next);
    (void)pthread_mutex_unlock(&lock);
    return held;
}

pawl_status
pawl_worker_start(pawl_worker *of, pawl_error **error)
{
    struct pw_error err = {0};

    starts++;
    if (broken != PAWL_OK)
        pw_error_set(&err, broken, "it is broken");
    else
        of->inbox.started = true;
    return pw_error_export(&err, (pawl_bytes){0}, error);
}

void
pawl_worker_drain(pawl_worker *of)
{
    (void)pthread_mutex_lock(&of->inbox.lock);
    of->inbox.draining = true;
    (void)pthread_mutex_unlock(&of->inbox.lock);
    (void)pthread_mutex_lock(&lock);
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

pawl_status
pawl_worker_stop(pawl_worker *of, int64_t timeout_ms, pawl_error **error)
{
    (void)timeout_ms;
    pawl_worker_drain(of);
    return pw_error_export(&(struct pw_error){0}, (pawl_bytes){0}, error);
}

static bool
is_drained(pawl_worker *of)
{
    bool drained;

    (void)pthread_mutex_lock(&of->inbox.lock);
    drained = of->inbox.draining;
    (void)pthread_mutex_unlock(&of->inbox.lock);
    return drained;
}

pawl_status
pawl_worker_next(pawl_worker *of, int64_t timeout_ms, pawl_run **run, pawl_error **error)
{
    struct pw_error err = {0};

    (void)pthread_mutex_lock(&lock);
    waiting++;
    if (waiting > waiting_max)
        waiting_max = waiting;
    while (claimed_next == claimed_count && broken == PAWL_OK && timeout_ms < 0 && !is_drained(of))
        (void)pthread_cond_wait(&changed, &lock);
    waiting--;
    if (claimed_next < claimed_count) {
        *run = claimed[claimed_next++]->run;
        active++;
    } else if (broken != PAWL_OK) {
        pw_error_set(&err, broken, "it is broken");
    } else {
        pw_error_set(&err, is_drained(of) ? PAWL_DRAINED : PAWL_ETIMEOUT, "nothing is there");
    }
    (void)pthread_mutex_unlock(&lock);
    return pw_error_export(&err, (pawl_bytes){0}, error);
}
