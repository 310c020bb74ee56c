/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and environments of the killer's children; see the header. */
#include "killer_program.h"

#include "killer.h"
#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frees a list of strings that ends with NULL. */
static void
free_strings(char **strings)
{
    for (size_t i = 0; strings != NULL && strings[i] != NULL; i++)
        free(strings[i]);
    free(strings);
}

static char *
copy_string(const char *string)
{
    char *copy = strdup(string);

    if (copy == NULL)
        bench_die("out of memory");
    return copy;
}

static size_t
count_strings(const char *const *strings)
{
    size_t count = 0;

    while (strings != NULL && strings[count] != NULL)
        count++;
    return count;
}

/* Whether one of the strings sets the variable that `setting` sets. */
static bool
is_set_by(const char *setting, const char *const *strings)
{
    size_t length = strcspn(setting, "=") + 1;

    for (size_t i = 0; strings != NULL && strings[i] != NULL; i++) {
        if (strncmp(strings[i], setting, length) == 0)
            return true;
    }
    return false;
}

void
killer_program_init(struct killer_program *program, const struct killer_command *command)
{
    size_t count = count_strings(command->argv);

    if (count == 0 || strchr(command->argv[0], '/') == NULL)
        bench_die("a command of the killer begins with a path");
    program->argv = race_alloc((long)count + 1, sizeof(*program->argv));
    for (size_t i = 0; i < count; i++)
        program->argv[i] = copy_string(command->argv[i]);
    program->restart = command->restart;
    program->output = -1;
    if (command->output != NULL) {
        program->output = open(command->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (program->output < 0)
            bench_die("cannot write \"%s\": error %d", command->output, errno);
    }
}

void
killer_program_done(struct killer_program *program)
{
    free_strings(program->argv);
    if (program->output >= 0)
        (void)close(program->output); /* Others wrote to it. */
}

char **
killer_env_new(const char *const *given, int number)
{
    const char *const *ours = (const char *const *)environ;
    char own[32];
    const char *const last[] = {own, NULL};
    char **env = race_alloc((long)(count_strings(ours) + count_strings(given) + 2), sizeof(*env));
    size_t count = 0;

    (void)snprintf(own, sizeof(own), "KILLER_CHILD=%d", number);
    for (size_t i = 0; ours[i] != NULL; i++) {
        if (!is_set_by(ours[i], given) && !is_set_by(ours[i], last))
            env[count++] = copy_string(ours[i]);
    }
    for (size_t i = 0; given != NULL && given[i] != NULL; i++)
        env[count++] = copy_string(given[i]);
    env[count] = copy_string(own);
    return env;
}

void
killer_env_free(char **env)
{
    free_strings(env);
}
