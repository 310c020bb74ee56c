/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on their way to the user's callback and to the ring. */
#include "libpawl/common/log.h"

#include "base/error.h"
#include "libpawl/common/error.h"
#include "libpawl/common/log_ring.h"
#include "pg/conn.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

static bool
is_called(const struct pw_logger *logger, int level)
{
    return logger->function != NULL && level <= logger->level;
}

static bool
is_kept(const struct pw_logger *logger, int level)
{
    return logger->ring != NULL && level <= logger->ring->level;
}

/* Returns the time in microseconds since 1970. */
static int64_t
clock_us(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void
pw_log(const struct pw_logger *logger, int level, const char *event, const char *message, ...)
{
    const char *names[PW_LOG_PAIRS_MAX];
    const char *values[PW_LOG_PAIRS_MAX];
    const char *name;
    size_t count = 0;
    va_list pairs;

    if (logger == NULL || (!is_called(logger, level) && !is_kept(logger, level)))
        return;
    va_start(pairs, message);
    while (count < PW_LOG_PAIRS_MAX && (name = va_arg(pairs, const char *)) != NULL) {
        const char *value = va_arg(pairs, const char *);

        if (value == NULL)
            continue;
        names[count] = name;
        values[count] = value;
        count++;
    }
    va_end(pairs);
    if (is_called(logger, level))
        logger->function(logger->userdata, level, event, message, names, values, count);
    if (is_kept(logger, level))
        pw_log_ring_add(logger->ring,
            &(pawl_log_line){.level = level,
                .event = event,
                .message = message,
                .names = names,
                .values = values,
                .count = count,
                .at_us = clock_us()});
}

void
pw_log_error(const struct pw_logger *logger, int level, const char *event, const char *what,
    const struct pw_error *err)
{
    pw_log(logger, level, event, err->message, "status", pawl_status_name(err->code), "sqlstate",
        err->sqlstate[0] != '\0' ? err->sqlstate : NULL, "what", what, NULL);
}

void
pw_log_unverified(const struct pw_logger *logger, const struct pw_conn *conn, bool *told)
{
    /* guard:unverified_told */
    if (*told || !pw_conn_unverified(conn))
        return;
    *told = true;
    pw_log(logger, PAWL_LOG_WARNING, "connection_unverified",
        "the server is on another host and its identity is not verified: use sslmode=verify-full",
        NULL);
}

const char *
pw_log_number(int64_t number, char text[PW_LOG_NUMBER_SIZE])
{
    (void)snprintf(text, PW_LOG_NUMBER_SIZE, "%" PRId64, number);
    return text;
}
