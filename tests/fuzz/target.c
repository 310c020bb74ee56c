/* SPDX-License-Identifier: Apache-2.0 */
/* A connection string is taken or refused, and what libpq is told is whole either way; a refusal does not repeat it, for there may be a password in it. */
#include "pg/target.h"
#include "fuzz.h"
#include "pawl/error.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *conninfo = fuzz_rest(&input);
    struct pw_target target;
    struct pw_error err = {0};
    int status = pw_target_init(&target, conninfo, "fuzz", &err);
    int count = 0;

    fuzz_check(status == PAWL_OK || status == PAWL_EINVAL, "neither taken nor refused");
    if (status == PAWL_EINVAL) {
        fuzz_check(err.code == PAWL_EINVAL && err.message[0] != '\0' && err.hint[0] != '\0',
            "a refusal without words");
        fuzz_check(strlen(conninfo) < 20 || strstr(err.message, conninfo) == NULL,
            "a refusal that repeats a connection string");
    } else {
        while (target.keywords[count] != NULL)
            fuzz_check(target.values[count] != NULL && ++count <= PW_TARGET_MAX, "no end");
        fuzz_check(target.values[count] == NULL && count >= 6, "words without values");
        fuzz_check(strcmp(target.keywords[count - 1], "client_encoding") == 0, "what must be last");
    }
    free(conninfo);
    return 0;
}
