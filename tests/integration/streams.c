/* SPDX-License-Identifier: Apache-2.0 */
/* What a step streams while it is executed, as a reader follows it. */
#include "base/text.h"
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
    LONG = 40000 /* bytes of a text that takes several pieces */
};

struct tale {
    struct gate gate;
    atomic_int executed;
};

/* A reader: where it is, and what it has of the one step that it follows. */
struct reader {
    int64_t after;
    char text[2 * LONG];
    int begun;
    bool ended;
};

static void
read_rows(struct reader *reader, const pawl_rows *rows)
{
    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        const char *number = pawl_rows_text(rows, i, "note_no");
        const char *status = pawl_rows_text(rows, i, "status");
        const char *body;
        size_t used;

        if (number == NULL) {
            assert_int_equal(i, pawl_rows_count(rows) - 1);
            reader->ended = strcmp(status, "SUCCESS") == 0;
            continue;
        }
        assert_true(pw_parse_i64(number, 1, INT64_MAX, &reader->after));
        if (strcmp(pawl_rows_text(rows, i, "kind"), "stream") != 0)
            continue;
        assert_string_equal(pawl_rows_text(rows, i, "name"), "ask#1");
        if (strcmp(pawl_rows_text(rows, i, "begins"), "t") == 0) {
            reader->begun++;
            reader->text[0] = '\0';
        }
        used = strlen(reader->text);
        body = pawl_rows_text(rows, i, "body");
        assert_true(used + strlen(body) < sizeof(reader->text));
        (void)snprintf(reader->text + used, sizeof(reader->text) - used, "%s", body);
    }
}

/* Follows a run until the reader has this text, or with NULL until the run has ended. */
static void
read_until(struct scene *scene, struct reader *reader, const char *text)
{
    pawl_rows *rows;

    while (text == NULL ? !reader->ended : strcmp(reader->text, text) != 0) {
        assert_false(reader->ended && text != NULL);
        assert_int_equal(pawl_client_follow(scene->client, scene->run_id, reader->after, 0,
                             scene_patience_ms, &rows, NULL),
            PAWL_OK);
        read_rows(reader, rows);
        pawl_rows_free(rows);
    }
}

static pawl_status
say_and_wait(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    pawl_step_stream(run, pawl_text("Once "));
    pawl_step_stream(run, pawl_text(""));
    pawl_step_stream(run, (pawl_bytes){"upon\0more", 9});
    if (!gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    pawl_step_stream(run, pawl_text(" a time"));
    *output = pawl_text("\"Once upon a time\"");
    return PAWL_OK;
}

static pawl_status
teller(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    pawl_step_stream(run, pawl_text("outside of a step"));
    pawl_run_log(run, "begins");
    return pawl_step(run, "ask", say_and_wait, NULL, output);
}

static void
a_reader_sees_the_first_pieces_before_the_step_ends(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct reader reader = {0};
    struct reader second = {0};

    gate_init(&tale.gate);
    scene_handle(scene, "streams.teller", teller, &tale);
    scene_work(scene);
    scene_trigger(scene, "streams.teller", "{}");
    read_until(scene, &reader, "Once upon");
    assert_string_equal(scene_state(scene, scene->run_id), "RUNNING");
    gate_open(&tale.gate);
    read_until(scene, &reader, NULL);
    assert_string_equal(reader.text, "Once upon a time");
    assert_int_equal(reader.begun, 1);
    /* Another reader begins after the end. */
    read_until(scene, &second, NULL);
    assert_string_equal(second.text, "Once upon a time");
    /* notes() is for people. */
    assert_string_equal(
        scene_text(scene, "select string_agg(body, ',') from pawl.notes($1)", scene->run_id),
        "begins");
    gate_done(&tale.gate);
}

static pawl_status
say_and_fail(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    (void)output;
    if (atomic_fetch_add(&tale->executed, 1) == 0) {
        pawl_step_stream(run, pawl_text("the first"));
        pawl_step_stream(run, pawl_text(" attempt"));
        return PAWL_EFAILED;
    }
    pawl_step_stream(run, pawl_text("the second"));
    return PAWL_OK;
}

static pawl_status
stumbler(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    pawl_run_set_option(run, "base_ms", "1");
    return pawl_step(run, "ask", say_and_fail, NULL, output);
}

static void
a_reader_is_told_that_a_step_is_executed_again(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct reader reader = {0};

    scene_handle(scene, "streams.stumbler", stumbler, &tale);
    scene_work(scene);
    scene_trigger(scene, "streams.stumbler", "{}");
    read_until(scene, &reader, NULL);
    assert_string_equal(reader.text, "the second");
    assert_int_equal(reader.begun, 2);
}

static pawl_status
say_much(pawl_run *run, void *userdata, pawl_bytes *output)
{
    char *text = malloc(LONG);

    (void)userdata;
    (void)output;
    if (text == NULL)
        return PAWL_ENOMEM;
    text[0] = 'x';
    for (size_t i = 1; i + 1 < LONG; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    pawl_step_stream(run, (pawl_bytes){text, LONG - 1});
    free(text);
    return PAWL_OK;
}

static pawl_status
chatter(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "ask", say_much, NULL, output);
}

static void
a_long_text_is_streamed_in_pieces_of_whole_characters(void **state)
{
    struct scene *scene = *state;
    struct reader reader = {0};

    scene_handle(scene, "streams.chatter", chatter, NULL);
    scene_work(scene);
    scene_trigger(scene, "streams.chatter", "{}");
    read_until(scene, &reader, NULL);
    assert_int_equal(strlen(reader.text), LONG - 1);
    assert_null(strchr(reader.text, '?'));
    assert_string_equal(scene_text(scene,
                            "select string_agg(octet_length(body)::text, ' ' order by note_no) "
                            "from pawl.follow($1)",
                            scene->run_id),
        "16383 16384 7232");
}

static void
a_reader_that_sees_nothing_new_times_out(void **state)
{
    struct scene *scene = *state;
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;

    scene_handle(scene, "streams.idle", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "streams.idle", "{}");
    assert_int_equal(
        pawl_client_follow(scene->client, scene->run_id, 0, 0, 0, &rows, &error), PAWL_ETIMEOUT);
    assert_true(pawl_error_retryable(error));
    pawl_error_free(error);
    assert_int_equal(
        pawl_client_follow(scene->client, scene->run_id, 0, 0, -1, &rows, NULL), PAWL_EINVAL);
    assert_int_equal(
        pawl_client_follow(scene->client, scene->run_id, 0, 0, 0, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_client_follow(scene->client, "no id", 0, 0, 0, &rows, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_client_follow(scene->client, "01890000-0000-7000-8000-000000000000", 0, 0,
                         0, &rows, NULL),
        PAWL_ENOTFOUND);
    assert_null(rows);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_reader_sees_the_first_pieces_before_the_step_ends),
        TEST(a_reader_is_told_that_a_step_is_executed_again),
        TEST(a_long_text_is_streamed_in_pieces_of_whole_characters),
        TEST(a_reader_that_sees_nothing_new_times_out),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
