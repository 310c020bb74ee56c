/* SPDX-License-Identifier: Apache-2.0 */
/* SQL of the player itself, as a program with its own driver would send it: in a connection of its own. */
#include "play.h"

bool
script_run(struct play *play, const char *script, const char **message)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_admin_script(NULL, script, &error);

    if (message != NULL)
        *message = pool_printf(play->pool, "%s", pawl_error_message(error));
    pawl_error_free(error);
    return status == PAWL_OK;
}

const char *
script_quote(struct play *play, const char *text)
{
    struct text out = {0};

    text_say(&out, "'");
    for (; *text != '\0'; text++)
        text_add(&out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    text_say(&out, "'");
    return text_take(&out, play->pool).data;
}
