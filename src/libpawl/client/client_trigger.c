/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers runs. The client makes the ids, so that a request whose reply was lost can be sent again. */
#include "base/alloc.h"
#include "libpawl/client/client.h"
#include "libpawl/client/trigger.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"

#include <string.h>

/* The head of an array and of each element is a few bytes. */
enum {
    ARRAY_BYTES_MAX = PW_TRIGGER_BYTES_MAX + 32 * PW_TRIGGER_ITEMS_MAX
};

static const char *
option_of(const pawl_trigger *trigger, enum pw_trigger_option option)
{
    return trigger->options[option];
}

static const char *
tenant_of(const pawl_trigger *trigger)
{
    const char *tenant = option_of(trigger, PW_TRIGGER_TENANT);

    return tenant != NULL ? tenant : "";
}

/*
 * Makes the id of a run, in the slot of its key, so that the slot of the run can be computed from the key. Without a key, any slot is
 * used.
 */
static int
make_id(const pawl_trigger *trigger, const char *key, int64_t now_us, struct pw_uuid *out,
    struct pw_error *err)
{
    bool made = key != NULL
        ? pw_uuid_make(now_us / 1000, pw_key_slot(tenant_of(trigger), trigger->workflow, key), out)
        : pw_uuid_make_any(now_us / 1000, out);

    if (made) {
        pw_client_stamp_id(now_us, out);
        return PAWL_OK;
    }
    return pw_client_no_id(now_us, err);
}

/* Adds the parameters that the two statements have in common, from the fourth to the seventh. */
static void
add_middle(
    const pawl_trigger *trigger, const struct pw_trigger_values *values, struct pw_params *params)
{
    pw_params_text(params, option_of(trigger, PW_TRIGGER_TENANT));
    if (values->has_priority)
        pw_params_int4(params, values->priority);
    else
        pw_params_null(params);
    if (values->has_delay)
        pw_params_int8(params, values->delay_ms);
    else
        pw_params_null(params);
    pw_params_text(params, option_of(trigger, PW_TRIGGER_METADATA));
}

/* Adds the common parameters from the ninth on. */
static void
add_end(const pawl_trigger *trigger, const struct pw_trigger_values *values, bool is_new,
    struct pw_params *params)
{
    if (values->has_key_ttl)
        pw_params_int8(params, values->key_ttl_ms);
    else
        pw_params_null(params);
    pw_params_bool(params, values->key_while_active);
    pw_params_text(params, option_of(trigger, PW_TRIGGER_LIMIT_KEY));
    pw_params_bool(params, is_new);
}

/* Returns true if new ids may succeed. PW003 can mean that an id is an hour off, because the clock was moved since the client asked. */
static bool
is_worth_new_ids(pawl_client *client, const struct pw_ask *ask, int status, unsigned tries,
    const struct pw_error *err)
{
    struct pw_error ignored = {0};
    bool moved = false;

    return status == PAWL_EINVAL && strcmp(err->sqlstate, "PW003") == 0 && !ask->lost &&
        tries == 0 &&
        pw_client_clock_again(client, ask->deadline_us, &moved, &ignored) == PAWL_OK && moved;
}

/*
 * Reads one row of the answer. This call has created each run whose id it made. If the row says that such a run was found, an earlier
 * reply was lost.
 */
static bool
read_answer(const struct pw_rows *rows, int row, int column, const struct pw_uuid *made,
    char *run_id, uint32_t *flags)
{
    struct pw_uuid id;
    bool created;
    bool handled;

    if (!pw_rows_uuid(rows, row, column, &id) || !pw_rows_bool(rows, row, column + 1, &created) ||
        !pw_rows_bool(rows, row, column + 2, &handled))
        return false;
    if (made != NULL && pw_uuid_equal(&id, made))
        created = true;
    if (run_id != NULL)
        pw_uuid_format(&id, run_id);
    if (flags != NULL)
        *flags = (created ? (uint32_t)PAWL_CREATED : 0) | (handled ? (uint32_t)PAWL_HANDLED : 0);
    return true;
}

