/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the program: which command, what it was given, and what it needs to do its work. */
#ifndef PW_CLI_CALL_H
#define PW_CLI_CALL_H

#include "cli/command.h"

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALL_WORDS_MAX = 10000, /* operands and options in all */
};

enum call_output {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_JSONL,
    OUTPUT_IDS,
};

/* An option that was given. */
struct given {
    const struct option *option;
    const char *value; /* "on" for a flag */
    char *secret;      /* the same, malloced, if it had a password; NULL: it had none */
};

struct call {
    const struct command *command;
    struct given *given;
    size_t given_count;
    const char **operands;
    size_t operand_count;
    char **rest; /* behind "--", ends with NULL; NULL: there was none */
    enum call_output output;
    pawl_client *client; /* opened by the first call that needs it */
};

/*
 * Reads the words behind the command's name into call, and checks them against its description. Returns EXIT_OK, or what to exit
 * with after having said why.
 */
int call_read(struct call *call, const struct command *command, int count, char **words);
void call_done(struct call *call);

/* What an option was given, the last time; NULL if it was not. */
const char *call_option(const struct call *call, const char *name);
bool call_has(const struct call *call, const char *name);

/* The operand at a place, or NULL. */
const char *call_operand(const struct call *call, size_t index);

/*
 * Goes on with what cannot be taken back: with --yes at once, else when a person has typed "yes". Where there is nobody to ask, --yes
 * must be given. question says what would happen: "remove 3 runs". Returns EXIT_OK, or what to exit with after having said why.
 */
int call_confirm(const struct call *call, const char *question, ...)
    __attribute__((format(printf, 2, 3)));

/* Connects, unless it has. Returns EXIT_OK, or what to exit with after having said why. */
int call_connect(struct call *call);

/* The settings that the command line and the environment give. Returns EXIT_OK or what to exit with. */
int call_config(struct call *call, pawl_config **config);

/*
 * Calls a verb of the SQL interface with pairs of argument name and value that end in NULL; a NULL value is left out. rows may be
 * NULL. Returns EXIT_OK, or what to exit with after having said why.
 */
int call_verb(struct call *call, pawl_rows **rows, const char *verb, ...) __attribute__((sentinel));

/*
 * The JSON that an option or operand of KIND_JSON stands for: itself, a file's or standard input's. Malloced. NULL: it was said why,
 * and code is what to exit with.
 */
char *call_json(const char *value, int *code);

/* All of a file, or of standard input for "-". Malloced. NULL: it was said why, and code is what to exit with. */
char *call_file(const char *path, int *code);

/* Calls the verb of the command's description with what was given. Returns EXIT_OK, or what to exit with. The caller frees rows. */
int call_ask(struct call *call, pawl_rows **rows);

/* The same with one more argument. */
int call_ask_with(struct call *call, const char *name, const char *value, pawl_rows **rows);

/* The same for a page of a list: the rows below a cursor, which may be NULL, and at most so many. */
int call_ask_page(struct call *call, const char *cursor, const char *most, pawl_rows **rows);

/* What was given as KIND_TIME, as PostgreSQL reads it. Malloced. NULL: it was said why, and code is what to exit with. */
char *call_time(struct call *call, const char *value, int *code);

/* The database's clock, in microseconds since 1970. Returns EXIT_OK, or what to exit with after having said why. */
int call_now(struct call *call, int64_t *us);

/* Shows rows if code is EXIT_OK, frees them, and returns what to exit with: also if one of the answers in them is a refusal. */
int call_show(const struct call *call, int code, pawl_rows *rows);

/* Says on standard error what refusals among the answers mean. Returns what to exit with: the worst of them. */
int call_judge(const struct call *call, const pawl_rows *rows);

/* Calls the verb of the description and shows the rows. */
int call_described(struct call *call);

#endif
