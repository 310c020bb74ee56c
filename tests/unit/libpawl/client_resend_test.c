/* SPDX-License-Identifier: Apache-2.0 */
/* A request whose reply is lost, late or an error: what is sent again, what is not, and what the caller is told. */
#include "base/time.h"
#include "base/uuid.h"
#include "fake_conn.h"

#include <pawl/pawl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The kinds of calls. */
static pawl_status
emit(pawl_client *client, pawl_error **error)
{
    return pawl_client_emit(client, "t", NULL, NULL, pawl_text("1"), error);
}

static const char some_id[] = "01900000-0000-7000-8000-000000000000";

static pawl_status
signal_run(pawl_client *client, pawl_error **error)
{
    return pawl_client_signal(client, some_id, "go", pawl_text("1"), error);
}

static pawl_status
cancel_run(pawl_client *client, pawl_error **error)
{
    return pawl_client_cancel(client, some_id, NULL, 0, error);
}

static pawl_status
look(pawl_client *client, pawl_error **error)
{
    return pawl_client_wait(client, some_id, 0, NULL, error);
}

typedef pawl_status (*call_fn)(pawl_client *client, pawl_error **error);

static void
count_warnings(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count)
{
    int *warnings = userdata;

    (void)level;
    (void)message;
    (void)names;
    (void)values;
    (void)count;
    *warnings += strcmp(event, "connection_unverified") == 0;
}

static void
a_client_warns_once_of_a_server_that_is_not_verified(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;
    int warnings = 0;

    (void)state;
    pawl_config_set_log(config, PAWL_LOG_WARNING, count_warnings, &warnings);
    for (int unverified = 0; unverified < 2; unverified++) {
        pawl_client *client = NULL;

        (void)fake_conn_reset(NULL);
        fake_conn.unverified = unverified == 1;
        for (int i = 0; i < 3; i++)
            fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
        assert_int_equal(pawl_client_open(config, &client, &error), PAWL_OK);
        for (int i = 0; i < 3; i++) {
            fake_conn.dead_at_rest = true;
            assert_int_equal(emit(client, &error), PAWL_OK);
        }
        assert_int_equal(fake_conn.opens, 4);
        assert_int_equal(warnings, unverified);
        pawl_client_close(client);
    }
    pawl_config_free(config);
}

static void
an_answer_decides_whether_a_call_is_sent_again(void **state)
{
    static const struct {
        struct fake_turn turn;
        int resent;
        int reconnected;
    } cases[] = {
        {{FAKE_REPLY, PAWL_EBUSY, "PW010", true, false, NULL, 0}, 1, 0},
        {{FAKE_REPLY, PAWL_EBUSY, "40001", true, false, NULL, 0}, 1, 0},
        {{FAKE_REPLY, PAWL_EDATABASE, "26000", true, false, NULL, 0}, 1, 0},
        {{FAKE_REPLY, PAWL_EDATABASE, "42P05", true, false, NULL, 0}, 1, 0},
        {{FAKE_REPLY, PAWL_EDATABASE, "0A000", true, false, NULL, 0}, 1, 0},
        {{FAKE_REPLY, PAWL_ECONN, "25006", true, false, NULL, 0}, 1, 1},
        {{FAKE_REPLY, PAWL_EDATABASE, "0A000", false, false, NULL, 0}, 0, 0},
        {{FAKE_REPLY, PAWL_EDATABASE, "57014", true, false, NULL, 0}, 0, 0},
        {{FAKE_REPLY, PAWL_EDATABASE, "53200", true, false, NULL, 0}, 0, 0},
        {{FAKE_REPLY, PAWL_ENOTFOUND, "PW001", false, false, NULL, 0}, 0, 0},
        {{FAKE_REPLY, PAWL_EUNKNOWN, "40003", true, false, NULL, 0}, 0, 0},
    };
    static const call_fn calls[] = {emit, signal_run};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t c = 0; c < 2; c++) {
            pawl_client *client;
            pawl_error *error = NULL;

            (void)fake_conn_reset(NULL);
            fake_conn_add(cases[i].turn);
            fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
            client = fake_conn_client("5s");
            assert_int_equal(
                calls[c](client, &error), cases[i].resent ? PAWL_OK : cases[i].turn.status);
            assert_int_equal(
                pawl_error_code(error), cases[i].resent ? PAWL_OK : cases[i].turn.status);
            assert_int_equal(fake_conn.sends, 1 + cases[i].resent);
            assert_int_equal(fake_conn.opens, 1 + cases[i].reconnected);
            /* What may have been done is not to be done again. */
            if (cases[i].turn.status == PAWL_EUNKNOWN)
                assert_int_equal(pawl_error_retryable(error), 0);
            pawl_error_free(error);
            pawl_client_close(client);
            assert_int_equal(fake_conn.opens, fake_conn.closes);
        }
}