/*
 * Returns true if another call would find the run of this one. A key that is free after its run has ended could create another run, and
 * with replace or debounce another call counts as such.
 */
static bool
is_repeatable(const struct pw_trigger_values *values, bool has_key)
{
    return values->has_id ||
        (has_key && !values->key_while_active && !values->replace && values->debounce_ms == 0);
}

static int
refuse_answer(struct pw_error *err)
{
    pw_error_set(err, PAWL_ESCHEMA, "the answer of the database is not the one that was expected");
    return PAWL_ESCHEMA;
}

/* Returns true if the trigger has options that the plain statement does not have. */
static bool
is_full(const pawl_trigger *trigger)
{
    for (enum pw_trigger_option i = PW_TRIGGER_TAGS; i < PW_TRIGGER_OPTIONS; i++)
        if (option_of(trigger, i) != NULL)
            return true;
    return false;
}

static void
add_millis(int64_t millis, struct pw_params *params)
{
    if (millis > 0)
        pw_params_int8(params, millis);
    else
        pw_params_null(params);
}

/* Adds the parameters of one run. */
static void
fill_one(const pawl_trigger *trigger, const struct pw_trigger_values *values,
    const struct pw_uuid *id, bool is_new, struct pw_params *params)
{
    pw_params_init(params);
    pw_params_text(params, trigger->workflow);
    pw_params_bytes(params, trigger->input, trigger->input_size);
    pw_params_text(params, option_of(trigger, PW_TRIGGER_KEY));
    add_middle(trigger, values, params);
    pw_params_uuid(params, id);
    add_end(trigger, values, is_new, params);
    if (!is_full(trigger))
        return;
    pw_params_text(params, option_of(trigger, PW_TRIGGER_TAGS));
    add_millis(values->expires_ms, params);
    pw_params_bool(params, values->replace);
    add_millis(values->debounce_ms, params);
    add_millis(values->debounce_max_ms, params);
}

static int
trigger_one(pawl_client *client, const pawl_trigger *trigger, char *run_id, uint32_t *flags,
    struct pw_error *err)
{
    struct pw_trigger_values values;
    struct pw_params params, again;
    struct pw_ask ask = {
        .statement = PW_STMT_TRIGGER,
        .repeat = PW_REPEAT_WRITE,
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    pawl_bytes input;
    int64_t now_us = 0;
    int status = pw_trigger_read(trigger, false, &values, err);

