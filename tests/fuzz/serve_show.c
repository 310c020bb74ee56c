/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as JSON: whatever the texts are, an object is JSON, unless a column of JSON itself is none. */
#include "base/json_read.h"
#include "fuzz.h"
#include "server/api/show.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    pawl_rows *rows = fuzz_typed_rows(&input);

    for (size_t row = 0; row < pawl_rows_count(rows); row++) {
        bool plain = true;
        struct pw_buf out;

        for (size_t i = 0; i < pawl_rows_column_count(rows); i++) {
            const char *name = pawl_rows_column_name(rows, i);
            int type = pawl_rows_type(rows, name);

            /* Names of columns, numbers and JSON come from the engine as they are. */
            plain = plain && type != PAWL_TYPE_JSON && type != PAWL_TYPE_NUMBER &&
                strcmp(name, "bars") != 0 && strpbrk(name, "\"\\") == NULL;
            for (const char *at = name; *at != '\0'; at++)
                plain = plain && *at >= ' ';
        }
        pw_buf_init(&out, (size_t)1 << 22);
        show_row(&out, rows, row, NULL);
        fuzz_check(
            !plain || !pw_buf_ok(&out) || pw_json_valid((struct pw_json){out.data, out.size}),
            "a row that is not JSON");
        pw_buf_done(&out);
    }
    pawl_rows_free(rows);
    return 0;
}
