/* SPDX-License-Identifier: Apache-2.0 */
/* pawl worker --exec: any program as the handler of a workflow. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/exec/exec.h"
#include "cli/exec/sandbox_options.h"
#include "cli/report/exit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WORDS = 4 /* sh -c COMMAND, and the end */
};

/* Registers the handlers with the worker. words points to enough elements for all of them; they live as long as the worker. */
static int
add_handlers(const struct invocation *invocation, struct exec *exec, char **words)
{
    static char shell[] = "sh";
    static char flag[] = "-c";

    for (size_t i = 0; i < invocation->given_count; i++) {
        const char *value = invocation->given[i].value;
        const char *equals = strchr(value, '=');
        char pattern[320];
        pawl_error *error = NULL;
        pawl_status status;

        if (strcmp(invocation->given[i].option->name, "exec") != 0)
            continue;
        if (equals == NULL || equals[1] == '\0')
            return exit_saying(EXIT_USAGE, "Write: --exec 'billing.*=./handle'",
                "--exec takes PATTERN=COMMAND, not \"%s\"", value);
        (void)snprintf(pattern, sizeof(pattern), "%.*s", (int)(equals - value), value);
        words[0] = shell;
        words[1] = flag;
        words[2] = strdup(equals + 1);
        if (words[2] == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
        status = pawl_worker_handle(exec->worker, pattern, NULL, words, &error);
        if (status != PAWL_OK)
            return exit_with(status, error);
        words += WORDS;
    }
    return EXIT_OK;
}

/* Registers the handler of commands that schedules have. */
static int
add_crontab(struct exec *exec)
{
    static char self[PATH_MAX];
    static char name[] = "scheduled-command";
    static char *words[] = {self, name, NULL};
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    pawl_error *error = NULL;
    pawl_status status;

    if (size <= 0)
        return exit_saying(EXIT_OTHER, NULL, "this program's own file is not known: %m");
    self[size] = '\0';
    status = pawl_worker_handle(exec->worker, "crontab.*", NULL, words, &error);
    return status == PAWL_OK ? EXIT_OK : exit_with(status, error);
}

/* Stores --undo NAME=COMMAND as pairs. */
static int
add_undos(const struct invocation *invocation, struct exec *exec)
{
    size_t count = 0;

    exec->undos = calloc(2 * invocation->given_count + 1, sizeof(*exec->undos));
    for (size_t i = 0; exec->undos != NULL && i < invocation->given_count; i++) {
        const char *value = invocation->given[i].value;
        const char *equals = strchr(value, '=');

        if (strcmp(invocation->given[i].option->name, "undo") != 0)
            continue;
        if (equals == NULL || equals == value || equals[1] == '\0')
            return exit_saying(EXIT_USAGE, "Write: --undo 'refund=./refund'",
                "--undo takes NAME=COMMAND, not \"%s\"", value);
        exec->undos[count] = strndup(value, (size_t)(equals - value));
        exec->undos[count + 1] = strdup(equals + 1);
        if (exec->undos[count] == NULL || exec->undos[count + 1] == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
        count += 2;
    }
    return exec->undos != NULL ? EXIT_OK : exit_saying(EXIT_OTHER, NULL, "out of memory");
}

static void
free_undos(const struct invocation *invocation, char **undos)
{
    for (size_t i = 0; undos != NULL && i < 2 * invocation->given_count; i++)
        free(undos[i]);
    free(undos);
}

static int
work(struct invocation *invocation, const pawl_config *config)
{
    char **words = calloc(invocation->given_count * WORDS + 1, sizeof(*words));
    struct sandbox sandbox;
    struct exec exec = {.sandbox = &sandbox};
    int left = EXIT_OK;
    int code;

    if (words == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    code = sandbox_options_read(&sandbox, invocation);
    if (code == EXIT_OK)
        code = sandbox_probe(&sandbox);
    if (code != EXIT_OK) {
        sandbox_done(&sandbox);
        free(words);
        return code;
    }
    code = exec_init(&exec, config);
    if (code == EXIT_OK)
        code = add_handlers(invocation, &exec, words);
    if (code == EXIT_OK && invocation_has(invocation, "crontab"))
        code = add_crontab(&exec);
    if (code == EXIT_OK)
        code = add_undos(invocation, &exec);
    if (code == EXIT_OK)
        code = exec_start(&exec);
    if (code == EXIT_OK) {
        (void)fprintf(stderr, "pawl: the worker is ready; SIGTERM or Ctrl-C drains it\n");
        while (exec_turn(&exec, 1000))
            ;
    }
    left = exec_done(&exec);
    for (size_t i = 0; i < invocation->given_count; i++)
        free(words[i * WORDS + 2]);
    free(words);
    free_undos(invocation, exec.undos);
    sandbox_done(&sandbox);
    return code != EXIT_OK ? code : left;
}

static int
worker_run(struct invocation *invocation)
{
    pawl_config *config = NULL;
    int code;

    if (!invocation_has(invocation, "exec") && !invocation_has(invocation, "crontab"))
        return exit_saying(EXIT_USAGE, "Write: pawl worker --exec 'billing.*=./handle'",
            "--exec is missing: what is the worker to execute?");
    code = invocation_config(invocation, &config);
    if (code == EXIT_OK)
        code = exec_settings(invocation, config);
    if (code == EXIT_OK)
        code = work(invocation, config);
    pawl_config_free(config);
    return code;
}

const struct command cmd_worker_run[] = {
    {.name = "worker",
        .summary = "Run programs in any language as handlers",
        .text =
            "Each run is a process of its own: it reads the input, JSON, from standard input, and "
            "what it writes to standard output is the run's output: as it is if it is JSON, else "
            "as a JSON string. What it writes to standard error is kept with the run, line by "
            "line.\n\n"
            "Exit code 0 is success. 64 and 65 are permanent failures. 75, and every other code "
            "and "
            "every signal, is a failure that is retried as the workflow says.\n\n"
            "A step of a flow is a run to its program: PAWL_WORKFLOW is FLOW/STEP, the input "
            "{\"run\": input of the run, \"DEP\": output of that step, ...}. The rollback of a "
            "flow is "
            "claimed under the flow's own name, so a worker that executes undos handles FLOW*.\n\n"
            "PAWL_RUN_ID, PAWL_TASK, PAWL_WORKFLOW, PAWL_EXECUTION and PAWL_TENANT are set; PG* "
            "and "
            "PAWL_DATABASE_URL are not passed on. Shell scripts use pawl step, sleep, wait, child "
            "and set.\n\n"
            "A run that is cancelled or out of time, or whose lease is lost, is ended with its "
            "whole process group: SIGTERM, and SIGKILL after 5 seconds. When a program ends, so "
            "does everything that it has started, in other sessions too. SIGTERM drains the "
            "worker; a second one releases its runs at once.\n\n"
            "With --sandbox the kernel keeps programs in. Of files they read those of the system, "
            "the directory that the worker was started in (unless a home directory is in it) and "
            "what is allowed; they write, and change modes, owners, times and attributes, only "
            "in a temporary directory of their own, TMPDIR and HOME, which goes when they end. "
            "They cannot look into other processes, change their limits or priorities, make "
            "namespaces, or share keyrings and System V IPC; they open no socket but a local one, "
            "and gain no rights by setuid programs. Of the environment they get PATH, LANG, "
            "LC_*, TZ and PAWL_*. It needs Linux 6.2, and 6.12 to keep signals in; where it does "
            "not work the worker refuses to start. The steps of scripts work as ever.\n\n"
            "Open to a program in a sandbox: local sockets of its user, files in /etc and /opt "
            "that its user may read, names and arguments of processes, facts about files whose "
            "path it knows (not their content), locks on files that it may read. "
            "docs/guide/exec.md has the whole list.",
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 'x',
                    .name = "exec",
                    .value = "PATTERN=COMMAND",
                    .summary =
                        "execute COMMAND with sh -c for these workflows: a name, or a prefix "
                        "such as billing.*; a step of a flow is FLOW/STEP",
                    .many = true},
                {.kind = KIND_FLAG,
                    .name = "crontab",
                    .summary = "execute the commands of schedules (pawl schedule create ... -- "
                               "COMMAND): operators who create schedules decide what runs here"},
                {.kind = KIND_TEXT,
                    .name = "undo",
                    .value = "NAME=COMMAND",
                    .summary = "execute COMMAND for this undo handler of a flow's steps; the "
                               "output of the step is its standard input",
                    .many = true},
                {.kind = KIND_NUMBER,
                    .letter = 'c',
                    .name = "concurrency",
                    .value = "N",
                    .summary = "how many runs at the same time, 16 by default"},
                {.kind = KIND_TEXT,
                    .name = "set",
                    .value = "SETTING=VALUE",
                    .summary = "any setting of docs/config.md",
                    .many = true},
                {.kind = KIND_TEXT,
                    .name = "env",
                    .value = "NAME",
                    .summary = "pass on this variable of the worker and no others but LANG, LC_* "
                               "and TZ; PATH and PAWL_* are always set",
                    .many = true},
                {.kind = KIND_FLAG,
                    .name = "sandbox",
                    .summary = "keep programs from files, variables and networks that they do not "
                               "need"},
                {.kind = KIND_TEXT,
                    .name = "allow",
                    .value = "WHAT",
                    .summary = "an exception of --sandbox: read=PATH, write=PATH, env=NAME or "
                               "network",
                    .many = true},
                {.kind = KIND_TEXT,
                    .name = "limit",
                    .value = "NAME=VALUE",
                    .summary = "what each process may use: memory=512MB, cpu=60s, file=1GB (the "
                               "largest that it writes), files=100 (open at once)",
                    .many = true},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl worker --exec 'billing.*=./handle' --concurrency 4",
                    "executes ./handle for each run of these workflows"},
                {"pawl worker --exec 'backup.*=./backup' --sandbox --allow write=/srv/backups "
                 "--allow network",
                    "that may write there, use the network, and little else"},
                {NULL, NULL},
            },
        .act = worker_run},
    {0},
};
