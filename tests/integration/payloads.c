/* SPDX-License-Identifier: Apache-2.0 */
/* What goes in and out of steps and runs: any JSON, byte by byte, up to the limit; and what becomes of what is not. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LIMIT = 1024 * 1024,
    NEIGHBOURS = 20,
    MANY = 5000,
    FEW = MANY / 4,
};

struct tale {
    const char *payload; /* what the step is to return */
    size_t size;
    atomic_int executed;
    atomic_int tries;
    pawl_status status; /* of the step */
    char message[400];
    int64_t replay_us[2];
};

static pawl_status
give(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = userdata;

    (void)run;
    atomic_fetch_add(&tale->tries, 1);
    *output = (pawl_bytes){tale->payload, tale->size};
    return PAWL_OK;
}

/* Passes on what its step has recorded, also after it was let go of. */
static pawl_status
pass_on(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    tale->status = pawl_step(run, "give", give, tale, output);
    (void)snprintf(tale->message, sizeof(tale->message), "%s", pawl_run_error_message(run));
    status = pawl_wait_signal(run, "go", -1, NULL);
    if (status != PAWL_OK || tale->status == PAWL_OK)
        return status;
    pawl_run_set_error_json(run, pawl_run_error(run));
    return PAWL_EPERMANENT;
}

/* The run's own output. */
static pawl_status
return_it(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    return give(run, tale, output);
}

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

/* Executes a run whose step returns these bytes, twice. */
static void
pass(struct scene *scene, struct tale *tale, const char *payload, size_t size)
{
    tale->payload = payload;
    tale->size = size;
    tale->tries = 0;
    scene_trigger(scene, "payloads.pass", "{}");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
}

static char *
make_text(size_t size)
{
    char *text = malloc(size + 1);

    assert_non_null(text);
    memset(text, 'x', size);
    text[0] = '"';
    text[size - 1] = '"';
    text[size] = '\0';
    return text;
}

static void
payloads_are_kept_byte_by_byte(void **state)
{
    static const char *const payloads[] = {
        "{\"b\" : 1,\"a\":2 ,  \"b\":3}",
        "\"\\u0000 and \\ud83d\\ude00 and \xf0\x9f\x98\x80\"",
        "1.10000000000000000000000000000000000000001e+400",
        "[ 1 , [ ]  ]",
        "null",
        "\"\"",
    };
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "payloads.pass", pass_on, &tale);
    scene_handle(scene, "payloads.echo", echo, NULL);
    scene_start(scene);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        scene_trigger(scene, "payloads.pass", "{}");
        tale.payload = payloads[i];
        tale.size = strlen(payloads[i]);
        tale.executed = 0;
        tale.tries = 0;
        scene_go_on(scene);
        scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
        scene_go_on(scene);
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), payloads[i]);
        assert_int_equal(tale.executed, 2);
        assert_int_equal(tale.tries, 1);
        scene_trigger(scene, "payloads.echo", payloads[i]);
        scene_go_on(scene);
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), payloads[i]);
    }
}

static void
a_payload_of_one_mebibyte_goes_through_everything(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char *text = make_text(LIMIT);

    scene_handle(scene, "payloads.pass", pass_on, &tale);
    scene_handle(scene, "payloads.echo", echo, NULL);
    scene_start(scene);
    pass(scene, &tale, text, LIMIT);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), text);
    scene_trigger(scene, "payloads.echo", text);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), text);
    free(text);
}

