/* SPDX-License-Identifier: Apache-2.0 */
/* Guards of tests/mutants/list, taken out of an installed engine one by one. */
#ifndef PAWL_ORACLE_GUARD_H
#define PAWL_ORACLE_GUARD_H

#include <libpq-fe.h>
#include <stdbool.h>

/* The whole list; freed by the caller. */
char *guard_read_list(void);

/* Takes the guard out of its function, and returns the function as it was: to be executed again, and freed. */
char *guard_take_out(PGconn *conn, const char *list, const char *guard);

/* Whether the engine without this guard is noticed; number is its place in the table. */
typedef bool (*guard_fn)(void *userdata, const char *list, const char *guard, int number);

/*
 * The body of a program that asks this of a table of guards: of those that its arguments name, of "all", or without arguments of the first
 * few. Prints TAP, and returns what main returns.
 */
int guard_each(int argc, char **argv, const char *const *guards, int count, int few,
    guard_fn is_noticed, void *userdata);

#endif
