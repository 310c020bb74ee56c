/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the program: which command, what it was given, and what it needs to do its work. */
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
    const char *value; /* "on" for a flag; else the word that was typed, or a copy that is kept */
};

struct invocation {
    const struct command *command;
    struct given *given;
    size_t given_count;
    const char **operands;
    size_t operand_count;
    char **rest; /* behind "--", ends with NULL; NULL: there was none */
    enum invocation_output output;
    char **kept; /* texts that are freed with it */
    size_t kept_count;
    pawl_client *client; /* opened by the first call that needs it */
};

/*
 * Reads the words behind the command's name into call, and checks them against its description. Returns EXIT_OK, or what to exit
 * with after having said why.
 */
int invocation_read(
    struct invocation *invocation, const struct command *command, int count, char **words);
void invocation_done(struct invocation *invocation);

/*
 * Keeps a malloced text until invocation_done(). Returns it, or NULL if it is NULL or out of memory; then it is freed.
 */
const char *invocation_keep(struct invocation *invocation, char *text);

/* Adds --database as if it had been given, and takes a password out of the word. Returns EXIT_OK or what to exit with. */
int invocation_add_database(struct invocation *invocation, char *word);

/* What an option was given, the last time; NULL if it was not. */
const char *invocation_option(const struct invocation *invocation, const char *name);
bool invocation_has(const struct invocation *invocation, const char *name);

/* The operand at a place, or NULL. */
const char *invocation_operand(const struct invocation *invocation, size_t index);

/*
 * Goes on with what cannot be taken back: with --yes at once, else when a person has typed "yes". Where there is nobody to ask, --yes
 * must be given. question says what would happen: "remove 3 runs". Returns EXIT_OK, or what to exit with after having said why.
 */
int invocation_confirm(const struct invocation *invocation, const char *question, ...)
    __attribute__((format(printf, 2, 3)));

/* Connects, unless it has. Returns EXIT_OK, or what to exit with after having said why. */
int invocation_connect(struct invocation *invocation);

/* The settings that the command line and the environment give. Returns EXIT_OK or what to exit with. */
int invocation_config(struct invocation *invocation, pawl_config **config);

/*
 * Calls a verb of the SQL interface with pairs of argument name and value that end in NULL; a NULL value is left out. rows may be
 * NULL. Returns EXIT_OK, or what to exit with after having said why.
 */
int invocation_verb(struct invocation *invocation, pawl_rows **rows, const char *verb, ...)
    __attribute__((sentinel));

/*
 * The JSON that an option or operand of KIND_JSON stands for: itself, a file's or standard input's. Malloced. NULL: it was said why,
 * and code is what to exit with.
 */
char *invocation_json(const char *value, int *code);

/* All of a file, or of standard input for "-". Malloced. NULL: it was said why, and code is what to exit with. */
char *invocation_file(const char *path, int *code);

/* Calls the verb of the command's description with what was given. Returns EXIT_OK, or what to exit with. The caller frees rows. */
int invocation_ask(struct invocation *invocation, pawl_rows **rows);

/* The same with one more argument. */
int invocation_ask_with(
    struct invocation *invocation, const char *name, const char *value, pawl_rows **rows);

/* The same for a page of a list: the rows below a cursor, which may be NULL, and at most so many. */
int invocation_ask_page(
    struct invocation *invocation, const char *cursor, const char *most, pawl_rows **rows);

/* What was given as KIND_TIME, as PostgreSQL reads it. Malloced. NULL: it was said why, and code is what to exit with. */
char *invocation_time(struct invocation *invocation, const char *value, int *code);

/* The database's clock, in microseconds since 1970. Returns EXIT_OK, or what to exit with after having said why. */
int invocation_now(struct invocation *invocation, int64_t *us);

/* Shows rows if code is EXIT_OK, frees them, and returns what to exit with: also if one of the answers in them is a refusal. */
int invocation_show(const struct invocation *invocation, int code, pawl_rows *rows);

/* Says on standard error what refusals among the answers mean. Returns what to exit with: the worst of them. */
int invocation_judge(const struct invocation *invocation, const pawl_rows *rows);

/* Calls the verb of the description and shows the rows. */
int invocation_described(struct invocation *invocation);

#endif
