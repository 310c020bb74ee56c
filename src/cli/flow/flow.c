/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flow/flow.h"

#include "base/json_read.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    ELEMENTS_MAX = 1000000, /* of a map step */
    NOTE_SIZE = 60,
};

static const size_t memory_max = (size_t)1024 * 1024 * 1024;

static void *
take(struct flow *flow, size_t count, size_t size)
{
    void *taken = pw_arena_alloc(&flow->arena, count * size + 1);

    if (taken != NULL)
        memset(taken, 0, count * size);
    return taken;
}

static struct flow_step *
find_step(const struct flow *flow, const char *name, size_t size)
{
    for (size_t i = 0; i < flow->count; i++)
        if (strncmp(flow->steps[i].name, name, size) == 0 && flow->steps[i].name[size] == '\0')
            return &flow->steps[i];
    return NULL;
}

static bool
has_dep(const struct flow_step *step, size_t dep)
{
    for (size_t i = 0; i < step->dep_count; i++)
        if (step->deps[i] == dep)
            return true;
    return false;
}

/* Copies the name of a step or a workflow. The database has only names of printable ASCII; other characters are not drawn as they are. */
static const char *
read_name(struct flow *flow, const char *text)
{
    char *name = pw_arena_copy(&flow->arena, text, strlen(text));

    for (char *at = name; at != NULL && *at != '\0'; at++)
        if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\')
            *at = '?';
    return name;
}

/* Reads an array of names, such as "{fetch,"null"}". Only names that would be ambiguous have quotes. */
static bool
read_deps(struct flow *flow, struct flow_step *step, const char *text)
{
    /* Each dependency precedes the step itself, and is listed once. */
    step->deps = take(flow, flow->count, sizeof(*step->deps));
    if (step->deps == NULL)
        return false;
    for (text += strspn(text, "{},\""); *text != '\0'; text += strspn(text, "{},\"")) {
        size_t size = strcspn(text, "{},\"");
        const struct flow_step *dep = find_step(flow, text, size);

        if (dep != NULL && !has_dep(step, (size_t)(dep - flow->steps)))
            step->deps[step->dep_count++] = (size_t)(dep - flow->steps);
        text += size;
    }
    return true;
}

bool
flow_read(struct flow *flow, const char *name, const pawl_rows *steps)
{
    const char *frozen = pawl_rows_text(steps, 0, "frozen");

    *flow = (struct flow){.name = name, .frozen = frozen != NULL && frozen[0] == 't'};
    pw_arena_init(&flow->arena, memory_max);
    flow->steps = take(flow, pawl_rows_count(steps), sizeof(*flow->steps));
    if (flow->steps == NULL)
        return false;
    for (size_t i = 0; i < pawl_rows_count(steps); i++) {
        struct flow_step *step = &flow->steps[i];
        const char *options = pawl_rows_text(steps, i, "options");
        const char *deps = pawl_rows_text(steps, i, "deps");
        const char *name_of = pawl_rows_text(steps, i, "step");
        const char *child = pawl_rows_text(steps, i, "child");
        struct pw_json json = {options, options == NULL ? 0 : strlen(options)};

        step->name = read_name(flow, name_of == NULL ? "?" : name_of);
        step->child = child == NULL ? NULL : read_name(flow, child);
        step->is_map = pw_json_given(pw_json_member(json, "map"));
        step->has_condition = pw_json_given(pw_json_member(json, "condition"));
        if (step->name == NULL || (child != NULL && step->child == NULL) ||
            !read_deps(flow, step, deps == NULL ? "" : deps))
            return false;
        flow->count++;
    }
    return true;
}

void
flow_done(struct flow *flow)
{
    for (size_t i = 0; i < flow->count; i++)
        free(flow->steps[i].elements);
    pw_arena_done(&flow->arena);
}

