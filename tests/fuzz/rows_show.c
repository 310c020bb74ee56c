/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any columns and types, shown in each way there is: a table does a terminal no harm, and JSON is JSON. */
#include "base/json_read.h"
#include "cli/command/invocation.h"
#include "cli/command/rows.h"
#include "cli/report/exit.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Whether the database can have said that: what it calls JSON or a number is one. */
static bool
is_honest(const pawl_rows *rows)
{
    for (size_t i = 0; i < pawl_rows_column_count(rows); i++) {
        const char *name = pawl_rows_column_name(rows, i);
        int type = pawl_rows_type(rows, name);

        for (size_t row = 0; row < pawl_rows_count(rows); row++) {
            const char *text = pawl_rows_text(rows, row, name);
            bool needs = type == PAWL_TYPE_JSON || type == PAWL_TYPE_NUMBER;

            if (text != NULL && needs && !pw_json_valid((struct pw_json){text, strlen(text)}))
                return false;
        }
    }
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct command command = {.name = "fuzz"};
    struct fuzz_input input = fuzz_input(data, size);
    unsigned char choice = fuzz_byte(&input);
    struct invocation invocation = {
        .command = &command, .output = (enum invocation_output)(choice % 4)};
    pawl_rows *rows = fuzz_typed_rows(&input);
    struct fuzz_printed printed;

    fuzz_print_begin(&printed);
    (void)(choice / 4 % 2 == 0 ? rows_show(&invocation, rows) : rows_show_lines(&invocation, rows));
    (void)fflush(printed.out);
    if (invocation.output == OUTPUT_JSON && is_honest(rows))
        fuzz_check(pw_json_valid((struct pw_json){printed.text, printed.size}),
            "rows as JSON that is none");
    if (invocation.output == OUTPUT_TABLE || invocation.output == OUTPUT_IDS)
        fuzz_print_end(&printed);
    else
        fuzz_print_drop(&printed);
    pawl_rows_free(rows);
    return 0;
}
