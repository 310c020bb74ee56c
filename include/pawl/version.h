/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this release. */
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

/* Returns PAWL_VERSION of the loaded library, which can be newer than the header. Thread-safe. */
PAWL_API PAWL_MUST_USE int pawl_version(void);

/* Returns the same as text, "0.1.0". Static; thread-safe. */
PAWL_API PAWL_MUST_USE const char *pawl_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
