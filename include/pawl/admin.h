/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for a whole database: install, upgrade or remove the engine, and measure. All of them block. */
#ifndef PAWL_ADMIN_H
#define PAWL_ADMIN_H

#include <pawl/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sends a script of many statements, such as pawl.sql, to the database of config, and blocks until it
 * is done. Uses its own connection. config may be NULL. Each script of the engine is one transaction:
 * all of it takes effect, or nothing. Thread-safe.
 *
 * Returns PAWL_ECONN if the connection failed. If it broke after the script was sent, the outcome is
 * unknown and pawl_error_retryable() returns 0.
 * Returns PAWL_EFORBIDDEN, PAWL_EINVAL or PAWL_ENOMEM.
 * Returns PAWL_EDATABASE for any other error of the server. Examples: the installed engine is newer,
 * or the database is not in UTF8.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_admin_script(
    const pawl_config *config, const char *script, pawl_error **error);

/*
 * Receives the duration of one pass over the script, in microseconds. Returns 0 to end, or another
 * number to start another pass. Called between passes, by the thread that called
 * pawl_admin_measure().
 */
typedef int (*pawl_measure_fn)(int64_t elapsed_us, void *userdata);

/*
 * Measures a database: executes the statements of a script one after the other, and repeats the
 * script until measure returns 0. Uses its own connection. Each statement is one round trip and one
 * transaction, ends with a semicolon at the end of its line, and is prepared once. Rows are
 * discarded. config may be NULL. Thread-safe: several threads can measure with several connections.
 *
 * Returns errors as pawl_admin_script() does; statements that were executed before the error stay
 * committed.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_admin_measure(const pawl_config *config, const char *script,
    pawl_measure_fn measure, void *userdata, pawl_error **error);

#ifdef __cplusplus
}
#endif

#endif
