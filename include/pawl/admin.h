/* SPDX-License-Identifier: Apache-2.0 */
/* What is done once for a database: install the engine, bring it up to date, measure, remove it. Everything here blocks. */
#ifndef PAWL_ADMIN_H
#define PAWL_ADMIN_H

#include <pawl/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sends a script of many statements, such as pawl.sql, to the database that config names, on a connection of its own, and waits
 * until it is done. config may be NULL. The engine's own scripts are one transaction: done, or not at all. Any thread.
 *
 * PAWL_ECONN, with pawl_error_retryable() 0 if it broke after the script was sent: nobody knows whether that was done then.
 * PAWL_EFORBIDDEN, PAWL_EINVAL, PAWL_ENOMEM; PAWL_EDATABASE for what else the server says, for instance that the
 * engine there is newer or the database is not in UTF8.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_admin_script(
    const pawl_config *config, const char *script, pawl_error **error);

/*
 * Receives the duration of one pass over the script, in microseconds. Returns 0 to end, or another number for one more pass. Called
 * between passes, by the thread that called pawl_admin_measure().
 */
typedef int (*pawl_measure_fn)(int64_t elapsed_us, void *userdata);

/*
 * Measures a database: executes the statements of a script on a connection of its own, one after the other, each with a round trip
 * and a transaction of its own, and again until measure returns 0. A statement ends with a semicolon at the end of its line, and is
 * prepared once; rows are thrown away. config may be NULL. Any thread, and several at once for several connections.
 *
 * Errors as of pawl_admin_script(); what was done before stays done.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_admin_measure(const pawl_config *config, const char *script,
    pawl_measure_fn measure, void *userdata, pawl_error **error);

#ifdef __cplusplus
}
#endif

#endif
