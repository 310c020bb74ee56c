/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line: words become operands and options, and are checked. */
#include "base/secret.h"
#include "cli/command/check.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS_MAX = 64, /* of one command */
    GUESSES = 3,
};

static const struct option *
find_option(const struct option *options, const char *name, size_t size, char letter)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (name != NULL ? strlen(options->name) == size && strncmp(options->name, name, size) == 0
                         : options->letter != 0 && options->letter == letter)
            return options;
    return NULL;
}

const char *
invocation_keep(struct invocation *invocation, char *text)
{
    char **larger = text == NULL
        ? NULL
        : realloc(invocation->kept, (invocation->kept_count + 1) * sizeof(*larger));

    if (larger == NULL) {
        free(text);
        return NULL;
    }
    larger[invocation->kept_count++] = text;
    invocation->kept = larger;
    return text;
}

/* Stores the value of the last option, a choice that may be typed in any case, as the description writes it. */
static int
set_choice(struct invocation *invocation, const char *typed)
{
    struct given *given = &invocation->given[invocation->given_count - 1];
    size_t size = 0;
    const char *choice = check_choice(given->option->choices, typed, &size);

    if (choice == NULL || strncmp(choice, typed, size) == 0)
        return check_option(given->option, typed);
    given->value = invocation_keep(invocation, strndup(choice, size));
    if (given->value != NULL)
        return EXIT_OK;
    given->value = typed;
    return exit_saying(EXIT_OTHER, NULL, "out of memory");
}

static int
add_given(struct invocation *invocation, const struct option *option, const char *value)
{
    if (!option->many && invocation_has(invocation, option->name))
        return exit_saying(EXIT_USAGE, NULL, "--%s was given twice", option->name);
    invocation->given[invocation->given_count].option = option;
    invocation->given[invocation->given_count].value = value;
    invocation->given_count++;
    return option->kind == KIND_CHOICE ? set_choice(invocation, value)
                                       : check_option(option, value);
}

/* Returns true if the command passes operands on to another program, whose options are not checked here. */
static bool
passes_on(const struct command *command)
{
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++)
        if (strcmp(operand->value, "ARGUMENT") == 0)
            return true;
    return false;
}

/* Options that readers expect of a command and that another command has. */
static const struct {
    const char *command;
    const char *option;
    const char *hint;
} elsewhere[] = {
    {"run retry", "--from-step", "To run again from a step: pawl run fork RUN --from-step STEP"},
};

/* Returns the hint for an option that another command has, or NULL. */
static const char *
find_elsewhere(const struct invocation *invocation, const char *word)
{
    size_t size = strcspn(word, "=");

    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (strcmp(elsewhere[i].command, invocation->command->name) == 0 &&
            strlen(elsewhere[i].option) == size && strncmp(elsewhere[i].option, word, size) == 0)
            return elsewhere[i].hint;
    return NULL;
}

/* Other names of an option, which users know from other programs. */
static const struct {
    const char *word;
    const char *option;
} synonyms[] = {
    {"retries", "max-attempts"},
    {"tries", "max-attempts"},
    {"delay", "in"},
    {"after", "in"},
    {"timezone", "zone"},
    {"tz", "zone"},
    {"state", "status"},
    {"reason", "why"},
    {"user", "by"},
    {"data", "input"},
    {"payload", "input"},
    {"concurrency", "key-limit"},
    {"format", "output"},
    {"count", "limit"},
};

/* Returns true if one of the words of an option's name is word: "timeout" of "run-timeout". */
static bool
has_part(const char *name, const char *word, size_t size)
{
    for (const char *at = name; size > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == name || at[-1] == '-') && (at[size] == '\0' || at[size] == '-'))
            return true;
    return false;
}

/* Writes "Did you mean --run-timeout or --step-timeout?", or leaves hint empty. names ends with NULL. */
static void
guess_option(const char *const *names, const char *word, char *hint, size_t size)
{
    char name[60];
    const char *nearest;
    size_t used = 0;
    size_t found = 0;

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++)
        for (size_t j = 0; strcmp(synonyms[i].word, name) == 0 && names[j] != NULL; j++)
            if (strcmp(synonyms[i].option, names[j]) == 0) {
                (void)snprintf(hint, size, "Did you mean --%s?", names[j]);
                return;
            }
    for (size_t i = 0; names[i] != NULL && found < GUESSES && used < size; i++)
        if (has_part(names[i], name, strlen(name)))
            used += (size_t)snprintf(hint + used, size - used, "%s--%s",
                found++ == 0 ? "Did you mean " : " or ", names[i]);
    if (found > 0 && used + 1 < size)
        (void)snprintf(hint + used, size - used, "?");
    nearest = found > 0 ? NULL : check_nearest(name, names);
    if (nearest != NULL)
        (void)snprintf(hint, size, "Did you mean --%s?", nearest);
}