static void
a_lost_reply_decides_by_what_the_call_does(void **state)
{
    static const enum fake_what ways[] = {FAKE_LOST, FAKE_SEND_BROKEN};
    static const call_fn calls[] = {emit, look, signal_run};

    (void)state;
    for (size_t w = 0; w < 2; w++)
        for (size_t c = 0; c < 3; c++) {
            pawl_client *client;
            pawl_error *error = NULL;
            pawl_status status;

            (void)fake_conn_reset(NULL);
            fake_conn_add((struct fake_turn){.what = ways[w]});
            fake_conn_add((struct fake_turn){.what = ways[w]});
            fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
            client = fake_conn_client("5s");
            status = calls[c](client, &error);
            if (calls[c] == signal_run) {
                assert_int_equal(status, PAWL_EUNKNOWN);
                assert_int_equal(pawl_error_retryable(error), 0);
                assert_int_equal(fake_conn.sends, 1);
            } else {
                assert_int_equal(status, calls[c] == emit ? PAWL_OK : PAWL_ESCHEMA);
                assert_int_equal(fake_conn.sends, 3);
                assert_int_equal(fake_conn.opens, 3);
            }
            pawl_error_free(error);
            pawl_client_close(client);
        }
}

static void
no_reply_in_time_is_unknown_for_what_writes(void **state)
{
    static const struct {
        call_fn call;
        pawl_status status;
        int retryable;
    } cases[] = {{emit, PAWL_EUNKNOWN, 0}, {look, PAWL_ECONN, 1}, {signal_run, PAWL_EUNKNOWN, 0},
        {cancel_run, PAWL_EUNKNOWN, 1}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        pawl_client *client;
        pawl_error *error = NULL;

        (void)fake_conn_reset(NULL);
        fake_conn_add((struct fake_turn){.what = FAKE_LATE});
        client = fake_conn_client("30ms");
        assert_int_equal(cases[i].call(client, &error), cases[i].status);
        assert_int_equal(pawl_error_retryable(error), cases[i].retryable);
        assert_int_equal(fake_conn.closes, 1);
        pawl_error_free(error);
        pawl_client_close(client);
    }
}

static void
an_error_behind_a_lost_reply_does_not_speak_of_the_first_try(void **state)
{
    static const struct fake_turn errors[] = {
        {FAKE_REPLY, PAWL_EDATABASE, "57014", true, false, NULL, 0},
        {FAKE_REPLY, PAWL_ECONFLICT, "PW004", false, false, NULL, 0},
        {FAKE_REPLY, PAWL_ECONN, "57P04", false, false, NULL, 0},
    };
    static const struct {
        call_fn call;
        int retryable;
    } cases[] = {{emit, 0}, {cancel_run, 1}, {look, -1}};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t c = 0; c < 3; c++) {
            pawl_client *client;
            pawl_error *error = NULL;

            (void)fake_conn_reset(NULL);
            fake_conn_add((struct fake_turn){.what = FAKE_LOST});
            fake_conn_add(errors[i]);
            client = fake_conn_client("5s");
            if (cases[c].call == look) {
                assert_int_equal(look(client, &error), errors[i].status);
            } else {
                assert_int_equal(cases[c].call(client, &error), PAWL_EUNKNOWN);
                assert_int_equal(pawl_error_retryable(error), cases[c].retryable);
                assert_non_null(strstr(pawl_error_hint(error), "said the server"));
            }
            pawl_error_free(error);
            pawl_client_close(client);
        }
}

