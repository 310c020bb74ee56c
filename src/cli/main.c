/* SPDX-License-Identifier: Apache-2.0 */
/* The pawl command: finds the command that its first words name, and does it. */
#include "cli/command/check.h"
#include "cli/command/command.h"
#include "cli/command/help.h"
#include "cli/command/invocation.h"
#include "cli/command/run_id.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"
#include "cli/show/term.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    NAMES_MAX = 200, /* commands */
};

/* Texts are UTF-8, whatever the terminal's locale says about numbers and dates. */
static void
set_locale(void)
{
    if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Returns true if the reader of the output has closed its pipe. Where SIGPIPE is ignored, as while a worker runs, poll() shows that; errno
 * may belong to an earlier write.
 */
static bool
reader_has_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* Checks that all output was written. A full disk is an error; a pipe that its reader has closed is not. */
static int
close_output(int code)
{
    if ((fflush(stdout) == 0 && ferror(stdout) == 0) || reader_has_gone())
        return code;
    return code != EXIT_OK ? code
                           : exit_saying(EXIT_OTHER, NULL, "the output could not be written");
}

static bool
is_one_of(const char *word, const char *one, const char *another, const char *third)
{
    return strcmp(word, one) == 0 || strcmp(word, another) == 0 || strcmp(word, third) == 0;
}

/* "logs": the first command with that word in its name, "run logs"; or NULL. */
static const char *
find_by_word(const char *word)
{
    const struct command *command;
    size_t size = strlen(word);

    for (size_t i = 0; size > 0 && (command = command_at(i)) != NULL; i++) {
        const char *at = strstr(command->name, word);

        if (at != NULL && at > command->name && at[-1] == ' ' &&
            (at[size] == '\0' || at[size] == ' '))
            return command->name;
    }
    return NULL;
}

/*
 * Reports an unknown command with the nearest of all commands: "run list" for "run lsit". For the first word of a group alone, lists the
 * commands of the group.
 */
static int
unknown_command(int count, char **words, bool group)
{
    const char *names[NAMES_MAX] = {NULL};
    const struct command *command;
    const char *nearest;
    size_t used = 0;
    char given[200];
    char hint[200];

    if (group && count == 1) {
        (void)fprintf(stderr, "pawl: %s takes one more word:\n", words[0]);
        help_list(stderr, words[0]);
        return EXIT_USAGE;
    }
    if (words[0][0] == '-')
        return exit_saying(EXIT_USAGE, "Write: pawl COMMAND [OPTION]...; see: pawl --help",
            "\"%s\" is not an option of every command: write it after the command", words[0]);
    (void)snprintf(
        given, sizeof(given), "%s%s%s", words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
    for (size_t i = 0; (command = command_at(i)) != NULL && used + 1 < NAMES_MAX; i++)
        names[used++] = command->name;
    nearest = check_nearest(given, names);
    if (nearest == NULL)
        nearest = check_nearest(words[0], names);
    if (nearest == NULL)
        nearest = find_by_word(words[0]);
    if (nearest != NULL)
        (void)snprintf(hint, sizeof(hint), "Did you mean: pawl %s", nearest);
    else
        (void)snprintf(hint, sizeof(hint), "See: pawl --help");
    return exit_saying(EXIT_USAGE, hint, "there is no command \"%s\"", given);
}

/* "pawl help run show", "pawl help run", "pawl help", "pawl help --all". */
static int
help(int count, char **words)
{
    const struct command *command;
    bool group = false;
    int used = 0;

    command = command_find(count, words, &used, &group);
    if (command != NULL)
        help_command(stdout, command);
    else if (group)
        help_list(stdout, words[0]);
    else if (count == 0 || (count == 1 && is_one_of(words[0], "--all", "-a", "all")))
        help_program(stdout, count == 1);
    else
        return unknown_command(count, words, group);
    return close_output(EXIT_OK);
}

static int
act(const struct command *command, int count, char **words)
{
    struct invocation invocation;
    int code = invocation_read(&invocation, command, count, words);

    if (code == EXIT_OK && invocation_has(&invocation, "help")) {
        help_command(stdout, command);
    } else if (code == EXIT_OK) {
        code = run_id_complete_all(&invocation);
        if (code == EXIT_OK)
            code = command->act != NULL ? command->act(&invocation)
                                        : invocation_described(&invocation);
    }
    invocation_done(&invocation);
    return code;
}

/*
 * Moves the options ahead of the command to the place right after its name: "-d x run list" becomes "run list -d x". used is the
 * number of words of the name.
 */
static void
move_options(char **words, int ahead, int used)
{
    for (int i = 0; i < used; i++) {
        char *word = words[ahead + i];

        memmove(&words[i + 1], &words[i], (size_t)ahead * sizeof(words[0]));
        words[i] = word;
    }
}

int
main(int argc, char **argv)
{
    const struct command *command;
    int ahead = argc < 2 ? 0 : command_options_ahead(argc - 1, argv + 1);
    int count = argc - 1 - ahead;
    char **words = argv + 1 + ahead;
    int used = 0;
    bool group = false;
    int code;
    /* Ends quietly when the reader of a pipe has gone. */
    const struct sigaction by_default = {.sa_handler = SIG_DFL};

    (void)sigaction(SIGPIPE, &by_default, NULL);
    set_locale();
    term_init();
    if (argc < 2) {
        help_short(stderr);
        return EXIT_USAGE;
    }
    if (count < 1)
        return exit_saying(EXIT_USAGE, "See: pawl --help", "the command is missing");
    if (is_one_of(words[0], "--help", "-h", "help"))
        return help(count - 1, words + 1);
    if (is_one_of(words[0], "--version", "-V", "version")) {
        (void)printf("pawl %s\n", pawl_version_text());
        return close_output(EXIT_OK);
    }
    command = command_find(count, words, &used, &group);
    if (command == NULL && group && count == 2 && is_one_of(words[1], "--help", "-h", "help"))
        return help(1, words);
    if (command == NULL)
        return unknown_command(count, words, group);
    move_options(argv + 1, ahead, used);
    code = act(command, argc - 1 - used, argv + 1 + used);
    if (code == EXIT_USAGE && command->no_database)
        script_client_mistake();
    return close_output(code);
}
