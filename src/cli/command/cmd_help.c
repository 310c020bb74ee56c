/* SPDX-License-Identifier: Apache-2.0 */
/* pawl complete, completion and manual: what shells and the build make of the descriptions of all commands. */
#include "cli/command/commands.h"
#include "cli/command/completion.h"
#include "cli/command/help.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
complete(struct invocation *invocation)
{
    int count = 0;

    while (invocation->rest != NULL && invocation->rest[count] != NULL)
        count++;
    return completion_list(stdout, invocation, count, invocation->rest);
}

static int
completion(struct invocation *invocation)
{
    (void)completion_script(stdout, invocation_operand(invocation, 0));
    return EXIT_OK;
}

static int
manual(struct invocation *invocation)
{
    const struct command *command = NULL;
    int used = 0;
    bool group = false;
    int code = EXIT_OK;

    if (invocation_has(invocation, "list")) {
        for (size_t i = 0; (command = command_at(i)) != NULL; i++)
            (void)puts(command->name);
        return EXIT_OK;
    }
    if (invocation->operand_count > 0) {
        char **words = calloc(invocation->operand_count, sizeof(*words));

        if (words == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
        for (size_t i = 0; i < invocation->operand_count && code == EXIT_OK; i++) {
            words[i] = strdup(invocation->operands[i]);
            if (words[i] == NULL)
                code = exit_saying(EXIT_OTHER, NULL, "out of memory");
        }
        if (code == EXIT_OK)
            command = command_find((int)invocation->operand_count, words, &used, &group);
        for (size_t i = 0; i < invocation->operand_count; i++)
            free(words[i]);
        free(words);
        if (code == EXIT_OK && command == NULL)
            code = exit_saying(EXIT_USAGE, "See: pawl --help", "there is no such command");
    }
    if (code == EXIT_OK)
        help_manual(stdout, command);
    return code;
}

const struct command cmd_help[] = {
    {.name = "completion",
        .summary = "Print the completion script of a shell",
        .operands =
            (const struct operand[]){
                {.kind = KIND_CHOICE,
                    .value = "SHELL",
                    .choices = "bash zsh fish",
                    .summary = "bash, zsh or fish"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl completion bash > ~/.local/share/bash-completion/completions/pawl",
                    "for all shells that are started from then on"},
                {"pawl completion zsh > ~/.zfunc/_pawl",
                    "a folder that .zshrc names: fpath=(~/.zfunc $fpath), before compinit"},
                {"pawl completion fish > ~/.config/fish/completions/pawl.fish",
                    "the same for fish"},
                {NULL, NULL},
            },
        .act = completion},
    {.name = "complete",
        .summary = "Print completions of the command line after --",
        .act = complete},
    {.name = "manual",
        .summary = "Print the manual page of a command, for scdoc",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "COMMAND",
                    .summary = "the command; without it the page of pawl itself",
                    .optional = true,
                    .many = true},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "list", .summary = "the names of all commands instead"},
                {.kind = KIND_END},
            },
        .act = manual},
    {0},
};