static void
a_trigger_of_which_nobody_knows_gives_its_ids(void **state)
{
    static const struct {
        const char *options[2][2];
        int retryable;
    } cases[] = {
        {{{"priority", "1"}, {"priority", "1"}}, 0},
        {{{"key", "k"}, {"priority", "1"}}, 1},
        {{{"key", "k"}, {"key_while_active", "on"}}, 0},
        {{{"id", some_id}, {"priority", "1"}}, 1},
        {{{"key", "k"}, {"key_ttl_ms", "1000"}}, 1},
    };
    char ids[3][PAWL_ID_SIZE];
    pawl_error *error = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pawl_trigger *trigger = pawl_trigger_new("w");
        pawl_client *client = fake_conn_client("30ms");
        struct pw_uuid id;
        uint32_t flags = 77;

        for (int o = 0; o < 2; o++)
            pawl_trigger_set(trigger, cases[i].options[o][0], cases[i].options[o][1]);
        fake_conn_add((struct fake_turn){.what = FAKE_LATE});
        memset(ids, 'x', sizeof(ids));
        assert_int_equal(
            pawl_client_trigger(client, trigger, ids[0], &flags, &error), PAWL_EUNKNOWN);
        assert_int_equal(pawl_error_retryable(error), cases[i].retryable);
        assert_true(pw_uuid_parse(ids[0], &id));
        assert_true(strcmp(cases[i].options[0][0], "id") != 0 || strcmp(ids[0], some_id) == 0);
        assert_int_equal(flags, 77);
        pawl_error_free(error);
        pawl_client_close(client);
        pawl_trigger_free(trigger);
    }
    /* Of many, each needs a key. */
    for (int i = 0; i < 3; i++) {
        const struct fake_turn turns[] = {{.what = FAKE_LATE}, {.what = FAKE_LATE},
            {.what = FAKE_REPLY, .unreplicated = true, .texts = fake_ok, .columns = 2}};
        pawl_trigger *trigger = pawl_trigger_new("w");
        pawl_client *client = fake_conn_client("30ms");
        struct pw_uuid id;

        for (int n = 0; n < 3; n++)
            pawl_trigger_add(trigger, pawl_text("1"), i == 0 && n == 1 ? NULL : "k");
        fake_conn_add(turns[i]);
        memset(ids, 'x', sizeof(ids));
        assert_int_equal(
            pawl_client_trigger_many(client, trigger, ids[0], NULL, &error), PAWL_EUNKNOWN);
        assert_int_equal(pawl_error_retryable(error), i > 0);
        for (int n = 0; n < 3; n++)
            assert_true(pw_uuid_parse(ids[n], &id));
        pawl_error_free(error);
        pawl_client_close(client);
        pawl_trigger_free(trigger);
    }
}

static pawl_status
trigger_some(pawl_client *client, const char *id, bool many)
{
    pawl_trigger *trigger = pawl_trigger_new("w");
    pawl_status status;

    pawl_trigger_set_input(trigger, pawl_text("1"));
    if (id != NULL)
        pawl_trigger_set(trigger, "id", id);
    pawl_trigger_add(trigger, pawl_text("1"), "k");
    status = many ? pawl_client_trigger_many(client, trigger, NULL, NULL, NULL)
                  : pawl_client_trigger(client, trigger, NULL, NULL, NULL);
    pawl_trigger_free(trigger);
    return status;
}

/* No answer here is one that a trigger understands: only what is sent matters. */
static const struct fake_turn busy = {FAKE_REPLY, PAWL_EBUSY, "PW010", true, false, NULL, 0};
static const struct fake_turn last = {.what = FAKE_REPLY, .texts = fake_ok, .columns = 2};

/* What the clock of the fake server showed when a request arrived. */
static int64_t
clock_at(int turn)
{
    return fake_conn.clock_us + fake_conn.sent_us[turn] - fake_conn.clock_read_us;
}

static void
an_id_is_sent_as_new_once(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        pawl_client *client;

        (void)fake_conn_reset(NULL);
        fake_conn_add((struct fake_turn){.what = FAKE_LOST});
        fake_conn_add(busy);
        fake_conn_add(last);
        client = fake_conn_client("60s");
        assert_int_equal(trigger_some(client, NULL, many), PAWL_ESCHEMA);
        assert_int_equal(fake_conn.sends, 3);
        assert_true(fake_conn.last_bool[0]);
        assert_false(fake_conn.last_bool[1]);
        assert_false(fake_conn.last_bool[2]);
        pawl_client_close(client);

        (void)fake_conn_reset(NULL);
        fake_conn_add(busy);
        fake_conn_add(last);
        client = fake_conn_client("60s");
        assert_int_equal(trigger_some(client, NULL, many), PAWL_ESCHEMA);
        assert_int_equal(fake_conn.sends, 2);
        assert_true(fake_conn.last_bool[0]);
        assert_false(fake_conn.last_bool[1]);
        pawl_client_close(client);
    }
}

