/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of clients and workers, by name. docs/config.md lists them; it is made from the table that parses them. */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

#include <pawl/error.h>
#include <pawl/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A set of settings. Used by one thread at a time; whoever is made from it takes a copy, and whoever is made from NULL has all
 * settings at their defaults. The first one to look at is database: a libpq connection string, as a URI
 * (postgresql://user@host/shop?sslmode=verify-full) or as keyword=value pairs; empty, as by default, means libpq's own
 * variables (PGHOST, PGDATABASE …) and defaults.
 */
typedef struct pawl_config pawl_config;

/* All settings at their defaults, or NULL if out of memory. Free it with pawl_config_free(). */
PAWL_API PAWL_MUST_USE pawl_config *pawl_config_new(void);

/* Frees it; NULL is fine. */
PAWL_API void pawl_config_free(pawl_config *config);

/*
 * Sets one setting from text. Durations are milliseconds, or a number with ms, s, m, h or d behind it. The value is copied.
 * PAWL_EINVAL for a name that there is not or a value that it cannot have; the error says what it can.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_config_set(
    pawl_config *config, const char *name, const char *value, pawl_error **error);

/* The value as text, borrowed until it is set again, or NULL for an unknown name. */
PAWL_API PAWL_MUST_USE const char *pawl_config_get(const pawl_config *config, const char *name);

/*
 * Describes setting number index, from 0: its name, its default and a sentence. Static texts. PAWL_ENOTFOUND beyond the last.
 * Any of the outputs may be NULL. What values it can have is in docs/config.md, and in the hint of the error of
 * pawl_config_set(). Any thread.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_config_describe(
    size_t index, const char **name, const char **default_value, const char **text);

/* Where log lines go, with the least important level that is wanted. function may be NULL. */
PAWL_API void pawl_config_set_log(
    pawl_config *config, int level, pawl_log_fn function, void *userdata);

#ifdef __cplusplus
}
#endif

#endif
