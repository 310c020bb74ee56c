/* SPDX-License-Identifier: Apache-2.0 */
/* Several calls of one branch, and several branches, at the same time. */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

/* A branch that is executed, perhaps by another thread. */
struct part {
    struct frame frame;
    const char *name;
    const struct value *body;
    const struct variable *variables;
    const struct value *value;
    pawl_status status;
};

/* The status of several: a cancel before a wait, a wait before the first failure. */
static int
weight_of(pawl_status status)
{
    if (status == PAWL_ECANCELLED || status == PAWL_ELEASE_LOST)
        return 3;
    return status == PAWL_SUSPENDED ? 2 : status != PAWL_OK;
}

/*
 * One duplicate for each call. A call that is suspended does not stop the next one, which is how several calls of one thread are
 * in flight at the same time.
 */
pawl_status
branch_all(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    const struct value *calls = value_member(operation, "all");
    struct value *list = value_list(frame->play->pool, VALUE_ARRAY, calls->count);
    struct failure failure = {0};
    pawl_status decides = PAWL_OK;

    frame->split = true;
    for (size_t i = 0; i < calls->count; i++) {
        pawl_run *dup = NULL;
        pawl_status status = pawl_run_dup(frame->branch, &dup);

        if (status != PAWL_OK)
            return status;
        frame->calls = dup;
        status = body_operation(frame, calls->items[i], variables, &list->items[i]);
        if (weight_of(status) > weight_of(decides)) {
            decides = status;
            failure = frame->failure;
        }
    }
    frame->failure = failure;
    *value = list;
    return decides;
}

/* The function of a branch. */
static pawl_status
execute_part(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    struct part *part = userdata;

    *output = pawl_text("null");
    part->frame.branch = branch;
    part->frame.calls = branch;
    part->status = body_end(
        &part->frame, body_execute(&part->frame, part->body, part->variables, &part->value));
    return part->status;
}

static struct part *
make_parts(struct frame *frame, size_t count)
{
    struct part *parts = pool_alloc(frame->play->pool, (count + 1) * sizeof(*parts));

    for (size_t i = 0; i < count; i++)
        parts[i].frame = (struct frame){.play = frame->play};
    return parts;
}

/* Parts for an object of bodies. */
static struct part *
name_parts(struct frame *frame, const struct value *bodies, const struct variable *variables)
{
    struct part *parts = make_parts(frame, bodies->count);

    for (size_t i = 0; i < bodies->count; i++) {
        parts[i].name = bodies->names[i].data;
        parts[i].frame.path = pool_printf(frame->play->pool, "%s%s/", frame->path, parts[i].name);
        parts[i].body = bodies->items[i];
        parts[i].variables = variables;
    }
    return parts;
}

/* The failure of the first part that failed becomes that of the operation. */
static void
inherit_failure(struct frame *frame, const struct part *parts, size_t count)
{
    frame->failure = (struct failure){0};
    for (size_t i = 0; i < count; i++)
        if (weight_of(parts[i].status) == 1) {
            frame->failure = parts[i].frame.failure;
            return;
        }
}

/* Executes all parts with threads of the library, and joins them. */
static pawl_status
join_parts(struct frame *frame, struct part *parts, size_t count, struct value *values)
{
    pawl_bytes ignored;
    pawl_status status;

    for (size_t i = 0; i < count; i++) {
        status = pawl_branch(frame->branch, parts[i].name, execute_part, &parts[i], &ignored);
        if (status != PAWL_OK)
            return status;
    }
    status = pawl_branches_join(frame->branch);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        values->items[i] = parts[i].value;
    if (weight_of(status) == 1)
        inherit_failure(frame, parts, count);
    return status;
}

pawl_status
branch_named(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    const struct value *bodies = value_member(operation, "branches");
    struct value *values = value_list(frame->play->pool, VALUE_OBJECT, bodies->count);
    struct part *parts = name_parts(frame, bodies, variables);

    for (size_t i = 0; i < bodies->count; i++)
        values->names[i] = bodies->names[i];
    *value = values;
    return join_parts(frame, parts, bodies->count, values);
}

pawl_status
branch_each(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    struct play *play = frame->play;
    size_t count = (size_t)value_int(operation, "each", 0);
    const char *name = value_text(operation, "branch", "");
    struct value *values = value_list(play->pool, VALUE_ARRAY, count);
    struct part *parts = make_parts(frame, count);

    for (size_t i = 0; i < count; i++) {
        parts[i].name = pool_printf(play->pool, "%s-%zu", name, i);
        parts[i].frame.path = pool_printf(play->pool, "%s%s-*/", frame->path, name);
        parts[i].body = value_member(operation, "does");
        parts[i].variables =
            variable_add(play, variables, "i", value_number(play->pool, (int64_t)i));
    }
    *value = values;
    return join_parts(frame, parts, count, values);
}

/* Executes the parts one after the other: one that waits is left, and does not stop the next. */
static pawl_status
execute_parts(struct frame *frame, struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pawl_run *branch = NULL;
        pawl_bytes ignored;
        pawl_status status = pawl_run_branch(frame->branch, parts[i].name, &branch);

        if (status != PAWL_OK)
            return status;
        status = execute_part(branch, &parts[i], &ignored);
        if (weight_of(status) == 3)
            return status;
    }
    return PAWL_OK;
}

/* The function of the step that records which part was first. */
static pawl_status
tell_first(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct part *part = userdata;

    return pawl_run_quote(run, part->name, output);
}

/* Records the first part that has ended, and returns the one that is recorded. */
static pawl_status
record_first(struct frame *frame, const struct value *operation, struct part *parts, size_t count,
    const struct part **chosen)
{
    const struct value *recorded;
    pawl_bytes output = {0};
    pawl_status status;
    size_t at = 0;

    while (at < count && parts[at].status == PAWL_SUSPENDED)
        at++;
    if (at == count)
        return PAWL_SUSPENDED;
    status = pawl_step(
        frame->calls, value_text(operation, "first", ""), tell_first, &parts[at], &output);
    if (status != PAWL_OK)
        return body_failed(frame, status, PAWL_EFAILED, "failed");
    recorded = play_read(frame->play, output);
    for (size_t i = 0; i < count; i++)
        if (recorded->kind == VALUE_STRING && strcmp(recorded->text.data, parts[i].name) == 0)
            *chosen = &parts[i];
    return *chosen != NULL ? PAWL_OK : PAWL_EINVAL;
}

pawl_status
branch_first(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    struct play *play = frame->play;
    const struct value *bodies = value_member(operation, "of");
    struct part *parts = name_parts(frame, bodies, variables);
    const struct part *chosen = NULL;
    struct value *found;
    pawl_status status;

    frame->split = true;
    status = execute_parts(frame, parts, bodies->count);
    if (status == PAWL_OK)
        status = record_first(frame, operation, parts, bodies->count, &chosen);
    if (status != PAWL_OK)
        return status;
    frame->failure = chosen->frame.failure;
    found = value_list(play->pool, VALUE_OBJECT, 2);
    found->names[0] = pawl_text("branch");
    found->items[0] = value_string(play->pool, chosen->name);
    found->names[1] = pawl_text("value");
    found->items[1] = chosen->value;
    *value = found;
    return chosen->status;
}