/* The clock of the fake server shows the same time for each connection: the second server is behind the first. */
static void
an_id_is_not_sent_again_before_it_is_old_by_the_servers_clock(void **state)
{
    pawl_client *client;

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn_add(last);
    client = fake_conn_client("60s");
    assert_int_equal(trigger_some(client, NULL, false), PAWL_ESCHEMA);
    assert_int_equal(fake_conn.clocks, 2);
    assert_int_equal(fake_conn.id_ms[0], fake_conn.id_ms[1]);
    assert_true(clock_at(1) >= fake_conn.id_ms[1] * 1000 + 250000);
    pawl_client_close(client);

    /* A pooler has lost its connection to the server. */
    (void)fake_conn_reset(NULL);
    fake_conn_add((struct fake_turn){
        .what = FAKE_REPLY, .status = PAWL_ECONN, .sqlstate = "08P01", .retryable = true});
    fake_conn_add(last);
    client = fake_conn_client("60s");
    assert_int_equal(trigger_some(client, NULL, false), PAWL_ESCHEMA);
    assert_int_equal(fake_conn.sends, 2);
    assert_true(clock_at(1) >= fake_conn.id_ms[1] * 1000 + 250000);
    pawl_client_close(client);

    /* The clock is set back by an hour: the time for the call ends first. */
    (void)fake_conn_reset(NULL);
    fake_conn.clock_back_us = INT64_C(3600000000);
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn_add(last);
    client = fake_conn_client("500ms");
    (void)trigger_some(client, NULL, false);
    /* On a slow machine it is too late to call the id new. */
    assert_true(!fake_conn.last_bool[0] || fake_conn.sends == 1);
    pawl_client_close(client);
}

/* The caller knows the id then, and may send it again at once. */
static void
an_unknown_outcome_is_not_returned_before_its_id_is_old(void **state)
{
    static const struct fake_turn turns[] = {
        {.what = FAKE_LOST},
        {.what = FAKE_REPLY, .status = PAWL_EUNKNOWN, .sqlstate = "08007", .retryable = true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        pawl_client *client;

        (void)fake_conn_reset(NULL);
        fake_conn_add(turns[i]);
        client = fake_conn_client("60s");
        fake_conn.fail_opens = 1;
        fake_conn.unretryable = true;
        assert_int_equal(trigger_some(client, NULL, false), PAWL_EUNKNOWN);
        assert_true(fake_conn.last_bool[0]);
        assert_true(fake_conn.clock_us + pw_now_us() - fake_conn.clock_read_us >=
            fake_conn.id_ms[0] * 1000 + 250000);
        pawl_client_close(client);
    }
}

static void
an_id_is_not_new_if_its_caller_could_send_it_again_too_early(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        pawl_client *client;

        (void)fake_conn_reset(NULL);
        fake_conn_add(last);
        client = fake_conn_client("200ms");
        assert_int_equal(trigger_some(client, NULL, many), PAWL_ESCHEMA);
        assert_false(fake_conn.last_bool[0]);
        pawl_client_close(client);
    }
}

static void
an_id_that_is_ahead_of_the_servers_clock_is_not_new(void **state)
{
    (void)state;
    for (int many = 0; many < 2; many++) {
        pawl_client *client;

        (void)fake_conn_reset(NULL);
        fake_conn_add(last);
        fake_conn_add(last);
        client = fake_conn_client("60s");
        assert_int_equal(trigger_some(client, NULL, many), PAWL_ESCHEMA);
        assert_true(fake_conn.last_bool[0]);
        /* Another server, behind the first, after the id is made and before it is sent. */
        fake_conn.dead_at_rest = true;
        fake_conn.clock_us -= 10000000;
        assert_int_equal(trigger_some(client, NULL, many), PAWL_ESCHEMA);
        assert_false(fake_conn.last_bool[1]);
        pawl_client_close(client);
    }
}

static void
ids_are_not_ahead_of_the_servers_clock_after_a_slow_request(void **state)
{
    pawl_client *client;

    (void)state;
    fake_conn.clock_slow_us = 200000;
    fake_conn_add(last);
    client = fake_conn_client("60s");
    assert_int_equal(trigger_some(client, NULL, false), PAWL_ESCHEMA);
    assert_true(fake_conn.last_bool[0]);
    assert_true(fake_conn.id_ms[0] * 1000 <= clock_at(0));
    pawl_client_close(client);
}

