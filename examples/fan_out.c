/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel branches: three shops are asked at the same time, and the run goes on when all have answered. Each branch has a name,
 * steps of its own and waits of its own; one that sleeps or tries again delays no other. It goes on itself when its time has
 * come and the functions of the others have returned.
 *
 *     fan_out            works until it is killed, which may happen at any time
 *     fan_out demo       asks once, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …).
 */
#include <pawl/pawl.h>
#include <pthread.h>
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

static void
produce(const pawl_config *config)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.prices.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(config, &client, &error), &error);
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
    check(pawl_client_wait(client, run_id, 30000, &output, &error), &error);
    printf("%s\n", output.data);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void *
work(void *worker)
{
    pawl_error *error;

    check(pawl_worker_run(worker, &error), &error);
    return NULL;
}

int
main(int argc, char **argv)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, NULL, &error), &error);
    check(pawl_worker_start(worker, &error), &error);
    check(pthread_create(&thread, NULL, work, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    if (argc > 1 && strcmp(argv[1], "demo") == 0) {
        produce(config);
        pawl_worker_drain(worker);
    }
    pthread_join(thread, NULL);
    pawl_worker_free(worker);
    pawl_config_free(config);
    return 0;
}
