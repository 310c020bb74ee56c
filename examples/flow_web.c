/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow: its steps and what depends on what stand in flow/web.json, and this is a worker for them. The engine starts a step when all that
 * it depends on is done, and makes its input of the run's input and their outputs; a step knows nothing of the others. The same flow is
 * worked by programs with flow/web.sh, and in plain SQL with flow/worker.sql.
 *
 *     pawl flow apply flow/web.json
 *     flow_web          works until it is killed, which may happen at any time
 *     flow_web demo     triggers a run, prints what came out, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …).
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

/* {"run": {"url": ...}} */
static pawl_status
fetch_url(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char url[200];

    if (pawl_json_text(input, "/run/url", url, sizeof(url)) != PAWL_OK)
        return PAWL_EPERMANENT; /* no other try would find one */
    return pawl_run_printf(run, output, "{\"status\": 200, \"content\": \"one good page\"}");
}
PAWL_WORKFLOW("web.analysis.v1/fetch_url", fetch_url);

/* {"run": ..., "fetch_url": {"content": ...}} */
static pawl_status
analyze_text(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char text[1000];
    int words = 1;

    if (pawl_json_text(input, "/fetch_url/content", text, sizeof(text)) != PAWL_OK)
        return PAWL_EPERMANENT;
    for (const char *at = text; *at != '\0'; at++)
        words += *at == ' ';
    return pawl_run_printf(run, output, "{\"sentiment\": \"%s\", \"words\": %d}",
        strstr(text, "good") != NULL ? "positive" : "none", words);
}
PAWL_WORKFLOW("web.analysis.v1/analyze_text", analyze_text);

static pawl_status
extract_images(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_run_printf(run, output, "{\"images\": [\"1.jpg\", \"2.jpg\"], \"count\": 2}");
}
PAWL_WORKFLOW("web.analysis.v1/extract_images", extract_images);

static pawl_status
create_report(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char sentiment[20];
    int64_t count;

    if (pawl_json_text(input, "/analyze_text/sentiment", sentiment, sizeof(sentiment)) != PAWL_OK ||
        pawl_json_int(input, "/extract_images/count", &count) != PAWL_OK)
        return PAWL_EPERMANENT;
    return pawl_run_printf(
        run, output, "{\"summary\": \"%s\", \"images\": %d}", sentiment, (int)count);
}
PAWL_WORKFLOW("web.analysis.v1/create_report", create_report);

static void *
produce(void *worker)
{
    pawl_trigger *trigger = pawl_trigger_new("web.analysis.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(NULL, &client, &error), &error);
    pawl_trigger_set_input(trigger, pawl_text("{\"url\": \"https://example.com\"}"));
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
    check(pawl_client_wait(client, run_id, 30000, &output, &error), &error);
    printf("%s\n", output.data);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
    pawl_worker_drain(worker);
    return NULL;
}

int
main(int argc, char **argv)
{
    bool demo = argc > 1 && strcmp(argv[1], "demo") == 0;
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(NULL, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, NULL, &error), &error);
    if (demo)
        check(pthread_create(&thread, NULL, produce, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    check(pawl_worker_run(worker, &error), &error);
    if (demo)
        pthread_join(thread, NULL);
    pawl_worker_free(worker);
    return 0;
}
