/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI document of the API, made of the table of routes. */
#ifndef PW_SERVER_API_OPENAPI_H
#define PW_SERVER_API_OPENAPI_H

#include "base/buf.h"

#include <stdbool.h>

/* Returns false if out of memory. */
bool openapi_write(struct pw_buf *out);

#endif
