/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the file that pawl trigger reads: the input of a run, which contains the run's key. */
#ifndef PW_CLI_VERBS_LINE_H
#define PW_CLI_VERBS_LINE_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes the text or number at a JSON pointer of a line as a key. Returns false if there is none, or it is too long. */
bool line_key(pawl_bytes line, const char *field, char *key, size_t size);

#endif
