/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel branches: three shops are asked at the same time, and the run continues when all have answered. Each branch has a name,
 * its own steps and its own waits. A branch that sleeps or tries again delays no other: it continues when its time has come and the
 * functions of the other branches have returned.
 *
 *     fan_out &
 *     pawl trigger demo.prices.v1 --wait
 */
#include <pawl/pawl.h>
#include <string.h>

struct shop {
    const char *name;
    int price;
    pawl_bytes answer;
};

static pawl_status
fetch_price(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct shop *shop = userdata;

    return pawl_run_printf(run, output, "%d", shop->price);
}

/* The work of one branch, in a thread of its own. It is given its branch, and uses no other. */
static pawl_status
ask(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    const struct shop *shop = userdata;
    pawl_status status;

    if (strcmp(shop->name, "slow") == 0 && (status = pawl_sleep(branch, "wait", 200)) != PAWL_OK)
        return status;
    return pawl_step(branch, "price", fetch_price, userdata, output);
}

static pawl_status
compare(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct shop shops[] = {
        {"north", 17, {NULL, 0}}, {"south", 12, {NULL, 0}}, {"slow", 9, {NULL, 0}}};
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++)
        if ((status = pawl_branch(run, shops[i].name, ask, &shops[i], &shops[i].answer)) != PAWL_OK)
            return status;
    if ((status = pawl_branches_join(run)) != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "{\"north\": %s, \"south\": %s, \"slow\": %s}",
        shops[0].answer.data, shops[1].answer.data, shops[2].answer.data);
}
PAWL_WORKFLOW("demo.prices.v1", compare);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
