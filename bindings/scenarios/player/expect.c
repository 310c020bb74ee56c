/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations: compares what is expected with what the database and the ledger say. */
#include "play.h"

#include <string.h>

const struct value *
expect_run(struct play *play, const char *run_id)
{
    const char *const names[] = {"run"}, *const values[] = {run_id};
    pawl_error *error = NULL;
    pawl_rows *rows = NULL;
    struct value *run;
    size_t count;

    if (!play_good(play, "get_run",
            pawl_client_call(play->client, "get_run", names, values, 1, &rows, &error), error))
        return &value_null;
    count = pawl_rows_column_count(rows);
    run = value_list(play->pool, VALUE_OBJECT, count);
    for (size_t i = 0; i < count; i++) {
        const char *name = pawl_rows_column_name(rows, i);
        const char *text = pawl_rows_text(rows, 0, name);

        run->names[i] = pool_copy(play->pool, pawl_text(name));
        if (text != NULL &&
            (pawl_rows_type(rows, name) == PAWL_TYPE_JSON ||
                pawl_rows_type(rows, name) == PAWL_TYPE_NUMBER))
            run->items[i] = play_read(play, pawl_text(text));
        else if (text != NULL)
            run->items[i] = value_string(play->pool, text);
    }
    pawl_rows_free(rows);
    return run;
}

/* Compares one thing. */
static void
compare(struct play *play, const char *run, const char *what, const struct value *is,
    const struct value *wanted)
{
    wanted = play_fill(play, NULL, wanted);
    if (!value_equal(play->pool, is, wanted))
        play_problem(play, "%s: %s is %s instead of %s", run, what,
            value_write(play->pool, is).data, value_write(play->pool, wanted).data);
}

/* The part of a step's name before its last slash, which names its branch. */
static size_t
branch_size(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash != NULL ? (size_t)(slash - name) : 0;
}

static int
compare_branches(const struct value *one, const struct value *other)
{
    const char *a = value_text(one, "name", ""), *b = value_text(other, "name", "");
    size_t a_size = branch_size(a), b_size = branch_size(b);
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);

    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* Steps as texts, by branch, and within a branch in their order. */
static const struct value *
list_steps(struct play *play, const struct value *steps)
{
    struct value *list = value_list(play->pool, VALUE_ARRAY, steps->count);

    /* Insertion keeps the order of equal ones. */
    for (size_t i = 0; i < steps->count; i++) {
        size_t at = i;

        while (at > 0 && compare_branches(list->items[at - 1], steps->items[i]) > 0) {
            list->items[at] = list->items[at - 1];
            at--;
        }
        list->items[at] = steps->items[i];
    }
    for (size_t i = 0; i < steps->count; i++)
        list->items[i] = value_string(play->pool,
            pool_printf(play->pool, "%s %s %s", value_text(list->items[i], "name", ""),
                value_text(list->items[i], "kind", ""), value_text(list->items[i], "state", "")));
    return list;
}

/* Calls a verb about a run, and makes a text of each row. */
static const struct value *
list_rows(struct play *play, const char *verb, const char *run_id,
    const char *(*say)(struct play *play, const pawl_rows *rows, size_t row))
{
    const char *const names[] = {"run"}, *const values[] = {run_id};
    pawl_error *error = NULL;
    pawl_rows *rows = NULL;
    struct value *list;

    if (!play_good(play, verb,
            pawl_client_call(play->client, verb, names, values, 1, &rows, &error), error))
        return &value_null;
    list = value_list(play->pool, VALUE_ARRAY, pawl_rows_count(rows));
    for (size_t i = 0; i < list->count; i++)
        list->items[i] = value_string(play->pool, say(play, rows, i));
    pawl_rows_free(rows);
    return list;
}

static const char *
say_history(struct play *play, const pawl_rows *rows, size_t row)
{
    (void)play;
    return pawl_rows_text(rows, row, "what");
}

static const char *
say_note(struct play *play, const pawl_rows *rows, size_t row)
{
    const char *name = pawl_rows_text(rows, row, "name");
    const char *body = pawl_rows_text(rows, row, "body");

    return pool_printf(play->pool, "%s%s%s %s", pawl_rows_text(rows, row, "kind"),
        name != NULL && name[0] != '\0' ? " " : "", name != NULL ? name : "",
        body != NULL ? body : "");
}