static int
unknown_option(const struct invocation *invocation, const char *word)
{
    const struct option *lists[] = {invocation->command->options, common_options};
    const char *names[OPTIONS_MAX] = {NULL};
    const char *other = find_elsewhere(invocation, word);
    size_t count = 0;
    char hint[200] = "";

    if (other != NULL)
        return exit_saying(EXIT_USAGE, other, "there is no option \"%s\"", word);
    for (size_t i = 0; i < 2; i++)
        for (const struct option *option = lists[i];
             option != NULL && option->kind != KIND_END && count + 1 < OPTIONS_MAX; option++)
            names[count++] = option->name;
    if (strncmp(word, "--", 2) == 0)
        guess_option(names, word + 2, hint, sizeof(hint));
    if (hint[0] == '\0' && invocation->operand_count > 0 && passes_on(invocation->command))
        (void)snprintf(
            hint, sizeof(hint), "If it is for %s, write -- before it.", invocation->operands[0]);
    else if (hint[0] == '\0')
        (void)snprintf(hint, sizeof(hint), "See: pawl %s --help", invocation->command->name);
    return exit_saying(EXIT_USAGE, hint, "there is no option \"%s\"", word);
}

/* Removes a password from the command line. words[0] is the option, or the option and its value. Returns EXIT_OK or the exit code. */
static int
hide_secret(struct invocation *invocation, char **words, int used)
{
    struct given *given = &invocation->given[invocation->given_count - 1];
    char *word = words[used - 1];

    /* guard:secret_hidden */
    if ((strcmp(given->option->name, "database") != 0 && strcmp(given->option->name, "set") != 0) ||
        !pw_secret_in(given->value))
        return EXIT_OK;
    word += given->value - word;
    given->value = invocation_keep(invocation, strdup(word));
    if (given->value == NULL) {
        given->value = "";
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    pw_secret_hide(word);
    return EXIT_OK;
}

int
invocation_add_database(struct invocation *invocation, char *word)
{
    const struct option *option = find_option(common_options, "database", 8, '\0');
    int code = add_given(invocation, option, word);

    return code != EXIT_OK ? code : hide_secret(invocation, &word, 1);
}

/* Reads one word that begins with a dash; words[1] may be its value. Sets used to the number of words that were read. */
static int
read_option(struct invocation *invocation, char **words, int *used)
{
    const char *word = words[0];
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : NULL;
    const char *equals = is_long ? strchr(name, '=') : NULL;
    size_t size = name == NULL ? 0 : equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct option *option = find_option(invocation->command->options, name, size, word[1]);
    const char *value = equals != NULL ? equals + 1 : NULL;
    int code;

    if (option == NULL)
        option = find_option(common_options, name, size, word[1]);
    if (option == NULL || (!is_long && word[2] != '\0' && option->kind == KIND_FLAG))
        return unknown_option(invocation, word);
    *used = 1;
    if (option->kind == KIND_FLAG) {
        if (value != NULL)
            return exit_saying(EXIT_USAGE, NULL, "--%s takes no value", option->name);
        return add_given(invocation, option, "on");
    }
    if (!is_long && word[2] != '\0')
        value = word + 2;
    if (value == NULL) {
        value = words[1];
        *used = 2;
    }
    if (value == NULL)
        return exit_saying(EXIT_USAGE, NULL, "--%s needs a value: %s", option->name, option->value);
    code = add_given(invocation, option, value);
    return code != EXIT_OK ? code : hide_secret(invocation, words, *used);
}

/* Checks the value of each operand. Options were checked when they were read. */
static int
check_each(const struct invocation *invocation)
{
    const struct operand *operand = invocation->command->operands;
    int code = EXIT_OK;

    for (size_t i = 0; i < invocation->operand_count && code == EXIT_OK; i++) {
        code = check_operand(operand, invocation->operands[i]);
        if (!operand->many)
            operand++;
    }
    return code;
}

/* "Write: pawl sleep NAME TIME" */
static void
make_usage(const struct command *command, char *text, size_t size)
{
    int used = snprintf(text, size, "Write: pawl %s", command->name);

    if (command->operands == NULL || command->operands->kind == KIND_END) {
        (void)snprintf(text, size, "See: pawl %s --help", command->name);
        return;
    }
    for (const struct operand *operand = command->operands;
         operand->kind != KIND_END && used > 0 && (size_t)used < size; operand++)
        used += snprintf(text + used, size - (size_t)used, operand->optional ? " [%s%s]" : " %s%s",
            operand->value, operand->many ? "..." : "");
    if (used > 0 && (size_t)used < size)
        (void)snprintf(text + used, size - (size_t)used, "; see: pawl %s --help", command->name);
}

/* Checks that there are neither too few operands nor too many. */
static int
check_operands(const struct invocation *invocation)
{
    size_t least = 0;
    size_t most = 0;
    char hint[300];

    make_usage(invocation->command, hint, sizeof(hint));
    for (const struct operand *operand = invocation->command->operands;
         operand != NULL && operand->kind != KIND_END; operand++) {
        if (!operand->optional) {
            if (invocation->operand_count == least)
                return exit_saying(EXIT_USAGE, hint, "%s is missing", operand->value);
            least++;
        }
        most = operand->many ? INVOCATION_WORDS_MAX : most + 1;
    }
    if (invocation->operand_count == most + 1 &&
        strchr("{[", invocation->operands[most][0]) != NULL &&
        find_option(invocation->command->options, "input", 5, '\0') != NULL)
        (void)snprintf(hint, sizeof(hint), "Pass JSON with its option: --input '%.100s'",
            invocation->operands[most]);
    if (invocation->operand_count > most)
        return exit_saying(EXIT_USAGE, hint, "unexpected argument \"%s\"",
            invocation->operands[most < INVOCATION_WORDS_MAX ? most : 0]);
    return check_each(invocation);
}

static void
set_output(struct invocation *invocation)
{
    static const char *const names[] = {[OUTPUT_TABLE] = "table",
        [OUTPUT_JSON] = "json",
        [OUTPUT_JSONL] = "jsonl",
        [OUTPUT_IDS] = "ids"};
    const char *wanted = invocation_option(invocation, "output");

    for (size_t i = 0; wanted != NULL && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(wanted, names[i]) == 0)
            invocation->output = (enum invocation_output)i;
}

int
invocation_read(
    struct invocation *invocation, const struct command *command, int count, char **words)
{
    int used = 1;

    *invocation = (struct invocation){.command = command};
    invocation->given = calloc((size_t)count + 1, sizeof(*invocation->given));
    invocation->operands = calloc((size_t)count + 1, sizeof(*invocation->operands));
    if (invocation->given == NULL || invocation->operands == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (count > INVOCATION_WORDS_MAX)
        return exit_saying(EXIT_USAGE, NULL, "more than %d words", INVOCATION_WORDS_MAX);
    for (int i = 0; i < count; i += used) {
        int code = EXIT_OK;

        used = 1;
        if (strcmp(words[i], "--") == 0) {
            invocation->rest = &words[i + 1];
            /* Without a function of its own, the command takes them as operands, which may begin with a dash. */
            for (i++; command->act == NULL && i < count; i++)
                invocation->operands[invocation->operand_count++] = words[i];
            break;
        }
        if (words[i][0] == '-' && words[i][1] != '\0')
            code = read_option(invocation, &words[i], &used);
        else
            invocation->operands[invocation->operand_count++] = words[i];
        if (code != EXIT_OK)
            return code;
    }
    set_output(invocation);
    return invocation_has(invocation, "help") ? EXIT_OK : check_operands(invocation);
}

void
invocation_done(struct invocation *invocation)
{
    pawl_client_close(invocation->client);
    for (size_t i = 0; i < invocation->kept_count; i++)
        free(invocation->kept[i]);
    free(invocation->kept);
    free(invocation->given);
    free(invocation->operands);
}

const char *
invocation_option(const struct invocation *invocation, const char *name)
{
    for (size_t i = invocation->given_count; i > 0; i--)
        if (strcmp(invocation->given[i - 1].option->name, name) == 0)
            return invocation->given[i - 1].value;
    return NULL;
}

bool
invocation_has(const struct invocation *invocation, const char *name)
{
    return invocation_option(invocation, name) != NULL;
}

const char *
invocation_operand(const struct invocation *invocation, size_t index)
{
    return index < invocation->operand_count ? invocation->operands[index] : NULL;
}
