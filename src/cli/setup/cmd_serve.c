/* SPDX-License-Identifier: Apache-2.0 */
/* pawl serve: becomes the program of the HTTP server, with the options that were given. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"
#include "cli/setup/serve_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns true if an option is one of every command. The server needs none of these on its command line. */
static bool
is_common(const struct option *option)
{
    for (const struct option *common = common_options; common->kind != KIND_END; common++)
        if (common == option)
            return true;
    return false;
}

/* Writes the command line of the server. words has a place for each option and two more. Returns EXIT_OK or the exit code. */
static int
make_words(struct invocation *invocation, const char **words)
{
    size_t count = 0;

    words[count++] = "pawl-serve";
    for (size_t i = 0; i < invocation->given_count; i++) {
        const struct given *given = &invocation->given[i];
        char *word = NULL;

        if (is_common(given->option))
            continue;
        if (asprintf(&word, given->option->kind == KIND_FLAG ? "--%s" : "--%s=%s",
                given->option->name, given->value) < 0)
            word = NULL;
        words[count] = invocation_keep(invocation, word);
        if (words[count++] == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    words[count] = NULL;
    return EXIT_OK;
}

static int
serve(struct invocation *invocation)
{
    const char *database = invocation_option(invocation, "database");
    const char **words;
    char path[PATH_MAX];
    int code;

    if (!serve_program_find(path))
        return serve_program_missing();
    /* Other users see the command line of a process, and not its environment. */
    if (database != NULL && setenv("PAWL_DATABASE_URL", database, 1) != 0)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    words = calloc(invocation->given_count + 2, sizeof(*words));
    if (words == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    code = make_words(invocation, words);
    if (code == EXIT_OK) {
        /* execv() does not change the words, although its type would let it. */
        (void)execv(path, (char *const *)(uintptr_t)words);
        code = exit_saying(EXIT_OTHER, NULL, "\"%s\" cannot be executed: %m", path);
    }
    free(words);
    return code;
}

const struct command cmd_serve[] = {
    {.name = "serve",
        .summary = "Serve the HTTP API",
        .text =
            "Programs and browsers call the verbs of pawl over HTTP, each with an access token "
            "(pawl token create). The database decides about the token with each call. The role "
            "of the server needs the privilege set gateway.\n\n"
            "GET /v1/openapi.json describes all routes, and docs/http-api.md lists them. GET "
            "/alive and GET /ready are for supervisors, GET /metrics is for Prometheus.\n\n"
            "Listens on this machine alone by default. For other machines, put a proxy with TLS "
            "in front of it and pass --behind-proxy. SIGTERM ends it after the requests in "
            "flight.",
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 'l',
                    .name = "listen",
                    .value = "WHERE",
                    .summary = "ADDRESS:PORT or unix:PATH (127.0.0.1:7295); port 0 takes a free "
                               "one"},
                {.kind = KIND_TEXT,
                    .name = "host",
                    .value = "NAME",
                    .summary = "a name by which clients call the server",
                    .many = true},
                {.kind = KIND_FLAG,
                    .name = "behind-proxy",
                    .summary = "listen on any address: a proxy in front terminates TLS, and its "
                               "X-Forwarded-For is trusted"},
                {.kind = KIND_FLAG,
                    .name = "insecure",
                    .summary = "listen on any address without a proxy: tokens travel in clear"},
                {.kind = KIND_FLAG,
                    .name = "read-only",
                    .summary = "refuse all requests that change something"},
                {.kind = KIND_TEXT,
                    .name = "cors",
                    .value = "ORIGIN",
                    .summary = "a page of this origin may call it, as https://app.example",
                    .many = true},
                {.kind = KIND_COUNT,
                    .name = "rate",
                    .value = "N",
                    .summary = "requests a second of one token (200); twice as many at once"},
                {.kind = KIND_COUNT,
                    .name = "callers",
                    .value = "N",
                    .summary = "connections to the database (8)"},
                {.kind = KIND_CHOICE,
                    .name = "log",
                    .value = "FORMAT",
                    .choices = "text json off",
                    .summary = "one line for each request on standard error"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl serve --listen 127.0.0.1:7295",
                    "the default: for a proxy and for programs on this machine"},
                {"pawl serve --listen unix:/run/pawl/serve.sock --behind-proxy --host "
                 "pawl.example.com",
                    "behind a proxy that terminates TLS for this name"},
                {NULL, NULL},
            },
        .act = serve},
    {0},
};