    if (status != PAWL_OK)
        return status;
    if (is_full(trigger))
        ask.statement = PW_STMT_TRIGGER_FULL;
    ask.repeatable = is_repeatable(&values, option_of(trigger, PW_TRIGGER_KEY) != NULL);
    input.data = trigger->input;
    input.size = trigger->input_size;
    status = pw_client_check_payload(client, "the input", input, err);
    if (status == PAWL_OK)
        status = pw_client_check_payload(
            client, "the metadata", pawl_text(option_of(trigger, PW_TRIGGER_METADATA)), err);
    for (unsigned tries = 0; status == PAWL_OK; tries++) {
        const char *key = option_of(trigger, PW_TRIGGER_KEY);
        struct pw_uuid id = values.id;

        if (!values.has_id) {
            status = pw_client_clock(client, ask.deadline_us, &now_us, err);
            if (status == PAWL_OK)
                status = make_id(trigger, key, now_us, &id, err);
            if (status != PAWL_OK)
                return status;
        }
        fill_one(trigger, &values, &id, true, &params);
        fill_one(trigger, &values, &id, false, &again);
        /* guard:client_given_id */
        ask.params = values.has_id ? &again : &params;
        ask.params_again = values.has_id ? NULL : &again;
        ask.made_at_us = now_us;
        status = pw_client_ask(client, &ask, &reply, err);
        if (status == PAWL_OK) {
            if (!read_answer(&reply.rows, 0, 0, values.has_id ? NULL : &id, run_id, flags))
                status = refuse_answer(err);
            pw_reply_done(&reply);
            return status;
        }
        /* The outcome is unknown, so the caller needs the id to ask for the run. */
        if (status == PAWL_EUNKNOWN && run_id != NULL)
            pw_uuid_format(&id, run_id);
        if (!values.has_id && is_worth_new_ids(client, &ask, status, tries, err))
            status = PAWL_OK;
    }
    return status;
}

pawl_status
pawl_client_trigger(pawl_client *client, const pawl_trigger *trigger, char *run_id, uint32_t *flags,
    pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)trigger_one(client, trigger, run_id, flags, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}

/* Arrays of all runs, and the ids among them. */
struct many {
    struct pw_array inputs;
    struct pw_array keys;
    struct pw_array ids;
    struct pw_uuid *made;
    bool has_keys;
    bool all_keys;
};

static void
done_many(struct many *many)
{
    pw_array_done(&many->inputs);
    pw_array_done(&many->keys);
    pw_array_done(&many->ids);
    pw_free(many->made);
}

/*
 * Makes ascending ids for the runs of one call, as far as the 12 bits that follow the time allow. So rows that are created together are
 * close together in the database's index.
 */
static int
make_ids(const pawl_trigger *trigger, int64_t now_us, struct many *many, struct pw_error *err)
{
    pw_array_begin(&many->ids, PW_TYPE_UUID);
    for (size_t i = 0; i < trigger->item_count; i++) {
        struct pw_uuid *id = &many->made[i];
        size_t place = i * 4096 / trigger->item_count;
        int status = make_id(trigger, trigger->items[i].key, now_us, id, err);

        if (status != PAWL_OK)
            return status;
        id->bytes[6] = (uint8_t)(0x70 | place >> 8);
        id->bytes[7] = (uint8_t)(place & 0xff);
        pw_array_uuid(&many->ids, id);
    }
    if (pw_array_ok(&many->ids))
        return PAWL_OK;
    pw_error_oom(err);
    return PAWL_ENOMEM;
}

static int
fill_many(pawl_client *client, const pawl_trigger *trigger, struct many *many, struct pw_error *err)
{
    pw_array_begin(&many->inputs, PW_TYPE_JSON);
    pw_array_begin(&many->keys, PW_TYPE_TEXT);
    many->all_keys = true;
    for (size_t i = 0; i < trigger->item_count; i++) {
        const struct pw_trigger_item *item = &trigger->items[i];
        pawl_bytes input = {item->input, item->size};
        int status = pw_client_check_payload(client, "an input", input, err);

        if (status != PAWL_OK)
            return status;
        pw_array_bytes(&many->inputs, item->input, item->size);
        pw_array_bytes(&many->keys, item->key, item->key != NULL ? strlen(item->key) : 0);
        many->has_keys = many->has_keys || item->key != NULL;
        many->all_keys = many->all_keys && item->key != NULL;
    }
    many->made = pw_calloc(trigger->item_count, sizeof(*many->made));
    if (many->made != NULL && pw_array_ok(&many->inputs) && pw_array_ok(&many->keys))
        return PAWL_OK;
    pw_error_oom(err);
    return PAWL_ENOMEM;
}

static int
read_many(const struct pw_rows *rows, const pawl_trigger *trigger, const struct many *many,
    char *run_ids, uint32_t *flags, struct pw_error *err)
{
    int count = pw_rows_count(rows);

    if (count < 0 || (size_t)count != trigger->item_count)
        return refuse_answer(err);
    for (int row = 0; row < count; row++) {
        int32_t item;
        size_t place;

        if (!pw_rows_int4(rows, row, 0, &item) || item < 1 || item > count)
            return refuse_answer(err);
        place = (size_t)item - 1;
        if (!read_answer(rows, row, 1, &many->made[place],
                run_ids != NULL ? run_ids + place * PAWL_ID_SIZE : NULL,
                flags != NULL ? flags + place : NULL))
            return refuse_answer(err);
    }
    return PAWL_OK;
}

/* Writes the ids when the outcome is unknown, so that the caller can ask for the runs. */
static void
write_ids(const struct many *many, size_t count, char *run_ids)
{
    for (size_t i = 0; run_ids != NULL && i < count; i++)
        pw_uuid_format(&many->made[i], run_ids + i * PAWL_ID_SIZE);
}

/* Adds the parameters of all runs. */
static void
fill_all(const pawl_trigger *trigger, const struct pw_trigger_values *values, struct many *many,
    bool is_new, struct pw_params *params)
{
    pw_params_init(params);
    pw_params_text(params, trigger->workflow);
    pw_params_array(params, &many->inputs);
    if (many->has_keys)
        pw_params_array(params, &many->keys);
    else
        pw_params_null(params);
    add_middle(trigger, values, params);
    pw_params_array(params, &many->ids);
    add_end(trigger, values, is_new, params);
    pw_params_text(params, option_of(trigger, PW_TRIGGER_TAGS));
    add_millis(values->expires_ms, params);
}

/* Sends the arrays, with new ids. */
static int
ask_many(pawl_client *client, const pawl_trigger *trigger, const struct pw_trigger_values *values,
    struct many *many, struct pw_ask *ask, struct pw_reply *reply, struct pw_error *err)
{
    struct pw_params params, again;
    int64_t now_us;
    int status = pw_client_clock(client, ask->deadline_us, &now_us, err);

