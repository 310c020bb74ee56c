/* SPDX-License-Identifier: Apache-2.0 */
/* pawl install, migrate and uninstall: the engine in a database. */
#include "cli/call.h"
#include "cli/commands.h"
#include "cli/exit.h"
#include "cli/scripts.h"
#include "cli/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
run_script(struct call *call, const char *script, const char *done)
{
    pawl_config *config = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code = call_config(call, &config);

    if (code != EXIT_OK)
        return code;
    status = pawl_admin_script(config, script, &error);
    pawl_config_free(config);
    if (status != PAWL_OK)
        return exit_with(status, error);
    pawl_error_free(error);
    if (call->output == OUTPUT_TABLE)
        (void)puts(done);
    return EXIT_OK;
}

static int
install(struct call *call)
{
    char *script = unpack_install();
    int code = EXIT_OK;

    if (script == NULL)
        return EXIT_OTHER;
    if (call_has(call, "print"))
        (void)fputs(script, stdout);
    else
        code = run_script(call, script,
            strcmp(call->command->name, "migrate") == 0
                ? "pawl is up to date"
                : "pawl is installed. What next: pawl doctor, pawl --help");
    free(script);
    return code;
}

static int
uninstall(struct call *call)
{
    int code = call_confirm(call, "remove all runs, events and settings, for good");

    return code != EXIT_OK ? code : run_script(call, script_uninstall, "pawl is removed");
}

static const struct option print_options[] = {
    {.kind = KIND_FLAG,
        .name = "print",
        .summary = "print the script instead, for psql or your own tool"},
    {.kind = KIND_END},
};

const struct command cmd_install[] = {
    {.name = "install",
        .summary = "Install the engine into a database, as its owner; no extension, no superuser",
        .text = "One transaction: it is done, or not at all. Doing it again does no harm.",
        .options = print_options,
        .act = install},
    {.name = "migrate",
        .summary = "Bring an installed engine up to date",
        .text = "The same as install. Workers of the version before go on meanwhile.",
        .options = print_options,
        .act = install},
    {.name = "uninstall",
        .summary = "Remove the engine with everything it knows",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "yes", .summary = "do not ask"},
                {.kind = KIND_END},
            },
        .act = uninstall},
    {0},
};
