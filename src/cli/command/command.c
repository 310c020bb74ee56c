/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/command.h"

#include <string.h>

const struct option common_options[] = {
    {.kind = KIND_TEXT,
        .letter = 'd',
        .name = "database",
        .value = "NAME",
        .summary = "database name, connection string or URL (else PAWL_DATABASE_URL, or libpq's "
                   "variables). Put a password in a service file or PGPASSFILE: other users see a "
                   "command line"},
    {.kind = KIND_CHOICE,
        .letter = 'o',
        .name = "output",
        .value = "FORMAT",
        .choices = "table json jsonl ids",
        .summary = "output format"},
    {.kind = KIND_FLAG, .letter = 'h', .name = "help", .summary = "show this help"},
    {.kind = KIND_END},
};

bool
command_replaces(const struct command *command, const struct option *common)
{
    for (const struct option *option = command->options; option != NULL && option->kind != KIND_END;
         option++)
        if (strcmp(option->name, common->name) == 0)
            return true;
    return false;
}

const struct command *
command_named(const char *name)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

/*
 * Returns how many words a common option with a value takes: two for "-d NAME" and "--database NAME", one for "-dNAME". 0: it is not one.
 */
static int
words_of(const char *word)
{
    for (const struct option *option = common_options; option->kind != KIND_END; option++) {
        size_t size = strlen(option->name);

        if (option->kind == KIND_FLAG)
            continue;
        if (word[0] == '-' && word[1] == option->letter)
            return word[2] == '\0' ? 2 : 1;
        if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, option->name, size) == 0 &&
            (word[2 + size] == '\0' || word[2 + size] == '='))
            return word[2 + size] == '\0' ? 2 : 1;
    }
    return 0;
}

int
command_options_ahead(int count, char *const *words)
{
    int ahead = 0;

    while (ahead < count) {
        int used = words_of(words[ahead]);

        if (used == 0)
            break;
        ahead += used;
    }
    return ahead < count ? ahead : count;
}

/* Returns how many of the words the name takes; 0: it is not this command. */
static int
match(const char *name, int count, char *const *words)
{
    int used = 0;

    while (used < count) {
        size_t size = strlen(words[used]);

        if (strncmp(name, words[used], size) != 0 || (name[size] != ' ' && name[size] != '\0'))
            return 0;
        used++;
        if (name[size] == '\0')
            return used;
        name += size + 1;
    }
    return 0;
}

const struct command *
command_find(int count, char *const *words, int *used, bool *group)
{
    const struct command *best = NULL;
    const struct command *command;

    *used = 0;
    *group = false;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        int words_used = match(command->name, count, words);

        if (words_used > *used) {
            *used = words_used;
            best = command;
        }
        if (count > 0 && strncmp(command->name, words[0], strlen(words[0])) == 0 &&
            command->name[strlen(words[0])] == ' ')
            *group = true;
    }
    return best;
}
