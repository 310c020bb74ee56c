/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a branch: how a durable call begins and ends, and how it gets its answer. */
#include "libpawl/run/branch.h"

#include "base/alloc.h"
#include "base/time.h"

#include <string.h>

static const uint32_t count_max = 999999999;

pawl_run *
pw_branch_new(struct pw_task *task, pawl_run *trunk, const char *prefix, const char *name)
{
    pawl_run *run = pw_calloc(1, sizeof(*run));
    size_t prefix_size = strlen(prefix);
    size_t name_size = strlen(name);
    char *text;

    if (run == NULL)
        return NULL;
    pw_arena_init(&run->arena, pw_task_memory_max(task));
    pw_arena_init(&run->answers, pw_task_memory_max(task));
    text = pw_arena_alloc(&run->arena, prefix_size + name_size + 2);
    if (text == NULL || sem_init(&run->answered, 0, 0) != 0) {
        pw_arena_done(&run->arena);
        pw_free(run);
        return NULL;
    }
    memcpy(text, prefix, prefix_size);
    memcpy(text + prefix_size, name, name_size);
    if (name_size > 0)
        text[prefix_size + name_size++] = '/';
    text[prefix_size + name_size] = '\0';
    run->task = task;
    run->trunk = trunk != NULL ? trunk : run;
    run->origin = run;
    run->prefix = text;
    run->prefix_size = prefix_size + name_size;
    run->said.retry_after_ms = -1;
    pw_list_init(&run->link);
    pw_list_init(&run->bough);
    pw_list_init(&run->boughs);
    pw_list_init(&run->notice.link);
    run->notice.run = run;
    run->notice.task = task;
    atomic_init(&run->deadline_us, INT64_MAX);
    atomic_init(&run->paused, false);
    atomic_init(&run->lost, false);
    atomic_init(&run->notes, 0);
    atomic_init(&run->notes_dropped, 0);
    return run;
}

void
pw_branch_free(pawl_run *run)
{
    (void)sem_destroy(&run->answered); /* no thread waits for it */
    pw_arena_done(&run->answers);
    pw_arena_done(&run->arena);
    pw_free(run);
}

pawl_bytes
pw_bytes_or_null(pawl_bytes bytes)
{
    return bytes.data != NULL ? bytes : (pawl_bytes){"null", 4};
}

pawl_status
pw_branch_copy(pawl_run *run, pawl_bytes bytes, pawl_bytes *out)
{
    const char *copy = pw_arena_copy(&run->arena, bytes.data, bytes.size);

    if (copy == NULL)
        return PAWL_ENOMEM;
    *out = (pawl_bytes){copy, bytes.size};
    return PAWL_OK;
}

pawl_status
pw_branch_keep(pawl_run *run, struct pw_json_writer *writer, pawl_bytes *out)
{
    struct pw_buf *buf = writer->buf;
    pawl_status status;

    if (pw_json_ok(writer))
        status = pw_branch_copy(run, (pawl_bytes){buf->data, buf->size}, out);
    else
        status = buf->failure == PW_BUF_LIMIT ? PAWL_ETOOLARGE : PAWL_ENOMEM;
    pw_buf_done(buf);
    return status;
}

/*
 * Returns the maximum size of the text that the engine puts ahead of a step's identity to name its undo. In a task of a flow that
 * includes STEP/n/.
 */
static size_t
undo_prefix_max(const struct pw_task *task)
{
    const char *step = task->number > 0 ? strrchr(task->workflow, '/') : NULL;

    return strlen("rollback:") + (step == NULL ? 0 : strlen(step + 1) + strlen("/1000000/"));
}

/* Writes the identity PREFIX NAME # NUMBER, unless it is too long, and returns its size. Every step does, so it is not snprintf(). */
static size_t
write_identity(pawl_run *run, const char *name, uint32_t number)
{
    char digits[10]; /* at most, of 32 bits */
    size_t first = sizeof(digits);
    size_t name_size = strlen(name);
    size_t size;

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    size = run->prefix_size + name_size + 1 + (sizeof(digits) - first);
    if (size > PW_IDENTITY_MAX)
        return size;
    memcpy(run->identity, run->prefix, run->prefix_size);
    memcpy(run->identity + run->prefix_size, name, name_size);
    run->identity[run->prefix_size + name_size] = '#';
    memcpy(
        run->identity + run->prefix_size + name_size + 1, digits + first, sizeof(digits) - first);
    run->identity[size] = '\0';
    return size;
}

