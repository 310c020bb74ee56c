/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that pawl_client_call() supports. */
#ifndef PW_LIBPAWL_CALL_H
#define PW_LIBPAWL_CALL_H

#include "pg/stmt.h"

#include <stdbool.h>
#include <stddef.h>

/* A function of the SQL interface: arguments in the order of the parameters of its statement, ended by NULL. */
struct pw_verb {
    const char *name;
    int statement;
    bool reads; /* it changes nothing */
    const char *arguments[PW_PARAMS_MAX + 1];
};

/* Verb number index, from 0, or NULL beyond the last. */
const struct pw_verb *pw_verb_at(size_t index);

#endif
