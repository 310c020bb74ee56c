/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that trigger runs. A child has its own retries, limits and history, and may be executed by another worker; its parent
 * waits without holding anything. A detached child, for which its parent does not wait, is made with pawl_child_detached(). Of the
 * three chapters here one fails, and the book ends without it.
 *
 *     child_runs &
 *     pawl trigger demo.book.v1 --wait
 */
#include <pawl/pawl.h>

static pawl_status
write_chapter(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t number;

    if (pawl_json_int(input, "", &number) != PAWL_OK || number == 3) {
        pawl_run_set_error(run, "empty", "the author has no idea");
        return PAWL_EPERMANENT;
    }
    return pawl_run_printf(run, output, "{\"chapter\": %s, \"pages\": 20}", input.data);
}
PAWL_WORKFLOW("demo.chapter.v1", write_chapter);

/* One branch for each chapter, so that the children are executed side by side. */
static pawl_status
order_chapter(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    const char *number = userdata;
    pawl_status status;

    status = pawl_child(branch, "child", "demo.chapter.v1", pawl_text(number), output);
    if (status == PAWL_ERUN) /* what failed is the child; its parent decides what that means */
        return pawl_run_printf(branch, output, "{\"chapter\": %s, \"missing\": true}", number);
    return status;
}

static pawl_status
write_book(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char numbers[3][2] = {"1", "2", "3"};
    pawl_bytes made[3];
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++) {
        status = pawl_branch(run, numbers[i], order_chapter, numbers[i], &made[i]);
        if (status != PAWL_OK)
            return status;
    }
    status = pawl_branches_join(run);
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s, %s]", made[0].data, made[1].data, made[2].data);
}
PAWL_WORKFLOW("demo.book.v1", write_book);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
