/* SPDX-License-Identifier: Apache-2.0 */
/* Rows made by hand: values of the wrong type, size or form are never taken for others. */
#include "pg/row.h"
#include "pg/stmt.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* One row of one column. A size below 0 is null. */
static struct pw_rows
make_row(unsigned type, int format, const char *data, int size)
{
    char name[] = "n";
    char value[256];
    PGresAttDesc column = {.name = name, .typid = type, .format = format};
    struct pw_rows rows = {PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK)};

    if (size > 0)
        memcpy(value, data, (size_t)size);
    assert_int_equal(PQsetResultAttrs(rows.result, 1, &column), 1);
    assert_int_equal(PQsetvalue(rows.result, 0, 0, size < 0 ? NULL : value, size), 1);
    return rows;
}

static void
a_value_of_another_type_or_size_is_not_read(void **state)
{
    static const struct {
        unsigned type;
        int format;
        int size;
        bool is_bool, is_int4, is_int8, is_uuid, is_text;
    } cases[] = {
        {PW_TYPE_BOOL, 1, 1, true, false, false, false, false},
        {PW_TYPE_BOOL, 1, 2, false, false, false, false, false},
        {PW_TYPE_INT4, 1, 4, false, true, false, false, false},
        {PW_TYPE_INT4, 1, 8, false, false, false, false, false},
        {PW_TYPE_INT8, 1, 8, false, false, true, false, false},
        {PW_TYPE_INT8, 0, 8, false, false, false, false, true},
        {PW_TYPE_UUID, 1, 16, false, false, false, true, false},
        {PW_TYPE_TEXT, 1, 4, false, false, false, false, true},
        {PW_TYPE_JSON, 1, 0, false, false, false, false, true},
        {19, 1, 3, false, false, false, false, true},
        {1043, 1, 3, false, false, false, false, true},
        {705, 1, 3, false, false, false, false, true},
        {3802, 1, 5, false, false, false, false, false}, /* jsonb has a byte before its text */
        {PW_TYPE_TEXT, 1, -1, false, false, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pw_rows rows =
            make_row(cases[i].type, cases[i].format, "\1xxxxxxxxxxxxxxxxxxx", cases[i].size);
        bool truth;
        int32_t small;
        int64_t large;
        struct pw_uuid id;

        assert_int_equal(pw_rows_bool(&rows, 0, 0, &truth), cases[i].is_bool);
        assert_int_equal(pw_rows_int4(&rows, 0, 0, &small), cases[i].is_int4);
        assert_int_equal(pw_rows_int8(&rows, 0, 0, &large), cases[i].is_int8);
        assert_int_equal(pw_rows_uuid(&rows, 0, 0, &id), cases[i].is_uuid);
        assert_int_equal(pw_rows_text(&rows, 0, 0) != NULL, cases[i].is_text);
        pw_rows_done(&rows);
    }
}

static void
a_place_that_there_is_not_is_null(void **state)
{
    struct pw_rows rows = make_row(PW_TYPE_TEXT, 1, "x", 1);
    struct pw_rows none = {NULL};

    (void)state;
    assert_non_null(pw_rows_text(&rows, 0, 0));
    assert_null(pw_rows_text(&rows, 1, 0));
    assert_null(pw_rows_text(&rows, -1, 0));
    assert_null(pw_rows_text(&rows, 0, 1));
    assert_null(pw_rows_text(&rows, 0, -1));
    assert_string_equal(pw_rows_name(&rows, 0), "n");
    assert_null(pw_rows_name(&rows, 1));
    assert_null(pw_rows_name(&rows, -1));
    pw_rows_done(&rows);
    pw_rows_done(&rows);
    assert_int_equal(pw_rows_count(&none), 0);
    assert_int_equal(pw_rows_columns(&none), 0);
    assert_null(pw_rows_text(&none, 0, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_another_type_or_size_is_not_read),
        cmocka_unit_test(a_place_that_there_is_not_is_null),
    };

    return cmocka_run_group_tests_name("pg/row", tests, NULL, NULL);
}
