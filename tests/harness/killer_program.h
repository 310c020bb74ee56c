/* SPDX-License-Identifier: Apache-2.0 */
/* What a child of the killer becomes: copies of a command and of an environment, made before there is a child. */
#ifndef PAWL_KILLER_PROGRAM_H
#define PAWL_KILLER_PROGRAM_H

#include <stdbool.h>

struct killer_command;

struct killer_program {
    char **argv;
    int output; /* -1: standard error */
    bool restart;
};

void killer_program_init(struct killer_program *program, const struct killer_command *command);
void killer_program_done(struct killer_program *program);

/* The environment of a child: ours, what is given instead and besides, and its number. */
char **killer_env_new(const char *const *given, int number);
void killer_env_free(char **env);

#endif
