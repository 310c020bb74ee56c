/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: pages are fetched one after the other until there are no more. The same name in a loop is another step each time
 * (page#1, page#2 …), so after a crash the loop runs through the pages that it has, without fetching them, and continues.
 *
 *     page_loop &
 *     pawl trigger demo.pages.v1 --wait
 *     pawl run logs "$(pawl run list -o ids)" -o jsonl
 */
#include <pawl/pawl.h>
#include <stdio.h>

/* In place of a remote service: records what came, and whether there is more. */
static pawl_status
fetch_page(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const int *page = userdata;
    pawl_status status = pawl_run_check(run); /* cancelled, or out of time? */

    if (status != PAWL_OK)
        return status;
    printf("fetch page %d\n", *page);
    return pawl_run_printf(
        run, output, "{\"page\": %d, \"more\": %s}", *page, *page < 4 ? "true" : "false");
}

static pawl_status
fetch_all(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes got = {NULL, 0};
    pawl_status status;
    int page = 0, more;

    (void)input;
    do {
        page++;
        if ((status = pawl_step(run, "page", fetch_page, &page, &got)) != PAWL_OK)
            return status;
        /* Said again when the handler is executed again; a note is for people and is not a record. */
        pawl_run_progress(run, "pages", "%d", page);
        /* Let others have a turn: a run that sleeps holds nothing. */
        if (page == 2 && (status = pawl_sleep(run, "breathe", 100)) != PAWL_OK)
            return status;
    } while (pawl_json_bool(got, "/more", &more) == PAWL_OK && more);
    return pawl_run_printf(run, output, "{\"pages\": %d}", page);
}
PAWL_WORKFLOW("demo.pages.v1", fetch_all);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