/* Makes the identity of a step, wait or child, and counts its name. */
static pawl_status
make_identity(pawl_run *run, const char *name)
{
    uint32_t *count;
    size_t size;

    if (!pw_name_valid(name))
        return pw_branch_mistake(run,
            "bad name \"%.110s\": it must have 1 to 100 characters of a-z, 0-9, _, . and -",
            name != NULL ? name : "");
    count = pw_names_count(&run->origin->names, &run->origin->arena, name);
    if (count == NULL)
        return PAWL_ENOMEM;
    if (*count == count_max)
        return pw_branch_mistake(run, "\"%s\" came up too often", name);
    size = write_identity(run, name, *count + 1);
    /* guard:identity_max */
    if (size > PW_IDENTITY_MAX)
        return pw_branch_mistake(
            run, "the names of the branch and of \"%s\" are too long together", name);
    /* guard:identity_undo_max */
    if (run->options.values[PW_OPTION_UNDO] != NULL &&
        size + undo_prefix_max(run->task) > PW_IDENTITY_MAX)
        return pw_branch_mistake(run,
            "the names of the branch and of \"%s\" are too long together for a step with an undo",
            name);
    ++*count;
    run->counted = count;
    return PAWL_OK;
}

/* Returns the options that a call of this kind accepts. */
static unsigned
options_of(enum pw_kind kind)
{
    if (kind == PW_KIND_STEP)
        return PW_FOR_STEP;
    if (kind == PW_KIND_EVENT)
        return PW_FOR_EVENT;
    return kind == PW_KIND_CHILD ? PW_FOR_CHILD : 0;
}

pawl_status
pw_branch_refuse(pawl_run *run)
{
    if (run->phase == PW_PHASE_OPEN)
        return pw_branch_mistake(run, "a step is open in this branch: \"%s\"", run->identity);
    return pw_branch_mistake(
        run, "another call is in flight in this branch: \"%s\"", run->identity);
}

pawl_status
pw_branch_enter(pawl_run *run, const char *name, enum pw_kind kind, struct pw_entry **entry)
{
    struct pw_entry *found;
    pawl_status status;

    if (run->phase != PW_PHASE_NONE)
        return pw_branch_refuse(run);
    if (run->stuck != PAWL_OK)
        return run->stuck;
    if (run->task->rolling_back)
        return pw_branch_mistake(run, "the run is rolling back: only its undos can be done");
    if (run->options.oom)
        return PAWL_ENOMEM;
    if (!pw_options_fit(&run->options, options_of(kind)))
        return pw_branch_mistake(run, "option \"%s\" %s", run->options.about, run->options.mistake);
    status = make_identity(run, name);
    if (status != PAWL_OK)
        return status;
    found = pw_record_find(&run->task->record, run->identity);
    if (found != NULL) {
        atomic_store(&found->used, true);
        if (found->kind[0] != '\0' && strcmp(found->kind, pw_kind_name(kind)) != 0)
            return pw_branch_drift(run, found->kind, kind);
    }
    *entry = found;
    return PAWL_OK;
}

pawl_status
pw_branch_leave(pawl_run *run, pawl_status status)
{
    if (run->phase == PW_PHASE_NONE) {
        if (status != PAWL_ENOMEM || run->options.oom)
            run->options = (struct pw_options){0};
        if (status == PAWL_ENOMEM && run->counted != NULL)
            --*run->counted;
        run->counted = NULL;
    }
    /* A call has succeeded, so the handler has handled the earlier failure: that one must not make a later failure final. */
    if (status == PAWL_OK)
        run->failure.final = false;
    if (status == PAWL_SUSPENDED || status == PAWL_ECANCELLED || status == PAWL_ELEASE_LOST)
        run->stuck = status;
    return status;
}

