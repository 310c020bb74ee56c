/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines of the library. The library never prints: a callback receives them, or a worker keeps them
 * until they are fetched; otherwise they are lost. pawl_worker_main() prints them to standard error.
 */
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
 * Receives one line. event is a stable name such as "worker_registered" (docs/logging.md lists them).
 * message is a human-readable sentence. names and values are count pairs of further facts. All of it
 * is borrowed until the function returns. Payloads and passwords are in none of them.
 *
 * Threads of the library call it, and threads that call the library, several of them at once. It must
 * not block for long and must not call the library. It must return: no C++ exception and no longjmp()
 * may leave it.
 */
typedef void (*pawl_log_fn)(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count);

/*
 * A line that pawl_worker_log_next() returns: what a pawl_log_fn receives, with a time. The library
 * makes this structure; later releases add fields at its end.
 */
typedef struct pawl_log_line {
    int level;
    const char *event;
    const char *message;
    const char *const *names;
    const char *const *values;
    size_t count;  /* of names and values */
    int64_t at_us; /* when it was written, in microseconds since 1970 */
    int64_t
        dropped; /* lines that were dropped between the last line that was fetched and this one */
} pawl_log_line;

#ifdef __cplusplus
}
#endif

#endif
