/* SPDX-License-Identifier: Apache-2.0 */
/* pawl install, migrate and uninstall: the engine in a database. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"
#include "cli/setup/scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sets there to true if the engine answers in that database. Returns EXIT_OK, or prints why the database cannot be reached and returns the
 * exit code: without this a server that does not answer would be waited for twice.
 */
static int
find_engine(const pawl_config *config, bool *there)
{
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_status status = pawl_client_open(config, &client, &error);

    if (status == PAWL_ECONN)
        return exit_with(status, error);
    pawl_error_free(error);
    *there =
        status == PAWL_OK && pawl_client_call(client, "now", NULL, NULL, 0, NULL, NULL) == PAWL_OK;
    pawl_client_close(client);
    return EXIT_OK;
}

/* again: what is printed instead of done if the engine was there before. */
static int
run_script(struct invocation *invocation, const char *script, const char *done, const char *again)
{
    pawl_config *config = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code = invocation_config(invocation, &config);
    bool there = false;

    if (code != EXIT_OK)
        return code;
    code = find_engine(config, &there);
    if (code != EXIT_OK) {
        pawl_config_free(config);
        return code;
    }
    status = pawl_admin_script(config, script, &error);
    pawl_config_free(config);
    if (status != PAWL_OK)
        return exit_with(status, error);
    pawl_error_free(error);
    if (invocation->output == OUTPUT_TABLE)
        (void)puts(there ? again : done);
    return EXIT_OK;
}

/* Makes partitions, and removes the empty tables of old days, as the owner. If it fails, the next worker or keeper does it. */
static void
tick(struct invocation *invocation)
{
    static const char *const names[] = {"force"};
    static const char *const values[] = {"true"};
    pawl_error *error = NULL;

    if (invocation_connect(invocation) == EXIT_OK &&
        pawl_client_call(invocation->client, "tick", names, values, 1, NULL, &error) != PAWL_OK)
        pawl_error_free(error);
}

/* If nothing is installed, the user meant another database. It is in the transaction of the script, so that psql stops there, too. */
static const char only_installed[] =
    "do $pawl_migrate$\n"
    "begin\n"
    "    if pg_catalog.to_regclass('pawl_data.setting') is null then\n"
    "        raise exception using errcode = '3F000', message = 'schema \"pawl\" does not exist';\n"
    "    end if;\n"
    "end\n"
    "$pawl_migrate$;\n";

/* Returns script_install with only_installed after its first statement, to be freed, or NULL. */
static char *
guard_migrate(void)
{
    const char *begin = strstr(script_install, "\nbegin ");
    const char *rest = begin == NULL ? NULL : strchr(begin + 1, '\n');
    size_t size = rest == NULL ? 0 : strlen(script_install) + sizeof(only_installed);
    char *guarded = rest == NULL ? NULL : malloc(size);

    if (guarded != NULL)
        (void)snprintf(guarded, size, "%.*s\n%s%s", (int)(rest - script_install), script_install,
            only_installed, rest + 1);
    else
        (void)exit_saying(EXIT_OTHER, NULL, "out of memory");
    return guarded;
}

static int
send_script(struct invocation *invocation, const char *script, const char *done, const char *again)
{
    int code = EXIT_OK;

    if (invocation_has(invocation, "print"))
        (void)fputs(script, stdout);
    else
        code = run_script(invocation, script, done, again);
    if (code == EXIT_OK && !invocation_has(invocation, "print"))
        tick(invocation);
    return code;
}

static int
install(struct invocation *invocation)
{
    return send_script(invocation, script_install,
        "pawl is installed. What next: pawl doctor, pawl --help",
        "pawl was installed already. Its functions are now those of this version; runs and grants "
        "stay.");
}

static int
migrate(struct invocation *invocation)
{
    char *script = guard_migrate();
    int code = script == NULL
        ? EXIT_OTHER
        : send_script(invocation, script, "pawl is up to date", "pawl is up to date");

    free(script);
    return code;
}

static int
uninstall(struct invocation *invocation)
{
    int code = invocation_confirm(invocation, "remove all runs, events and settings permanently");

    return code != EXIT_OK
        ? code
        : run_script(invocation, script_uninstall, "pawl was not installed", "pawl is removed");
}

static const struct option print_options[] = {
    {.kind = KIND_FLAG,
        .name = "print",
        .summary = "print the script instead, for psql or your own tool"},
    {.kind = KIND_END},
};

const struct command cmd_install[] = {
    {.name = "install",
        .summary = "Install the engine in a database, as its owner",
        .text = "One transaction: it is done, or not at all. Doing it again does no harm.",
        .options = print_options,
        .act = install},
    {.name = "migrate",
        .summary = "Upgrade an installed engine",
        .text = "One transaction, as install. Workers of the version before continue while it "
                "runs. Exits "
                "with 8 if nothing is installed in the database.",
        .options = print_options,
        .act = migrate},
    {.name = "uninstall",
        .summary = "Remove the engine and all its data",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "yes", .summary = "do not ask"},
                {.kind = KIND_END},
            },
        .act = uninstall},
    {0},
};
