/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of all routes: a line "METHOD TARGET", then a body. Arguments that pass are texts that their kind allows. */
#include "base/utf8.h"
#include "fuzz.h"
#include "server/api/arguments.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *line = fuzz_line(&input);
    char *body = fuzz_rest(&input);
    struct arguments arguments;
    struct problem problem = {0};
    struct route_match match;
    struct pw_arena arena;
    char *target;

    if (line != NULL && (target = strchr(line, ' ')) != NULL) {
        const char *query;

        *target++ = '\0';
        query = strchr(target, '?');
        route_find(&match, line, target, strcspn(target, "?"));
        pw_arena_init(&arena, (size_t)1 << 22);
        if (match.route == NULL) {
            /* Nothing to read. */
        } else if (arguments_read(&arguments, &match, query != NULL ? query + 1 : "",
                       (pawl_bytes){body, strlen(body)}, &arena, &problem)) {
            for (size_t i = 0; i < arguments.count; i++)
                fuzz_check(arguments.values[i] != NULL, "an argument without a value");
            for (const struct argument *at = match.route->arguments; at->kind != ARGUMENT_END; at++)
                fuzz_check(!at->required || arguments_get(&arguments, at->name) != NULL,
                    "a missing argument");
        } else {
            fuzz_check(
                problem.status >= 400 && problem.detail[0] != '\0', "a refusal without words");
            fuzz_check(
                pw_utf8_valid(problem.detail, strlen(problem.detail)), "words that are none");
        }
        pw_arena_done(&arena);
    }
    free(line);
    free(body);
    return 0;
}
