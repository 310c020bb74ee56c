/* SPDX-License-Identifier: Apache-2.0 */
/* The connection on a libpq of our own, for what a real server cannot be made to do. */
#include "lib/fake_pq.h"

#include "base/time.h"
#include "fail_alloc.h"
#include "pg/conn.h"

#include <libpq-fe.h>
#include <pawl/error.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void
answer_with(const struct answer *answers, int count)
{
    assert_true(fake.answer_count + count <= ANSWERS_MAX);
    memcpy(&fake.answers[fake.answer_count], answers, (size_t)count * sizeof(*answers));
    fake.answer_count += count;
}

static const struct answer nothing = {.nothing = true};
static const struct answer sync_answer = {.status = PGRES_PIPELINE_SYNC};
static const struct answer ok = {.status = PGRES_COMMAND_OK};

/* The answer to the question for a pooler. */
static void
answer_check(int32_t pid)
{
    answer_with(
        (const struct answer[]){{.status = PGRES_TUPLES_OK, .value = pid}, nothing, sync_answer},
        3);
}

static void
answer_error(const char *sqlstate, const char *severity)
{
    answer_with(
        (const struct answer[]){
            {.status = PGRES_FATAL_ERROR, .sqlstate = sqlstate, .severity = severity}},
        1);
}

static const struct pw_stmt stmt = {5, "five", "select 5", {0}, false};

static struct pw_conn *
start_conn(void)
{
    const struct pw_conn_spec spec = {"host=nowhere", "test", false};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_OK);
    pw_conn_pump(conn);
    return conn;
}

static struct pw_conn *
ready_conn(void)
{
    struct pw_conn *conn;

    answer_check(4711);
    conn = start_conn();
    assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
    return conn;
}

static int
send_one(struct pw_conn *conn)
{
    struct pw_params none;
    struct pw_error err = {0};

    pw_params_init(&none);
    return pw_conn_send(conn, &stmt, &none, NULL, &err);
}

static struct pw_reply
take_one(struct pw_conn *conn)
{
    struct pw_reply reply;

    pw_conn_pump(conn);
    assert_true(pw_conn_take(conn, &reply));
    return reply;
}

static int
set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fake.sockets), 0);
    fake.poll_result = PGRES_POLLING_OK;
    fake.status = CONNECTION_OK;
    fake.consume_result = 1;
    fake.message = "server closed the connection unexpectedly\n\tThis probably means it is away.\n";
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    assert_int_equal(close(fake.sockets[0]), 0);
    assert_int_equal(close(fake.sockets[1]), 0);
    return 0;
}

static void
expect_broken(struct pw_conn *conn, const char *message)
{
    assert_int_equal(pw_conn_state(conn), PW_CONN_BROKEN);
    assert_int_equal(pw_conn_error(conn)->code, PAWL_ECONN);
    if (message != NULL)
        assert_string_equal(pw_conn_error(conn)->message, message);
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_state(conn), PW_CONN_BROKEN);
    pw_conn_close(conn);
    assert_int_equal(fake.finishes, 1);
}

static void
connecting_goes_on_only_when_the_descriptor_is_ready(void **state)
{
    const struct pw_conn_spec spec = {NULL, "test", false};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    (void)state;
    fake.poll_result = PGRES_POLLING_READING;
    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_OK);
    assert_int_equal(pw_conn_events(conn), POLLOUT);
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_events(conn), POLLIN);
    fake.poll_result = PGRES_POLLING_OK;
    answer_check(4711);
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_state(conn), PW_CONN_CONNECTING);
    assert_int_equal(write(fake.sockets[1], "x", 1), 1);
    fake.poll_result = PGRES_POLLING_WRITING;
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_events(conn), POLLOUT);
    fake.poll_result = PGRES_POLLING_OK;
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
    assert_false(pw_conn_pooled(conn));
    pw_conn_close(conn);
}

static void
a_connection_that_cannot_be_made_is_broken_with_libpqs_words(void **state)
{
    const struct pw_conn_spec spec = {NULL, "test", false};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    (void)state;
    fake.poll_result = PGRES_POLLING_FAILED;
    conn = start_conn();
    assert_true(pw_conn_error(conn)->retryable);
    expect_broken(
        conn, "server closed the connection unexpectedly; This probably means it is away.");
    fake.finishes = 0;
    fake.needs_password = true;
    conn = start_conn();
    assert_int_equal(pw_conn_error(conn)->code, PAWL_EFORBIDDEN);
    assert_false(pw_conn_error(conn)->retryable);
    pw_conn_close(conn);
    fake.finishes = 0;
    fake.status = CONNECTION_BAD;
    fake.message = "";
    conn = start_conn();
    expect_broken(conn, "the connection is lost");
    fake.no_object = true;
    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_ENOMEM);
}

