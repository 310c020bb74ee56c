/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a request: path, query and body become named values of a SQL function. A field that the route does not have is refused. */
#ifndef PW_SERVER_API_ARGUMENTS_H
#define PW_SERVER_API_ARGUMENTS_H

#include "base/arena.h"
#include "server/api/problem.h"
#include "server/api/route.h"

#include <pawl/pawl.h>
#include <stdbool.h>

enum {
    ARGUMENTS_MAX = 32,
};

struct arguments {
    const char *names[ARGUMENTS_MAX];
    const char *values[ARGUMENTS_MAX];
    size_t count;
};

/*
 * Reads the arguments of a request. query has no question mark, and is "" if there is none; body has no data if there is none. Texts are
 * in the arena. Returns false after setting the problem.
 */
bool arguments_read(struct arguments *arguments, const struct route_match *match, const char *query,
    pawl_bytes body, struct pw_arena *arena, struct problem *problem);

/* Returns the value of an argument, or NULL. */
const char *arguments_get(const struct arguments *arguments, const char *name);

/* Sets the value of an argument, which must live as long as the arguments. */
void arguments_set(struct arguments *arguments, const char *name, const char *value);

#endif
