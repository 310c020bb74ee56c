/* SPDX-License-Identifier: Apache-2.0 */
/* From SQLSTATE to status and "send again or not": the one table. */
#ifndef PW_PG_SQLSTATE_H
#define PW_PG_SQLSTATE_H

#include <stdbool.h>

/* The status for five characters; NULL or nonsense is PAWL_EDATABASE. retryable may be NULL. */
int pw_sqlstate_status(const char *sqlstate, bool *retryable);

#endif
