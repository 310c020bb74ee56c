/* SPDX-License-Identifier: Apache-2.0 */
/* The workflows of a scenario, and the worker that executes them. */
#include "frame.h"

#include <pawl/test.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a work may take before it counts as hanging. */
static const int64_t patience_ms = 300000;

/* The userdata of a handler. */
struct role {
    struct play *play;
    const char *name;          /* of an undo handler */
    const struct value *value; /* a workflow, a step of a flow, or what an undo does */
};

/* Calls a verb of an operator, with arguments by name. */
static void
call_verb(struct play *play, const char *verb, const char *const *names, const char *const *values,
    size_t count)
{
    pawl_error *error = NULL;

    (void)play_good(play, verb,
        pawl_client_call(play->client, verb, names, values, count, NULL, &error), error);
}

/* Creates a workflow or a flow; options of the scenario come after the player's own. */
static void
create_workflow(struct play *play, const char *name, const struct value *workflow)
{
    const struct value *options = value_member(workflow, "options");
    size_t count = 1, more = options != NULL ? options->count : 0;
    const char **names = pool_alloc(play->pool, (more + 3) * sizeof(*names));
    const char **values = pool_alloc(play->pool, (more + 3) * sizeof(*values));

    names[0] = "name";
    values[0] = play_workflow(play, name);
    if (value_member(options, "jitter") == NULL) {
        names[count] = "jitter";
        values[count++] = "0";
    }
    if (value_member(options, "max_attempts") == NULL) {
        names[count] = "max_attempts";
        values[count++] = "1";
    }
    for (size_t i = 0; i < more; i++) {
        names[count] = options->names[i].data;
        values[count++] = value_plain(play->pool, options->items[i]);
    }
    call_verb(play, value_member(workflow, "flow") != NULL ? "create_flow" : "create_workflow",
        names, values, count);
}

static void
add_flow_steps(struct play *play, const char *flow, const struct value *steps)
{
    static const char *const names[] = {"flow", "step", "deps", "options"};

    for (size_t i = 0; i < steps->count; i++) {
        const struct value *deps = value_member(steps->items[i], "deps");
        const struct value *options = value_member(steps->items[i], "options");
        struct text list = {0};
        const char *values[4] = {flow, steps->names[i].data};

        text_say(&list, "{");
        for (size_t d = 0; deps != NULL && d < deps->count; d++) {
            text_say(&list, d > 0 ? "," : "");
            text_say(&list, value_plain(play->pool, deps->items[d]));
        }
        text_say(&list, "}");
        values[2] = text_take(&list, play->pool).data;
        values[3] = options != NULL ? value_plain(play->pool, options) : "{}";
        call_verb(play, "add_step", names, values, 4);
    }
}

void
worker_create_workflows(struct play *play)
{
    const struct value *workflows = value_member(play->file, "workflows");

    for (size_t i = 0; i < workflows->count; i++) {
        const char *name = workflows->names[i].data;
        const struct value *flow = value_member(workflows->items[i], "flow");

        create_workflow(play, name, workflows->items[i]);
        if (flow != NULL)
            add_flow_steps(play, play_workflow(play, name), flow);
    }
}

/* The body of a workflow in the version that is deployed. */
static const struct value *
body_of(const struct role *role)
{
    const struct value *body =
        value_member(value_member(role->value, "versions"), role->play->version);

    return body != NULL ? body : value_member(role->value, "does");
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const struct role *role = pawl_run_userdata(run);
    struct play *play = role->play;
    struct frame frame = {.play = play, .branch = run, .calls = run, .path = ""};
    const struct variable *variables = NULL;
    const struct value *value = &value_null;
    pawl_status status;

    variables = variable_add(play, variables, "input", play_read(play, input));
    variables = variable_add(play, variables, "metadata", play_read(play, pawl_run_metadata(run)));
    variables =
        variable_add(play, variables, "tenant", value_string(play->pool, pawl_run_tenant(run)));
    variables = variable_add(play, variables, "workflow",
        value_string(play->pool, pawl_run_workflow(run) + strlen(play->scenario) + 1));
    status = body_end(&frame, body_execute(&frame, body_of(role), variables, &value));
    *output = value_write(play->pool, value);
    return status;
}