static void
without_pipeline_mode_there_is_no_connection(void **state)
{
    (void)state;
    fake.no_pipeline = true;
    expect_broken(start_conn(), NULL);
    fake.finishes = 0;
    fake.no_nonblocking = true;
    expect_broken(start_conn(), NULL);
}

static void
another_process_behind_the_server_is_a_pooler(void **state)
{
    struct pw_conn *conn;

    (void)state;
    answer_check(4712);
    conn = start_conn();
    assert_true(pw_conn_pooled(conn));
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.prepares + fake.named, 0);
    pw_conn_close(conn);
}

static void
a_check_that_fails_breaks_the_connection(void **state)
{
    (void)state;
    answer_error("57P03", "ERROR");
    answer_with((const struct answer[]){nothing, sync_answer}, 2);
    expect_broken(start_conn(), NULL);
    fake.finishes = 0;
    answer_with((const struct answer[]){ok, nothing, sync_answer}, 3);
    expect_broken(start_conn(), "the server gave no sensible answer to the first question");
}

static void
a_statement_is_prepared_once(void **state)
{
    struct pw_conn *conn = ready_conn();
    struct pw_reply reply;

    (void)state;
    fake.unnamed = 0;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.prepares, 1);
    assert_int_equal(fake.named, 2);
    assert_int_equal(fake.unnamed, 0);
    answer_with((const struct answer[]){ok, nothing, {.status = PGRES_TUPLES_OK}, nothing,
                    sync_answer, {.status = PGRES_TUPLES_OK, .value = 8}, nothing, sync_answer},
        8);
    reply = take_one(conn);
    assert_int_equal(pw_rows_count(&reply.rows), 1);
    pw_reply_done(&reply);
    reply = take_one(conn);
    pw_reply_done(&reply);
    pw_conn_close(conn);
}

static void
requests_bring_their_settings_where_those_of_the_session_are_others(void **state)
{
    struct pw_conn *conn;
    struct pw_reply reply;
    int32_t value = 0;

    (void)state;
    answer_with((const struct answer[]){{.status = PGRES_TUPLES_OK, .value = 4711, .unusual = true},
                    nothing, sync_answer},
        3);
    conn = start_conn();
    fake.unnamed = 0;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.unnamed, 2);
    assert_int_equal(fake.prepares, 1);
    assert_int_equal(fake.named, 2);
    /* What is answered to them is nobody's reply, and an error of theirs is that of the request. */
    answer_with((const struct answer[]){{.status = PGRES_TUPLES_OK, .value = 1}, nothing, ok,
                    nothing, {.status = PGRES_TUPLES_OK, .value = 2}, nothing, sync_answer},
        7);
    reply = take_one(conn);
    assert_int_equal(reply.status, PAWL_OK);
    assert_true(pw_rows_int4(&reply.rows, 0, 0, &value));
    assert_int_equal(value, 2);
    pw_reply_done(&reply);
    answer_error("42501", "ERROR");
    answer_with(
        (const struct answer[]){nothing, {.status = PGRES_PIPELINE_ABORTED}, nothing, sync_answer},
        4);
    reply = take_one(conn);
    assert_int_equal(reply.status, PAWL_EFORBIDDEN);
    pw_reply_done(&reply);
    pw_conn_close(conn);
}

static void
a_default_that_forbids_writing_is_named_and_a_standby_is_not(void **state)
{
    struct pw_conn *conn;
    struct pw_reply reply;

    (void)state;
    for (int i = 0; i < 2; i++) {
        answer_with(
            (const struct answer[]){{.status = PGRES_TUPLES_OK, .value = 4711, .read_only = i == 1},
                nothing, sync_answer},
            3);
        conn = start_conn();
        assert_int_equal(send_one(conn), PAWL_OK);
        answer_error("25006", "ERROR");
        answer_with((const struct answer[]){nothing, {.status = PGRES_PIPELINE_ABORTED}, nothing,
                        sync_answer},
            4);
        reply = take_one(conn);
        assert_int_equal(reply.status, PAWL_ECONN);
        assert_string_equal(reply.error.sqlstate, "25006");
        assert_int_equal(reply.error.retryable, i == 0);
        assert_string_equal(reply.error.message,
            i == 1 ? "default_transaction_read_only is on for this role or database"
                   : "an error without a text");
        pw_reply_done(&reply);
        pw_conn_close(conn);
    }
}

