/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/setup/new_token.h"

#include "base/rand.h"
#include "cli/report/exit.h"

#include <stdio.h>

int
new_token_make(struct new_token *token)
{
    uint8_t secret[PW_TOKEN_SECRET];
    uint8_t digest[PW_SHA256_SIZE];

    if (!pw_random(secret, sizeof(secret)))
        return exit_saying(EXIT_OTHER, NULL, "the system gives no random bytes");
    pw_token_write(secret, token->text);
    pw_token_digest(token->text, digest);
    token->digest[0] = '\\';
    token->digest[1] = 'x';
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(token->digest + 2 + 2 * i, 3, "%02x", digest[i]);
    return EXIT_OK;
}
