/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of a scenario: what producers, operators and time do to its runs. */
#include "play.h"

#include <pawl/test.h>
#include <string.h>

/* Compares how a call ended with the answer that the action expects. Frees the error. */
static void
check_answer(struct play *play, const struct value *action, pawl_status status, pawl_error *error)
{
    const struct value *answer = value_member(action, "answer");
    const char *wanted = value_text(answer, "error", "PAWL_OK");
    const char *message = value_text(answer, "message", NULL);

    if (strcmp(wanted, pawl_status_name(status)) != 0)
        play_problem(play, "%s instead of %s: %s: %s", pawl_status_name(status), wanted,
            value_write(play->pool, action).data, pawl_error_message(error));
    else if (message != NULL && strcmp(message, pawl_error_message(error)) != 0)
        play_problem(play, "\"%s\" instead of \"%s\"", pawl_error_message(error), message);
    pawl_error_free(error);
}

/* Compares a value with a member of the answer, if that is expected. */
static void
check_value(struct play *play, const struct value *action, const char *name, const struct value *is)
{
    const struct value *wanted = value_member(value_member(action, "answer"), name);

    if (wanted == NULL)
        return;
    wanted = play_fill(play, NULL, wanted);
    if (!value_equal(play->pool, is, wanted))
        play_problem(play, "%s is %s instead of %s", name, value_write(play->pool, is).data,
            value_write(play->pool, wanted).data);
}

/* A trigger in a transaction of the player that is rolled back. */
static void
trigger_in_vain(struct play *play, const struct value *action, const char *workflow)
{
    const char *key = value_text(action, "key", NULL), *message = "";
    pawl_bytes input = play_fill_member(play, NULL, action, "input");
    const char *script =
        pool_printf(play->pool, "begin; select pawl.trigger(%s, %s, key => %s); rollback;",
            script_quote(play, workflow), script_quote(play, input.size > 0 ? input.data : "{}"),
            key != NULL ? script_quote(play, key) : "null");

    if (!script_run(play, script, &message))
        play_problem(play, "%s: %s", script, message);
}

static void
do_trigger(struct play *play, const struct value *action)
{
    static const char *const names[] = {"key", "tenant", "priority", "delay_ms", "key_ttl_ms"};
    const char *workflow = play_workflow(play, value_text(action, "trigger", ""));
    pawl_bytes input = play_fill_member(play, NULL, action, "input");
    pawl_bytes metadata = play_fill_member(play, NULL, action, "metadata");
    char run_id[PAWL_ID_SIZE] = "";
    pawl_trigger *trigger;
    pawl_error *error = NULL;
    uint32_t flags = 0;
    pawl_status status;

    if (value_is_true(action, "rolled_back")) {
        trigger_in_vain(play, action, workflow);
        return;
    }
    trigger = pawl_trigger_new(workflow);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value *option = value_member(action, names[i]);

        if (option != NULL)
            pawl_trigger_set(trigger, names[i], value_plain(play->pool, option));
    }
    if (value_is_true(action, "key_while_active"))
        pawl_trigger_set(trigger, "key_while_active", "on");
    if (metadata.size > 0)
        pawl_trigger_set(trigger, "metadata", metadata.data);
    if (input.size > 0)
        pawl_trigger_set_input(trigger, input);
    status = pawl_client_trigger(play->client, trigger, run_id, &flags, &error);
    pawl_trigger_free(trigger);
    if (status == PAWL_OK) {
        play_name_run(play, value_text(action, "as", "run"), run_id);
        check_value(play, action, "created", value_bool((flags & PAWL_CREATED) != 0));
    }
    check_answer(play, action, status, error);
}

static void
do_emit(struct play *play, const struct value *action)
{
    pawl_bytes payload = play_fill_member(play, NULL, action, "payload");
    pawl_error *error = NULL;
    pawl_status status = pawl_client_emit(play->client, value_text(action, "emit", ""),
        value_text(action, "key", NULL), value_text(action, "tenant", NULL), payload, &error);

    check_answer(play, action, status, error);
}

static void
do_signal(struct play *play, const struct value *action)
{
    pawl_bytes payload = play_fill_member(play, NULL, action, "payload");
    pawl_error *error = NULL;
    pawl_status status =
        pawl_client_signal(play->client, play_run_id(play, value_text(action, "run", "run")),
            value_text(action, "signal", ""), payload, &error);

    check_answer(play, action, status, error);
}

static void
do_cancel(struct play *play, const struct value *action)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_client_cancel(play->client,
        play_run_id(play, value_text(action, "cancel", "run")), value_text(action, "why", NULL),
        value_is_true(action, "rollback") ? PAWL_ROLLBACK : 0, &error);

    check_answer(play, action, status, error);
}

static void
do_wait(struct play *play, const struct value *action)
{
    pawl_bytes output = {0};
    pawl_error *error = NULL;
    pawl_status status = pawl_client_wait(
        play->client, play_run_id(play, value_text(action, "wait", "run")), 0, &output, &error);

    if (status == PAWL_OK)
        check_value(play, action, "output", play_read(play, output));
    check_answer(play, action, status, error);
}

