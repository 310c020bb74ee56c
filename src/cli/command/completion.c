/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/completion.h"

#include "base/json_read.h"
#include "cli/command/check.h"
#include "cli/command/command.h"
#include "cli/command/run_id.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <unistd.h>

#define OFFERED_MAX "200" /* workflows */

enum {
    NAME_MAX_SIZE = 210, /* of a workflow and its pattern */
    RUNS_OFFERED = 50,
    TIME_MAX_S = 2, /* a shell waits at most this long for names */
};

static bool
begins(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Returns the word of a command's name at the place of the last typed word, if all words match the name so far; else NULL. */
static const char *
next_word(const struct command *command, int count, char *const *words, size_t *size)
{
    const char *at = command->name;

    for (int word = 0; word < count - 1; word++) {
        *size = strlen(words[word]);
        if (strncmp(at, words[word], *size) != 0 || at[*size] != ' ')
            return NULL;
        at += *size + 1;
    }
    *size = strcspn(at, " ");
    return begins(at, words[count - 1]) ? at : NULL;
}

/* Lists each possible word once, even if several commands have it. */
static void
list_names(FILE *out, int count, char *const *words)
{
    const struct command *command;
    const char *word;
    size_t size;

    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        bool known = false;

        word = next_word(command, count, words, &size);
        for (size_t j = 0; word != NULL && j < i && !known; j++) {
            size_t other_size;
            const char *other = next_word(command_at(j), count, words, &other_size);

            known = other != NULL && other_size == size && strncmp(other, word, size) == 0;
        }
        if (word != NULL && !known)
            (void)fprintf(out, "%.*s\n", (int)size, word);
    }
}

static void
list_options(
    FILE *out, const struct option *options, const char *beginning, const struct command *without)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (begins(options->name, beginning) &&
            (without == NULL || !command_replaces(without, options)))
            (void)fprintf(out, "--%s\n", options->name);
}