static void
more_payloads_at_once_than_a_batch_can_hold_are_all_recorded(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char *text = make_text(LIMIT);
    pawl_run *runs[12] = {NULL};
    pawl_error *error = NULL;

    tale.payload = text;
    tale.size = LIMIT;
    scene_set(scene, "batch_window_us", "100000");
    scene_handle(scene, "payloads.batch", NULL, NULL);
    scene_start(scene);
    scene_do(scene,
        "select count(*) from pawl.trigger_many('payloads.batch', array_fill('{}'::json, "
        "array[12]))",
        NULL);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(
            pawl_worker_next(scene->worker, scene_patience_ms, &runs[i], &error), PAWL_OK);
        pawl_run_set_nonblocking(runs[i]);
    }
    for (int i = 0; i < 12; i++)
        assert_int_equal(pawl_step(runs[i], "give", give, &tale, NULL), PAWL_PENDING);
    for (int i = 0; i < 12; i++) {
        pawl_run *run = NULL;
        pawl_bytes output = {NULL, 0};

        assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, &run, &error), PAWL_OK);
        assert_int_equal(pawl_step(run, "give", give, &tale, &output), PAWL_OK);
        assert_int_equal(output.size, LIMIT);
        pawl_run_finish(run, PAWL_OK, output);
    }
    assert_int_equal(tale.tries, 12);
    assert_int_equal(pawl_worker_stop(scene->worker, scene_patience_ms, &error), PAWL_OK);
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl.list_runs(only_workflow => 'payloads.batch') r, "
            "pawl.result(r.run_id) o where length(o.output::text) = 1048576",
            NULL),
        12);
    free(text);
}

static void
a_step_whose_output_is_too_large_fails_for_good_and_says_so(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char *text = make_text(LIMIT + 1);

    scene_handle(scene, "payloads.pass", pass_on, &tale);
    scene_start(scene);
    pass(scene, &tale, text, LIMIT + 1);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "\"code\":\"too_large\"");
    scene_has(tale.message, "the output of the step, 1048577 bytes");
    assert_int_equal(tale.status, PAWL_EFAILED);
    assert_int_equal(tale.tries, 1);
    free(text);
}

static void
a_run_whose_output_is_too_large_fails_and_says_so(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char *text = make_text(LIMIT + 1);

    tale.payload = text;
    tale.size = LIMIT + 1;
    scene_handle(scene, "payloads.return", return_it, &tale);
    scene_start(scene);
    scene_trigger(scene, "payloads.return", "{}");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "\"code\":\"too_large\"");
    assert_int_equal(tale.tries, 1);
    free(text);
}

static void
a_payload_that_is_no_json_fails_its_step_and_no_other(void **state)
{
    static const char *const bad[] = {
        "{not json", "", "'text'", "{} {}", "\"\xff\"", "\"\n\"", "[1, 2", "nul"};
    struct scene *scene = *state;
    struct tale tale = {0};
    char ids[NEIGHBOURS][PAWL_ID_SIZE];

    scene_handle(scene, "payloads.pass", pass_on, &tale);
    scene_handle(scene, "payloads.echo", echo, NULL);
    scene_work(scene);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (int n = 0; n < NEIGHBOURS / 10; n++)
            memcpy(ids[n], scene_trigger(scene, "payloads.echo", "[1]"), PAWL_ID_SIZE);
        tale.payload = bad[i];
        tale.size = strlen(bad[i]);
        tale.tries = 0;
        scene_trigger(scene, "payloads.pass", "{}");
        scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
        (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
        assert_int_equal(tale.status, PAWL_EFAILED);
        assert_int_equal(tale.tries, 1);
        if (tale.message[0] == '\0')
            fail_msg("no reason for %s", bad[i]);
        for (int n = 0; n < NEIGHBOURS / 10; n++)
            assert_string_equal(scene_wait(scene, ids[n], PAWL_OK), "[1]");
    }
}

static void
a_payload_that_is_no_json_fails_its_run_and_no_other(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.payload = "{not json", .size = 9};
    char ids[NEIGHBOURS][PAWL_ID_SIZE];
    char bad[PAWL_ID_SIZE];

    scene_handle(scene, "payloads.return", return_it, &tale);
    scene_handle(scene, "payloads.echo", echo, NULL);
    scene_do(scene, "select pawl.create_workflow('payloads.return')", NULL);
    scene_do(scene, "select pawl.create_workflow('payloads.echo')", NULL);
    for (int n = 0; n < NEIGHBOURS; n++) {
        if (n == NEIGHBOURS / 2)
            memcpy(bad, scene_trigger(scene, "payloads.return", "{}"), PAWL_ID_SIZE);
        memcpy(ids[n], scene_trigger(scene, "payloads.echo", "[1]"), PAWL_ID_SIZE);
    }
    scene_work(scene);
    for (int n = 0; n < NEIGHBOURS; n++)
        assert_string_equal(scene_wait(scene, ids[n], PAWL_OK), "[1]");
    scene_has(scene_wait(scene, bad, PAWL_ERUN), "is not valid JSON");
    assert_int_equal(tale.tries, 1);
}

