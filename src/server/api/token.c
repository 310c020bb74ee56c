/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/token.h"

#include "base/sha256.h"

#include <string.h>
#include <strings.h>

static const char prefix[] = "pawl_";
static const char scheme[] = "Bearer";

enum {
    PREFIX_SIZE = sizeof(prefix) - 1,
    SECRET_SIZE = 43,
    CHECK_SIZE = 6,
};

static void
digest_of(const char *data, size_t size, uint8_t out[PW_SHA256_SIZE])
{
    struct pw_sha256_state state;

    pw_sha256_init(&state);
    pw_sha256_add(&state, data, size);
    pw_sha256_end(&state, out);
}

static bool
is_base64url(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
        c == '_';
}

bool
token_read(const char *text, size_t size, uint8_t digest[TOKEN_DIGEST_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const char *secret = text + PREFIX_SIZE;
    const char *check = secret + SECRET_SIZE + 1;
    uint8_t sum[PW_SHA256_SIZE];

    if (size != TOKEN_SIZE || memcmp(text, prefix, PREFIX_SIZE) != 0 || check[-1] != '_')
        return false;
    for (size_t i = 0; i < SECRET_SIZE; i++)
        if (!is_base64url(secret[i]))
            return false;
    digest_of(secret, SECRET_SIZE, sum);
    for (size_t i = 0; i < CHECK_SIZE; i++)
        if (check[i] != digits[i % 2 == 0 ? sum[i / 2] >> 4 : sum[i / 2] & 15])
            return false;
    digest_of(text, size, digest);
    return true;
}

bool
token_of_header(const char *value, uint8_t digest[TOKEN_DIGEST_SIZE])
{
    size_t size;

    if (strncasecmp(value, scheme, sizeof(scheme) - 1) != 0)
        return false;
    value += sizeof(scheme) - 1;
    if (*value != ' ')
        return false;
    value += strspn(value, " ");
    size = strlen(value);
    while (size > 0 && value[size - 1] == ' ')
        size--;
    return token_read(value, size, digest);
}
