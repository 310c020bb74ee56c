/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a scenario: which functions were called, what they traced, and the first problem. It is in
 * memory that a process of a worker shares with the player, because that process may end at any moment. Thread-safe.
 */
#ifndef PAWL_PLAYER_LEDGER_H
#define PAWL_PLAYER_LEDGER_H

#include "pool.h"

#include <stdarg.h>
#include <stdbool.h>

struct ledger;

struct ledger *ledger_new(void);
void ledger_free(struct ledger *ledger);
void ledger_clear(struct ledger *ledger);

/* Counts a call of the function of this name. Returns how many calls there have been before. */
int64_t ledger_call(struct ledger *ledger, const char *name);

void ledger_trace(struct ledger *ledger, const char *json);

/* Keeps the first problem of a scenario. */
void ledger_problem(struct ledger *ledger, const char *format, va_list args) PAWL_PRINTF(2, 0);

/* Returns the first problem, or "". */
const char *ledger_failed(const struct ledger *ledger);

/* Both as JSON: {"a": 2} and [1, 2]. */
pawl_bytes ledger_calls(struct ledger *ledger, struct pool *pool);
pawl_bytes ledger_traces(struct ledger *ledger, struct pool *pool);

#endif
