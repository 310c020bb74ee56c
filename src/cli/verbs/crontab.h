/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a crontab: what each asks for, or why it cannot be a schedule. Reads text only; no file and no database. */
#ifndef PW_CLI_VERBS_CRONTAB_H
#define PW_CLI_VERBS_CRONTAB_H

#include <stdbool.h>
#include <stddef.h>

enum {
    CRONTAB_SETTINGS_MAX = 100,
    CRONTAB_WORD_SIZE = 200,
};

enum crontab_kind {
    CRONTAB_NOTHING, /* an empty line or a comment */
    CRONTAB_SETTING, /* NAME=VALUE, which holds for the lines below it */
    CRONTAB_JOB,
    CRONTAB_REFUSED, /* problem tells why */
};

/* One line. Texts are borrowed from the line, which is changed. */
struct crontab_line {
    enum crontab_kind kind;
    char cron[CRONTAB_WORD_SIZE]; /* five fields with a space between them, or @daily and others */
    const char *user;             /* of a system crontab; else NULL */
    char *command;                /* one line of shell; of a setting its value */
    char *input;      /* what follows the first %, for standard input; NULL: nothing does */
    const char *name; /* of a setting */
    const char *problem;
};

/*
 * Reads a line without its newline. system: the sixth word is a user, as in /etc/crontab. A % in the command ends it, and each further one is
 * a newline of the input, unless a backslash precedes it.
 */
void crontab_read(struct crontab_line *line, char *text, bool system);

/*
 * Writes a name for a schedule: of the command's first word, and of a digest of the whole line, its user, and the zone that the crontab gives it
 * (NULL: none), so that it stays the same.
 */
void crontab_name(
    const struct crontab_line *line, const char *zone, char name[static CRONTAB_WORD_SIZE]);

#endif
