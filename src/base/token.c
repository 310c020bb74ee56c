/* SPDX-License-Identifier: Apache-2.0 */
#include "base/token.h"

#include <string.h>

enum {
    BODY = 43, /* characters for 32 bytes, without padding */
    SUM = 6,   /* characters of the checksum */
};

static const char prefix[] = "pawl_";
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Writes base64url (RFC 4648, section 5) without padding. */
static void
write_body(const uint8_t *secret, char *body)
{
    uint32_t bits = 0;
    int count = 0;

    for (size_t i = 0; i < PW_TOKEN_SECRET; i++) {
        bits = bits << 8 | secret[i];
        count += 8;
        for (; count >= 6; count -= 6)
            *body++ = letters[bits >> (count - 6) & 63];
    }
    *body = letters[bits << (6 - count) & 63];
}

/* The first hexadecimal digits of the SHA-256 of the characters between the underscores. */
static void
write_sum(const char *body, char *sum)
{
    struct pw_sha256_state state;
    uint8_t digest[PW_SHA256_SIZE];

    pw_sha256_init(&state);
    pw_sha256_add(&state, body, BODY);
    pw_sha256_end(&state, digest);
    for (size_t i = 0; i < SUM; i++)
        sum[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15];
}

void
pw_token_write(const uint8_t secret[static PW_TOKEN_SECRET], char text[static PW_TOKEN_LENGTH + 1])
{
    char *body = text + sizeof(prefix) - 1;

    memcpy(text, prefix, sizeof(prefix) - 1);
    write_body(secret, body);
    body[BODY] = '_';
    write_sum(body, body + BODY + 1);
    text[PW_TOKEN_LENGTH] = '\0';
}

bool
pw_token_valid(const char *text, size_t size)
{
    const char *body;
    char sum[SUM];

    if (size != PW_TOKEN_LENGTH || memcmp(text, prefix, sizeof(prefix) - 1) != 0)
        return false;
    body = text + sizeof(prefix) - 1;
    if (body[BODY] != '_')
        return false;
    for (size_t i = 0; i < BODY; i++)
        if (body[i] == '\0' || strchr(letters, body[i]) == NULL)
            return false;
    write_sum(body, sum);
    return memcmp(sum, body + BODY + 1, SUM) == 0;
}

void
pw_token_digest(const char text[static PW_TOKEN_LENGTH], uint8_t digest[static PW_SHA256_SIZE])
{
    struct pw_sha256_state state;

    pw_sha256_init(&state);
    pw_sha256_add(&state, text, PW_TOKEN_LENGTH);
    pw_sha256_end(&state, digest);
}
