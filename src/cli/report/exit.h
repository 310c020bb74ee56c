/* SPDX-License-Identifier: Apache-2.0 */
/* How the program ends: exit codes, which are documented and never change, and the message that goes with each code except the first. */
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

/* Returns the meaning of an exit code, for manual pages; NULL for an unknown code. */
const char *exit_summary(int code);

/* Returns the exit code for a status of the library. */
int exit_code_of(pawl_status status);

/* Prints "pawl: MESSAGE" and the hint as a second line, frees the error, and returns the code. */
int exit_with(pawl_status status, pawl_error *error);

/* The same for a call of a verb of the SQL interface. If the role may not call it, the hint names the privilege set that may. */
int exit_with_verb(pawl_status status, pawl_error *error, const char *verb);

/* Prints an error that this program has found itself, and returns code. hint may be NULL. */
int exit_saying(int code, const char *hint, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