static void
an_id_of_the_caller_is_never_sent_as_new(void **state)
{
    pawl_client *client = fake_conn_client("60s");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(trigger_some(client, some_id, false), PAWL_ESCHEMA);
    assert_int_equal(fake_conn.sends, 1);
    assert_false(fake_conn.last_bool[0]);
    pawl_client_close(client);
}

static void
a_lost_reply_without_a_new_connection_stays_unknown(void **state)
{
    pawl_client *client = fake_conn_client("60ms");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn.fail_opens = 1000;
    assert_int_equal(emit(client, NULL), PAWL_EUNKNOWN);
    assert_int_equal(look(client, NULL), PAWL_ECONN);
    fake_conn.fail_opens = 1;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(emit(client, NULL), PAWL_OK);
    pawl_client_close(client);
}

static void
a_connection_found_dead_is_replaced_before_anything_is_sent(void **state)
{
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    fake_conn.dead_at_rest = true;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 1});
    assert_int_equal(signal_run(client, NULL), PAWL_OK);
    assert_int_equal(fake_conn.opens, 2);
    assert_int_equal(fake_conn.sends, 1);
    pawl_client_close(client);
}

static void
a_server_of_a_lower_epoch_is_sent_nothing(void **state)
{
    pawl_client *client;
    pawl_error *error = NULL;

    (void)state;
    fake_conn.epoch = 3;
    client = fake_conn_client("5s");
    fake_conn.dead_at_rest = true;
    fake_conn.epoch = 2;
    assert_int_equal(signal_run(client, &error), PAWL_ECONN);
    assert_string_equal(
        pawl_error_message(error), "the server's epoch is lower than one that was seen");
    assert_true(pawl_error_retryable(error));
    pawl_error_free(error);
    assert_int_equal(signal_run(client, NULL), PAWL_ECONN);
    assert_int_equal(fake_conn.sends, 0);
    assert_int_equal(fake_conn.opens, 3);
    assert_int_equal(fake_conn.closes, 3);
    fake_conn.epoch = 4;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 1});
    assert_int_equal(signal_run(client, NULL), PAWL_OK);
    pawl_client_close(client);
}

/* A reply that was lost was perhaps done by the server that was there before. */
static void
a_lost_reply_stays_unknown_if_the_next_server_is_of_a_lower_epoch(void **state)
{
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_SEND_BROKEN});
    fake_conn.epoch = 0;
    assert_int_equal(signal_run(client, NULL), PAWL_EUNKNOWN);
    assert_int_equal(fake_conn.sends, 1);
    pawl_client_close(client);
}

static void
a_commit_without_its_standby_is_unknown_and_not_sent_again(void **state)
{
    pawl_client *client = fake_conn_client("5s");
    pawl_error *error = NULL;

    (void)state;
    fake_conn_add((struct fake_turn){
        .what = FAKE_REPLY, .unreplicated = true, .texts = fake_ok, .columns = 2});
    assert_int_equal(emit(client, &error), PAWL_EUNKNOWN);
    assert_string_equal(pawl_error_message(error), "committed, but the standby may not have it");
    assert_int_equal(fake_conn.sends, 1);
    pawl_error_free(error);
    pawl_client_close(client);
}

static void
a_refusal_that_stays_is_not_waited_for(void **state)
{
    pawl_client *client = fake_conn_client("30s");

    (void)state;
    fake_conn.dead_at_rest = true;
    fake_conn.fail_opens = 1;
    fake_conn.unretryable = true;
    assert_int_equal(emit(client, NULL), PAWL_ECONN);
    assert_int_equal(fake_conn.opens, 2);
    pawl_client_close(client);
}

static void
no_memory_to_send_leaves_the_connection(void **state)
{
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_SEND_NO_MEMORY});
    assert_int_equal(signal_run(client, NULL), PAWL_ENOMEM);
    assert_int_equal(fake_conn.closes, 0);
    pawl_client_close(client);
}

/* The first of several hosts is silent: it takes longer to give it up than a call may take. */
static void
an_attempt_to_connect_outlasts_a_call(void **state)
{
    pawl_client *client = fake_conn_client("20ms");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    fake_conn.dead_at_rest = true;
    fake_conn.late_connect = true;
    assert_int_equal(emit(client, NULL), PAWL_ECONN);
    assert_int_equal(emit(client, NULL), PAWL_ECONN);
    assert_int_equal(fake_conn.opens, 2);
    assert_int_equal(fake_conn.closes, 1);
    fake_conn.late_connect = false;
    assert_int_equal(emit(client, NULL), PAWL_OK);
    assert_int_equal(fake_conn.opens, 2);
    pawl_client_close(client);
    assert_int_equal(fake_conn.closes, 2);
}

