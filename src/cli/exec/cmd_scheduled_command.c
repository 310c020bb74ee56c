/* SPDX-License-Identifier: Apache-2.0 */
/* pawl scheduled-command: executes the command in the input of a run. pawl worker --crontab starts it for each run of a crontab. */
#include "base/arena.h"
#include "base/json_read.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WORDS_MAX = 1000,
    MALFORMED = 65, /* EX_DATAERR: the run fails permanently */
    NOT_FOUND = 127,
    NOT_EXECUTABLE = 126,
};

static int
set_environment(struct pw_json input, struct pw_arena *arena)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;

    if (!pw_json_given(pw_json_member(input, "environment")))
        return EXIT_OK;
    pw_json_walk(&walk, pw_json_member(input, "environment"));
    while (pw_json_walk_next(&walk, &key, &value)) {
        const char *name = pw_json_text(key, arena);
        const char *text = pw_json_text(value, arena);

        if (name == NULL || text == NULL || setenv(name, text, 1) != 0)
            return exit_saying(EXIT_OTHER, NULL, "the environment cannot be set: %m");
    }
    return EXIT_OK;
}

/* Standard input is the text that the crontab has for it; else it is empty. */
static int
set_input(struct pw_json input, struct pw_arena *arena)
{
    struct pw_json given = pw_json_member(input, "stdin");
    const char *text = pw_json_given(given) ? pw_json_text(given, arena) : "";
    int file = memfd_create("stdin", 0);
    size_t size = text != NULL ? strlen(text) : 0;

    if (text == NULL || file < 0 || write(file, text, size) != (ssize_t)size ||
        lseek(file, 0, SEEK_SET) != 0 || dup2(file, STDIN_FILENO) < 0)
        return exit_saying(EXIT_OTHER, NULL, "standard input cannot be set: %m");
    (void)close(file);
    return EXIT_OK;
}

/* Fills words from the array "command". Returns false if that is not an array of texts. */
static bool
read_words(struct pw_json input, struct pw_arena *arena, char *words[static WORDS_MAX + 1])
{
    struct pw_json command = pw_json_member(input, "command");
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    size_t count = 0;

    if (command.data == NULL || command.data[0] != '[')
        return false;
    pw_json_walk(&walk, command);
    while (pw_json_walk_next(&walk, &key, &value)) {
        if (count == WORDS_MAX || (words[count++] = pw_json_text(value, arena)) == NULL)
            return false;
    }
    words[count] = NULL;
    return !walk.bad && count > 0;
}

static int
execute(struct pw_json input, struct pw_arena *arena)
{
    char *words[WORDS_MAX + 1] = {NULL};
    struct pw_json given = pw_json_member(input, "directory");
    const char *directory = pw_json_given(given) ? pw_json_text(given, arena) : "/";
    int code;

    if (!read_words(input, arena, words))
        return exit_saying(MALFORMED, NULL, "the input of the run has no array \"command\"");
    if (directory == NULL || chdir(directory) != 0)
        return exit_saying(EXIT_OTHER, NULL, "cannot enter \"%s\": %m", directory);
    code = set_environment(input, arena);
    if (code == EXIT_OK)
        code = set_input(input, arena);
    if (code != EXIT_OK)
        return code;
    (void)execvp(words[0], words);
    return exit_saying(
        errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, NULL, "cannot execute \"%s\": %m", words[0]);
}

static int
scheduled_command(struct invocation *invocation)
{
    struct pw_arena arena;
    int code = EXIT_OK;
    char *text = invocation_file("-", &code);

    (void)invocation;
    if (text == NULL)
        return code;
    pw_arena_init(&arena, (size_t)16 * 1024 * 1024);
    code = execute((struct pw_json){text, strlen(text)}, &arena);
    pw_arena_done(&arena);
    free(text);
    return code;
}

const struct command cmd_scheduled_command[] = {
    {.name = "scheduled-command",
        .summary = "Execute the command in the input of a run",
        .text = "pawl worker --crontab calls it. The input of the run is on standard input.",
        .act = scheduled_command,
        .no_database = true},
    {0},
};
