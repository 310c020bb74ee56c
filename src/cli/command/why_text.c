/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/why_text.h"

#include "base/buf.h"
#include "cli/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t text_max = (size_t)1024 * 1024;
/* Characters that no shell changes. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
static const char lower[] = "abcdefghijklmnopqrstuvwxyz_";

/* The word that precedes the name in the sentence, for each function that needs a name. */
static const struct {
    const char *verb;
    const char *noun;
} nouns[] = {
    {"emit", " event "},
    {"signal", " signal "},
    {"approve", " approval "},
    {"reject", " approval "},
    {"resume_workflow", " workflow "},
    {"resume_queue", " queue "},
    {"resume_lane", " workflow "},
};

static const struct command *
find_by_verb(const char *verb, size_t size)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (command->verb != NULL && strlen(command->verb) == size &&
            strncmp(command->verb, verb, size) == 0)
            return command;
    return NULL;
}

/* Adds the name of the thing, if the sentence has a name that needs no quotes in a shell; else the placeholder of the help. */
static void
add_name(struct pw_buf *out, const char *why, const struct command *command, const char *otherwise)
{
    const char *at = NULL;
    size_t size = 0;

    for (size_t i = 0; i < sizeof(nouns) / sizeof(nouns[0]) && at == NULL; i++)
        if (strcmp(nouns[i].verb, command->verb) == 0) {
            at = strstr(why, nouns[i].noun);
            at = at != NULL ? at + strlen(nouns[i].noun) : NULL;
        }
    if (at != NULL)
        size = strspn(at, plain);
    if (size > 0 && (at[size] == ' ' || at[size] == ','))
        pw_buf_add(out, at, size);
    else
        pw_buf_adds(out, otherwise);
}

/* "... with key "42" ..." */
static void
add_key(struct pw_buf *out, const char *why, const char *option)
{
    static const char before[] = " key \"";
    const char *at = strstr(why, before);
    size_t size = at != NULL ? strspn(at + strlen(before), plain) : 0;

    if (size == 0 || at[strlen(before) + size] != '"')
        return;
    pw_buf_adds(out, option);
    pw_buf_add(out, at + strlen(before), size);
}

static void
add_command(struct pw_buf *out, const char *why, const struct command *command, const char *run_id)
{
    pw_buf_adds(out, "pawl ");
    pw_buf_adds(out, command->name);
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++) {
        if (operand->optional && operand->kind != KIND_RUN)
            continue;
        pw_buf_addc(out, ' ');
        /* The sentence about a schedule names functions for that schedule. */
        if (operand->kind == KIND_RUN || strcmp(command->verb, "resume_schedule") == 0)
            pw_buf_adds(out, run_id);
        else
            add_name(out, why, command, operand->value);
    }
    if (strcmp(command->verb, "emit") == 0)
        add_key(out, why, " --key ");
    if (strcmp(command->verb, "resume_lane") == 0)
        add_key(out, why, " ");
    if (strcmp(command->verb, "resume_all") == 0)
        pw_buf_adds(out, " --all");
}

/* Returns the name of the workflow in a sentence about a missing worker, if it begins so; else NULL. */
static const char *
find_workflow(const char *why, const char *beginning)
{
    static const char *const before[] = {" handler for ", " last worker for ", " takes runs of "};

    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        const char *at = strstr(why, before[i]);

        if (at != NULL && strncmp(at + strlen(before[i]), beginning, strlen(beginning)) == 0)
            return at + strlen(before[i]);
    }
    return NULL;
}

/*
 * Says how to start the worker that is missing, where it is a command: for shell.HOST.FILE-DIGEST, a run of pawl run-script, and for
 * crontab.NAME. Takes made, and returns it or a longer text.
 */
static char *
add_starter(char *made, const char *run_id)
{
    static const char start[] = " Start one.";
    char *at = made == NULL ? NULL : strstr(made, start);
    const char *script = at == NULL ? NULL : find_workflow(made, "shell.");
    struct pw_buf out;

    if (at == NULL || (script == NULL && find_workflow(made, "crontab.") == NULL))
        return made;
    pw_buf_init(&out, text_max);
    pw_buf_add(&out, made, (size_t)(at - made));
    if (script != NULL) {
        script += strlen("shell.");
        pw_buf_addf(&out, " Resume it on %.*s: pawl run-script --run %s",
            (int)strcspn(script, ". ,"), script, run_id);
    } else {
        pw_buf_adds(&out, " Start one: pawl worker --crontab");
    }
    pw_buf_adds(&out, at + strlen(start));
    free(made);
    made = pw_buf_ok(&out) ? strdup(pw_buf_text(&out)) : NULL;
    pw_buf_done(&out);
    return made;
}

char *
why_text(const char *why, const char *run_id)
{
    static const char function[] = "pawl.";
    struct pw_buf out;
    const char *rest = why;
    const char *at;
    char *made;

    if (why == NULL)
        return NULL;
    pw_buf_init(&out, text_max);
    while ((at = strstr(rest, function)) != NULL) {
        const char *verb = at + strlen(function);
        size_t size = strspn(verb, lower);
        const struct command *command = at > why && at[-1] == ' ' ? find_by_verb(verb, size) : NULL;

        pw_buf_add(&out, rest, (size_t)(at - rest));
        rest = verb + size;
        if (command == NULL) {
            pw_buf_add(&out, at, (size_t)(rest - at));
            continue;
        }
        add_command(&out, why, command, run_id);
        rest += strncmp(rest, "()", 2) == 0 ? 2 : 0;
        /* A full stop would look like a part of the command. */
        if (strcmp(rest, ".") == 0)
            rest++;
    }
    pw_buf_adds(&out, rest);
    made = pw_buf_ok(&out) ? strdup(pw_buf_text(&out)) : NULL;
    pw_buf_done(&out);
    return add_starter(made, run_id);
}