/* The text of an argument of a verb: a list of texts as an array of PostgreSQL, others as they are. */
static const char *
argument_text(struct play *play, const struct value *value)
{
    struct text list = {0};

    if (value->kind == VALUE_TRUE || value->kind == VALUE_FALSE)
        return value->kind == VALUE_TRUE ? "t" : "f";
    if (value->kind != VALUE_ARRAY)
        return value_plain(play->pool, value);
    /* Elements are ids and names: JSON quotes them as an array of PostgreSQL does. */
    text_say(&list, "{");
    for (size_t i = 0; i < value->count; i++) {
        text_say(&list, i > 0 ? "," : "");
        text_say(&list, value_write(play->pool, value->items[i]).data);
    }
    text_say(&list, "}");
    return text_take(&list, play->pool).data;
}

/* Compares rows with those that are expected, in the columns that are named. */
static void
check_rows(struct play *play, const struct value *wanted, const pawl_rows *rows)
{
    if (wanted != NULL && wanted->count != pawl_rows_count(rows))
        play_problem(play, "%zu rows instead of %zu", pawl_rows_count(rows), wanted->count);
    for (size_t i = 0; wanted != NULL && i < wanted->count; i++)
        for (size_t c = 0; c < wanted->items[i]->count; c++) {
            const struct value *cell = play_fill(play, NULL, wanted->items[i]->items[c]);
            const char *column = wanted->items[i]->names[c].data;
            const char *is = pawl_rows_text(rows, i, column);
            const char *text = cell->kind == VALUE_NULL ? NULL : value_plain(play->pool, cell);

            if ((is == NULL) != (text == NULL) || (is != NULL && strcmp(is, text) != 0))
                play_problem(play, "row %zu: %s is %s instead of %s", i, column,
                    is != NULL ? is : "null", text != NULL ? text : "null");
        }
}

static void
do_call_verb(struct play *play, const struct value *action)
{
    const struct value *given = value_member(action, "arguments");
    const char *as = value_text(action, "as", NULL);
    size_t count = given != NULL ? given->count : 0;
    const char **names = pool_alloc(play->pool, (count + 1) * sizeof(*names));
    const char **values = pool_alloc(play->pool, (count + 1) * sizeof(*values));
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;
    pawl_status status;

    for (size_t i = 0; i < count; i++) {
        names[i] = given->names[i].data;
        values[i] = argument_text(play, play_fill(play, NULL, given->items[i]));
    }
    status = pawl_client_call(
        play->client, value_text(action, "call", ""), names, values, count, &rows, &error);
    if (status == PAWL_OK) {
        const char *run_id = as != NULL ? pawl_rows_text(rows, 0, "run_id") : NULL;

        check_rows(play, value_member(action, "rows"), rows);
        if (as != NULL)
            play_name_run(play, as, run_id != NULL ? run_id : "");
    }
    check_answer(play, action, status, error);
    pawl_rows_free(rows);
}

static void
do_find(struct play *play, const struct value *action)
{
    const char *parent = play_run_id(play, value_text(action, "child_of", "run"));
    const char *step = value_text(action, "step", "");
    const struct value *steps = value_member(expect_run(play, parent), "steps");

    for (size_t i = 0; steps != NULL && i < steps->count; i++)
        if (strcmp(value_text(steps->items[i], "name", ""), step) == 0) {
            play_name_run(
                play, value_text(action, "find", ""), value_text(steps->items[i], "child", ""));
            return;
        }
    play_problem(play, "no step \"%s\"", step);
}

static void
do_work(struct play *play, const struct value *action)
{
    if (strcmp(value_text(action, "work", ""), "process") == 0)
        worker_work_in_process(play);
    else
        worker_work(play);
}

static void
do_advance(struct play *play, const struct value *action)
{
    pawl_error *error = NULL;

    (void)play_good(play, "advance_ms",
        pawl_test_advance(play->client, value_int(action, "advance_ms", 0), &error), error);
}

static void
do_deploy(struct play *play, const struct value *action)
{
    play->version = value_text(action, "deploy", "");
    worker_end(play);
    worker_make(play);
}

static void
do_worker(struct play *play, const struct value *action)
{
    play->without = value_member(value_member(action, "worker"), "without");
    worker_end(play);
    worker_make(play);
}

static void
do_drain(struct play *play, const struct value *action)
{
    (void)action;
    play->drained = true;
    pawl_worker_drain(play->worker);
}

static void
do_check(struct play *play, const struct value *action)
{
    expect_all(play, value_member(action, "check"));
}

static const struct {
    const char *name;
    void (*function)(struct play *play, const struct value *action);
    bool locks; /* uses the client, perhaps from a step */
} actions[] = {
    {"trigger", do_trigger, true},
    {"emit", do_emit, true},
    {"signal", do_signal, true},
    {"cancel", do_cancel, true},
    {"wait", do_wait, true},
    {"follow", follow_check, true},
    {"call", do_call_verb, true},
    {"find", do_find, true},
    {"advance_ms", do_advance, true},
    {"check", do_check, true},
    {"drain", do_drain, true},
    {"work", do_work, false},
    {"deploy", do_deploy, false},
    {"worker", do_worker, false},
};

static void
do_action(struct play *play, const struct value *action)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (value_member(action, actions[i].name) == NULL)
            continue;
        if (actions[i].locks)
            (void)pthread_mutex_lock(&play->lock);
        actions[i].function(play, action);
        if (actions[i].locks)
            (void)pthread_mutex_unlock(&play->lock);
        return;
    }
    play_problem(play, "unknown action: %s", value_write(play->pool, action).data);
}

void
action_list(struct play *play, const struct value *list)
{
    for (size_t i = 0; i < list->count && ledger_failed(play->ledger)[0] == '\0'; i++)
        do_action(play, list->items[i]);
}
