/* SPDX-License-Identifier: Apache-2.0 */
/* What tasks of a flow came to, and the inputs that are made of it. */
#include "flow.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

struct member {
    const char *name;
    const char *value;
};

/* As jsonb orders names: the shorter first. */
static int
compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    size_t m = strlen(x->name), n = strlen(y->name);

    return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

static const char *
make_object(struct oracle *o, struct member *members, size_t count)
{
    const char *text = "{";

    qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0; i < count; i++)
        text = oracle_keepf(
            o, "%s%s\"%s\": %s", text, i > 0 ? ", " : "", members[i].name, members[i].value);
    return oracle_keepf(o, "%s}", text);
}

const char *
oracle_quote(struct oracle *o, const char *text)
{
    const char *quoted = "\"";

    while (*text != '\0') {
        size_t plain = strcspn(text, "\"\\");

        quoted = oracle_keepf(o, "%s%.*s%s%.*s", quoted, (int)plain, text,
            text[plain] == '\0' ? "" : "\\", text[plain] == '\0' ? 0 : 1, text + plain);
        text += plain + (text[plain] != '\0');
    }
    return oracle_keepf(o, "%s\"", quoted);
}

const struct oracle_step *
oracle_task_record(const struct oracle_run *run, int task)
{
    const struct oracle_run *found = run->tasks;

    while (found != NULL && found->task != task)
        found = found->next;
    for (size_t i = 0; found != NULL && i < found->steps_count; i++)
        if (found->steps[i].full_name != NULL &&
            (found->steps[i].state == ORACLE_SUCCESS || found->steps[i].state == ORACLE_SKIPPED))
            return &found->steps[i];
    return NULL;
}

/* The outputs of the elements of a map, in order. */
static const char *
gather(struct oracle *o, const struct oracle_run *run, const struct oracle_flow_step *step)
{
    const char *text = "[";
    bool first = true;

    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next) {
        const struct oracle_step *record;

        if (task->task / ORACLE_STEP_SPAN != step->no || task->task % ORACLE_STEP_SPAN == 0)
            continue;
        /* One that failed and was skipped came to null. */
        record = oracle_task_record(run, task->task);
        if (record == NULL)
            continue;
        text = oracle_keepf(
            o, "%s%s%s", text, first ? "" : ", ", record->output == NULL ? "null" : record->output);
        first = false;
    }
    return oracle_keepf(o, "%s]", text);
}

/* What a step that is done came to; one that was skipped, to null. */
static const char *
output_of(struct oracle *o, const struct oracle_run *run, const struct oracle_flow_step *step)
{
    const struct oracle_step *record = oracle_task_record(run, step->no * ORACLE_STEP_SPAN);

    if (record == NULL || record->state != ORACLE_SUCCESS)
        return "null";
    if (step->map_from != -1)
        return gather(o, run, step);
    return record->output == NULL ? "null" : record->output;
}

const char *
oracle_step_input(
    struct oracle *o, const struct oracle_run *run, const struct oracle_flow_step *step)
{
    struct member members[ORACLE_DEPS_MAX + 1] = {{"run", run->input}};

    for (int i = 0; i < step->deps_count; i++) {
        const struct oracle_flow_step *dep = &run->workflow->steps[step->deps[i] - 1];

        members[i + 1] = (struct member){dep->name, output_of(o, run, dep)};
    }
    return make_object(o, members, (size_t)step->deps_count + 1);
}

static const char *
element_input(struct oracle *o, const struct oracle_run *run, const char *item, int index)
{
    return oracle_keepf(o, "{\"run\": %s, \"item\": %s, \"index\": %d}", run->input, item, index);
}

const char *
oracle_task_input(struct oracle *o, const struct oracle_run *task)
{
    int place = task->task % ORACLE_STEP_SPAN;

    return place == 0 ? oracle_step_input(o, task->whole, oracle_step_of(task, task->task))
                      : element_input(o, task->whole, task->input, place - 1);
}

const char *
oracle_flow_output(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_workflow *flow = run->workflow;
    struct member members[ORACLE_STEPS_MAX];
    size_t count = 0;

    for (int i = 0; i < flow->steps_count; i++)
        if (oracle_is_leaf(flow, i + 1))
            members[count++] =
                (struct member){flow->steps[i].name, output_of(o, run, &flow->steps[i])};
    return make_object(o, members, count);
}

const char *
oracle_map_array(struct oracle *o, const struct oracle_run *run,
    const struct oracle_flow_step *step, const char **error)
{
    const struct oracle_flow_step *from =
        step->map_from == 0 ? NULL : &run->workflow->steps[step->map_from - 1];
    const struct oracle_step *record =
        from == NULL ? NULL : oracle_task_record(run, from->no * ORACLE_STEP_SPAN);
    /* Of a step that was skipped there is nothing to go over. */
    const char *array = from == NULL                        ? run->input
        : record != NULL && record->state == ORACLE_SKIPPED ? "[]"
                                                            : output_of(o, run, from);

    if (array[0] == '[')
        return array;
    *error = from == NULL
        ? oracle_error(o, "not_an_array",
              oracle_keepf(
                  o, "step %s maps over the input of the run, which is not an array", step->name))
        : oracle_error(o, "not_an_array",
              oracle_keepf(o, "step %s maps over the output of step %s, which is not an array",
                  step->name, from->name));
    return NULL;
}
