/* SPDX-License-Identifier: Apache-2.0 */
/* What the library has to tell. It never prints; without a callback, log lines are dropped. (pawl_worker_main() prints them to standard error.) */
#ifndef PAWL_LOG_H
#define PAWL_LOG_H

#include <pawl/api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PAWL_LOG_ERROR = 0,
    PAWL_LOG_WARNING = 1,
    PAWL_LOG_INFO = 2,
    PAWL_LOG_DEBUG = 3
};

/*
 * Takes one line. event is a stable name such as "worker_registered" (docs/logging.md lists them); message is a sentence for
 * people; names and values are count pairs of further facts, all borrowed until it returns. Payloads and passwords are in none
 * of them.
 *
 * Called from threads of the library, and from those that call it, also several at once; it must not block for long, must not
 * call the library, and must return: no exception of C++ and no longjmp() may leave it.
 */
typedef void (*pawl_log_fn)(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count);

#ifdef __cplusplus
}
#endif

#endif