/* A word typed in lower case is completed in lower case: choices may be typed in any case, and shells compare letters. */
static void
list_choices(FILE *out, const char *choices, const char *typed)
{
    size_t typed_size = strlen(typed);
    bool lower = typed_size > 0 && strpbrk(typed, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL;

    while (*choices != '\0') {
        size_t size = strcspn(choices, " ");

        if (typed_size <= size && strncasecmp(choices, typed, typed_size) == 0) {
            for (size_t i = 0; i < size; i++)
                (void)fputc(lower ? tolower((unsigned char)choices[i]) : choices[i], out);
            (void)fputc('\n', out);
        }
        choices += size;
        choices += strspn(choices, " ");
    }
}

/* --- names from the database --- */

/* Lists a name only if it begins with the typed word. */
struct offer {
    FILE *out;
    const char *typed;
};

/*
 * A shell puts an offered name on the command line as it is. Names of pawl have only these characters; a schema of that name that another role
 * owns could return a name that the shell would execute. A # begins a comment only at the beginning of a word.
 */
static bool
is_harmless(const char *name)
{
    return name[0] != '-' && name[0] != '#' &&
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-#")] ==
        '\0';
}

static void
offer_name(const struct offer *offer, const char *name)
{
    if (name != NULL && begins(name, offer->typed) && is_harmless(name))
        (void)fprintf(offer->out, "%s\n", name);
}

static void
offer_run(void *context, const pawl_rows *rows, size_t row)
{
    offer_name(context, pawl_rows_text(rows, row, "run_id"));
}

static void
list_workflows(struct invocation *invocation, const struct offer *offer, bool flows)
{
    pawl_rows *rows = NULL;
    char pattern[NAME_MAX_SIZE];

    (void)snprintf(pattern, sizeof(pattern), "%s*", offer->typed);
    (void)invocation_verb(invocation, &rows, "list_workflows", "only_workflow", pattern,
        "only_flows", flows ? "true" : NULL, "max_rows", OFFERED_MAX, NULL);
    for (size_t row = 0; row < pawl_rows_count(rows); row++)
        offer_name(offer, pawl_rows_text(rows, row, "workflow"));
    pawl_rows_free(rows);
}

static void
list_queues(struct invocation *invocation, const struct offer *offer)
{
    pawl_rows *rows = NULL;

    (void)invocation_verb(invocation, &rows, "list_queues", NULL);
    for (size_t row = 0; row < pawl_rows_count(rows); row++)
        offer_name(offer, pawl_rows_text(rows, row, "queue"));
    pawl_rows_free(rows);
}

/* The steps of a run that have a record or are in progress. */
static void
list_steps(struct invocation *invocation, const struct offer *offer, const char *run)
{
    pawl_rows *rows = NULL;
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    const char *steps;

    (void)invocation_verb(invocation, &rows, "get_run", "run", run, NULL);
    steps = pawl_rows_text(rows, 0, "steps");
    if (steps != NULL) {
        pw_json_walk(&walk, (struct pw_json){steps, strlen(steps)});
        while (pw_json_walk_next(&walk, &key, &value)) {
            char name[NAME_MAX_SIZE];

            if (pawl_json_text((pawl_bytes){value.data, value.size}, "/name", name, sizeof(name)) ==
                PAWL_OK)
                offer_name(offer, name);
        }
    }
    pawl_rows_free(rows);
}

/* Lists the approvals or signals, as kind says, that a run waits for. */
static void
list_waits(
    struct invocation *invocation, const struct offer *offer, const char *run, const char *kind)
{
    pawl_rows *rows = NULL;

    (void)invocation_verb(invocation, &rows, "list_waits", "only_run", run, NULL);
    for (size_t row = 0; row < pawl_rows_count(rows); row++) {
        const char *what = pawl_rows_text(rows, row, "kind");

        if (what != NULL && strcmp(what, kind) == 0)
            offer_name(offer, pawl_rows_text(rows, row, "topic"));
    }
    pawl_rows_free(rows);
}

/* Lists what the run that was typed ahead has, which may be the beginning of an id. */
static void
list_of_run(
    struct invocation *invocation, const struct offer *offer, enum kind kind, const char *run)
{
    if (run == NULL ||
        (!check_is_run_id(run) &&
            (!run_id_is_beginning(run) || run_id_complete(invocation, &run) != EXIT_OK)))
        return;
    if (kind == KIND_STEP)
        list_steps(invocation, offer, run);
    else
        list_waits(invocation, offer, run, kind == KIND_SIGNAL ? "signal" : "approval");
}

/* Ends the program: the shell then offers nothing. */
static void
give_up(int number)
{
    (void)number;
    _exit(EXIT_NOT_FOUND);
}

/* Limits the time of the whole program, including that of connecting, so that no shell hangs with the database. */
static void
limit_time(void)
{
    const struct sigaction end = {.sa_handler = give_up};
    const struct itimerval limit = {.it_value.tv_sec = TIME_MAX_S};

    (void)sigaction(SIGALRM, &end, NULL);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
}

/* Lists the values of an option or operand of this kind. run: the run that was typed ahead, or NULL. Returns EXIT_OK if a file name is possible as well. */
static int
list_values(FILE *out, struct invocation *invocation, enum kind kind, const char *choices,
    const char *run, const char *typed)
{
    struct offer offer = {out, typed};

    switch ((int)kind) {
    case KIND_CHOICE:
        list_choices(out, choices, typed);
        return EXIT_NOT_FOUND;
    case KIND_WORKFLOW:
        limit_time();
        list_workflows(invocation, &offer, begins(invocation->command->name, "flow "));
        return EXIT_NOT_FOUND;
    case KIND_QUEUE:
        limit_time();
        list_queues(invocation, &offer);
        return EXIT_NOT_FOUND;
    case KIND_RUN:
        limit_time();
        (void)run_id_search(invocation, run_id_is_beginning(typed) ? typed : "", RUNS_OFFERED,
            offer_run, &offer, NULL);
        return EXIT_NOT_FOUND;
    case KIND_STEP:
    case KIND_APPROVAL:
    case KIND_SIGNAL:
        limit_time();
        list_of_run(invocation, &offer, kind, run);
        return EXIT_NOT_FOUND;
    case KIND_TEXT:
    case KIND_FILE:
    case KIND_JSON:
        return EXIT_OK;
    default:
        return EXIT_NOT_FOUND;
    }
}

/* --- the place of the last word --- */

/* The option that a word stands for and that takes a value, or NULL. */
static const struct option *
find_taking(const struct option *options, const char *word)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (options->kind != KIND_FLAG &&
            ((begins(word, "--") && strcmp(word + 2, options->name) == 0) ||
                (word[0] == '-' && word[1] == options->letter && options->letter != 0 &&
                    word[2] == '\0')))
            return options;
    return NULL;
}

/* The same for a command, which may be NULL: then only common options count. */
static const struct option *
find_option_taking(const struct command *command, const char *word)
{
    const struct option *option = command != NULL ? find_taking(command->options, word) : NULL;

    return option != NULL ? option : find_taking(common_options, word);
}

/* The place of the last word: the option whose value it is, or the operand. */
struct place {
    const struct option *option;
    const struct operand *operand;
    const char *run; /* the first word that names a run, or NULL */
    bool rest;       /* after "--": arguments of another program */
};

