/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/wait.h"

#include "cli/report/exit.h"
#include "cli/show/run_view.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* How often the line is drawn again. */
static const int64_t look_ms = 500;

static int64_t
now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* every supported system has this clock */
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Draws "12s  RUNNING  3 steps done, in charge#1 for 2s" in one line, which the next call overwrites. */
static void
draw(struct invocation *invocation, const char *run_id, int64_t since_ms)
{
    const char *names[] = {"run"};
    const char *values[] = {run_id};
    pawl_rows *run = NULL;
    pawl_rows *clock = NULL;
    pawl_error *error = NULL;
    const char *now;
    char span[TIME_TEXT_SIZE];
    int64_t now_us = 0;

    /* If the line cannot be drawn this time, it is drawn the next time. */
    if (pawl_client_call(invocation->client, "get_run", names, values, 1, &run, &error) ==
            PAWL_OK &&
        pawl_client_call(invocation->client, "now", NULL, NULL, 0, &clock, &error) == PAWL_OK &&
        (now = pawl_rows_text(clock, 0, "now")) != NULL && time_text_read_stamp(now, &now_us)) {
        time_text_write_span(span, (now_ms() - since_ms) / 1000 * 1000000);
        (void)fprintf(stderr, "\r\033[K%s%6s%s  ", term_style(TERM_ERR, TERM_DIM), span,
            term_style(TERM_ERR, TERM_PLAIN));
        run_view_print_line(stderr, run, now_us, term_width() > 10 ? term_width() - 10 : 70);
        (void)fflush(stderr);
    }
    pawl_error_free(error);
    pawl_rows_free(clock);
    pawl_rows_free(run);
}

/* Draws "12s  no connection to the database; trying again" in that line. */
static void
draw_away(int64_t since_ms)
{
    char span[TIME_TEXT_SIZE];

    time_text_write_span(span, (now_ms() - since_ms) / 1000 * 1000000);
    (void)fprintf(stderr, "\r\033[K%s%6s%s  no connection to the database; trying again",
        term_style(TERM_ERR, TERM_DIM), span, term_style(TERM_ERR, TERM_PLAIN));
    (void)fflush(stderr);
}

/*
 * Returns true if the database was unreachable at the end of a part. One pawl_client_wait() retries until its timeout, so the parts
 * together must do so, too.
 */
static bool
is_away(pawl_status status, const pawl_error *error)
{
    return status == PAWL_ECONN && pawl_error_retryable(error);
}

/* Waits until the run has ended or the timeout has passed, in parts; draws the line between them. output is borrowed from the client. */
static pawl_status
wait_in_parts(
    struct invocation *invocation, const char *run_id, pawl_bytes *output, pawl_error **error)
{
    const char *limit = invocation_option(invocation, "timeout");
    int64_t since_ms = now_ms();
    int64_t left_ms = limit == NULL ? INT64_MAX : time_text_duration_ms(limit);
    bool live = term_is_tty(TERM_ERR) && term_is_tty(TERM_OUT);
    pawl_status status;

    for (;;) {
        int64_t part_ms = left_ms - (now_ms() - since_ms);

        if (part_ms < 0)
            part_ms = 0;
        if (live && part_ms > look_ms)
            part_ms = look_ms;
        if (part_ms > 3600000)
            part_ms = 3600000;
        pawl_error_free(*error);
        *error = NULL;
        status = pawl_client_wait(invocation->client, run_id, part_ms, output, error);
        if ((status != PAWL_ETIMEOUT && !is_away(status, *error)) || now_ms() - since_ms >= left_ms)
            break;
        if (live && status == PAWL_ECONN)
            draw_away(since_ms);
        else if (live)
            draw(invocation, run_id, since_ms);
    }
    if (live)
        (void)fputs("\r\033[K", stderr);
    return status;
}

int
wait_for_run(struct invocation *invocation, const char *run_id)
{
    pawl_bytes output = {0};
    pawl_error *error = NULL;
    pawl_status status;

    if (term_is_tty(TERM_ERR) && term_is_tty(TERM_OUT))
        (void)fprintf(stderr, "%s\n", run_id);
    status = wait_in_parts(invocation, run_id, &output, &error);
    if (status == PAWL_ETIMEOUT) {
        char hint[100];

        pawl_error_free(error);
        (void)snprintf(hint, sizeof(hint), "What it waits for: pawl why %s", run_id);
        return exit_saying(EXIT_TIMEOUT, hint, "the run has not ended");
    }
    if (status != PAWL_OK)
        return exit_with_verb(status, error, "result");
    pawl_error_free(error);
    if (term_is_tty(TERM_OUT))
        term_print(stdout, output.data);
    else if (output.size > 0)
        (void)fwrite(output.data, 1, output.size, stdout);
    (void)fputc('\n', stdout);
    return EXIT_OK;
}

int
wait_until_ended(struct invocation *invocation, const char *run_id)
{
    pawl_error *error = NULL;
    pawl_status status;
    int code = invocation_connect(invocation);

    if (code != EXIT_OK)
        return code;
    status = wait_in_parts(invocation, run_id, NULL, &error);
    if (status != PAWL_OK && status != PAWL_ERUN && status != PAWL_ECANCELLED)
        return exit_with_verb(status, error, "result");
    pawl_error_free(error);
    return EXIT_OK;
}
