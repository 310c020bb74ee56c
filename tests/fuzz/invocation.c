/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, a word in each line: read, or refused with a reason that does no harm to a terminal; what is read fits the description of the command. */
#include "cli/command/invocation.h"
#include "cli/command/check.h"
#include "cli/report/exit.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MAX = 300
};

static bool
is_nearest_one_of(const char *word)
{
    static const char *const words[] = {"list", "show", "cancel", "retry", "", "a", NULL};
    const char *nearest = check_nearest(word, words);

    for (size_t i = 0; words[i] != NULL; i++)
        if (nearest == words[i])
            return true;
    return nearest == NULL;
}

static void
read_call(const struct command *command, int count, char **words)
{
    struct invocation invocation;
    int code = invocation_read(&invocation, command, count, words);

    fuzz_check(code == EXIT_OK || code == EXIT_USAGE, "neither read nor refused");
    fuzz_check(
        invocation.given_count + invocation.operand_count <= (size_t)count, "more than was given");
    for (size_t i = 0; i < invocation.given_count; i++)
        fuzz_check(invocation.given[i].option != NULL && invocation.given[i].value != NULL &&
                (code != EXIT_OK ||
                    check_option(invocation.given[i].option, invocation.given[i].value) == 0),
            "an option without what it takes");
    for (const struct operand *operand = command->operands; code == EXIT_OK &&
         !invocation_has(&invocation, "help") && operand != NULL && operand->kind != KIND_END;
         operand++)
        fuzz_check(operand->optional ||
                invocation_operand(&invocation, (size_t)(operand - command->operands)) != NULL,
            "an operand is missing");
    invocation_done(&invocation);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *words[WORDS_MAX + 1] = {NULL};
    struct fuzz_printed printed;
    const struct command *command;
    int count = 0;
    int used = 0;
    bool group = false;

    while (count < WORDS_MAX && (words[count] = fuzz_line(&input)) != NULL)
        count++;
    words[count] = NULL; /* as main() has it */
    fuzz_print_begin(&printed);
    command = command_find(count, words, &used, &group);
    fuzz_check(used >= 0 && used <= count, "more words than there are");
    if (command != NULL)
        read_call(command, count - used, words + used);
    for (int i = 0; i < count; i++)
        fuzz_check(is_nearest_one_of(words[i]), "a nearest word that is none");
    fuzz_print_end(&printed);
    for (int i = 0; i < count; i++)
        free(words[i]);
    return 0;
}
