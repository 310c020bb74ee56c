/* SPDX-License-Identifier: Apache-2.0 */
/* A whole script on its own connection: the only text with many statements that is sent. Blocks. */
#ifndef PW_PG_SCRIPT_H
#define PW_PG_SCRIPT_H

#include "base/error.h"
#include "pg/conn.h"

/*
 * Connects, sends the script, disconnects. Returns PAWL_ECONN if there is no connection before deadline_us (pw_now_us), or if it broke;
 * PAWL_EINVAL; PAWL_ENOMEM; otherwise the status of the script's first error. Only the script's own transactions roll back what it did.
 */
int pw_script_run(
    const struct pw_conn_spec *spec, const char *script, int64_t deadline_us, struct pw_error *err);

/*
 * Connects and executes the statements of a script, each ended by a semicolon at the end of its line, one after the other and each a
 * transaction, prepared once. Then measure() receives the duration of all of them; until it returns 0 they are executed
 * again. Errors as above.
 */
int pw_script_measure(const struct pw_conn_spec *spec, const char *script, int64_t deadline_us,
    int (*measure)(int64_t elapsed_us, void *userdata), void *userdata, struct pw_error *err);

#endif
