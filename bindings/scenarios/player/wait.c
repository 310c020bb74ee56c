/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait: a sleep, an event, a signal, an approval, a child. */
#include "frame.h"

/* Notes why a wait failed: it timed out by itself, unless the whole run is out of time. */
static pawl_status
end_wait(struct frame *frame, pawl_status status, pawl_bytes output, const struct value **value)
{
    if (status == PAWL_OK)
        *value = play_read(frame->play, output);
    if (status == PAWL_ETIMEOUT && pawl_run_check(frame->branch) != PAWL_OK)
        return status;
    return body_failed(frame, status, PAWL_ETIMEOUT, "timeout");
}

pawl_status
wait_sleep(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    (void)variables;
    return end_wait(frame,
        pawl_sleep(frame->calls, value_text(operation, "sleep", ""), value_int(operation, "ms", 0)),
        (pawl_bytes){0}, value);
}

pawl_status
wait_event(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    struct play *play = frame->play;
    const struct value *key = value_member(operation, "key");
    pawl_bytes match = play_fill_member(play, variables, operation, "match");
    pawl_bytes payload = {0};
    pawl_status status;

    if (key != NULL)
        pawl_run_set_option(
            frame->calls, "key", value_plain(play->pool, play_fill(play, variables, key)));
    if (match.size > 0)
        pawl_run_set_option(frame->calls, "match", match.data);
    status = pawl_wait_event(frame->calls, value_text(operation, "event", ""),
        value_text(operation, "topic", ""), value_int(operation, "timeout_ms", -1), &payload);
    return end_wait(frame, status, payload, value);
}

pawl_status
wait_signal(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    pawl_bytes payload = {0};
    pawl_status status = pawl_wait_signal(frame->calls, value_text(operation, "signal", ""),
        value_int(operation, "timeout_ms", -1), &payload);

    (void)variables;
    return end_wait(frame, status, payload, value);
}

pawl_status
wait_approval(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    pawl_bytes form = play_fill_member(frame->play, variables, operation, "form");
    pawl_bytes decision = {0};
    pawl_status status = pawl_wait_approval(frame->calls, value_text(operation, "approval", ""),
        form, value_int(operation, "timeout_ms", -1), &decision);

    if (status == PAWL_EREFUSED)
        return body_failed(frame, status, PAWL_EREFUSED, "refused");
    return end_wait(frame, status, decision, value);
}

pawl_status
wait_child(struct frame *frame, const struct value *operation, const struct variable *variables,
    const struct value **value)
{
    static const char *const names[] = {"priority", "delay_ms"};
    struct play *play = frame->play;
    const char *name = value_text(operation, "child", "");
    const char *workflow = play_workflow(play, value_text(operation, "workflow", ""));
    pawl_bytes input = play_fill_member(play, variables, operation, "input");
    pawl_bytes metadata = play_fill_member(play, variables, operation, "metadata");
    pawl_bytes output = {0};
    pawl_status status;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct value *option = value_member(operation, names[i]);

        if (option != NULL)
            pawl_run_set_option(frame->calls, names[i], value_plain(play->pool, option));
    }
    if (metadata.size > 0)
        pawl_run_set_option(frame->calls, "metadata", metadata.data);
    status = value_is_true(operation, "detached")
        ? pawl_child_detached(frame->calls, name, workflow, input, &output)
        : pawl_child(frame->calls, name, workflow, input, &output);
    if (status == PAWL_OK)
        *value = play_read(play, output);
    return body_failed(frame, status, PAWL_ERUN, "child");
}
