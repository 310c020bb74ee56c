/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a sandbox, one in each line, +RULE for --allow, =LIMIT for --limit, -NAME for --env, and the last a variable: a limit is never more than was asked for, and no variable passes that was not named. */
#include "cli/command/invocation.h"
#include "cli/exec/sandbox_options.h"
#include "cli/report/exit.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MAX = 20
};

/* Whether a variable has the name of one that every program gets, or of one that was named. */
static bool
second_opinion(const struct invocation *invocation, const char *variable)
{
    if (strncmp(variable, "LANG=", 5) == 0 || strncmp(variable, "LANGUAGE=", 9) == 0 ||
        strncmp(variable, "LC_", 3) == 0 || strncmp(variable, "TZ=", 3) == 0)
        return true;
    for (size_t i = 0; i < invocation->given_count; i++) {
        const char *name = invocation->given[i].value;
        char wanted[300];

        if (strcmp(invocation->given[i].option->name, "env") != 0) {
            if (strncmp(name, "env=", 4) != 0)
                continue;
            name += 4;
        }
        if (strlen(name) > sizeof(wanted) - 2)
            continue;
        (void)snprintf(wanted, sizeof(wanted), "%s=", name);
        if (strncmp(variable, wanted, strlen(wanted)) == 0)
            return true;
    }
    return false;
}

static void
look_at(const struct invocation *invocation, const char *variable)
{
    struct sandbox sandbox;
    int code = sandbox_options_read(&sandbox, invocation);

    fuzz_check(sandbox.limit_count <= SANDBOX_LIMITS, "more limits than there are");
    if (code != EXIT_OK) {
        sandbox_done(&sandbox);
        return;
    }
    for (size_t i = 0; i < sandbox.limit_count; i++)
        fuzz_check(sandbox.limits[i].most.rlim_cur == sandbox.limits[i].most.rlim_max &&
                sandbox.limits[i].most.rlim_cur > 0 &&
                sandbox.limits[i].most.rlim_cur <= INT64_MAX / 2,
            "a limit that is none");
    fuzz_check(!sandbox_passes(&sandbox, "PGPASSWORD=x") &&
            !sandbox_passes(&sandbox, "PAWL_DATABASE_URL=x"),
        "a way to the database");
    if (sandbox.on && strlen(variable) < 200)
        fuzz_check(sandbox_passes(&sandbox, variable) == second_opinion(invocation, variable),
            "two opinions about a variable");
    sandbox_done(&sandbox);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char program[] = "true";
    static char exec[] = "--exec";
    static char allow[] = "--allow";
    static char limit[] = "--limit";
    static char env[] = "--env";
    static char sandbox[] = "--sandbox";
    static char worker[] = "worker";
    static char run[] = "run";
    struct fuzz_input input = fuzz_input(data, size);
    char *lines[WORDS_MAX + 1] = {NULL};
    char *words[2 * WORDS_MAX + 8] = {worker, run, exec, program, sandbox};
    struct fuzz_printed printed;
    const struct command *command;
    struct invocation invocation;
    int count = 5;
    int lines_count = 0;
    int used = 0;
    bool group = false;

    while (lines_count < WORDS_MAX && (lines[lines_count] = fuzz_line(&input)) != NULL) {
        char mark = lines[lines_count][0];

        if (mark == '+' || mark == '=' || mark == '-') {
            words[count++] = mark == '+' ? allow : mark == '=' ? limit : env;
            words[count++] = lines[lines_count] + 1;
        }
        lines_count++;
    }
    fuzz_print_begin(&printed);
    command = command_find(count, words, &used, &group);
    fuzz_check(command != NULL, "pawl worker run is gone");
    (void)invocation_read(&invocation, command, count - used, words + used);
    look_at(&invocation, lines_count > 0 ? lines[lines_count - 1] : "");
    invocation_done(&invocation);
    fuzz_print_end(&printed);
    while (lines_count > 0)
        free(lines[--lines_count]);
    return 0;
}
