/* SPDX-License-Identifier: Apache-2.0 */
#include "server/login.h"

#include <stdio.h>
#include <string.h>

/* Calls a verb that a right is needed for, and sets the SQLSTATE of its error, "" without one. */
static pawl_status
try_verb(pawl_client *client, char sqlstate[6])
{
    pawl_error *error = NULL;
    pawl_status status = pawl_client_call(client, "list_pauses", NULL, NULL, 0, NULL, &error);

    (void)snprintf(sqlstate, 6, "%s", pawl_error_sqlstate(error));
    pawl_error_free(error);
    return status;
}

bool
login_is_gateway(const pawl_config *config)
{
    static const char no_token[32];
    const pawl_bytes digest = {no_token, sizeof(no_token)};
    pawl_client *client = NULL;
    char sqlstate[6] = "";
    bool good = true;

    if (pawl_client_open(config, &client, NULL) != PAWL_OK)
        return true;
    /* 1. Without a token a gateway may call nothing; every other login that has rights may. */
    if (try_verb(client, sqlstate) == PAWL_OK)
        good = false;
    /* 2. A gateway may ask for a token, which no caller has; a login without rights may not. */
    if (good && strcmp(sqlstate, "42501") == 0 &&
        pawl_client_act_as_token(client, digest, NULL) == PAWL_OK &&
        try_verb(client, sqlstate) == PAWL_EFORBIDDEN && strcmp(sqlstate, "42501") == 0)
        good = false;
    pawl_client_close(client);
    if (!good)
        (void)fprintf(stderr,
            "pawl-serve: the login of the server is not a gateway: create a role of its own, and "
            "grant it privilege set gateway with pawl grant\n");
    return good;
}
