/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints docs/config.md, made from the table of settings that the library parses them with:
 *
 *     build/config_docs >docs/config.md
 */
#include "libpawl/common/config.h"

#include <pawl/config.h>
#include <stdio.h>

static const char head[] =
    "<!-- Made by tools/config_docs.c from the table in src/libpawl/common/config.c; do not edit. "
    "-->\n"
    "\n"
    "# Settings\n"
    "\n"
    "A program sets them by name on a `pawl_config`, from which clients and workers are made; each "
    "takes a copy.\n"
    "\n"
    "```c\n"
    "#include <pawl/pawl.h>\n"
    "\n"
    "static pawl_status\n"
    "open_orders(pawl_client **client, pawl_error **error)\n"
    "{\n"
    "    pawl_config *config = pawl_config_new();\n"
    "    pawl_status status = PAWL_ENOMEM;\n"
    "\n"
    "    if (config != NULL)\n"
    "        status = pawl_config_set(config, \"database\",\n"
    "            \"postgresql://db1,db2/orders?sslmode=verify-full\", error);\n"
    "    if (status == PAWL_OK)\n"
    "        status = pawl_config_set(config, \"call_timeout\", \"10s\", error);\n"
    "    if (status == PAWL_OK)\n"
    "        status = pawl_client_open(config, client, error);\n"
    "    pawl_config_free(config);\n"
    "    return status;\n"
    "}\n"
    "```\n"
    "\n"
    "A duration is a number of milliseconds, or a number followed by `ms`, `s`, `m`, `h` or `d`. A "
    "size is a number of\n"
    "bytes, or a number followed by `kB`, `MB` or `GB`; a kB is 1,024 bytes. A value that a "
    "setting "
    "does not accept is refused\n"
    "when it is set, and the error lists the accepted values. A program reads this list with "
    "`pawl_config_describe()`.\n"
    "\n"
    "| setting | default | values | what it is |\n"
    "|---|---|---|---|\n";

int
main(void)
{
    const char *name;
    const char *default_value;
    const char *text;
    char range[96];

    (void)fputs(head, stdout);
    for (size_t i = 0; pawl_config_describe(i, &name, &default_value, &text) == PAWL_OK; i++) {
        (void)pw_config_range(
            i, range, sizeof(range)); /* there is one for each that is described */
        if (default_value[0] != '\0')
            (void)printf("| `%s` | `%s` | %s | %s |\n", name, default_value, range, text);
        else
            (void)printf("| `%s` | | %s | %s |\n", name, range, text);
    }
    return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : 1;
}