/* Compares the outputs of steps that are named. */
static void
compare_outputs(
    struct play *play, const char *label, const struct value *steps, const struct value *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct value *output = NULL;

        for (size_t s = 0; steps != NULL && s < steps->count; s++)
            if (strcmp(value_text(steps->items[s], "name", ""), wanted->names[i].data) == 0)
                output = value_member(steps->items[s], "output");
        compare(play, label, wanted->names[i].data, output != NULL ? output : &value_null,
            wanted->items[i]);
    }
}

/* Compares the members of an error that are named. */
static void
compare_error(
    struct play *play, const char *label, const struct value *error, const struct value *wanted)
{
    if (wanted->kind != VALUE_OBJECT)
        compare(play, label, "error", error, wanted);
    for (size_t i = 0; wanted->kind == VALUE_OBJECT && i < wanted->count; i++) {
        const struct value *is = value_member(error, wanted->names[i].data);

        compare(play, label, pool_printf(play->pool, "error %s", wanted->names[i].data),
            is != NULL ? is : &value_null, wanted->items[i]);
    }
}

static void
compare_member(struct play *play, const char *label, const struct value *run, const char *name,
    const struct value *wanted)
{
    const char *run_id = value_text(run, "run_id", "");
    const struct value *steps = value_member(run, "steps");
    const struct value *is = value_member(run, name);
    struct pool *pool = play->pool;

    if (steps == NULL || steps->kind != VALUE_ARRAY)
        steps = value_list(pool, VALUE_ARRAY, 0);
    if (strcmp(name, "steps") == 0)
        compare(play, label, name, list_steps(play, steps), wanted);
    else if (strcmp(name, "steps_count") == 0)
        compare(play, label, name, value_number(pool, (int64_t)steps->count), wanted);
    else if (strcmp(name, "outputs") == 0)
        compare_outputs(play, label, steps, wanted);
    else if (strcmp(name, "error") == 0)
        compare_error(play, label, is != NULL ? is : &value_null, wanted);
    else if (strcmp(name, "history") == 0)
        compare(play, label, name, list_rows(play, name, run_id, say_history), wanted);
    else if (strcmp(name, "notes") == 0)
        compare(play, label, name, list_rows(play, name, run_id, say_note), wanted);
    else if (strcmp(name, "executions_at_most") != 0)
        compare(play, label, name, is != NULL ? is : &value_null, wanted);
    else if (value_int(run, "execution", 0) > value_to_int(wanted, 0))
        compare(play, label, "execution", value_member(run, "execution"), wanted);
}

/* Compares the rows of transactional steps. The database compares, because the player has no other way to ask it. */
static void
compare_effects(struct play *play, const struct value *wanted)
{
    const char *message = "";
    const char *script = pool_printf(play->pool,
        "do $play$ begin if (select count(*) from play_effect where scenario = %s) <> %s then"
        " raise 'effects: %% instead of %%', (select count(*) from play_effect where scenario ="
        " %s), %s; end if; end $play$",
        script_quote(play, play->scenario), wanted->text.data, script_quote(play, play->scenario),
        wanted->text.data);

    if (!script_run(play, script, &message))
        play_problem(play, "%s", message);
}

void
expect_all(struct play *play, const struct value *expected)
{
    for (size_t i = 0; i < expected->count; i++) {
        const char *name = expected->names[i].data;
        const struct value *wanted = expected->items[i], *run;

        if (strcmp(name, "executed") == 0) {
            compare(play, "scenario", name, play_read(play, ledger_calls(play->ledger, play->pool)),
                wanted);
        } else if (strcmp(name, "trace") == 0) {
            compare(play, "scenario", name,
                play_read(play, ledger_traces(play->ledger, play->pool)), wanted);
        } else if (strcmp(name, "effects") == 0) {
            compare_effects(play, wanted);
        } else {
            run = expect_run(play, play_run_id(play, name));
            for (size_t m = 0; m < wanted->count; m++)
                compare_member(play, name, run, wanted->names[m].data, wanted->items[m]);
        }
    }
}