/* Returns the task that "fetch" or "thumb[3]" names. NULL: the name is a step inside a task, or not of this flow. */
static struct flow_task *
find_task(const struct flow *flow, const char *name, bool *oom)
{
    size_t size = strcspn(name, "[/#:");
    struct flow_step *step = find_step(flow, name, size);
    char number[16];
    int64_t index;

    if (step == NULL || name[size] == '\0')
        return step == NULL ? NULL : &step->own;
    if (name[size] != '[')
        return NULL;
    (void)snprintf(
        number, sizeof(number), "%.*s", (int)strcspn(name + size + 1, "]"), name + size + 1);
    if (name[strlen(name) - 1] != ']' || !pw_parse_i64(number, 0, ELEMENTS_MAX - 1, &index))
        return NULL;
    if ((size_t)index >= step->element_count) {
        size_t count = 2 * (size_t)index + 16;
        struct flow_task *larger = realloc(step->elements, count * sizeof(*larger));

        if (larger == NULL) {
            *oom = true;
            return NULL;
        }
        memset(larger + step->element_count, 0, (count - step->element_count) * sizeof(*larger));
        step->elements = larger;
        step->element_count = count;
    }
    return &step->elements[index];
}

static bool
add_task(struct flow *flow, struct pw_json json)
{
    pawl_bytes bytes = {json.data, json.size};
    char name[320];
    char state[16];
    int64_t round; /* a step without a round has not ended */
    struct flow_task *task;
    bool oom = false;

    if (pawl_json_text(bytes, "/name", name, sizeof(name)) != PAWL_OK ||
        pawl_json_text(bytes, "/state", state, sizeof(state)) != PAWL_OK)
        return true;
    if (pawl_json_int(bytes, "/round", &round) != PAWL_OK)
        round = INT64_MAX;
    task = find_task(flow, name, &oom);
    if (task != NULL && (task->state == 0 || round >= task->round)) {
        task->state = strcmp(state, "SKIPPED") == 0 ? 'K' : state[0];
        task->round = round;
    }
    return !oom;
}

static const char *
state_name(char state)
{
    static const char *const names[] = {
        "ERROR", "RUNNING", "PAUSED", "QUEUED", "CANCELLED", "SUCCESS"};

    if (state == 'K')
        return "SKIPPED";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i][0] == state)
            return names[i];
    return "not started";
}

/* Counts the elements of a map step: how many are done, and how many there are. Returns the most important state among them. */
static char
sum_up(const struct flow_step *step, size_t *done, size_t *all)
{
    static const char order[] = "ERPQCSK";
    const char *most = NULL;

    *done = 0;
    *all = 0;
    for (size_t i = 0; i < step->element_count; i++) {
        char state = step->elements[i].state;
        const char *at = state == 0 ? NULL : strchr(order, state);

        if (at == NULL)
            continue;
        (*all)++;
        *done += state == 'S' || state == 'K';
        if (most == NULL || at < most)
            most = at;
    }
    return most == NULL ? step->own.state : *most;
}

static bool
note_step(struct flow *flow, struct flow_step *step)
{
    char text[NOTE_SIZE];
    size_t done;
    size_t all;
    char state = sum_up(step, &done, &all);
    const char *name = state_name(state);

    step->style = state == 0 || state == 'K' ? TERM_DIM : term_style_of(name);
    if (all == 0)
        (void)snprintf(text, sizeof(text), "%s", name);
    else if (done == all)
        (void)snprintf(text, sizeof(text), "%zu/%zu", done, all);
    else
        (void)snprintf(text, sizeof(text), "%zu/%zu %s", done, all, name);
    step->note = pw_arena_copy(&flow->arena, text, strlen(text));
    return step->note != NULL;
}

bool
flow_add_run(struct flow *flow, const pawl_rows *run)
{
    const char *steps = pawl_rows_text(run, 0, "steps");
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;

    if (steps == NULL)
        steps = "[]";
    pw_json_walk(&walk, (struct pw_json){steps, strlen(steps)});
    while (pw_json_walk_next(&walk, &key, &value))
        if (!add_task(flow, value))
            return false;
    for (size_t i = 0; i < flow->count; i++)
        if (!note_step(flow, &flow->steps[i]))
            return false;
    return true;
}
