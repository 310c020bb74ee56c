/* SPDX-License-Identifier: Apache-2.0 */
/* The border between errors inside and the error objects that callers hold. */
#ifndef PW_LIBPAWL_ERROR_H
#define PW_LIBPAWL_ERROR_H

#include "base/error.h"
#include "pawl/error.h"

/*
 * Makes an error object of err, with the JSON error of a run or step if there is one, and returns err's code. If that code is PAWL_OK,
 * sets *out to NULL. out may be NULL. If out of memory, *out is a constant object for PAWL_ENOMEM; the returned code is still err's.
 */
pawl_status pw_error_export(const struct pw_error *err, pawl_bytes detail, pawl_error **out);

#endif