bool
pw_branch_is_about(const pawl_run *run, const char *name)
{
    size_t size = name != NULL ? strlen(name) : 0;

    return size > 0 && strlen(run->identity) > run->prefix_size + size &&
        memcmp(run->identity + run->prefix_size, name, size) == 0 &&
        run->identity[run->prefix_size + size] == '#';
}

bool
pw_branch_here(const pawl_run *run)
{
    return run != NULL && !pw_task_foreign(run->task);
}

pawl_status
pw_branch_standing(const pawl_run *run)
{
    switch ((enum pw_standing)atomic_load(&run->task->standing)) {
    case PW_CANCELLED:
        return PAWL_ECANCELLED;
    case PW_LEASE_LOST:
        return PAWL_ELEASE_LOST;
    case PW_GOES_ON:
    case PW_PAUSED:
        break;
    }
    return atomic_load(&run->trunk->lost) ? PAWL_ELEASE_LOST : PAWL_OK;
}

pawl_status
pw_branch_may_start(pawl_run *run)
{
    pawl_status status;

    if (run->nonblocking && pw_task_await_lease(run->task, run))
        return PAWL_PENDING;
    /* Its result is the standing, which is checked below. */
    (void)pw_task_may_start(run->task);
    status = pw_branch_standing(run);
    if (status != PAWL_OK)
        return status;
    if (atomic_load(&run->task->standing) == PW_PAUSED) {
        atomic_store(&run->trunk->paused, true);
        return PAWL_SUSPENDED;
    }
    if (run->task->run_deadline_us != INT64_MAX && pw_now_us() >= run->task->run_deadline_us) {
        static const char message[] = "the run has reached its time limit";

        return pw_branch_failed(run, PAWL_ETIMEOUT,
            pw_error_make(&run->arena, "timeout", "%s", message), message, true);
    }
    return PAWL_OK;
}

int32_t
pw_branch_seq(pawl_run *run, const struct pw_entry *entry)
{
    if (entry != NULL && entry->seq > 0)
        return entry->seq;
    return (int32_t)atomic_fetch_add(&run->task->seq, 1) + 1;
}

void
pw_branch_post(pawl_run *run, enum pw_kind kind, pawl_bytes payload, pawl_bytes option)
{
    run->item = (struct pw_item){
        .kind = kind,
        .name = run->identity,
        .payload = payload,
        .option = option,
        .seq = run->step.seq,
        .millis = run->step.millis,
        .busy_us = pw_run_busy_us(run),
        .task = run->task,
        .branch = run,
        .error_code = "",
    };
    pw_list_init(&run->item.link);
    run->returned = false;
    pw_task_post(&run->item);
}

/* Passes the wake-up on; see pw_run_wake(). */
static void
wake_others(pawl_run *run)
{
    for (size_t i = 0; i < PW_WAKES; i++) {
        pawl_run *other = run->wakes[i];

        run->wakes[i] = NULL;
        if (other != NULL)
            pw_run_answered(other);
    }
}

/* Waits for the answer. If the branch is nonblocking, does not wait, and returns whether the answer is there. */
static bool
has_answer(pawl_run *run)
{
    if (run->nonblocking)
        return run->returned;
    /* sem_wait() fails only if a signal interrupts it. */
    while (sem_wait(&run->answered) != 0)
        ;
    wake_others(run);
    run->resumed_us = pw_now_us();
    return true;
}

pawl_status
pw_branch_answer(pawl_run *run)
{
    if (!has_answer(run))
        return PAWL_PENDING;
    switch (run->item.answer) {
    case PW_ANSWER_OK:
    case PW_ANSWER_ALREADY:
        return PAWL_OK;
    case PW_ANSWER_CANCELLED:
        return PAWL_ECANCELLED;
    case PW_ANSWER_REFUSED:
        if (run->item.reason == NULL)
            run->item.reason = "";
        if (strcmp(run->item.reason, "drift") != 0)
            return PAWL_OK;
        atomic_store(&run->trunk->paused, true);
        return PAWL_SUSPENDED;
    case PW_ANSWER_NONE:
    case PW_ANSWER_LEASE_LOST:
    case PW_ANSWER_FAILED:
        break;
    }
    atomic_store(&run->trunk->lost, true);
    return PAWL_ELEASE_LOST;
}

