/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of each SQLSTATE to a caller of the library. An entry for a whole code takes precedence over one for its class. */
#include "pg/sqlstate.h"

#include "pawl/error.h"

#include <stddef.h>
#include <string.h>

struct entry {
    char sqlstate[6]; /* five characters, or the two of a class */
    int status;
    bool retryable;
};

static const struct entry entries[] = {
    /* The engine's own. */
    {"PW001", PAWL_ENOTFOUND, false},
    {"PW002", PAWL_ENOTFOUND, false},
    {"PW003", PAWL_EINVAL, false},
    {"PW004", PAWL_ECONFLICT, false},
    {"PW005", PAWL_ELEASE_LOST, false},
    {"PW006", PAWL_ECANCELLED, false},
    {"PW007", PAWL_EREFUSED, false},
    /* The library pins the isolation level, except behind a pooler, where the role or the database decides. */
    {"PW008", PAWL_EDATABASE, false},
    {"PW009", PAWL_ETOOLARGE, false},
    {"PW010", PAWL_EBUSY, true},
    {"PW011", PAWL_ESCHEMA, false},
    {"PW012", PAWL_ELEASE_LOST, false},
    {"PW013", PAWL_EREFUSED, true},

    /* The connection, or a server that cannot serve at the moment. */
    {"08007", PAWL_EUNKNOWN, true},
    {"08", PAWL_ECONN, true},
    {"25006", PAWL_ECONN,
        true}, /* a standby answered: after a failover another server is to be found */
    {"53300", PAWL_ECONN, true},
    {"53", PAWL_EDATABASE, true},
    {"57014", PAWL_EDATABASE, true},
    {"57P01", PAWL_ECONN, true},
    {"57P02", PAWL_ECONN, true},
    {"57P03", PAWL_ECONN, true},
    {"57P04", PAWL_ECONN, false},
    {"57P05", PAWL_ECONN, true},
    {"58", PAWL_EDATABASE, true},

    /* Another transaction was in the way. */
    {"40001", PAWL_EBUSY, true},
    {"40003", PAWL_EUNKNOWN, true},
    {"40P01", PAWL_EBUSY, true},
    {"55P03", PAWL_EBUSY, true},

    /* Rights, and objects that are not installed. */
    {"28", PAWL_EFORBIDDEN, false},
    {"42501", PAWL_EFORBIDDEN, false},
    {"3D000", PAWL_ESCHEMA, false},
    {"3F000", PAWL_ESCHEMA, false},
    {"42703", PAWL_ESCHEMA, false},
    {"42883", PAWL_ESCHEMA, false},
    {"42P01", PAWL_ESCHEMA, false},

    /* Values that were sent. */
    {"22", PAWL_EINVAL, false},
    {"54", PAWL_ETOOLARGE, false},

    /* A prepared statement is not the one that the connection expects; the connection stops preparing. */
    {"26000", PAWL_EDATABASE, true},
    {"42P05", PAWL_EDATABASE, true},
};

static const struct entry *
find_entry(const char *sqlstate, size_t size)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (strlen(entries[i].sqlstate) == size && memcmp(entries[i].sqlstate, sqlstate, size) == 0)
            return &entries[i];
    return NULL;
}

int
pw_sqlstate_status(const char *sqlstate, bool *retryable)
{
    const struct entry *entry = NULL;

    if (sqlstate != NULL && strlen(sqlstate) == 5) {
        entry = find_entry(sqlstate, 5);
        if (entry == NULL)
            entry = find_entry(sqlstate, 2);
    }
    if (retryable != NULL)
        *retryable = entry != NULL && entry->retryable;
    return entry != NULL ? entry->status : PAWL_EDATABASE;
}
