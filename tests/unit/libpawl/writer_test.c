/* SPDX-License-Identifier: Apache-2.0 */
/* Work connections of which one is gone, and replies that come after the session they belong to; without a database. */
#include "libpawl/worker/worker.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t now_us = 1000000000;

static int
set_up(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    if (config == NULL || pawl_worker_new(config, &worker, NULL) != PAWL_OK)
        return -1;
    pawl_config_free(config);
    assert_int_equal(worker->writer_count, 2);
    worker->session.id = 2;
    worker->session.state = PW_SESSION_LIVE;
    *state = worker;
    return 0;
}

static int
tear_down(void **state)
{
    pawl_worker_free(*state);
    return 0;
}

/* The first writer has been without a connection for long, and has something to commit. */
static void
break_first(pawl_worker *worker, struct pw_item *item)
{
    worker->writers[0].is_up = false;
    worker->writers[0].batch.items[0] = item;
    worker->writers[0].batch.count = 1;
    worker->writers[1].is_up = true;
}

static void
a_writer_takes_over_the_batch_of_another(void **state)
{
    pawl_worker *worker = *state;
    struct pw_item item = {0};

    break_first(worker, &item);
    pw_writer_rescue(worker, &worker->writers[0], now_us);
    assert_int_equal(worker->writers[0].batch.count, 0);
    assert_int_equal(worker->writers[1].batch.count, 1);
    assert_ptr_equal(worker->writers[1].batch.items[0], &item);
}

/* Its own batch is empty because its session has ended; the reply would be taken for that of the one that it took over. */
static void
a_writer_that_waits_for_a_reply_takes_nothing_over(void **state)
{
    pawl_worker *worker = *state;
    struct pw_request *requests[] = {&worker->writers[1].commit, &worker->writers[1].confirm};
    struct pw_item item = {0};

    break_first(worker, &item);
    for (size_t i = 0; i < 2; i++) {
        requests[i]->sent = true;
        pw_writer_rescue(worker, &worker->writers[0], now_us);
        assert_int_equal(worker->writers[0].batch.count, 1);
        assert_int_equal(worker->writers[1].batch.count, 0);
        requests[i]->sent = false;
    }
    pw_writer_rescue(worker, &worker->writers[0], now_us);
    assert_int_equal(worker->writers[1].batch.count, 1);
}

static void
a_reply_to_a_session_that_has_ended_says_nothing_about_a_batch(void **state)
{
    pawl_worker *worker = *state;
    struct pw_writer *writer = &worker->writers[0];
    struct pw_reply reply = {.tag = &writer->commit, .status = PAWL_EDATABASE};
    struct pw_item item = {0};

    writer->batch.items[0] = &item;
    writer->batch.count = 1;
    writer->commit = (struct pw_request){.kind = PW_REQUEST_COMMIT, .session = 1};
    pw_batch_reply(worker, writer, &reply, now_us);
    assert_int_equal(writer->batch.count, 1);
    assert_false(writer->batch.one_by_one);
    writer->commit.session = 2;
    pw_batch_reply(worker, writer, &reply, now_us);
    assert_true(writer->batch.one_by_one);
}

/* The I/O thread sleeps while what is posted is not worth a batch, if something else will wake it in time. */
static void
a_writer_says_how_many_items_are_worth_a_turn(void **state)
{
    pawl_worker *worker = *state;
    struct pw_writer *writer = &worker->writers[0];

    writer->is_up = true;
    assert_int_equal(pw_writer_worth(worker, writer), SIZE_MAX); /* no handler could post */
    writer->active = 10;
    writer->last_count = 6;
    assert_int_equal(pw_writer_worth(worker, writer), 1);
    writer->waiting_count = 2;
    assert_int_equal(pw_writer_worth(worker, writer), 4);
    writer->last_count = 100;
    assert_int_equal(pw_writer_worth(worker, writer), 8);
    writer->active = 1;
    assert_int_equal(pw_writer_worth(worker, writer), 1);
    writer->active = 10;
    writer->is_up = false;
    assert_int_equal(pw_writer_worth(worker, writer), 1);
    writer->is_up = true;
    writer->commit.sent = true;
    assert_int_equal(pw_writer_worth(worker, writer), SIZE_MAX);
    worker->session.state = PW_SESSION_NONE;
    assert_int_equal(pw_writer_worth(worker, writer), 1);
    writer->commit.sent = false;
    writer->waiting_count = 0;
    writer->active = 0;
}

/* Rows of one column, as numbers of items. */
static struct pw_rows
number_rows(const int *numbers, int count)
{
    PGresAttDesc column = {.name = (char[]){"item"}, .format = 1, .typid = PW_TYPE_INT4};
    struct pw_rows rows = {PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK)};

    assert_non_null(rows.result);
    assert_int_equal(PQsetResultAttrs(rows.result, 1, &column), 1);
    for (int i = 0; i < count; i++) {
        char bytes[4] = {0, 0, 0, (char)numbers[i]};

        assert_int_equal(PQsetvalue(rows.result, i, 0, bytes, 4), 1);
    }
    return rows;
}

/* What one item was answered must not be taken for the answer to another. */
static void
an_answer_without_a_row_for_each_item_counts_for_none(void **state)
{
    static const int wrong[][2] = {{1, 1}, {2, 2}, {0, 1}, {2, 3}};
    pawl_worker *worker = *state;
    struct pw_writer *writer = &worker->writers[0];
    struct pw_task task = {0};
    struct pw_item items[2] = {{.task = &task}, {.task = &task}};

    pw_list_init(&task.items);
    writer->commit = (struct pw_request){.kind = PW_REQUEST_COMMIT, .session = 2};
    for (size_t i = 0; i < 5; i++) {
        struct pw_reply reply = {.tag = &writer->commit, .status = PAWL_OK};

        writer->batch.items[0] = &items[0];
        writer->batch.items[1] = &items[1];
        writer->batch.count = 2;
        writer->batch.one_by_one = false;
        reply.rows = i < 4 ? number_rows(wrong[i], 2) : number_rows((int[]){1}, 1);
        pw_batch_reply(worker, writer, &reply, now_us);
        pw_rows_done(&reply.rows);
        assert_int_equal(writer->batch.count, 2);
        assert_true(writer->batch.one_by_one);
    }
    writer->batch.count = 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_writer_takes_over_the_batch_of_another),
        TEST(a_writer_that_waits_for_a_reply_takes_nothing_over),
        TEST(a_reply_to_a_session_that_has_ended_says_nothing_about_a_batch),
        TEST(a_writer_says_how_many_items_are_worth_a_turn),
        TEST(an_answer_without_a_row_for_each_item_counts_for_none),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