pawl_status
pw_branch_drift(pawl_run *run, const char *recorded, enum pw_kind asked)
{
    pawl_run *trunk = run->trunk;
    const char *name = pw_arena_copy(&run->arena, run->identity, strlen(run->identity));

    (void)pthread_mutex_lock(&trunk->lock);
    if (trunk->drift_name == NULL) {
        trunk->drift_name = name != NULL ? name : "?";
        trunk->drift_recorded = recorded;
        trunk->drift_asked = pw_kind_name(asked);
    }
    (void)pthread_mutex_unlock(&trunk->lock);
    return PAWL_SUSPENDED;
}

/* Adds a branch to the run. Returns false if the run already has PW_BRANCHES_MAX. */
static bool
add_bough(pawl_run *trunk, pawl_run *branch)
{
    bool room;

    (void)pthread_mutex_lock(&trunk->lock);
    room = trunk->bough_count < PW_BRANCHES_MAX;
    if (room) {
        trunk->bough_count++;
        pw_list_add_tail(&trunk->boughs, &branch->bough);
    }
    (void)pthread_mutex_unlock(&trunk->lock);
    return room;
}

/* Adds a branch or duplicate that was made from run to its branches, or frees it. */
static pawl_status
adopt(pawl_run *run, pawl_run *made)
{
    if (made == NULL)
        return PAWL_ENOMEM;
    made->nonblocking = run->nonblocking;
    made->parent = run;
    if (add_bough(run->trunk, made))
        return PAWL_OK;
    pw_branch_free(made);
    return pw_branch_mistake(run, "a run has at most %d branches", PW_BRANCHES_MAX);
}

pawl_status
pawl_run_dup(pawl_run *run, pawl_run **dup)
{
    pawl_run *made;
    pawl_status status;

    if (!pw_branch_here(run) || dup == NULL)
        return PAWL_EINVAL;
    /* A call of the branch that waits does not concern its other calls. */
    if (run->stuck != PAWL_OK && run->stuck != PAWL_SUSPENDED)
        return run->stuck;
    if (run->task->rolling_back || run->origin != run)
        return pw_branch_mistake(
            run, "a duplicate has no duplicates, and a run that is rolling back has none");
    made = pw_branch_new(run->task, run->trunk, run->prefix, "");
    status = adopt(run, made);
    if (status != PAWL_OK)
        return status;
    made->origin = run;
    run->has_dups = true;
    *dup = made;
    return PAWL_OK;
}

pawl_status
pawl_run_branch(pawl_run *run, const char *name, pawl_run **branch)
{
    uint32_t *count;
    pawl_run *made;
    pawl_status status;

    if (!pw_branch_here(run) || branch == NULL)
        return PAWL_EINVAL;
    /* A program that does not block may make a branch while a call of this one is in flight, or waits. */
    if (run->phase != PW_PHASE_NONE && !run->nonblocking)
        return pw_branch_refuse(run);
    if (run->stuck != PAWL_OK && (run->stuck != PAWL_SUSPENDED || !run->nonblocking))
        return run->stuck;
    if (run->task->rolling_back)
        return pw_branch_mistake(run, "the run is rolling back: it has no branches");
    if (run->origin != run)
        return pw_branch_mistake(run, "a duplicate has no branches: make them from the original");
    if (!pw_name_valid(name))
        return pw_branch_mistake(run,
            "bad name of a branch \"%.110s\": it must have 1 to 100 characters of a-z, 0-9, _, . "
            "and -",
            name != NULL ? name : "");
    /* guard:branch_names_max */
    if (run->prefix_size + strlen(name) + strlen("/a#1") > PW_IDENTITY_MAX)
        return pw_branch_mistake(run, "the names of the branches above \"%s\" are too long", name);
    count = pw_names_count(&run->branches, &run->arena, name);
    if (count == NULL)
        return PAWL_ENOMEM;
    /* guard:branch_once */
    if (*count > 0)
        return pw_branch_mistake(run, "there is a branch \"%s\" already", name);
    made = pw_branch_new(run->task, run->trunk, run->prefix, name);
    status = adopt(run, made);
    if (status != PAWL_OK)
        return status;
    *count = 1;
    *branch = made;
    return PAWL_OK;
}
