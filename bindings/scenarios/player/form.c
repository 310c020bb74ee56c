/* SPDX-License-Identifier: Apache-2.0 */
/* The form of a scenario: a member that the format does not have is a mistake, because a player must not ignore it. */
#include "play.h"

#include <string.h>

/* The members that an operation or an action may have: its own one, and others. */
struct form {
    const char *name;
    const char *members; /* separated by blanks, with a blank at both ends */
};

static const struct form operations[] = {
    {"step",
        " do max_attempts base_ms factor cap_ms jitter timeout_ms undo undo_input"
        " undo_max_attempts undo_base_ms as "},
    {"transaction", " do commit max_attempts base_ms factor cap_ms jitter timeout_ms as "},
    {"sleep", " ms as "},
    {"event", " topic key match timeout_ms as "},
    {"signal", " timeout_ms as "},
    {"approval", " form timeout_ms as "},
    {"child", " workflow input detached priority delay_ms metadata as "},
    {"all", " as "},
    {"branches", " as "},
    {"each", " branch does as "},
    {"first", " of as "},
    {"loop", " does as "},
    {"try", " catch as "},
    {"if", " then else as "},
    {"changed", " as "},
    {"fail", " "},
    {"log", " as "},
    {"progress", " text as "},
    {"return", " "},
    {NULL, NULL},
};

static const struct form actions[] = {
    {"trigger",
        " as input key tenant priority delay_ms metadata key_ttl_ms key_while_active"
        " rolled_back answer "},
    {"emit", " key tenant payload "},
    {"signal", " run payload answer "},
    {"cancel", " why rollback answer "},
    {"wait", " answer "},
    {"follow", " notes ends "},
    {"call", " arguments rows as answer "},
    {"find", " child_of step "},
    {"work", " "},
    {"advance_ms", " "},
    {"deploy", " "},
    {"worker", " "},
    {"drain", " "},
    {"check", " "},
    {NULL, NULL},
};

static const char scenario_members[] = " about workflows undos play expect ";
static const char workflow_members[] = " does versions options flow ";
static const char flow_step_members[] = " deps options does ";
static const char do_members[] = " trace log stream during takes_ms exit fail return ";
static const char failure_members[] = " code message permanent retry_after_ms ";
static const char run_members[] = " status reason output error steps steps_count outputs history"
                                  " notes tenant key priority round metadata input"
                                  " executions_at_most ";

static void check_body(struct play *play, const struct value *body);
static void check_actions(struct play *play, const struct value *list);
static void check_expected(struct play *play, const struct value *expected);

/* Every member of an object must be one of these, or its own name. */
static void
check_members(struct play *play, const char *what, const struct value *object, const char *own,
    const char *members)
{
    if (object == NULL)
        return;
    if (object->kind != VALUE_OBJECT)
        play_problem(play, "%s is not an object", what);
    for (size_t i = 0; object->kind == VALUE_OBJECT && i < object->count; i++) {
        const char *name = object->names[i].data;

        if (strcmp(name, own) != 0 &&
            strstr(members, pool_printf(play->pool, " %s ", name)) == NULL)
            play_problem(play, "%s has an unknown member \"%s\"", what, name);
    }
}

/* Returns the form whose own member an object has, and checks the others. */
static const char *
check_form(
    struct play *play, const char *what, const struct value *object, const struct form *forms)
{
    for (; forms->name != NULL; forms++)
        if (value_member(object, forms->name) != NULL) {
            check_members(play, forms->name, object, forms->name, forms->members);
            return forms->name;
        }
    play_problem(play, "unknown %s: %s", what, value_write(play->pool, object).data);
    return "";
}

static void
check_do(struct play *play, const struct value *what)
{
    if (what == NULL)
        return;
    for (size_t i = 0; what->kind == VALUE_ARRAY && i < what->count; i++)
        check_do(play, what->items[i]);
    if (what->kind == VALUE_ARRAY)
        return;
    check_members(play, "do", what, "", do_members);
    check_members(play, "fail", value_member(what, "fail"), "", failure_members);
    check_actions(play, value_member(what, "during"));
}

static void
check_operation(struct play *play, const struct value *operation)
{
    const char *kind = check_form(play, "operation", operation, operations);
    const struct value *named = value_member(operation, "branches");

    check_do(play, value_member(operation, "do"));
    check_body(play, value_member(operation, "all"));
    check_body(play, value_member(operation, "does"));
    check_body(play, value_member(operation, "try"));
    check_body(play, value_member(operation, "catch"));
    check_body(play, value_member(operation, "then"));
    check_body(play, value_member(operation, "else"));
    if (strcmp(kind, "fail") == 0)
        check_members(play, "fail", value_member(operation, "fail"), "", failure_members);
    if (strcmp(kind, "first") == 0)
        named = value_member(operation, "of");
    for (size_t i = 0; named != NULL && i < named->count; i++)
        check_body(play, named->items[i]);
}

static void
check_body(struct play *play, const struct value *body)
{
    if (body == NULL)
        return;
    if (body->kind != VALUE_ARRAY)
        play_problem(play, "a body is not a list: %s", value_write(play->pool, body).data);
    for (size_t i = 0; i < body->count; i++)
        check_operation(play, body->items[i]);
}

static void
check_actions(struct play *play, const struct value *list)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        (void)check_form(play, "action", list->items[i], actions);
        check_members(play, "worker", value_member(list->items[i], "worker"), "", " without ");
        check_expected(play, value_member(list->items[i], "check"));
    }
}

static void
check_expected(struct play *play, const struct value *expected)
{
    for (size_t i = 0; expected != NULL && i < expected->count; i++)
        if (strstr(" executed trace effects ",
                pool_printf(play->pool, " %s ", expected->names[i].data)) == NULL)
            check_members(play, "expect", expected->items[i], "", run_members);
}

static void
check_workflow(struct play *play, const struct value *workflow)
{
    const struct value *versions = value_member(workflow, "versions");
    const struct value *flow = value_member(workflow, "flow");

    check_members(play, "workflow", workflow, "", workflow_members);
    check_body(play, value_member(workflow, "does"));
    for (size_t i = 0; versions != NULL && i < versions->count; i++)
        check_body(play, versions->items[i]);
    for (size_t i = 0; flow != NULL && i < flow->count; i++) {
        check_members(play, "step of a flow", flow->items[i], "", flow_step_members);
        check_body(play, value_member(flow->items[i], "does"));
    }
}

void
form_check(struct play *play)
{
    const struct value *workflows = value_member(play->file, "workflows");
    const struct value *undos = value_member(play->file, "undos");

    check_members(play, "scenario", play->file, "", scenario_members);
    if (workflows == NULL || value_text(play->file, "about", NULL) == NULL ||
        value_member(play->file, "play") == NULL || value_member(play->file, "expect") == NULL)
        play_problem(play, "a scenario has about, workflows, play and expect");
    for (size_t i = 0; workflows != NULL && i < workflows->count; i++)
        check_workflow(play, workflows->items[i]);
    for (size_t i = 0; undos != NULL && i < undos->count; i++)
        check_do(play, undos->items[i]);
    check_actions(play, value_member(play->file, "play"));
    check_expected(play, value_member(play->file, "expect"));
}
