/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test of a workflow that sleeps for three days, over in a moment: the database's clock is moved by hand. This is how a test of
 * your own workflows can look.
 *
 *     three_days
 *
 * The database is a throwaway one, with pawl.sql and after it the test clock (sql/test/clock.sql).
 */
#include <pawl/pawl.h>
#include <pawl/test.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HOUR_MS = 3600 * 1000
};

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

/* The workflow to test. In a real program it is linked from elsewhere. */
static pawl_status
send_mail(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)output;
    printf("mail: %s\n", (const char *)userdata);
    return PAWL_OK;
}

static pawl_status
remind(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char welcome[] = "welcome", reminder[] = "how do you like it?";
    pawl_status status;

    (void)input;
    if ((status = pawl_step(run, "welcome", send_mail, welcome, NULL)) != PAWL_OK)
        return status;
    if ((status = pawl_sleep(run, "three-days", (int64_t)72 * HOUR_MS)) != PAWL_OK)
        return status;
    if ((status = pawl_step(run, "reminder", send_mail, reminder, NULL)) != PAWL_OK)
        return status;
    *output = pawl_text("\"reminded\"");
    return PAWL_OK;
}

/* Lets time pass, and runs continue for as long as they can. */
static void
pass(pawl_client *client, pawl_worker *worker, int64_t ms)
{
    pawl_error *error;

    if (ms > 0)
        check(pawl_test_advance(client, ms, &error), &error);
    check(pawl_test_run_until_idle(worker, 30000, &error), &error);
    printf("%d hours later\n", (int)(ms / HOUR_MS));
}

static void
expect(pawl_client *client, const char *run_id, pawl_status expected)
{
    pawl_status status = pawl_client_wait(client, run_id, 0, NULL, NULL);

    printf("the run: %s\n", pawl_status_name(status));
    if (status != expected)
        exit(1);
}

int
main(void)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.remind.v1");
    pawl_config *config = pawl_config_new();
    pawl_client *client;
    pawl_worker *worker;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];

    check(pawl_client_open(config, &client, &error), &error);
    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle(worker, "demo.remind.v1", remind, NULL, &error), &error);
    check(pawl_worker_start(worker, &error), &error);
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);

    pass(client, worker, 0);
    expect(client, run_id, PAWL_ETIMEOUT); /* it has not ended */
    pass(client, worker, 71 * HOUR_MS);
    expect(client, run_id, PAWL_ETIMEOUT);
    pass(client, worker, 1 * HOUR_MS);
    expect(client, run_id, PAWL_OK);

    pawl_worker_free(worker);
    pawl_client_close(client);
    pawl_config_free(config);
    pawl_trigger_free(trigger);
    return 0;
}
