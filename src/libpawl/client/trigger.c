/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trigger object: a workflow, inputs and options of new runs. Setters never fail; the call that uses the trigger reports their
 * errors.
 */
#include "libpawl/client/trigger.h"

#include "base/alloc.h"
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *const option_names[PW_TRIGGER_OPTIONS] = {
    [PW_TRIGGER_KEY] = "key",
    [PW_TRIGGER_TENANT] = "tenant",
    [PW_TRIGGER_PRIORITY] = "priority",
    [PW_TRIGGER_DELAY_MS] = "delay_ms",
    [PW_TRIGGER_METADATA] = "metadata",
    [PW_TRIGGER_ID] = "id",
    [PW_TRIGGER_KEY_TTL_MS] = "key_ttl_ms",
    [PW_TRIGGER_KEY_WHILE_ACTIVE] = "key_while_active",
    [PW_TRIGGER_LIMIT_KEY] = "limit_key",
    [PW_TRIGGER_TAGS] = "tags",
    [PW_TRIGGER_EXPIRES_MS] = "expires_ms",
    [PW_TRIGGER_REPLACE] = "replace",
    [PW_TRIGGER_DEBOUNCE_MS] = "debounce_ms",
    [PW_TRIGGER_DEBOUNCE_MAX_MS] = "debounce_max_ms",
};

pawl_trigger *
pawl_trigger_new(const char *workflow)
{
    pawl_trigger *trigger = pw_calloc(1, sizeof(*trigger));

    if (trigger == NULL)
        return NULL;
    pw_arena_init(&trigger->arena, SIZE_MAX / 4); /* item_bytes is what counts */
    if (workflow != NULL) {
        trigger->workflow = pw_strdup(workflow);
        if (trigger->workflow == NULL) {
            pw_free(trigger);
            return NULL;
        }
    }
    return trigger;
}

void
pawl_trigger_free(pawl_trigger *trigger)
{
    if (trigger == NULL)
        return;
    pawl_trigger_clear(trigger);
    for (int i = 0; i < PW_TRIGGER_OPTIONS; i++)
        pw_free(trigger->options[i]);
    pw_free(trigger->items);
    pw_free(trigger->input);
    pw_free(trigger->workflow);
    pw_free(trigger);
}

void
pawl_trigger_set(pawl_trigger *trigger, const char *option, const char *value)
{
    int number = 0;

    if (trigger == NULL || option == NULL)
        return;
    while (number < PW_TRIGGER_OPTIONS && strcmp(option_names[number], option) != 0)
        number++;
    if (number == PW_TRIGGER_OPTIONS) {
        (void)snprintf(
            trigger->unknown, sizeof(trigger->unknown), "%s", value != NULL ? option : "");
        return;
    }
    pw_free(trigger->options[number]);
    trigger->options[number] = value != NULL ? pw_strdup(value) : NULL;
    trigger->failed[number] = value != NULL && trigger->options[number] == NULL;
}

void
pawl_trigger_set_input(pawl_trigger *trigger, pawl_bytes input)
{
    if (trigger == NULL)
        return;
    pw_free(trigger->input);
    trigger->input = input.data != NULL ? pw_memdup(input.data, input.size) : NULL;
    trigger->input_size = trigger->input != NULL ? input.size : 0;
    trigger->input_failed = input.data != NULL && trigger->input == NULL;
}

/* Makes room for one more item. */
static bool
grow_items(pawl_trigger *trigger)
{
    struct pw_trigger_item *grown;
    size_t room;

    if (trigger->item_count < trigger->item_room)
        return true;
    room = trigger->item_room > 0 ? trigger->item_room * 2 : 16;
    grown = pw_realloc_array(trigger->items, room, sizeof(*grown));
    if (grown == NULL)
        return false;
    trigger->items = grown;
    trigger->item_room = room;
    return true;
}

void
pawl_trigger_add(pawl_trigger *trigger, pawl_bytes input, const char *key)
{
    struct pw_trigger_item item = {"{}", 2, NULL};
    size_t input_size = input.data != NULL ? input.size : 0;
    size_t key_size = key != NULL ? strlen(key) : 0;
    size_t left;

    if (trigger == NULL)
        return;
    /* guard:trigger_items_max */
    if (trigger->item_count >= PW_TRIGGER_ITEMS_MAX) {
        trigger->items_too_many = true;
        return;
    }
    left = PW_TRIGGER_BYTES_MAX - trigger->item_bytes;
    /* guard:trigger_bytes_max */
    if (input_size > left || key_size > left - input_size) {
        trigger->items_too_large = true;
        return;
    }
    if (input.data != NULL) {
        item.input = pw_arena_copy(&trigger->arena, input.data, input.size);
        item.size = input.size;
    }
    if (key != NULL)
        item.key = pw_arena_copy(&trigger->arena, key, key_size);
    if (item.input == NULL || (key != NULL && item.key == NULL) || !grow_items(trigger)) {
        trigger->items_failed = true;
        return;
    }
    trigger->items[trigger->item_count++] = item;
    trigger->item_bytes += input_size + key_size;
}

void
pawl_trigger_clear(pawl_trigger *trigger)
{
    if (trigger == NULL)
        return;
    pw_arena_done(&trigger->arena);
    trigger->item_count = 0;
    trigger->item_bytes = 0;
    trigger->items_failed = false;
    trigger->items_too_many = false;
    trigger->items_too_large = false;
}

static int
refuse_option(enum pw_trigger_option option, const char *why, struct pw_error *err)
{
    pw_error_set(err, PAWL_EINVAL, "option \"%s\" of the trigger %s", option_names[option], why);
    return PAWL_EINVAL;
}