static void
a_server_on_another_host_is_unverified_unless_something_has_shown_who_it_is(void **state)
{
    static const struct {
        const char *host, *address, *sslmode, *binding;
        bool tls, gss, unverified;
    } cases[] = {
        {"/run/postgresql", "", NULL, NULL, false, false, false},
        {"@abstract", "", NULL, NULL, false, false, false},
        {"localhost", "127.0.0.1", NULL, NULL, false, false, false},
        {"db", "127.8.9.1", NULL, NULL, false, false, false},
        {"localhost", "::1", NULL, NULL, false, false, false},
        {"db", "10.1.2.3", NULL, NULL, false, false, true},
        {"db", "fd00::1", "disable", NULL, false, false, true},
        {"db", "10.1.2.3", "prefer", NULL, true, false, true},
        {"db", "10.1.2.3", "require", NULL, true, false, true},
        {"db", "10.1.2.3", "verify-ca", NULL, true, false, false},
        {"db", "10.1.2.3", "verify-full", NULL, true, false, false},
        {"db", "10.1.2.3", "require", "require", true, false, false},
        {"db", "10.1.2.3", "prefer", NULL, false, true, false},
        {"db", "", NULL, NULL, false, false, true},
        {NULL, NULL, NULL, NULL, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pw_conn *conn;

        fake.host = cases[i].host;
        fake.address = cases[i].address;
        fake.sslmode = cases[i].sslmode;
        fake.binding = cases[i].binding;
        fake.tls = cases[i].tls;
        fake.gss = cases[i].gss;
        conn = ready_conn();
        if (pw_conn_unverified(conn) != cases[i].unverified)
            fail_msg("case %zu", i);
        pw_conn_close(conn);
        fake.answer_at = fake.answer_count = fake.shown_count = 0;
    }
}

static void
more_than_a_server_reads_is_not_sent(void **state)
{
    struct pw_conn *conn = ready_conn();
    struct pw_params params;
    struct pw_error err = {0};
    int sends = fake.sends;

    (void)state;
    pw_params_init(&params);
    pw_params_bytes(&params, "", PW_PARAMS_BYTES_MAX + 1);
    assert_int_equal(pw_conn_send(conn, &stmt, &params, NULL, &err), PAWL_ETOOLARGE);
    assert_int_equal(err.code, PAWL_ETOOLARGE);
    assert_int_equal(fake.sends, sends);
    assert_int_equal(pw_conn_in_flight(conn), 0);
    assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
    pw_conn_close(conn);
}

static void
a_statement_that_was_there_before_turns_preparing_off(void **state)
{
    struct pw_conn *conn = ready_conn();
    struct pw_reply reply;

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    answer_error("42P05", "ERROR");
    answer_with(
        (const struct answer[]){nothing, {.status = PGRES_PIPELINE_ABORTED}, nothing, sync_answer},
        4);
    reply = take_one(conn);
    assert_int_equal(reply.status, PAWL_EDATABASE);
    assert_true(reply.error.retryable);
    assert_string_equal(reply.error.message, "an error without a text");
    pw_reply_done(&reply);
    fake.named = 0;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.named, 0);
    pw_conn_close(conn);
}

static void
requests_behind_a_failed_prepare_do_not_turn_preparing_off(void **state)
{
    struct pw_conn *conn = ready_conn();
    struct pw_reply reply;

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(send_one(conn), PAWL_OK);
    answer_error("42883", "ERROR");
    answer_with(
        (const struct answer[]){nothing, {.status = PGRES_PIPELINE_ABORTED}, nothing, sync_answer},
        4);
    answer_error("26000", "ERROR");
    answer_with((const struct answer[]){nothing, sync_answer}, 2);
    reply = take_one(conn);
    assert_int_equal(reply.status, PAWL_ESCHEMA);
    reply = take_one(conn);
    assert_true(reply.error.retryable);
    fake.prepares = 0;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.prepares, 1);
    pw_conn_close(conn);
}

