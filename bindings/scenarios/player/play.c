/* SPDX-License-Identifier: Apache-2.0 */
/* One scenario from its first action to what is expected, and what all parts of the player share. */
#include "play.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
play_problem(struct play *play, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ledger_problem(play->ledger, format, args);
    va_end(args);
}

bool
play_good(struct play *play, const char *what, pawl_status status, pawl_error *error)
{
    if (status != PAWL_OK)
        play_problem(play, "%s: %s: %s", what, pawl_status_name(status), pawl_error_message(error));
    pawl_error_free(error);
    return status == PAWL_OK;
}

void
play_name_run(struct play *play, const char *name, const char *run_id)
{
    struct label *label = pool_alloc(play->pool, sizeof(*label));

    label->name = name;
    (void)snprintf(label->run_id, sizeof(label->run_id), "%s", run_id);
    label->next = play->labels;
    play->labels = label;
}

const char *
play_run_id(struct play *play, const char *name)
{
    for (struct label *label = play->labels; label != NULL; label = label->next)
        if (strcmp(label->name, name) == 0)
            return label->run_id;
    play_problem(play, "no run \"%s\"", name);
    return "";
}

const char *
play_workflow(struct play *play, const char *name)
{
    return pool_printf(play->pool, "%s.%s", play->scenario, name);
}

const struct value *
play_read(struct play *play, pawl_bytes json)
{
    const char *problem = NULL;
    const struct value *value =
        json.size > 0 ? value_read(play->pool, json, &problem) : &value_null;

    if (value != NULL)
        return value;
    play_problem(play, "bad JSON (%s): %.*s", problem, (int)json.size, json.data);
    return &value_null;
}

const struct variable *
variable_add(
    struct play *play, const struct variable *before, const char *name, const struct value *value)
{
    struct variable *variable = pool_alloc(play->pool, sizeof(*variable));

    *variable = (struct variable){name, value, before};
    return variable;
}

/* Finds a variable, and in it what a path leads to: x/y/0. */
static const struct value *
find_variable(struct play *play, const struct variable *variables, const char *path)
{
    size_t size = strcspn(path, "/");
    pawl_bytes json, found;

    while (variables != NULL &&
        (strlen(variables->name) != size || strncmp(variables->name, path, size) != 0))
        variables = variables->before;
    if (variables == NULL) {
        play_problem(play, "no variable \"%s\"", path);
        return &value_null;
    }
    if (path[size] == '\0')
        return variables->value;
    json = value_write(play->pool, variables->value);
    if (pawl_json_find(json, path + size, &found) == PAWL_OK)
        return play_read(play, found);
    play_problem(play, "nothing at \"%s\"", path);
    return &value_null;
}

/* Fills an object with one member that begins with a dollar sign; NULL if it is none. */
static const struct value *
fill_reference(struct play *play, const struct variable *variables, const struct value *form)
{
    const char *path = value_text(form, "$", NULL);
    const char *run = value_text(form, "$run", NULL);
    int64_t fill = value_int(form, "$fill", -1);
    char *letters;

    if (form->kind != VALUE_OBJECT || form->count != 1)
        return NULL;
    if (path != NULL)
        return find_variable(play, variables, path);
    if (run != NULL)
        return value_string(play->pool, play_run_id(play, run));
    if (fill < 0)
        return NULL;
    letters = pool_alloc(play->pool, (size_t)fill + 1);
    memset(letters, 'x', (size_t)fill);
    return value_string(play->pool, letters);
}

const struct value *
play_fill(struct play *play, const struct variable *variables, const struct value *form)
{
    const struct value *filled = fill_reference(play, variables, form);
    struct value *list;

    if (filled != NULL || (form->kind != VALUE_ARRAY && form->kind != VALUE_OBJECT))
        return filled != NULL ? filled : form;
    list = value_list(play->pool, form->kind, form->count);
    for (size_t i = 0; i < form->count; i++) {
        list->names[i] = form->names[i];
        list->items[i] = play_fill(play, variables, form->items[i]);
    }
    return list;
}

pawl_bytes
play_fill_member(struct play *play, const struct variable *variables, const struct value *object,
    const char *name)
{
    const struct value *member = value_member(object, name);

    if (member == NULL)
        return (pawl_bytes){0};
    return value_write(play->pool, play_fill(play, variables, member));
}

void
play_scenario(struct play *play)
{
    form_check(play);
    if (ledger_failed(play->ledger)[0] != '\0')
        return;
    worker_create_workflows(play);
    worker_make(play);
    action_list(play, value_member(play->file, "play"));
    if (ledger_failed(play->ledger)[0] == '\0')
        expect_all(play, value_member(play->file, "expect"));
    worker_end(play);
}
