/* SPDX-License-Identifier: Apache-2.0 */
/* A statement as the library knows it: a constant with a name, a text and the types of its parameters. */
#ifndef PW_PG_STMT_H
#define PW_PG_STMT_H

#include <stdbool.h>
#include <string.h>

/* Types of parameters that we send, by PostgreSQL's numbers; they are the same on every server. */
enum pw_type {
    PW_TYPE_BOOL = 16,
    PW_TYPE_BYTEA = 17,
    PW_TYPE_INT8 = 20,
    PW_TYPE_INT4 = 23,
    PW_TYPE_TEXT = 25,
    PW_TYPE_JSON = 114,
    PW_TYPE_FLOAT8 = 701,
    PW_TYPE_UUID = 2950,
    PW_TYPE_INT4_ARRAY = 1007,
    PW_TYPE_TEXT_ARRAY = 1009,
    PW_TYPE_JSON_ARRAY = 199,
    PW_TYPE_UUID_ARRAY = 2951,
};

enum {
    PW_PARAMS_MAX = 18
};

/* Ends in a type 0. number is its place in the table of statements, so that a connection can remember whether it is prepared. */
struct pw_stmt {
    int number;
    const char *name; /* of the prepared statement: "pawl_commit" */
    const char *sql;
    unsigned types[PW_PARAMS_MAX + 1];
    bool as_text; /* results as text instead of binary */
};

/* Returns true if a statement calls a procedure. A procedure commits, so no statement can share its transaction. */
static inline bool
pw_stmt_is_call(const struct pw_stmt *stmt)
{
    return strncmp(stmt->sql, "call ", 5) == 0;
}

/* The largest number of a statement, plus one. */
enum {
    PW_STMTS_MAX = 128
};

#endif
