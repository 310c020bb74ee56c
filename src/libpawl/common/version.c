/* SPDX-License-Identifier: Apache-2.0 */
/* Which release the library is. */
#include "pawl/version.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

int
pawl_version(void)
{
    return PAWL_VERSION;
}

const char *
pawl_version_text(void)
{
    return VERSION_TEXT(PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR, PAWL_VERSION_PATCH);
}
