/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that a call returned, on their way to its caller. */
#ifndef PW_LIBPAWL_ROWS_H
#define PW_LIBPAWL_ROWS_H

#include "base/error.h"
#include "pawl/client.h"
#include "pg/row.h"

/*
 * Makes an object without rows, before the call is sent, so that nothing can fail after the call took effect. Returns NULL if out of
 * memory.
 */
pawl_rows *pw_rows_make(struct pw_error *err);

/* Takes the rows over. */
void pw_rows_fill(pawl_rows *made, struct pw_rows *rows);

#endif
