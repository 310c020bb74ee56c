/* SPDX-License-Identifier: Apache-2.0 */
/* The header Authorization: what passes is a token of 55 characters, and the same token alone passes, too. */
#include "fuzz.h"
#include "server/api/token.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *header = fuzz_rest(&input);
    uint8_t digest[TOKEN_DIGEST_SIZE];
    uint8_t again[TOKEN_DIGEST_SIZE];

    if (token_of_header(header, digest)) {
        const char *token = strstr(header, "pawl_");

        fuzz_check(token != NULL && strlen(token) >= TOKEN_SIZE, "a token that is not there");
        fuzz_check(token_read(token, TOKEN_SIZE, again), "a token that is none alone");
        fuzz_check(memcmp(digest, again, sizeof(digest)) == 0, "another digest");
    }
    free(header);
    return 0;
}
