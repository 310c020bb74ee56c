/* SPDX-License-Identifier: Apache-2.0 */
/* How the program ends: exit codes, which are documented and stay as they are, and the one line that goes with each but the first. */
#ifndef PW_CLI_REPORT_EXIT_H
#define PW_CLI_REPORT_EXIT_H

#include <pawl/pawl.h>

enum {
    EXIT_OK = 0,
    EXIT_OTHER = 1,
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3,
    EXIT_REFUSED = 4,
    EXIT_TIMEOUT = 5,
    EXIT_RUN_FAILED = 6,
    EXIT_NO_DATABASE = 7,
    EXIT_SCHEMA = 8,
    EXIT_FORBIDDEN = 9,
    EXIT_UNKNOWN = 10,
    EXIT_DIFFERS = 11,
    EXIT_STOPPED = 12,
    EXIT_INTERRUPTED = 130,
};

/* What a code means, for manual pages; NULL for one that there is not. */
const char *exit_summary(int code);

/* The code for a status of the library. */
int exit_code_of(pawl_status status);

/* Prints "pawl: MESSAGE" and the hint as a second line, frees the error, and returns the code. */
int exit_with(pawl_status status, pawl_error *error);

/* The same for a call of a verb of the SQL interface: if the role may not call it, the hint names the privilege set that can. */
int exit_with_verb(pawl_status status, pawl_error *error, const char *verb);

/* The same for what this program found out itself. hint may be NULL. */
int exit_saying(int code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
