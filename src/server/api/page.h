/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a list, and the tags of runs. */
#ifndef PW_SERVER_API_PAGE_H
#define PW_SERVER_API_PAGE_H

#include "base/buf.h"
#include "server/api/arguments.h"
#include "server/api/route.h"

#include <pawl/pawl.h>
#include <stdbool.h>

enum {
    PAGE_TAG_SIZE = 40,
};

/* Adds {"runs": [...], "next": ...}: rows as objects, and the cursor of the next page, or null after the last one. */
void page_write(struct pw_buf *out, const struct route *route, const struct arguments *arguments,
    const pawl_rows *rows);

/* Writes the tag of a run, with quotes, made of its mark: a text of hexadecimal digits that changes with whatever get_run shows. */
void page_tag(const char *mark, char tag[PAGE_TAG_SIZE]);

/* Returns true if a header If-None-Match has the tag, or "*". */
bool page_has_tag(const char *header, const char *tag);

#endif
