/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wide flow: an album of 1,000 images, a task for each of them, and one page at the end. Any number of these processes share the
 * tasks. If one of them is killed, another one does its unfinished tasks again, and the page is made once.
 *
 *     pawl flow apply examples/flow/thumbnails.json >/dev/null
 *     flow_thumbnails &
 *     pawl trigger content.thumbnails.v1 --wait
 */
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

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

/* {"run": ..., "item": "17.jpg", "index": 17}. Some computation takes the place of real work. */
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

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
