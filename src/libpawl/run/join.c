/* SPDX-License-Identifier: Apache-2.0 */
/* Branches that are executed at the same time by threads, and joined. */
#include "libpawl/common/thread.h"
#include "libpawl/run/branch.h"

#include <string.h>

enum {
    THREADS_MAX = 64
};

/* One branch that was added. */
struct join {
    pawl_run *branch;
    pawl_branch_fn function;
    void *userdata;
    pawl_bytes *output;
    pawl_bytes result;
    pawl_status status;
};

/* The branches that were added to a branch and not joined yet, in that branch's arena. */
struct pw_joins {
    struct join *list;
    size_t count;
    size_t room;
    atomic_size_t next; /* the first branch that no thread has taken */
};

/* Makes space for one more branch. */
static bool
reserve(pawl_run *run)
{
    struct pw_joins *joins = run->joins;
    struct join *list;
    size_t room;

    if (joins == NULL) {
        joins = pw_arena_alloc(&run->arena, sizeof(*joins));
        if (joins == NULL)
            return false;
        *joins = (struct pw_joins){0};
        run->joins = joins;
    }
    if (joins->count < joins->room)
        return true;
    room = joins->room > 0 ? joins->room * 2 : 8;
    list = pw_arena_alloc(&run->arena, room * sizeof(*list));
    if (list == NULL)
        return false;
    if (joins->count > 0)
        memcpy(list, joins->list, joins->count * sizeof(*list));
    joins->list = list;
    joins->room = room;
    return true;
}

pawl_status
pawl_branch(
    pawl_run *run, const char *name, pawl_branch_fn function, void *userdata, pawl_bytes *output)
{
    pawl_run *branch = NULL;
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (function == NULL)
        return pw_branch_mistake(run, "no function was given for the branch");
    if (run->nonblocking)
        return pw_branch_mistake(
            run, "a branch that does not block has no threads: use pawl_run_branch()");
    if (!reserve(run))
        return PAWL_ENOMEM;
    status = pawl_run_branch(run, name, &branch);
    if (status != PAWL_OK)
        return status;
    run->joins->list[run->joins->count++] = (struct join){
        .branch = branch, .function = function, .userdata = userdata, .output = output};
    return PAWL_OK;
}

pawl_status
pw_branch_end(pawl_run *run, const char *who)
{
    const char *prefix;

    if (run->phase == PW_PHASE_OPEN)
        return pw_branch_mistake(
            run, "the %s returned while the step \"%s\" was open", who, run->identity);
    if (run->joins == NULL || run->joins->count == 0)
        return PAWL_OK;
    prefix = run->joins->list[0].branch->prefix;
    return pw_branch_mistake(run,
        "the %s returned before the branch \"%.*s\" was executed: call pawl_branches_join() after "
        "pawl_branch()",
        who, (int)strlen(prefix) - 1, prefix);
}

/* Executes one branch. */
static void
execute(struct join *join)
{
    pawl_run *branch = join->branch;
    pawl_bytes output = {0};
    pawl_status status;

    pw_run_resume(branch);
    status = join->function(branch, join->userdata, &output);

    if (branch->stuck == PAWL_SUSPENDED)
        status = PAWL_SUSPENDED;
    else if (status == PAWL_OK)
        status = pw_branch_end(branch, "branch");
    /* The output may end with this thread, so copy it. */
    if (status == PAWL_OK && join->output != NULL && output.data != NULL)
        status = pw_branch_copy(branch, output, &join->result);
    join->status = status;
}

/* A thread takes one branch after another. */
static void *
execute_branches(void *argument)
{
    struct pw_joins *joins = argument;
    size_t at;

    while ((at = atomic_fetch_add(&joins->next, 1)) < joins->count)
        execute(&joins->list[at]);
    return NULL;
}

/*
 * Returns the weight of the status of a branch: the first branch with the highest weight decides the status of the join. A branch that
 * waits outweighs failed ones. The first failure is known only after all branches have ended, and a replay must reach the same decision.
 */
static int
weight_of(pawl_status status)
{
    switch (status) {
    case PAWL_OK:
        return 0;
    case PAWL_SUSPENDED:
        return 2;
    case PAWL_ECANCELLED:
        return 3;
    case PAWL_ELEASE_LOST:
        return 4;
    default:
        return 1;
    }
}

/* Decides the status of a join, and returns outputs. If a branch failed, stores its error in run. */
static pawl_status
decide(pawl_run *run, const struct pw_joins *joins)
{
    const struct join *decides = NULL;
    struct pw_failure why;

    for (size_t i = 0; i < joins->count; i++) {
        const struct join *join = &joins->list[i];

        join->branch->joined = true;
        if (join->status == PAWL_OK && join->output != NULL)
            *join->output = pw_bytes_or_null(join->result);
        if (decides == NULL || weight_of(join->status) > weight_of(decides->status))
            decides = join;
    }
    if (decides == NULL || decides->status == PAWL_OK || decides->status == PAWL_SUSPENDED)
        return decides == NULL ? PAWL_OK : decides->status;
    if (run->said.retry_after_ms < 0)
        run->said.retry_after_ms = decides->branch->said.retry_after_ms;
    why = pw_branch_why(decides->branch, decides->status);
    return pw_branch_failed(run, decides->status, why.error, why.message, why.final);
}

pawl_status
pawl_branches_join(pawl_run *run)
{
    struct pw_joins *joins;
    pthread_t threads[THREADS_MAX - 1];
    size_t wanted, started = 0, stack;
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    joins = run->joins;
    if (run->phase != PW_PHASE_NONE)
        return pw_branch_refuse(run);
    if (run->stuck != PAWL_OK)
        return run->stuck;
    if (joins == NULL || joins->count == 0)
        return PAWL_OK;
    atomic_store(&joins->next, 0);
    stack = pw_task_thread_stack(run->task);
    wanted = joins->count < THREADS_MAX ? joins->count - 1 : THREADS_MAX - 1;
    /* This thread executes branches, too. So all of them end even if no other thread can be started. */
    while (
        started < wanted && pw_thread_start(&threads[started], stack, execute_branches, joins) == 0)
        started++;
    (void)execute_branches(joins);
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL); /* they are ours and joinable */
    pw_run_resume(run);                       /* until now the branches executed */
    status = decide(run, joins);
    joins->count = 0;
    return pw_branch_leave(run, status);
}