static void
json_that_is_too_deep_fails_its_step(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char deep[2 * 65 + 1] = "";
    char fine[2 * 64 + 1] = "";

    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    memcpy(fine, deep + 1, 128);
    scene_handle(scene, "payloads.pass", pass_on, &tale);
    scene_start(scene);
    pass(scene, &tale, deep, 130);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "bad_payload");
    pass(scene, &tale, fine, 128);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), fine);
}

/* What this thread has used, which others on the machine do not change. */
static int64_t
used_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* there is one */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static pawl_status
give_nothing(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = userdata;

    (void)run;
    atomic_fetch_add(&tale->tries, 1);
    *output = pawl_text("{\"n\": 12345678}");
    return PAWL_OK;
}

static pawl_status
many_turns(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int count = strcmp(input.data, "1") == 0 ? MANY : FEW;
    int64_t *best_us = &tale->replay_us[count == MANY];
    int64_t began_us = used_us(), took_us;
    pawl_status status = PAWL_OK;

    (void)output;
    for (int i = 0; i < count && status == PAWL_OK; i++)
        status = pawl_step(run, "turn", give_nothing, tale, NULL);
    /* The best of three: what a machine does beside it makes one of them longer. */
    took_us = used_us() - began_us;
    if (*best_us == 0 || took_us < *best_us)
        *best_us = took_us;
    return status;
}

/* A run that has so many steps already, recorded by a hand that plays the worker. */
static void
record_turns(struct scene *scene, const char *session, const char *input, int count)
{
    char sql[1000];

    scene_trigger(scene, "payloads.many", input);
    assert_string_equal(
        scene_text(scene, "select run_id from pawl.claim($1)", session), scene->run_id);
    (void)snprintf(sql, sizeof(sql),
        "select count(*) filter (where answer = 'ok') from pawl.commit(%s,"
        " array_fill($1::uuid, array[%d]), array_fill(1, array[%d]),"
        " array_fill('step'::text, array[%d]),"
        " array(select 'turn#' || n from generate_series(1, %d) n),"
        " array_fill('{\"n\": 87654321}'::text, array[%d]),"
        " array(select n from generate_series(1, %d) n))",
        session, count, count, count, count, count, count);
    assert_int_equal(scene_number(scene, sql, scene->run_id), count);
}

static void
five_thousand_steps_are_replayed_in_linear_time(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char session[24];

    scene_do(scene, "select pawl.create_workflow('payloads.many')", NULL);
    (void)snprintf(session, sizeof(session), "%s",
        scene_text(scene, "select session from pawl.register('hand', '{payloads.many}')", NULL));
    for (int i = 0; i < 3; i++) {
        record_turns(scene, session, "0", FEW);
        record_turns(scene, session, "1", MANY);
    }
    scene_do(scene, "select pawl.leave($1)", session);
    scene_handle(scene, "payloads.many", many_turns, &tale);
    scene_start(scene);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.tries, 0);
    (void)printf("# %d steps: %ld us, %d steps: %ld us\n", FEW, (long)tale.replay_us[0], MANY,
        (long)tale.replay_us[1]);
    /* Four times as many; the bound leaves room for caches, not for a square. */
    assert_true(tale.replay_us[1] < 10 * tale.replay_us[0] || tale.replay_us[1] < 10000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(payloads_are_kept_byte_by_byte),
        TEST(a_payload_of_one_mebibyte_goes_through_everything),
        TEST(more_payloads_at_once_than_a_batch_can_hold_are_all_recorded),
        TEST(a_step_whose_output_is_too_large_fails_for_good_and_says_so),
        TEST(a_run_whose_output_is_too_large_fails_and_says_so),
        TEST(a_payload_that_is_no_json_fails_its_step_and_no_other),
        TEST(a_payload_that_is_no_json_fails_its_run_and_no_other),
        TEST(json_that_is_too_deep_fails_its_step),
        TEST(five_thousand_steps_are_replayed_in_linear_time),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
