/* SPDX-License-Identifier: Apache-2.0 */
/* What each SQLSTATE means: one row per entry of the table, and what is in none. */
#include "pg/sqlstate.h"

#include <pawl/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *sqlstate;
    int status;
    bool retryable;
} rows[] = {
    {"PW001", PAWL_ENOTFOUND, false},
    {"PW002", PAWL_ENOTFOUND, false},
    {"PW003", PAWL_EINVAL, false},
    {"PW004", PAWL_ECONFLICT, false},
    {"PW005", PAWL_ELEASE_LOST, false},
    {"PW006", PAWL_ECANCELLED, false},
    {"PW007", PAWL_EREFUSED, false},
    {"PW008", PAWL_EDATABASE, false},
    {"PW009", PAWL_ETOOLARGE, false},
    {"PW010", PAWL_EBUSY, true},
    {"PW011", PAWL_ESCHEMA, false},
    {"PW012", PAWL_ELEASE_LOST, false},
    {"PW013", PAWL_EREFUSED, true},
    {"08007", PAWL_EUNKNOWN, true},
    {"08000", PAWL_ECONN, true},
    {"08006", PAWL_ECONN, true},
    {"08P01", PAWL_ECONN, true},
    {"25006", PAWL_ECONN, true},
    {"53300", PAWL_ECONN, true},
    {"53100", PAWL_EDATABASE, true},
    {"53200", PAWL_EDATABASE, true},
    {"57014", PAWL_EDATABASE, true},
    {"57P01", PAWL_ECONN, true},
    {"57P02", PAWL_ECONN, true},
    {"57P03", PAWL_ECONN, true},
    {"57P04", PAWL_ECONN, false},
    {"57P05", PAWL_ECONN, true},
    {"58030", PAWL_EDATABASE, true},
    {"40001", PAWL_EBUSY, true},
    {"40003", PAWL_EUNKNOWN, true},
    {"40P01", PAWL_EBUSY, true},
    {"55P03", PAWL_EBUSY, true},
    {"28000", PAWL_EFORBIDDEN, false},
    {"28P01", PAWL_EFORBIDDEN, false},
    {"42501", PAWL_EFORBIDDEN, false},
    {"3D000", PAWL_ESCHEMA, false},
    {"3F000", PAWL_ESCHEMA, false},
    {"42703", PAWL_ESCHEMA, false},
    {"42883", PAWL_ESCHEMA, false},
    {"42P01", PAWL_ESCHEMA, false},
    {"22P02", PAWL_EINVAL, false},
    {"22P05", PAWL_EINVAL, false},
    {"22008", PAWL_EINVAL, false},
    {"54000", PAWL_ETOOLARGE, false},
    {"26000", PAWL_EDATABASE, true},
    {"42P05", PAWL_EDATABASE, true},
    /* In no row of the table. */
    {"23505", PAWL_EDATABASE, false},
    {"42601", PAWL_EDATABASE, false},
    {"0A000", PAWL_EDATABASE, false},
    {"XX000", PAWL_EDATABASE, false},
    {"PW999", PAWL_EDATABASE, false},
    {"08", PAWL_EDATABASE, false},
    {"080061", PAWL_EDATABASE, false},
    {"", PAWL_EDATABASE, false},
    {NULL, PAWL_EDATABASE, false},
};

static void
every_code_has_its_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool retryable = !rows[i].retryable;

        if (pw_sqlstate_status(rows[i].sqlstate, &retryable) != rows[i].status ||
            retryable != rows[i].retryable)
            fail_msg("%s: %d, %d", rows[i].sqlstate, pw_sqlstate_status(rows[i].sqlstate, NULL),
                retryable);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_its_status),
    };

    return cmocka_run_group_tests_name("pg/sqlstate", tests, NULL, NULL);
}