static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    const struct role *role = pawl_run_userdata(run);
    struct play *play = role->play;
    const char *name = pool_printf(play->pool, "undo:%s", role->name);
    const struct variable *variables = NULL;
    const struct value *value = &value_null;

    variables = variable_add(play, variables, "input", play_read(play, input));
    variables = variable_add(play, variables, "output", play_read(play, output));
    variables =
        variable_add(play, variables, "uncertain", value_bool(pawl_run_undo_uncertain(run) != 0));
    return do_call(play, run, ledger_call(play->ledger, name), role->value, variables, &value);
}

/* Whether the worker is to be without a workflow or an undo. */
static bool
is_without(struct play *play, const char *name)
{
    for (size_t i = 0; play->without != NULL && i < play->without->count; i++)
        if (strcmp(value_plain(play->pool, play->without->items[i]), name) == 0)
            return true;
    return false;
}

static struct role *
make_role(struct play *play, const char *name, const struct value *value)
{
    struct role *role = pool_alloc(play->pool, sizeof(*role));

    *role = (struct role){play, name, value};
    return role;
}

/* Registers a workflow, or the steps of a flow and its rollback. */
static void
register_workflow(struct play *play, const char *name, const struct value *workflow)
{
    const struct value *flow = value_member(workflow, "flow");
    const char *full = play_workflow(play, name);
    pawl_error *error = NULL;

    for (size_t i = 0; flow != NULL && i < flow->count; i++)
        if (play_good(play, "handle",
                pawl_worker_handle(play->worker,
                    pool_printf(play->pool, "%s/%s", full, flow->names[i].data), handle,
                    make_role(play, name, flow->items[i]), &error),
                error))
            error = NULL;
    (void)play_good(play, "handle",
        pawl_worker_handle(play->worker, full, handle, make_role(play, name, workflow), &error),
        error);
}

void
worker_make(struct play *play)
{
    const struct value *workflows = value_member(play->file, "workflows");
    const struct value *undos = value_member(play->file, "undos");
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    play->drained = false;
    if (!play_good(
            play, "concurrency", pawl_config_set(config, "concurrency", "1", &error), error) ||
        !play_good(play, "worker", pawl_worker_new(config, &play->worker, &error), error)) {
        pawl_config_free(config);
        return;
    }
    pawl_config_free(config);
    for (size_t i = 0; i < workflows->count; i++)
        if (!is_without(play, workflows->names[i].data))
            register_workflow(play, workflows->names[i].data, workflows->items[i]);
    for (size_t i = 0; undos != NULL && i < undos->count; i++) {
        const char *name = undos->names[i].data;

        if (!is_without(play, name))
            (void)play_good(play, name,
                pawl_worker_undo(
                    play->worker, name, undo, make_role(play, name, undos->items[i]), &error),
                error);
    }
    (void)play_good(play, "start", pawl_worker_start(play->worker, &error), error);
}

void
worker_end(struct play *play)
{
    pawl_worker_free(play->worker);
    play->worker = NULL;
}

void
worker_work(struct play *play)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_test_run_until_idle(play->worker, patience_ms, &error);

    if (status == PAWL_DRAINED && play->drained) {
        pawl_error_free(error);
        /* The last result of a drained worker is durable when the worker has stopped. */
        status = pawl_worker_stop(play->worker, patience_ms, &error);
    }
    (void)play_good(play, "work", status, error);
}

/* In the process of its own: a worker and a client, because those of the player belong to the player. */
static _Noreturn void
be_process(struct play *play)
{
    pawl_error *error = NULL;

    play->is_process = true;
    play->client = NULL;
    if (play_good(play, "client", pawl_client_open(NULL, &play->client, &error), error)) {
        worker_make(play);
        worker_work(play);
        worker_end(play);
    }
    _exit(0);
}

void
worker_work_in_process(struct play *play)
{
    int status = 0;
    pid_t pid;

    worker_end(play);
    pid = fork();
    if (pid == 0)
        be_process(play);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        play_problem(play, "no process for the worker");
    worker_make(play);
}
