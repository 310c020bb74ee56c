/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies: operations one after the other, and those that hold further bodies. */
#include "frame.h"

#include <string.h>

pawl_status
body_failed(struct frame *frame, pawl_status status, pawl_status recorded, const char *kind)
{
    frame->failure = (struct failure){0};
    if (status == recorded) {
        frame->failure.kind = kind;
        frame->failure.error = pool_copy(frame->play->pool, pawl_run_error(frame->calls));
    }
    return status;
}

pawl_status
body_end(struct frame *frame, pawl_status status)
{
    if (!frame->split || frame->failure.kind == NULL || status == PAWL_OK)
        return status;
    pawl_run_set_error_json(frame->branch, frame->failure.error);
    return PAWL_EPERMANENT;
}

/* The variable error of a catch. */
static const struct value *
describe_failure(struct frame *frame)
{
    struct play *play = frame->play;
    const struct value *error = play_read(play, frame->failure.error);
    const struct value *code = value_member(error, "code");
    const struct value *message = value_member(error, "message");
    struct value *described = value_list(play->pool, VALUE_OBJECT, 3);

    described->names[0] = pawl_text("kind");
    described->items[0] = value_string(play->pool, frame->failure.kind);
    described->names[1] = pawl_text("code");
    described->items[1] = code != NULL ? code : &value_null;
    described->names[2] = pawl_text("message");
    described->items[2] = message != NULL ? message : &value_null;
    return described;
}

static pawl_status
try_body(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    pawl_status status = body_execute(frame, value_member(operation, "try"), variables, value);

    if (status == PAWL_OK || frame->failure.kind == NULL)
        return status;
    variables = variable_add(frame->play, variables, "error", describe_failure(frame));
    frame->failure = (struct failure){0};
    return body_execute(frame, value_member(operation, "catch"), variables, value);
}

static pawl_status
choose_body(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    const struct value *is = play_fill(frame->play, variables, value_member(operation, "if"));

    if (is->kind != VALUE_TRUE && is->kind != VALUE_FALSE)
        play_problem(frame->play, "if: neither true nor false");
    return body_execute(
        frame, value_member(operation, is->kind == VALUE_TRUE ? "then" : "else"), variables, value);
}

static pawl_status
ask_changed(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    int is_new = 0;
    pawl_status status =
        pawl_run_changed(frame->calls, value_text(operation, "changed", ""), &is_new);

    (void)variables;
    *value = value_bool(is_new != 0);
    return body_failed(frame, status, PAWL_EFAILED, "failed");
}

static pawl_status
loop_body(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    struct play *play = frame->play;
    int64_t times = value_int(operation, "loop", 0);
    struct value *list = value_list(play->pool, VALUE_ARRAY, (size_t)times);

    for (int64_t i = 0; i < times; i++) {
        pawl_status status = body_execute(frame, value_member(operation, "does"),
            variable_add(play, variables, "i", value_number(play->pool, i)), &list->items[i]);

        if (status != PAWL_OK)
            return status;
    }
    *value = list;
    return PAWL_OK;
}

static pawl_status
fail_by_itself(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    (void)variables;
    (void)value;
    frame->failure = (struct failure){0};
    return do_fail(frame->play, frame->branch, value_member(operation, "fail"));
}

static pawl_status
log_line(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    const struct value *line = play_fill(frame->play, variables, value_member(operation, "log"));

    (void)value;
    pawl_run_log(frame->calls, "%s", value_plain(frame->play->pool, line));
    return PAWL_OK;
}

static pawl_status
show_progress(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    (void)variables;
    (void)value;
    pawl_run_progress(frame->calls, value_text(operation, "progress", ""), "%s",
        value_text(operation, "text", ""));
    return PAWL_OK;
}

static const struct {
    const char *name;
    operation_fn function;
} operations[] = {
    {"step", call_step},
    {"transaction", call_transaction},
    {"sleep", wait_sleep},
    {"event", wait_event},
    {"signal", wait_signal},
    {"approval", wait_approval},
    {"child", wait_child},
    {"all", branch_all},
    {"branches", branch_named},
    {"each", branch_each},
    {"first", branch_first},
    {"loop", loop_body},
    {"try", try_body},
    {"if", choose_body},
    {"changed", ask_changed},
    {"fail", fail_by_itself},
    {"log", log_line},
    {"progress", show_progress},
};

pawl_status
body_operation(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    *value = &value_null;
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (value_member(operation, operations[i].name) != NULL)
            return operations[i].function(frame, operation, variables, value);
    play_problem(
        frame->play, "unknown operation: %s", value_write(frame->play->pool, operation).data);
    return PAWL_EINVAL;
}

pawl_status
body_execute(struct frame *frame, const struct value *body, const struct variable *variables,
    const struct value **value)
{
    *value = &value_null;
    for (size_t i = 0; body != NULL && i < body->count; i++) {
        const struct value *form = value_member(body->items[i], "return");
        const char *as = value_text(body->items[i], "as", NULL);
        const struct value *got = &value_null;
        pawl_status status;

        if (form != NULL) {
            *value = play_fill(frame->play, variables, form);
            return PAWL_OK;
        }
        status = body_operation(frame, body->items[i], variables, &got);
        if (status != PAWL_OK)
            return status;
        if (as != NULL)
            variables = variable_add(frame->play, variables, as, got);
    }
    return PAWL_OK;
}
