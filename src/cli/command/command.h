/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command: its description, from which help, manual pages and completion are made, and its function. Each cmd_*.c has the descriptions of
 * its commands; commands.c lists all commands.
 */
#ifndef PW_CLI_COMMAND_COMMAND_H
#define PW_CLI_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct invocation;

enum kind {
    KIND_END, /* the last element of a list */
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
    KIND_RUN,  /* a run's id, or the beginning of an id */
    KIND_ID,   /* a whole id, of a run or an event */
    KIND_STEP, /* of the run that the same line names; so are the next two */
    KIND_APPROVAL,
    KIND_SIGNAL,
};

/* An option, such as --since 2h. */
struct option {
    enum kind kind;
    char letter;      /* a short form, or 0 */
    const char *name; /* without the dashes */
    const char *value;
    const char *choices;  /* of KIND_CHOICE, separated by spaces */
    const char *argument; /* of the SQL verb; NULL: only the command itself reads it */
    const char *summary;
    bool many; /* may be given more than once */
};

/* A word without an option name, such as RUN. */
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
    const char *text;    /* the description in the help, in paragraphs */
    const char *verb;    /* the SQL verb that invocation_ask() calls; NULL: none */
    const char *columns; /* of a table, in their order, separated by spaces; NULL: all */
    const struct operand *operands;
    const struct option *options;
    const struct example *examples;
    int (*act)(struct invocation *invocation); /* NULL: calls the verb and shows its rows */
    bool no_database;
};

/* Returns the command at an index, in the order of completion. NULL after the last. */
const struct command *command_at(size_t index);

/* The commands of one subject, the most used one first. names ends with NULL. */
struct command_group {
    const char *title;
    const char *const *names;
};

/* The groups in the order of help; they end with a group without a title. The last group is plumbing: help shows it only with --all. */
extern const struct command_group command_groups[];

/* The commands that most users need, with their operands: "run show RUN". Ends with NULL. */
extern const char *const commands_most_used[];

/* Returns the command of this name, or NULL. */
const struct command *command_named(const char *name);

/* The options of every command. A command may have its own option of the same name instead. */
extern const struct option common_options[];

/* Returns true if the command has its own option in place of this common one. */
bool command_replaces(const struct command *command, const struct option *common);

/*
 * Returns how many words ahead of the command are common options: for "-d NAME run list", 2. The last option may lack its value. The first
 * word that is not a common option ends the count.
 */
int command_options_ahead(int count, char *const *words);

/*
 * Returns the command that the first words name, and sets used to the number of these words; NULL if there is none. Sets group to true if
 * the first word is only the beginning of commands ("run").
 */
const struct command *command_find(int count, char *const *words, int *used, bool *group);

#endif
