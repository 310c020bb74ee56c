/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the program: its command, the words that were typed, and a client for the database. */
#ifndef PW_CLI_COMMAND_INVOCATION_H
#define PW_CLI_COMMAND_INVOCATION_H

#include "cli/command/command.h"

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INVOCATION_WORDS_MAX = 10000, /* operands and options in all */
};

enum invocation_output {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_JSONL,
    OUTPUT_IDS,
};

/* An option that was given. */
struct given {
    const struct option *option;
    const char *value; /* "on" for a flag; else the typed word, or a copy in kept */
};

struct invocation {
    const struct command *command;
    struct given *given;
    size_t given_count;
    const char **operands;
    size_t operand_count;
    char **rest; /* the words after "--", ends with NULL; NULL: there was no "--" */
    enum invocation_output output;
    char **kept; /* texts that invocation_done() frees */
    size_t kept_count;
    pawl_client *client; /* opened by the first call that needs it */
};

/*
 * Reads the words after the command's name into invocation, and checks them against the description of the command. Returns EXIT_OK, or
 * prints why not and returns the exit code.
 */
int invocation_read(
    struct invocation *invocation, const struct command *command, int count, char **words);
void invocation_done(struct invocation *invocation);

/* Keeps a malloced text until invocation_done(). Returns the text; NULL if the text is NULL, or if out of memory, after freeing it. */
const char *invocation_keep(struct invocation *invocation, char *text);

/* Adds --database as if it had been typed, and removes a password from the word. Returns EXIT_OK or the exit code. */
int invocation_add_database(struct invocation *invocation, char *word);

/* Returns the value that an option was given last; NULL if it was not given. */
const char *invocation_option(const struct invocation *invocation, const char *name);
bool invocation_has(const struct invocation *invocation, const char *name);

/* Returns the operand at an index, or NULL. */
const char *invocation_operand(const struct invocation *invocation, size_t index);

/*
 * Confirms an action that cannot be undone. Returns EXIT_OK at once with --yes, else after a person has typed "yes". Without a terminal,
 * --yes is required. question names the action: "remove 3 runs". Returns EXIT_OK, or prints why not and returns the exit code.
 */
int invocation_confirm(const struct invocation *invocation, const char *question, ...)
    __attribute__((format(printf, 2, 3)));

/* Connects, unless the invocation has a client already. Returns EXIT_OK, or prints why not and returns the exit code. */
int invocation_connect(struct invocation *invocation);

/* Makes the settings from the command line and the environment. Returns EXIT_OK or the exit code. */
int invocation_config(struct invocation *invocation, pawl_config **config);

/*
 * Calls a verb of the SQL interface with pairs of argument name and value that end in NULL; a NULL value is left out. rows may be NULL.
 * Returns EXIT_OK, or prints why not and returns the exit code.
 */
int invocation_verb(struct invocation *invocation, pawl_rows **rows, const char *verb, ...)
    __attribute__((sentinel));

/*
 * Returns the JSON that a value of KIND_JSON stands for: the value itself, or the text of a file or of standard input. Malloced. NULL: an
 * error was printed, and code is the exit code.
 */
char *invocation_json(const char *value, int *code);

/* Returns all of a file, or of standard input for "-". Malloced. NULL: an error was printed, and code is the exit code. */
char *invocation_file(const char *path, int *code);

/* Calls the verb of the command's description with the typed arguments. Returns EXIT_OK or the exit code. The caller frees rows. */
int invocation_ask(struct invocation *invocation, pawl_rows **rows);

/* The same with one more argument. */
int invocation_ask_with(
    struct invocation *invocation, const char *name, const char *value, pawl_rows **rows);

/* The same with two more arguments; one without a value is left out. */
int invocation_ask_with_two(struct invocation *invocation, const char *const names[2],
    const char *const values[2], pawl_rows **rows);

/* The same for a page of a list: at most most rows below a cursor, which may be NULL. */
int invocation_ask_page(
    struct invocation *invocation, const char *cursor, const char *most, pawl_rows **rows);

/* Converts a value of KIND_TIME to a time of PostgreSQL. Malloced. NULL: an error was printed, and code is the exit code. */
char *invocation_time(struct invocation *invocation, const char *value, int *code);

/* Reads the database's clock, in microseconds since 1970. Returns EXIT_OK, or prints why not and returns the exit code. */
int invocation_now(struct invocation *invocation, int64_t *us);

/* Shows rows if code is EXIT_OK, and frees them. Returns the exit code, which is not EXIT_OK if an answer in the rows is a refusal. */
int invocation_show(const struct invocation *invocation, int code, pawl_rows *rows);

/* Explains the refusals among the answers on standard error. Returns the exit code of the worst answer. */
int invocation_judge(const struct invocation *invocation, const pawl_rows *rows);

/* Calls the verb of the description and shows the rows. */
int invocation_described(struct invocation *invocation);

#endif
