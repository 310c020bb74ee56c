/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/completion.h"

#include "cli/command/command.h"

#include <string.h>

static bool
begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The word of a command's name behind the words before it, if it begins like the last of them; NULL if not. */
static const char *
next_word(const struct command *command, int count, char *const *words, size_t *size)
{
    const char *at = command->name;

    for (int word = 0; word < count - 1; word++) {
        *size = strlen(words[word]);
        if (strncmp(at, words[word], *size) != 0 || at[*size] != ' ')
            return NULL;
        at += *size + 1;
    }
    *size = strcspn(at, " ");
    return begins(at, words[count - 1]) ? at : NULL;
}

/* Each word that may stand there once, though many commands have it. */
static void
list_names(FILE *out, int count, char *const *words)
{
    const struct command *command;
    const char *word;
    size_t size;

    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        bool known = false;

        word = next_word(command, count, words, &size);
        for (size_t j = 0; word != NULL && j < i && !known; j++) {
            size_t other_size;
            const char *other = next_word(command_at(j), count, words, &other_size);

            known = other != NULL && other_size == size && strncmp(other, word, size) == 0;
        }
        if (word != NULL && !known)
            (void)fprintf(out, "%.*s\n", (int)size, word);
    }
}

static void
list_options(
    FILE *out, const struct option *options, const char *beginning, const struct command *without)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (begins(options->name, beginning) &&
            (without == NULL || !command_replaces(without, options)))
            (void)fprintf(out, "--%s\n", options->name);
}

static void
list_choices(FILE *out, const char *choices, const char *beginning)
{
    while (*choices != '\0') {
        size_t size = strcspn(choices, " ");

        if (begins(choices, beginning))
            (void)fprintf(out, "%.*s\n", (int)size, choices);
        choices += size;
        choices += strspn(choices, " ");
    }
}

/* The option that the word before stands for and that takes a value, or NULL. */
static const struct option *
asked_option(const struct option *options, const char *word)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (options->kind != KIND_FLAG &&
            ((begins(word, "--") && strcmp(word + 2, options->name) == 0) ||
                (word[0] == '-' && word[1] == options->letter && options->letter != 0 &&
                    word[2] == '\0')))
            return options;
    return NULL;
}

void
completion_list(FILE *out, int count, char *const *words)
{
    const struct command *command;
    const struct option *option = NULL;
    const char *last;
    int used = 0;
    bool group = false;

    if (count == 0)
        return;
    last = words[count - 1];
    command = command_find(count - 1, words, &used, &group);
    if (command == NULL) {
        list_names(out, count, words);
        return;
    }
    if (count - 1 > used) {
        option = asked_option(command->options, words[count - 2]);
        if (option == NULL)
            option = asked_option(common_options, words[count - 2]);
    }
    if (option != NULL) {
        if (option->kind == KIND_CHOICE)
            list_choices(out, option->choices, last);
    } else if (begins(last, "-")) {
        const char *name = begins(last, "--") ? last + 2 : "";

        list_options(out, command->options, name, NULL);
        list_options(out, common_options, name, command);
    } else if (count - 1 == used) {
        list_names(out, count, words);
        if (command->operands != NULL && command->operands->kind == KIND_CHOICE)
            list_choices(out, command->operands->choices, last);
    }
}

bool
completion_script(FILE *out, const char *shell)
{
    static const struct {
        const char *shell;
        const char *script;
    } scripts[] = {
        {"bash",
            "_pawl()\n"
            "{\n"
            "    local IFS=$'\\n'\n"
            "    COMPREPLY=($(pawl complete -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
            "}\n"
            "complete -o default -F _pawl pawl\n"},
        {"zsh",
            "#compdef pawl\n"
            "_pawl()\n"
            "{\n"
            "    local -a found\n"
            "    found=(${(f)\"$(pawl complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
            "    if (( $#found )); then compadd -- $found; else _files; fi\n"
            "}\n"
            /* Loaded from a file of its name, this is the body of its first call. */
            "if [[ $funcstack[1] == _pawl ]]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n"},
        {"fish",
            "function __pawl_complete\n"
            "    set -l words (commandline -opc) (commandline -ct)\n"
            "    set -l found (pawl complete -- $words[2..] 2>/dev/null)\n"
            "    if set -q found[1]\n"
            "        printf '%s\\n' $found\n"
            "    else\n"
            "        __fish_complete_path (commandline -ct)\n"
            "    end\n"
            "end\n"
            "complete -c pawl -f -a '(__pawl_complete)'\n"},
    };

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (strcmp(scripts[i].shell, shell) == 0) {
            (void)fputs(scripts[i].script, out);
            return true;
        }
    }
    return false;
}
