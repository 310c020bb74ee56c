/* SPDX-License-Identifier: Apache-2.0 */
/* The program of the HTTP server, which is installed with this one, and is built only where its library is. */
#ifndef PW_CLI_SETUP_SERVE_PROGRAM_H
#define PW_CLI_SETUP_SERVE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

/*
 * Finds the program: the file that PAWL_SERVE names; else the installed one, which has its place relative to this program; else that of the
 * build directory of this program. Returns false if there is none.
 */
bool serve_program_find(char path[static PATH_MAX]);

/* Prints that there is no such program and what to do. Returns the exit code. */
int serve_program_missing(void);

#endif