static void
a_commit_without_its_standby_is_marked_and_other_warnings_are_not(void **state)
{
    static const struct answer notices[] = {
        {.status = PGRES_NONFATAL_ERROR,
            .severity = "WARNING",
            .source = "SyncRepWaitForLSN",
            .notice = true},
        {.status = PGRES_NONFATAL_ERROR,
            .severity = "WARNING",
            .source = "ExecRefresh",
            .notice = true},
        {.status = PGRES_NONFATAL_ERROR,
            .severity = "NOTICE",
            .source = "SyncRepWaitForLSN",
            .notice = true},
        {.status = PGRES_NONFATAL_ERROR, .severity = "WARNING", .notice = true},
    };
    struct pw_conn *conn = ready_conn();
    struct pw_reply reply;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(send_one(conn), PAWL_OK);
        if (i == 0)
            answer_with((const struct answer[]){ok, nothing}, 2);
        answer_with(
            (const struct answer[]){{.status = PGRES_TUPLES_OK}, nothing, notices[i], sync_answer},
            4);
        reply = take_one(conn);
        assert_int_equal(reply.status, PAWL_OK);
        assert_int_equal(reply.unreplicated, i == 0);
        pw_reply_done(&reply);
    }
    pw_conn_close(conn);
}

static void
last_words_while_nothing_is_asked_are_kept(void **state)
{
    static const struct answer words[] = {
        {.status = PGRES_NONFATAL_ERROR, .severity = "FATAL", .sqlstate = "57P05", .notice = true},
        {.status = PGRES_NONFATAL_ERROR,
            .severity = "WARNING",
            .sqlstate = "57P02",
            .notice = true},
        {.status = PGRES_NONFATAL_ERROR, .severity = "PANIC", .sqlstate = "XX000", .notice = true},
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pw_conn *conn = ready_conn();

        answer_with(&words[i], 1);
        pw_conn_pump(conn);
        assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
        fake.consume_result = 0;
        pw_conn_pump(conn);
        assert_string_equal(pw_conn_error(conn)->sqlstate, words[i].sqlstate);
        assert_true(pw_conn_error(conn)->retryable);
        expect_broken(conn, NULL);
        fake.finishes = 0;
        fake.consume_result = 1;
    }
}

static void
a_fatal_error_leaves_the_request_without_reply(void **state)
{
    struct pw_conn *conn = ready_conn();
    struct pw_reply reply;

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    answer_error("57P01", "FATAL");
    pw_conn_pump(conn);
    assert_false(pw_conn_take(conn, &reply));
    assert_int_equal(pw_conn_in_flight(conn), 1);
    expect_broken(conn, NULL);
}

static void
an_error_of_libpq_itself_breaks_the_connection(void **state)
{
    struct pw_conn *conn = ready_conn();

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    answer_error(NULL, NULL);
    pw_conn_pump(conn);
    expect_broken(conn, NULL);
}

static void
an_answer_of_another_kind_breaks_the_connection(void **state)
{
    struct pw_conn *conn = ready_conn();

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    answer_with((const struct answer[]){{.status = PGRES_COPY_IN}}, 1);
    pw_conn_pump(conn);
    expect_broken(conn, "the server sent an answer that does not belong to a request");
}

static void
answers_that_never_end_break_the_connection(void **state)
{
    struct pw_conn *conn = ready_conn();

    (void)state;
    assert_int_equal(send_one(conn), PAWL_OK);
    fake.endless_nothing = true;
    pw_conn_pump(conn);
    expect_broken(conn, "the server's answers do not match the requests");
}

static void
what_cannot_be_sent_breaks_the_connection(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) {
        struct pw_conn *conn = ready_conn();

        fake.sends = 0;
        fake.fail_send_at = n;
        assert_int_equal(send_one(conn), PAWL_ECONN);
        expect_broken(conn, NULL);
        fake.fail_send_at = 0;
        fake.finishes = 0;
    }
    {
        struct pw_conn *conn = ready_conn();

        fake.flush_result = -1;
        assert_int_equal(send_one(conn), PAWL_ECONN);
        expect_broken(conn, NULL);
        fake.flush_result = 0;
        fake.finishes = 0;
        conn = ready_conn();
        fake.flush_result = -1;
        pw_conn_pump(conn);
        expect_broken(conn, NULL);
    }
}

