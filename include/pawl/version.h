/* SPDX-License-Identifier: Apache-2.0 */
/* Which release this is. */
#ifndef PAWL_VERSION_H
#define PAWL_VERSION_H

#include <pawl/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0

/* One number that grows with each release, for #if: 0x000100 is 0.1.0. */
#define PAWL_VERSION ((PAWL_VERSION_MAJOR << 16) | (PAWL_VERSION_MINOR << 8) | PAWL_VERSION_PATCH)

/* PAWL_VERSION of the library that runs, which may be newer than the header. Any thread. */
PAWL_API PAWL_MUST_USE int pawl_version(void);

/* The same as text, "0.1.0". Static; any thread. */
PAWL_API PAWL_MUST_USE const char *pawl_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
