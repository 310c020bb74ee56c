/* SPDX-License-Identifier: Apache-2.0 */
/* A line of pawl trigger's file, behind a line with the pointer to its key: the key is the text or number that stands there. */
#include "cli/verbs/line.h"
#include "base/json_read.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    SIZE = 24, /* few bytes, so that many a key is too long */
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *field = fuzz_line(&input);
    char *text = fuzz_rest(&input);
    pawl_bytes line = pawl_text(text);
    pawl_bytes value = {NULL, 0};
    char key[SIZE];

    if (field != NULL && pw_json_valid((struct pw_json){line.data, line.size})) {
        bool found = pawl_json_find(line, field, &value) == PAWL_OK;

        memset(key, 'x', sizeof(key));
        if (line_key(line, field, key, sizeof(key))) {
            fuzz_check(found, "a key of nothing");
            fuzz_check(memchr(key, '\0', sizeof(key)) != NULL, "a key without an end");
            fuzz_check(value.data[0] == '"' ? strlen(key) + 2 <= value.size
                                            : strlen(key) == value.size &&
                        memcmp(key, value.data, value.size) == 0 && strchr("{[ntf", key[0]) == NULL,
                "a key that does not stand there");
        } else if (found) {
            bool number = value.data[0] == '-' || (value.data[0] >= '0' && value.data[0] <= '9');

            fuzz_check(!number || value.size >= sizeof(key), "a number is no key");
        }
    }
    free(field);
    free(text);
    return 0;
}
