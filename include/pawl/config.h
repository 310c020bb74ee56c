/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of clients and workers, by name. docs/config.md lists them; it is generated from their table. */
#ifndef PAWL_CONFIG_H
#define PAWL_CONFIG_H

#include <pawl/error.h>
#include <pawl/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A set of settings. One thread at a time may use it. A client or worker takes a copy of it; one that
 * is made from NULL has all settings at their defaults.
 *
 * The setting database comes first: a libpq connection string, as a URI or as keyword=value pairs,
 * such as postgresql://user@host/shop?sslmode=verify-full. It is empty by default, which means libpq's
 * own variables (PGHOST, PGDATABASE …) and defaults.
 */
typedef struct pawl_config pawl_config;

/* Makes a set with all settings at their defaults, or returns NULL. Free it with pawl_config_free(). */
PAWL_API PAWL_MUST_USE pawl_config *pawl_config_new(void);

/* Frees config, which may be NULL. */
PAWL_API void pawl_config_free(pawl_config *config);

/*
 * Sets one setting from text. value is copied. Durations are milliseconds, or a number followed by ms,
 * s, m, h or d. Returns PAWL_EINVAL if name is unknown or value is out of range; the error lists the
 * accepted values.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_config_set(
    pawl_config *config, const char *name, const char *value, pawl_error **error);

/* Returns the value as text, borrowed until it is set again, or NULL if name is unknown. */
PAWL_API PAWL_MUST_USE const char *pawl_config_get(const pawl_config *config, const char *name);

/*
 * Describes setting number index, from 0: its name, its default and a sentence. The texts are static;
 * any of the outputs may be NULL. Returns PAWL_ENOTFOUND beyond the last setting. docs/config.md, and
 * the hint of the error of pawl_config_set(), list the accepted values. Thread-safe.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_config_describe(
    size_t index, const char **name, const char **default_value, const char **text);

/* Sets the function that receives log lines up to level, the least important one. It may be NULL. */
PAWL_API void pawl_config_set_log(
    pawl_config *config, int level, pawl_log_fn function, void *userdata);

/*
 * Makes a worker keep its log lines up to level, the least important one, for pawl_worker_log_next(); -1
 * for none, which is the default. For languages that threads of the library must not call. A function of
 * pawl_config_set_log() receives its lines all the same. Clients keep no lines.
 */
PAWL_API void pawl_config_keep_log(pawl_config *config, int level);

#ifdef __cplusplus
}
#endif

#endif