static struct place
find_place(struct invocation *invocation, const struct command *command, int count, char **words)
{
    struct place place = {.operand = command != NULL ? command->operands : NULL};

    for (int i = 0; i < count; i++) {
        const struct option *option = find_option_taking(command, words[i]);

        place.option = NULL;
        if (strcmp(words[i], "--") == 0) {
            place.rest = true;
            return place;
        }
        if (option != NULL && i + 1 == count)
            place.option = option;
        else if (option != NULL)
            i++;
        else if (words[i][0] != '-' && place.operand != NULL && place.operand->kind != KIND_END) {
            if (place.operand->kind == KIND_RUN && place.run == NULL)
                place.run = words[i];
            if (!place.operand->many)
                place.operand++;
        }
        if (option != NULL && i < count && strcmp(option->name, "database") == 0 &&
            place.option == NULL)
            (void)invocation_add_database(invocation, words[i]);
        if (begins(words[i], "--database=") || (begins(words[i], "-d") && words[i][2] != '\0'))
            (void)invocation_add_database(invocation, words[i] + (words[i][1] == 'd' ? 2 : 11));
    }
    return place;
}

int
completion_list(FILE *out, struct invocation *invocation, int count, char **words)
{
    int ahead = count > 0 ? command_options_ahead(count - 1, words) : 0;
    const struct command *command;
    const char *last;
    struct place place;
    int used = 0;
    bool group = false;

    if (count == 0)
        return EXIT_OK;
    last = words[count - 1];
    place = find_place(invocation, NULL, ahead, words);
    if (place.option != NULL)
        return list_values(out, invocation, place.option->kind, place.option->choices, NULL, last);
    words += ahead;
    count -= ahead;
    command = command_find(count - 1, words, &used, &group);
    if (command == NULL) {
        if (count == 1 && begins(last, "-"))
            list_options(out, common_options, begins(last, "--") ? last + 2 : "", NULL);
        else
            list_names(out, count, words);
        return EXIT_NOT_FOUND;
    }
    place = find_place(invocation, command, count - 1 - used, words + used);
    if (place.rest)
        return EXIT_OK;
    if (place.option != NULL)
        return list_values(
            out, invocation, place.option->kind, place.option->choices, place.run, last);
    if (begins(last, "-")) {
        const char *name = begins(last, "--") ? last + 2 : "";

        list_options(out, command->options, name, NULL);
        list_options(out, common_options, name, command);
        return EXIT_NOT_FOUND;
    }
    if (count - 1 == used)
        list_names(out, count, words);
    if (place.operand == NULL || place.operand->kind == KIND_END)
        return EXIT_NOT_FOUND;
    invocation->command = command;
    return list_values(
        out, invocation, place.operand->kind, place.operand->choices, place.run, last);
}

static const struct {
    const char *shell;
    const char *script;
} scripts[] = {
    {"bash",
        "_pawl()\n"
        "{\n"
        "    local IFS=$'\\n' line=$COMP_LINE part code i n=-1\n"
        "    local -a words=()\n"
        /* bash divides words at ":" and "=", too, as in a URI or --status=ERROR: parts without a blank between them are one word. */
        "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
        "        part=${COMP_WORDS[i]}\n"
        "        case $line in\n"
        "        '' | [[:blank:]]*) words[++n]=$part ;;\n"
        "        *) if ((i == 0)); then words[++n]=$part; else words[n]+=$part; fi ;;\n"
        "        esac\n"
        "        line=${line#*\"$part\"}\n"
        "    done\n"
        "    COMPREPLY=($(pawl complete -- \"${words[@]:1}\" 2>/dev/null))\n"
        "    code=$?\n"
        /* Only the last part is replaced. */
        "    case $part in [:=]) part= ;; esac\n"
        "    COMPREPLY=(\"${COMPREPLY[@]#\"${words[n]%\"$part\"}\"}\")\n"
        "    if [ -z \"${COMPREPLY[*]}\" ]; then COMPREPLY=(); fi\n"
        "    if [ $code = 3 ]; then compopt +o default 2>/dev/null; fi\n"
        "}\n"
        "complete -o default -F _pawl pawl\n"},
    {"zsh",
        "#compdef pawl\n"
        "_pawl()\n"
        "{\n"
        "    local -a found\n"
        "    local text code\n"
        "    text=\"$(pawl complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"\n"
        "    code=$?\n"
        "    found=(${(f)text})\n"
        "    if (( $#found )); then compadd -- $found; elif (( code != 3 )); then _files; fi\n"
        "}\n"
        /* zsh loads this file as the body of the function _pawl, at its first call. */
        "if [[ $funcstack[1] == _pawl ]]; then _pawl \"$@\"; else compdef _pawl pawl; fi\n"},
    {"fish",
        "function __pawl_complete\n"
        "    set -l words (commandline -opc) (commandline -ct)\n"
        "    set -l found (pawl complete -- $words[2..] 2>/dev/null)\n"
        "    set -l code $status\n"
        "    if set -q found[1]\n"
        "        printf '%s\\n' $found\n"
        "    else if test $code != 3\n"
        "        __fish_complete_path (commandline -ct)\n"
        "    end\n"
        "end\n"
        "complete -c pawl -f -a '(__pawl_complete)'\n"},
};

bool
completion_script(FILE *out, const char *shell)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        if (strcmp(scripts[i].shell, shell) == 0) {
            (void)fputs(scripts[i].script, out);
            return true;
        }
    }
    return false;
}
