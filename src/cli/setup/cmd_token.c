/* SPDX-License-Identifier: Apache-2.0 */
/* pawl token: access tokens for pawl serve. The text of a token is made here, and only its digest reaches the database. */
#include "base/buf.h"
#include "base/json_write.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/setup/new_token.h"
#include "cli/show/term.h"

#include <stdio.h>
#include <string.h>

enum {
    RIGHTS_MAX = 100, /* bytes of a list of rights */
    OUTPUT_MAX = 10000,
};

/* Returns true if a word of a list of rights is a right of a token. */
static bool
is_right(const char *word, size_t size)
{
    static const char *const rights[] = {"producer", "operator", "reader"};

    for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++)
        if (strlen(rights[i]) == size && memcmp(rights[i], word, size) == 0)
            return true;
    return false;
}

/* Converts "producer,reader" to a list as PostgreSQL reads it. */
static int
read_rights(const char *typed, char list[static RIGHTS_MAX])
{
    const char *at = typed;

    for (;;) {
        size_t size = strcspn(at, ",");

        if (!is_right(at, size))
            return exit_saying(EXIT_USAGE, "Write for example: --rights producer,reader",
                "--rights takes producer, operator and reader, separated by commas, not \"%s\"",
                typed);
        at += size;
        if (*at == '\0')
            break;
        at++;
    }
    if ((size_t)snprintf(list, RIGHTS_MAX, "{%s}", typed) < RIGHTS_MAX)
        return EXIT_OK;
    return exit_saying(EXIT_USAGE, NULL, "--rights is too long");
}

/* Refuses a token where its name is expected: the name is not secret, and is stored. */
static int
check_name(const char *name)
{
    if (!pw_token_valid(name, strlen(name)))
        return EXIT_OK;
    return exit_saying(EXIT_USAGE, "pawl token list shows the names.",
        "this is the text of a token, not its name");
}

/* Prints the token, as text alone or as JSON. */
static int
print_token(const struct invocation *invocation, const char *token)
{
    const char *name = invocation_operand(invocation, 0);
    struct pw_json_writer writer;
    struct pw_buf line;

    if (invocation->output != OUTPUT_JSON && invocation->output != OUTPUT_JSONL) {
        (void)puts(token);
        if (term_is_tty(TERM_OUT))
            (void)exit_saying(
                EXIT_OK, NULL, "keep it now: it is not stored, and is not shown again");
        return EXIT_OK;
    }
    pw_buf_init(&line, OUTPUT_MAX);
    pw_json_writer_init(&writer, &line);
    if (invocation->output == OUTPUT_JSON)
        pw_json_open(&writer, '[');
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "name");
    pw_json_add_text(&writer, name);
    pw_json_key(&writer, "token");
    pw_json_add_text(&writer, token);
    pw_json_close(&writer);
    if (invocation->output == OUTPUT_JSON)
        pw_json_close(&writer);
    if (pw_json_ok(&writer))
        (void)puts(pw_buf_text(&line));
    pw_buf_done(&line);
    return EXIT_OK;
}

static int
create(struct invocation *invocation)
{
    const char *rights = invocation_option(invocation, "rights");
    struct new_token token;
    char list[RIGHTS_MAX];
    int code = check_name(invocation_operand(invocation, 0));

    if (code == EXIT_OK && rights == NULL)
        code = exit_saying(EXIT_USAGE, "Write for example: --rights producer,reader",
            "--rights is missing: a token without a right is of no use");
    if (code == EXIT_OK)
        code = read_rights(rights, list);
    if (code == EXIT_OK)
        code = new_token_make(&token);
    if (code == EXIT_OK)
        code = invocation_ask_with_two(invocation, (const char *const[]){"digest", "rights"},
            (const char *const[]){token.digest, list}, NULL);
    return code == EXIT_OK ? print_token(invocation, token.text) : code;
}

static int
revoke(struct invocation *invocation)
{
    int code = check_name(invocation_operand(invocation, 0));

    return code == EXIT_OK ? invocation_described(invocation) : code;
}

#define OPERAND_NAME                                            \
    {                                                           \
        .kind = KIND_TEXT, .value = "NAME", .argument = "name", \
        .summary = "the name of the token, which is not secret" \
    }

const struct command cmd_token[] = {
    {.name = "token create",
        .summary = "Create an access token and print it once",
        .text = "A program shows the token to pawl serve, which then acts with the rights of the "
                "token. The database stores a digest of it: nothing can print it again. A program "
                "that has the token has its rights: keep it as you would keep a password.",
        .verb = "create_token",
        .operands =
            (const struct operand[]){
                OPERAND_NAME,
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 'r',
                    .name = "rights",
                    .value = "SETS",
                    .summary = "privilege sets: producer, operator, reader; several with commas"},
                OPTION_TENANT("tenant", "only for this tenant"),
                {.kind = KIND_DURATION,
                    .name = "expires",
                    .value = "TIME",
                    .argument = "expires",
                    .summary = "how long it is valid, such as 90d; else until it is revoked"},
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl token create shop --rights producer --tenant acme --expires 90d",
                    "a token for a program that triggers runs of one tenant"},
                {NULL, NULL},
            },
        .act = create},
    {.name = "token list",
        .summary = "List access tokens, without their text",
        .verb = "list_tokens",
        .columns = "name rights tenant created_at created_by expires_at revoked_at",
        .options =
            (const struct option[]){
                OPTION_LIMIT("1000"),
                {.kind = KIND_END},
            }},
    {.name = "token revoke",
        .summary = "Revoke an access token now",
        .text = "Every request that shows the token from now on is refused. Its name becomes free "
                "for another token.",
        .verb = "revoke_token",
        .operands =
            (const struct operand[]){
                OPERAND_NAME,
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_TENANT("tenant", "the tenant, if several have a token of this name"),
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            },
        .act = revoke},
    {0},
};
