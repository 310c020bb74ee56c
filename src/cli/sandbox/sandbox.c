/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sandbox/sandbox.h"

#include <stdlib.h>
#include <string.h>

/* Beginnings of variables that reveal nothing about the worker. With its "=", a beginning is a whole name. */
static const char *const passed[] = {"LANG=", "LANGUAGE=", "LC_", "TZ="};

bool
sandbox_allow(struct sandbox *sandbox, enum sandbox_permission_kind kind, const char *value)
{
    struct sandbox_permission *larger =
        realloc(sandbox->permissions, (sandbox->permission_count + 1) * sizeof(*larger));

    if (larger == NULL)
        return false;
    larger[sandbox->permission_count++] = (struct sandbox_permission){kind, value};
    sandbox->permissions = larger;
    return true;
}

void
sandbox_done(struct sandbox *sandbox)
{
    free(sandbox->permissions);
    sandbox->permissions = NULL;
    sandbox->permission_count = 0;
}

/* Returns true if "NAME=VALUE" has this name. */
static bool
has_name(const char *variable, const char *name)
{
    size_t size = strlen(name);

    return strncmp(variable, name, size) == 0 && variable[size] == '=';
}

bool
sandbox_passes(const struct sandbox *sandbox, const char *variable)
{
    /* guard:variables_chosen */
    if (sandbox == NULL || !sandbox->choosing)
        return true;
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        if (strncmp(variable, passed[i], strlen(passed[i])) == 0)
            return true;
    for (size_t i = 0; i < sandbox->permission_count; i++)
        if (sandbox->permissions[i].kind == SANDBOX_VARIABLE &&
            has_name(variable, sandbox->permissions[i].value))
            return true;
    return false;
}
