/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker for the steps of a flow. flow/web.json declares the steps and their dependencies. The engine starts a step when all its
 * dependencies have ended, and makes its input of the run's input and their outputs; a step knows nothing of the other steps. The
 * same worker is flow/web.sh in shell, and flow/worker.sql in plain SQL.
 *
 *     pawl flow apply examples/flow/web.json >/dev/null
 *     flow_web &
 *     pawl trigger web.analysis.v1 -i '{"url": "https://example.com"}' --wait
 */
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

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

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