/* Opening is the one call that has no second try, so that a short call_timeout would leave nobody a chance. */
static void
opening_takes_as_long_as_connecting_may(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;
    int64_t began_us = pw_now_us();

    (void)state;
    assert_int_equal(pawl_config_set(config, "call_timeout", "10ms", NULL), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "connect_timeout", "150ms", NULL), PAWL_OK);
    fake_conn.late_connect = true;
    assert_int_equal(pawl_client_open(config, &client, NULL), PAWL_ECONN);
    assert_true(pw_now_us() - began_us >= 150000);
    assert_int_equal(fake_conn.closes, 1);
    pawl_config_free(config);
}

static void
what_is_too_large_is_not_sent_again(void **state)
{
    static const call_fn calls[] = {emit, signal_run};
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_conn_add((struct fake_turn){.what = FAKE_SEND_TOO_LARGE});
        assert_int_equal(calls[i](client, NULL), PAWL_ETOOLARGE);
    }
    assert_int_equal(fake_conn.sends, 2);
    assert_int_equal(fake_conn.opens, 1);
    pawl_client_close(client);
}

static void
a_connection_that_ends_before_it_is_used_has_lost_nothing(void **state)
{
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    fake_conn.dead_at_rest = true;
    fake_conn.clock_ends = 2;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 1});
    assert_int_equal(signal_run(client, NULL), PAWL_OK);
    assert_int_equal(fake_conn.sends, 1);
    assert_int_equal(fake_conn.opens, 4);
    pawl_client_close(client);
}

static void
the_last_word_of_a_server_is_told_when_there_is_no_time_for_another(void **state)
{
    pawl_client *client = fake_conn_client("50ms");
    pawl_error *error = NULL;

    (void)state;
    fake_conn_add((struct fake_turn){FAKE_REPLY, PAWL_ECONN, "25006", true, false, NULL, 0});
    fake_conn.late_connect = true;
    assert_int_equal(signal_run(client, &error), PAWL_ECONN);
    assert_string_equal(pawl_error_message(error), "said the server");
    assert_string_equal(pawl_error_sqlstate(error), "25006");
    assert_int_equal(pawl_error_retryable(error), 1);
    pawl_error_free(error);
    pawl_client_close(client);
}

#define TEST(function) cmocka_unit_test_setup(function, fake_conn_reset)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_decides_whether_a_call_is_sent_again),
        TEST(a_client_warns_once_of_a_server_that_is_not_verified),
        TEST(a_lost_reply_decides_by_what_the_call_does),
        TEST(no_reply_in_time_is_unknown_for_what_writes),
        TEST(an_error_behind_a_lost_reply_does_not_speak_of_the_first_try),
        TEST(a_trigger_of_which_nobody_knows_gives_its_ids),
        TEST(an_id_is_sent_as_new_once),
        TEST(an_id_is_not_sent_again_before_it_is_old_by_the_servers_clock),
        TEST(an_unknown_outcome_is_not_returned_before_its_id_is_old),
        TEST(an_id_is_not_new_if_its_caller_could_send_it_again_too_early),
        TEST(an_id_that_is_ahead_of_the_servers_clock_is_not_new),
        TEST(ids_are_not_ahead_of_the_servers_clock_after_a_slow_request),
        TEST(an_id_of_the_caller_is_never_sent_as_new),
        TEST(a_lost_reply_without_a_new_connection_stays_unknown),
        TEST(a_connection_found_dead_is_replaced_before_anything_is_sent),
        TEST(a_server_of_a_lower_epoch_is_sent_nothing),
        TEST(a_lost_reply_stays_unknown_if_the_next_server_is_of_a_lower_epoch),
        TEST(a_commit_without_its_standby_is_unknown_and_not_sent_again),
        TEST(a_refusal_that_stays_is_not_waited_for),
        TEST(no_memory_to_send_leaves_the_connection),
        TEST(an_attempt_to_connect_outlasts_a_call),
        TEST(opening_takes_as_long_as_connecting_may),
        TEST(what_is_too_large_is_not_sent_again),
        TEST(a_connection_that_ends_before_it_is_used_has_lost_nothing),
        TEST(the_last_word_of_a_server_is_told_when_there_is_no_time_for_another),
    };

    return cmocka_run_group_tests_name("libpawl/client_resend", tests, NULL, NULL);
}
