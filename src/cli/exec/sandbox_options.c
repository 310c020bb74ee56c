/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec/sandbox_options.h"

#include "base/text.h"
#include "cli/report/exit.h"
#include "cli/show/time_text.h"

#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
} resources[SANDBOX_LIMITS] = {
    {"memory", RLIMIT_AS},
    {"cpu", RLIMIT_CPU},
    {"file", RLIMIT_FSIZE},
    {"files", RLIMIT_NOFILE},
};

/* Returns the value of "NAME=VALUE" if it has this name, else NULL. */
static const char *
value_of(const char *text, const char *name)
{
    size_t size = strlen(name);

    return strncmp(text, name, size) == 0 && text[size] == '=' ? text + size + 1 : NULL;
}

static bool
read_amount(int resource, const char *text, int64_t *amount)
{
    if (resource == RLIMIT_NOFILE)
        return pw_parse_i64(text, 8, 1048576, amount);
    if (resource != RLIMIT_CPU)
        return pw_parse_size(text, 1, INT64_MAX / 2, amount);
    *amount = time_text_duration_ms(text);
    if (*amount < 1)
        return false;
    *amount = (*amount + 999) / 1000;
    return true;
}

static int
read_limit(struct sandbox *sandbox, const char *text)
{
    for (size_t i = 0; i < SANDBOX_LIMITS; i++) {
        const char *value = value_of(text, resources[i].name);
        int64_t amount = 0;

        if (value == NULL || sandbox->limit_count == SANDBOX_LIMITS ||
            !read_amount(resources[i].resource, value, &amount))
            continue;
        sandbox->limits[sandbox->limit_count].resource = resources[i].resource;
        sandbox->limits[sandbox->limit_count].most =
            (struct rlimit){.rlim_cur = (rlim_t)amount, .rlim_max = (rlim_t)amount};
        sandbox->limit_count++;
        return EXIT_OK;
    }
    return exit_saying(EXIT_USAGE,
        "Write: --limit memory=512MB, --limit cpu=60s, --limit file=1GB or --limit files=100",
        "--limit cannot be \"%s\"", text);
}

static int
allow(struct sandbox *sandbox, enum sandbox_permission_kind kind, const char *value)
{
    return sandbox_allow(sandbox, kind, value) ? EXIT_OK
                                               : exit_saying(EXIT_OTHER, NULL, "out of memory");
}

/* Adds a variable that the program gets. Variables that lead to the database reach no program, even if an option names them. */
static int
read_variable(struct sandbox *sandbox, const char *option, const char *name)
{
    if (name[0] == '\0' || strchr(name, '=') != NULL)
        return exit_saying(EXIT_USAGE, "Write: --env NAME", "--%s cannot be \"%s\"", option, name);
    if (strncmp(name, "PG", 2) == 0 || strncmp(name, "PAWL_", 5) == 0)
        return exit_saying(EXIT_USAGE,
            "Give the program a variable with another name, or a file that it reads.",
            "\"%s\" cannot be passed on: no program gets PG* or PAWL_* of the worker", name);
    sandbox->choosing = true;
    return allow(sandbox, SANDBOX_VARIABLE, name);
}

static int
read_allowed(struct sandbox *sandbox, const char *text)
{
    const char *readable = value_of(text, "read");
    const char *writable = value_of(text, "write");
    const char *path = readable != NULL ? readable : writable;
    const char *name = value_of(text, "env");

    if (strcmp(text, "network") == 0) {
        sandbox->network = true;
        return EXIT_OK;
    }
    if (path != NULL && access(path, F_OK) != 0)
        return exit_saying(EXIT_USAGE, NULL, "--allow names \"%s\": %m", path);
    if (path != NULL)
        return allow(sandbox, readable != NULL ? SANDBOX_READ : SANDBOX_WRITE, path);
    if (name != NULL && name[0] != '\0')
        return read_variable(sandbox, "allow env", name);
    return exit_saying(EXIT_USAGE,
        "Write: --allow read=PATH, --allow write=PATH, --allow env=NAME or --allow network",
        "--allow cannot be \"%s\"", text);
}

/*
 * Programs may read the directory in which the worker was started, unless it is the home of its user or contains it. They may never read /
 * in this way: services are started there, and it would be everything.
 */
static bool
may_read_here(void)
{
    const struct passwd *user = getpwuid(geteuid());
    const char *homes[] = {getenv("HOME"), user != NULL ? user->pw_dir : NULL};
    char here[PATH_MAX];
    size_t size;

    if (getcwd(here, sizeof(here)) == NULL || here[1] == '\0')
        return false;
    size = strlen(here);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        char home[PATH_MAX];

        if (homes[i] != NULL && realpath(homes[i], home) != NULL &&
            strncmp(home, here, size) == 0 && (home[size] == '/' || home[size] == '\0'))
            return false;
    }
    return true;
}

int
sandbox_options_read(struct sandbox *sandbox, const struct invocation *invocation)
{
    int code = EXIT_OK;

    *sandbox = (struct sandbox){.on = invocation_has(invocation, "sandbox")};
    sandbox->choosing = sandbox->on;
    if (!sandbox->on && invocation_has(invocation, "allow"))
        return exit_saying(EXIT_USAGE, NULL, "--allow makes sense with --sandbox only");
    for (size_t i = 0; i < invocation->given_count && code == EXIT_OK; i++) {
        const char *option = invocation->given[i].option->name;

        if (strcmp(option, "limit") == 0)
            code = read_limit(sandbox, invocation->given[i].value);
        if (strcmp(option, "allow") == 0)
            code = read_allowed(sandbox, invocation->given[i].value);
        if (strcmp(option, "env") == 0)
            code = read_variable(sandbox, option, invocation->given[i].value);
    }
    sandbox->here = code == EXIT_OK && sandbox->on && may_read_here();
    if (code == EXIT_OK && sandbox->on && !sandbox->here)
        (void)fprintf(stderr,
            "pawl: programs cannot read the current directory, for a home directory is in it; "
            "--allow read=. lets them\n");
    return code;
}
