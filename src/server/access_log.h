/* SPDX-License-Identifier: Apache-2.0 */
/* The access log on standard error: method, route, status, times and bytes. No path, no query, no payload and no token. */
#ifndef PW_SERVER_ACCESS_LOG_H
#define PW_SERVER_ACCESS_LOG_H

#include <stdint.h>

struct request;

void access_log(const struct request *request, int64_t took_us);

#endif
