/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that a call returned, on their way to its caller. */
#ifndef PW_LIBPAWL_ROWS_H
#define PW_LIBPAWL_ROWS_H

#include "base/error.h"
#include "pawl/client.h"
#include "pg/row.h"

/* No rows yet. Made before a call is sent, so that nothing can fail once it was done. NULL: PAWL_ENOMEM. */
pawl_rows *pw_rows_make(struct pw_error *err);

/* Takes the rows over. */
void pw_rows_fill(pawl_rows *made, struct pw_rows *rows);

#endif
