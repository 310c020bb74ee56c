/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wide flow: an album of 1,000 images, a task for each of them, and one page at the end. Any number of these processes share the tasks;
 * what one of them was doing when it was killed is done again by another, and the page is made once.
 *
 *     pawl flow apply flow/thumbnails.json
 *     flow_thumbnails          works until it is killed, which may happen at any time
 *     flow_thumbnails demo     an album, and exits
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

enum {
    ALBUM = 1000,
};

static pawl_status
list_images(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    size_t room = (size_t)ALBUM * 20;
    size_t size = 0;
    char *list = pawl_run_alloc(run, room);

    (void)input;
    if (list == NULL)
        return PAWL_ENOMEM;
    for (int i = 0; i < ALBUM; i++)
        size += (size_t)snprintf(list + size, room - size, "%s\"%d.jpg\"", i == 0 ? "[" : ",", i);
    size += (size_t)snprintf(list + size, room - size, "]");
    *output = (pawl_bytes){list, size};
    return PAWL_OK;
}
PAWL_WORKFLOW("content.thumbnails.v1/list_images", list_images);

/* {"run": ..., "item": "17.jpg", "index": 17}. Some work stands for that of a real one. */
static pawl_status
thumbnail(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char image[40];
    unsigned sum = 0;

    if (pawl_json_text(input, "/item", image, sizeof(image)) != PAWL_OK)
        return PAWL_EPERMANENT;
    for (unsigned i = 0; i < 100000; i++)
        sum += (unsigned char)image[i % strlen(image)] * i;
    return pawl_run_printf(
        run, output, "{\"file\": \"small-%s\", \"bytes\": %u}", image, 1000 + sum % 1000);
}
PAWL_WORKFLOW("content.thumbnails.v1/thumbnail", thumbnail);

static pawl_status
make_page(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char pointer[60] = "/thumbnail/0/bytes";
    int64_t bytes;
    int64_t sum = 0;
    int count = 0;

    for (; pawl_json_int(input, pointer, &bytes) == PAWL_OK; sum += bytes)
        (void)snprintf(pointer, sizeof(pointer), "/thumbnail/%d/bytes", ++count);
    return pawl_run_printf(run, output, "{\"images\": %d, \"bytes\": %d}", count, (int)sum);
}
PAWL_WORKFLOW("content.thumbnails.v1/make_page", make_page);

static void *
produce(void *worker)
{
    pawl_trigger *trigger = pawl_trigger_new("content.thumbnails.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(NULL, &client, &error), &error);
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
    check(pawl_client_wait(client, run_id, 60000, &output, &error), &error);
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