static void
what_is_not_written_yet_asks_for_both_directions(void **state)
{
    struct pw_conn *conn = ready_conn();

    (void)state;
    assert_int_equal(pw_conn_events(conn), POLLIN);
    fake.flush_result = 1;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(pw_conn_events(conn), POLLIN | POLLOUT);
    fake.flush_result = 0;
    pw_conn_pump(conn);
    assert_int_equal(pw_conn_events(conn), POLLIN);
    pw_conn_close(conn);
}

static void
tls_is_read_more_than_once(void **state)
{
    struct pw_conn *conn = ready_conn();

    (void)state;
    fake.consumes = 0;
    pw_conn_pump(conn);
    assert_int_equal(fake.consumes, 1);
    fake.tls = true;
    pw_conn_pump(conn);
    assert_int_equal(fake.consumes, 4);
    pw_conn_close(conn);
}

static void
out_of_memory_changes_nothing(void **state)
{
    const struct pw_conn_spec spec = {NULL, "test", false};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    (void)state;
    fail_alloc_at(1);
    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_ENOMEM);
    fail_alloc_at(2);
    conn = start_conn();
    fail_alloc_at(0);
    assert_int_equal(pw_conn_error(conn)->code, PAWL_ENOMEM);
    pw_conn_close(conn);
    fake.finishes = 0;
    conn = ready_conn();
    fail_alloc_at(1);
    assert_int_equal(send_one(conn), PAWL_ENOMEM);
    fail_alloc_at(0);
    assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
    assert_int_equal(pw_conn_in_flight(conn), 0);
    pw_conn_close(conn);
}

static void
a_child_process_takes_the_descriptor_away_before_it_lets_libpq_close(void **state)
{
    struct pw_conn *conn = ready_conn();
    int status = -1;
    pid_t child;
    char byte;

    (void)state;
    child = fork();
    if (child == 0) {
        pw_conn_close(conn);
        /* What libpq would say now goes nowhere: the descriptor is not the parent's socket any more. */
        _exit(fake.finishes == 1 && send(fake.sockets[0], "X", 1, MSG_NOSIGNAL) < 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(recv(fake.sockets[1], &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(send_one(conn), PAWL_OK);
    pw_conn_close(conn);
}

static void
a_child_process_does_not_let_libpq_close_what_may_be_half_changed(void **state)
{
    struct pw_conn *conn = ready_conn();
    char byte;

    (void)state;
    fake.child_status = -1;
    fake.fork_inside = conn;
    assert_int_equal(send_one(conn), PAWL_OK);
    assert_int_equal(fake.child_status, 0);
    assert_int_equal(recv(fake.sockets[1], &byte, 1, MSG_DONTWAIT), -1);
    pw_conn_close(conn);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(connecting_goes_on_only_when_the_descriptor_is_ready),
        TEST(a_connection_that_cannot_be_made_is_broken_with_libpqs_words),
        TEST(without_pipeline_mode_there_is_no_connection),
        TEST(another_process_behind_the_server_is_a_pooler),
        TEST(a_check_that_fails_breaks_the_connection),
        TEST(a_statement_is_prepared_once),
        TEST(requests_bring_their_settings_where_those_of_the_session_are_others),
        TEST(a_default_that_forbids_writing_is_named_and_a_standby_is_not),
        TEST(a_server_on_another_host_is_unverified_unless_something_has_shown_who_it_is),
        TEST(more_than_a_server_reads_is_not_sent),
        TEST(a_statement_that_was_there_before_turns_preparing_off),
        TEST(requests_behind_a_failed_prepare_do_not_turn_preparing_off),
        TEST(a_commit_without_its_standby_is_marked_and_other_warnings_are_not),
        TEST(last_words_while_nothing_is_asked_are_kept),
        TEST(a_fatal_error_leaves_the_request_without_reply),
        TEST(an_error_of_libpq_itself_breaks_the_connection),
        TEST(an_answer_of_another_kind_breaks_the_connection),
        TEST(answers_that_never_end_break_the_connection),
        TEST(what_cannot_be_sent_breaks_the_connection),
        TEST(what_is_not_written_yet_asks_for_both_directions),
        TEST(tls_is_read_more_than_once),
        TEST(out_of_memory_changes_nothing),
        TEST(a_child_process_takes_the_descriptor_away_before_it_lets_libpq_close),
        TEST(a_child_process_does_not_let_libpq_close_what_may_be_half_changed),
    };

    return cmocka_run_group_tests_name("pg/conn", tests, NULL, NULL);
}
