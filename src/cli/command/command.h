/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command is: its description, from which help, manual pages and completion are made, and the function that does it. Each
 * cmd_*.c has the descriptions of its commands; commands.c lists them all.
 */
#ifndef PW_CLI_COMMAND_COMMAND_H
#define PW_CLI_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct invocation;

enum kind {
    KIND_END, /* the last of a list */
    KIND_FLAG,
    KIND_TEXT,
    KIND_NUMBER,
    KIND_COUNT,    /* a whole number, 1 or more */
    KIND_REAL,     /* a number with a point */
    KIND_DURATION, /* 250ms, 30s, 10m, 1h30m, 7d */
    KIND_TIME,     /* "2026-02-03 04:05", 04:05, yesterday, or 2h for two hours ago */
    KIND_JSON,     /* JSON, @FILE, or - for standard input */
    KIND_CHOICE,   /* one of a few words */
    KIND_FILE,
    KIND_WORKFLOW,
    KIND_QUEUE,
    KIND_RUN, /* a run's id, or the beginning of one */
    KIND_ID,  /* a whole id, of a run or an event */
};

/* An option, such as --since 2h. */
struct option {
    enum kind kind;
    char letter;      /* a short form, or 0 */
    const char *name; /* without the dashes */
    const char *value;
    const char *choices;  /* of KIND_CHOICE, separated by spaces */
    const char *argument; /* of the SQL verb; NULL: the command itself looks at it */
    const char *summary;
    bool many; /* may be given more than once */
};

/* What stands without a name, such as RUN. */
struct operand {
    enum kind kind;
    const char *value;
    const char *choices; /* of KIND_CHOICE, separated by spaces */
    const char *argument;
    const char *summary;
    bool optional;
    bool many;
};

struct example {
    const char *line;
    const char *summary;
};

struct command {
    const char *name; /* "run list" */
    const char *summary;
    const char *text;    /* what else there is to say, in paragraphs */
    const char *verb;    /* that pawl_client_call() is given, where that is all there is to do */
    const char *columns; /* of a table, in their order, separated by spaces; NULL: all */
    const struct operand *operands;
    const struct option *options;
    const struct example *examples;
    int (*act)(struct invocation *invocation); /* NULL: calls the verb and shows its rows */
    bool no_database;
};

/* All commands, in the order in which they are completed. NULL beyond the last. */
const struct command *command_at(size_t index);

/* The commands of one subject, the most used first. names ends with NULL. */
struct command_group {
    const char *title;
    const char *const *names;
};

/* In the order of help; ends with a group without a title. The last one is plumbing, which help shows only if it is asked for all. */
extern const struct command_group command_groups[];

/* What most people need, with their operands: "run show RUN". Ends with NULL. */
extern const char *const commands_most_used[];

/* The command of this name, or NULL. */
const struct command *command_named(const char *name);

/* Options that every command has, unless it has one of that name itself. */
extern const struct option common_options[];

/* Whether an option of every command is one of the command's own instead. */
bool command_replaces(const struct command *command, const struct option *common);

/*
 * How many words ahead of the command are options of every command: "-d NAME run list" has 2. The last may lack its value. Words
 * that are not such an option end it.
 */
int command_options_ahead(int count, char *const *words);

/*
 * The command that the first words name, and how many words that were; NULL if there is none. A first word that only begins commands
 * ("run") is told by group.
 */
const struct command *command_find(int count, char *const *words, int *used, bool *group);

#endif