static const char not_millis[] = "must be a number of milliseconds, at least 1";

/* A duration of at least a millisecond; 0: it is not given. */
static bool
read_millis(const char *text, int64_t *out)
{
    return text == NULL || pw_parse_i64(text, 1, INT64_MAX / 1000, out);
}

/* Numbers, switches and ids. */
static int
read_values(const pawl_trigger *trigger, struct pw_trigger_values *out, struct pw_error *err)
{
    const char *const *options = (const char *const *)trigger->options;
    int64_t number = 0;

    memset(out, 0, sizeof(*out));
    out->has_priority = options[PW_TRIGGER_PRIORITY] != NULL;
    if (out->has_priority && !pw_parse_i64(options[PW_TRIGGER_PRIORITY], 0, 32767, &number))
        return refuse_option(PW_TRIGGER_PRIORITY, "is no number from 0 to 32767", err);
    out->priority = (int32_t)number;
    out->has_delay = options[PW_TRIGGER_DELAY_MS] != NULL;
    if (out->has_delay &&
        !pw_parse_i64(options[PW_TRIGGER_DELAY_MS], 0, INT64_MAX / 1000, &out->delay_ms))
        return refuse_option(PW_TRIGGER_DELAY_MS, "is no number of milliseconds", err);
    out->has_key_ttl = options[PW_TRIGGER_KEY_TTL_MS] != NULL;
    if (!read_millis(options[PW_TRIGGER_KEY_TTL_MS], &out->key_ttl_ms))
        return refuse_option(PW_TRIGGER_KEY_TTL_MS, not_millis, err);
    if (!read_millis(options[PW_TRIGGER_EXPIRES_MS], &out->expires_ms))
        return refuse_option(PW_TRIGGER_EXPIRES_MS, not_millis, err);
    if (!read_millis(options[PW_TRIGGER_DEBOUNCE_MS], &out->debounce_ms))
        return refuse_option(PW_TRIGGER_DEBOUNCE_MS, not_millis, err);
    if (!read_millis(options[PW_TRIGGER_DEBOUNCE_MAX_MS], &out->debounce_max_ms))
        return refuse_option(PW_TRIGGER_DEBOUNCE_MAX_MS, not_millis, err);
    if (options[PW_TRIGGER_REPLACE] != NULL &&
        !pw_parse_bool(options[PW_TRIGGER_REPLACE], &out->replace))
        return refuse_option(PW_TRIGGER_REPLACE, "is neither on nor off", err);
    if (options[PW_TRIGGER_KEY_WHILE_ACTIVE] != NULL &&
        !pw_parse_bool(options[PW_TRIGGER_KEY_WHILE_ACTIVE], &out->key_while_active))
        return refuse_option(PW_TRIGGER_KEY_WHILE_ACTIVE, "is neither on nor off", err);
    out->has_id = options[PW_TRIGGER_ID] != NULL;
    if (out->has_id && !pw_uuid_parse(options[PW_TRIGGER_ID], &out->id))
        return refuse_option(PW_TRIGGER_ID, "is not the id of a run", err);
    return PAWL_OK;
}

/* Reports an error of the calls that built the trigger. */
static int
check_made(const pawl_trigger *trigger, bool many, struct pw_error *err)
{
    bool failed = many ? trigger->items_failed : trigger->input_failed;

    if (trigger->workflow == NULL) {
        pw_error_set(err, PAWL_EINVAL, "the trigger names no workflow");
        return PAWL_EINVAL;
    }
    if (trigger->unknown[0] != '\0') {
        pw_error_set(err, PAWL_EINVAL, "a trigger has no option \"%s\"", trigger->unknown);
        return PAWL_EINVAL;
    }
    for (int i = 0; i < PW_TRIGGER_OPTIONS; i++)
        failed = failed || trigger->failed[i];
    if (many && trigger->items_too_many) {
        pw_error_set(err, PAWL_ETOOLARGE, "more than %d runs in one call", PW_TRIGGER_ITEMS_MAX);
        return PAWL_ETOOLARGE;
    }
    if (many && trigger->items_too_large) {
        pw_error_set(err, PAWL_ETOOLARGE, "more than 512 MB of inputs and keys in one call");
        return PAWL_ETOOLARGE;
    }
    if (failed) {
        pw_error_set(err, PAWL_ENOMEM, "there was no memory for all of the trigger");
        if (many)
            pw_error_hint(err, "Take the runs back with pawl_trigger_clear(), and add fewer.");
        return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

int
pw_trigger_read(
    const pawl_trigger *trigger, bool many, struct pw_trigger_values *out, struct pw_error *err)
{
    int status;

    if (trigger == NULL) {
        pw_error_set(err, PAWL_EINVAL, "no trigger");
        return PAWL_EINVAL;
    }
    status = check_made(trigger, many, err);
    if (status == PAWL_OK)
        status = read_values(trigger, out, err);
    if (status != PAWL_OK || !many)
        return status;
    /* These options are for one run only. */
    for (enum pw_trigger_option i = PW_TRIGGER_REPLACE; i <= PW_TRIGGER_DEBOUNCE_MAX_MS; i++)
        if (trigger->options[i] != NULL)
            return refuse_option(i, "is for one run", err);
    if (trigger->options[PW_TRIGGER_KEY] != NULL)
        return refuse_option(
            PW_TRIGGER_KEY, "is for one run; give keys with pawl_trigger_add()", err);
    if (out->has_id)
        return refuse_option(PW_TRIGGER_ID, "is for one run", err);
    return PAWL_OK;
}
