/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: plain ones, and those that a transaction of the program records. */
#include "frame.h"

#include <string.h>

/* The argument of a step's function. */
struct step {
    struct frame *frame;
    const struct value *operation;
    const struct variable *variables;
    const char *name; /* with its branches */
};

/* Sets the options of a step, wait or child that are members of its operation. */
static void
set_options(struct frame *frame, const struct value *operation, const struct variable *variables)
{
    static const char *const names[] = {"max_attempts", "base_ms", "factor", "cap_ms", "jitter",
        "timeout_ms", "undo", "undo_max_attempts", "undo_base_ms"};
    pawl_bytes input = play_fill_member(frame->play, variables, operation, "undo_input");

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value *option = value_member(operation, names[i]);

        if (option != NULL)
            pawl_run_set_option(frame->calls, names[i], value_plain(frame->play->pool, option));
    }
    if (input.size > 0)
        pawl_run_set_option(frame->calls, "undo_input", input.data);
}

/* The function of the step. */
static pawl_status
execute_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct step *step = userdata;
    struct play *play = step->frame->play;
    const struct value *value = &value_null;
    pawl_status status = do_call(play, run, ledger_call(play->ledger, step->name),
        value_member(step->operation, "do"), step->variables, &value);

    *output = value_write(play->pool, value);
    return status;
}

pawl_status
call_step(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    const char *name = value_text(operation, "step", "");
    struct step step = {.frame = frame, .operation = operation, .variables = variables};
    pawl_bytes output = {0};
    pawl_status status;

    step.name = pool_printf(frame->play->pool, "%s%s", frame->path, name);
    set_options(frame, operation, variables);
    status = pawl_step(frame->calls, name, execute_step, &step, &output);
    if (status == PAWL_OK)
        *value = play_read(frame->play, output);
    return body_failed(frame, status, PAWL_EFAILED, "failed");
}

/* The program's transaction: an effect and the record of the step. Ends with commit or rollback. */
static bool
transact(struct step *step, const char *token, pawl_bytes output, const char *end)
{
    struct play *play = step->frame->play;
    const char *message = "";
    const char *script = pool_printf(play->pool,
        "begin; insert into play_effect (scenario, step) values (%s, %s);"
        "do $play$ begin if pawl.record_step(%s, %s) <> 'ok' then raise 'already'; end if; end"
        " $play$; %s;",
        script_quote(play, play->scenario), script_quote(play, step->name),
        script_quote(play, token), script_quote(play, output.data), end);

    return script_run(play, script, &message);
}

/* Does what commit says. Returns whether the program knows, or must ask, that the step is recorded. */
static bool
commit(struct step *step, const char *token, pawl_bytes output, const char *how)
{
    struct play *play = step->frame->play;

    if (strcmp(how, "never") == 0) {
        (void)transact(step, token, output, "rollback"); /* the program does not see the reply */
        return true;
    }
    if (!transact(step, token, output, "commit"))
        return false;
    if (strcmp(how, "repeat") == 0 && transact(step, token, output, "commit"))
        play_problem(play, "the second transaction of %s was committed, too", step->name);
    else if (strcmp(how, "ok") != 0 && strcmp(how, "lost") != 0 && strcmp(how, "repeat") != 0)
        play_problem(play, "unknown commit \"%s\"", how);
    return true;
}

static pawl_status
execute_transaction(struct step *step, const char *token, pawl_bytes *output)
{
    struct frame *frame = step->frame;
    int64_t at = ledger_call(frame->play->ledger, step->name);
    const struct value *how = do_choose(value_member(step->operation, "commit"), at);
    const struct value *value = &value_null;
    pawl_status status = do_call(frame->play, frame->calls, at, value_member(step->operation, "do"),
        step->variables, &value);

    if (status == PAWL_OK &&
        commit(step, token, value_write(frame->play->pool, value),
            how != NULL ? value_plain(frame->play->pool, how) : "ok"))
        return pawl_step_confirm(frame->calls, output);
    return pawl_step_finish(
        frame->calls, status == PAWL_OK ? PAWL_EFAILED : status, (pawl_bytes){0}, output);
}

pawl_status
call_transaction(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value)
{
    const char *name = value_text(operation, "transaction", "");
    struct step step = {.frame = frame, .operation = operation, .variables = variables};
    const char *token = NULL;
    pawl_bytes output = {0};
    pawl_status status;

    step.name = pool_printf(frame->play->pool, "%s%s", frame->path, name);
    set_options(frame, operation, variables);
    status = pawl_step_begin_transaction(frame->calls, name, &output, &token);
    if (status == PAWL_EXECUTE)
        status = execute_transaction(&step, token, &output);
    if (status == PAWL_OK)
        *value = play_read(frame->play, output);
    return body_failed(frame, status, PAWL_EFAILED, "failed");
}