    if (status == PAWL_OK)
        status = make_ids(trigger, now_us, many, err);
    if (status != PAWL_OK)
        return status;
    fill_all(trigger, values, many, true, &params);
    fill_all(trigger, values, many, false, &again);
    ask->params = &params;
    ask->params_again = &again;
    ask->made_at_us = now_us;
    status = pw_client_ask(client, ask, reply, err);
    ask->params = NULL;
    ask->params_again = NULL;
    return status;
}

static int
trigger_many(pawl_client *client, const pawl_trigger *trigger, char *run_ids, uint32_t *flags,
    struct pw_error *err)
{
    struct pw_trigger_values values;
    struct pw_ask ask = {
        .statement = PW_STMT_TRIGGER_MANY,
        .repeat = PW_REPEAT_WRITE,
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    struct many many = {.has_keys = false};
    int status = pw_trigger_read(trigger, true, &values, err);

    if (status != PAWL_OK || trigger->item_count == 0)
        return status;
    pw_array_init(&many.inputs, ARRAY_BYTES_MAX);
    pw_array_init(&many.keys, ARRAY_BYTES_MAX);
    pw_array_init(&many.ids, ARRAY_BYTES_MAX);
    status = pw_client_check_payload(
        client, "the metadata", pawl_text(option_of(trigger, PW_TRIGGER_METADATA)), err);
    if (status == PAWL_OK)
        status = fill_many(client, trigger, &many, err);
    ask.repeatable = is_repeatable(&values, many.all_keys);
    for (unsigned tries = 0; status == PAWL_OK; tries++) {
        status = ask_many(client, trigger, &values, &many, &ask, &reply, err);
        if (status == PAWL_OK) {
            status = read_many(&reply.rows, trigger, &many, run_ids, flags, err);
            pw_reply_done(&reply);
            break;
        }
        if (status == PAWL_EUNKNOWN)
            write_ids(&many, trigger->item_count, run_ids);
        if (is_worth_new_ids(client, &ask, status, tries, err))
            status = PAWL_OK;
    }
    done_many(&many);
    return status;
}

pawl_status
pawl_client_trigger_many(pawl_client *client, const pawl_trigger *trigger, char *run_ids,
    uint32_t *flags, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        (void)trigger_many(client, trigger, run_ids, flags, &err); /* its status is in err */
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}
