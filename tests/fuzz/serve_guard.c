/* SPDX-License-Identifier: Apache-2.0 */
/* The form of requests: a line "METHOD TARGET VERSION", then headers. What passes has one meaning. */
#include "fuzz.h"
#include "server/api/guard.h"
#include "server/api/route.h"

#include <stdlib.h>
#include <string.h>

/* Splits at the first blank; the rest is "" if there is none. */
static char *
split(char *text)
{
    char *blank = strchr(text, ' ');

    if (blank == NULL)
        return text + strlen(text);
    *blank = '\0';
    return blank + 1;
}

static void
check_target(const char *target)
{
    struct route_match match;
    size_t path = strcspn(target, "?");
    char *decoded = malloc(path + 1);

    fuzz_check(decoded != NULL, "out of memory");
    route_decode(target, path, false, decoded);
    fuzz_check(strlen(decoded) <= path && decoded[0] == '/', "a path that grows");
    fuzz_check(strstr(decoded, "/../") == NULL && strstr(decoded, "//") == NULL,
        "a path that leads elsewhere");
    free(decoded);
    route_find(&match, "GET", target, path);
    fuzz_check(match.route == NULL || strcmp(match.route->method, "GET") == 0, "another method");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *line = fuzz_line(&input);
    struct guard guard;
    char *target;
    char *version;
    char *header;

    if (line == NULL)
        return 0;
    target = split(line);
    version = split(target);
    guard_init(&guard);
    guard_line(&guard, line, target, version);
    if (guard.problem == NULL)
        check_target(target);
    while ((header = fuzz_line(&input)) != NULL) {
        size_t name = strcspn(header, ":");
        const char *value = header + name + (header[name] == ':');

        guard_header(&guard, header, name, value, strlen(value));
        free(header);
    }
    if (guard_end(&guard)) {
        fuzz_check(guard.lengths + guard.chunked <= 1, "two ways to end a body");
        fuzz_check(guard.hosts == 1 && guard.headers <= GUARD_HEADERS_MAX, "too many headers");
        fuzz_check(guard_has_body(&guard) == (guard.length > 0 || guard.chunked > 0), "no body");
    } else {
        fuzz_check(guard.status >= 400 && guard.status < 600, "a refusal without a status");
    }
    free(line);
    return 0;
}
