/* SPDX-License-Identifier: Apache-2.0 */
/* The first line is a pointer, the rest JSON: what is found lies inside and is JSON itself, and a text fits exactly into the room that it needs. */
#include "base/json_read.h"
#include "fuzz.h"

#include <pawl/json.h>
#include <stdlib.h>
#include <string.h>

static void
try_text(pawl_bytes json, const char *pointer, size_t size)
{
    char *room = malloc(size + 2);
    char *exact;
    size_t used;

    fuzz_check(room != NULL, "out of memory");
    if (pawl_json_text(json, pointer, room, size + 2) == PAWL_OK) {
        used = strlen(room);
        exact = malloc(used + 1);
        fuzz_check(exact != NULL, "out of memory");
        fuzz_check(
            pawl_json_text(json, pointer, exact, used + 1) == PAWL_OK && strcmp(room, exact) == 0,
            "a text does not fit where it should");
        fuzz_check(pawl_json_text(json, pointer, exact, used) == PAWL_ETOOLARGE,
            "a text fits where it should not");
        free(exact);
    }
    free(room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *pointer = fuzz_line(&input);
    pawl_bytes json = {input.at, (size_t)(input.end - input.at)};
    pawl_bytes found = {NULL, 0};
    pawl_status status;
    int64_t number;
    int truth;

    if (pointer == NULL)
        return 0;
    status = pawl_json_find(json, pointer, &found);
    fuzz_check(status == PAWL_OK || status == PAWL_EINVAL || status == PAWL_ENOTFOUND,
        "neither found nor not");
    if (status == PAWL_OK) {
        fuzz_check(found.data >= json.data && found.data + found.size <= json.data + json.size,
            "found outside of the text");
        fuzz_check(
            pw_json_valid((struct pw_json){found.data, found.size}), "found what is no JSON");
        fuzz_check(pawl_json_int(json, pointer, &number) != PAWL_ENOTFOUND &&
                pawl_json_bool(json, pointer, &truth) != PAWL_ENOTFOUND,
            "what is there is not found");
    } else {
        fuzz_check(pawl_json_int(json, pointer, &number) == status &&
                pawl_json_bool(json, pointer, &truth) == status,
            "another answer to the same question");
    }
    try_text(json, pointer, json.size);
    free(pointer);
    return 0;
}
