/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on their way to the user's callback. */
#include "libpawl/common/log.h"

#include "base/error.h"
#include "libpawl/common/error.h"
#include "pg/conn.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static int
is_wanted(const struct pw_logger *logger, int level)
{
    return logger != NULL && logger->function != NULL && level <= logger->level;
}

void
pw_log(const struct pw_logger *logger, int level, const char *event, const char *message, ...)
{
    const char *names[PW_LOG_PAIRS_MAX];
    const char *values[PW_LOG_PAIRS_MAX];
    const char *name;
    size_t count = 0;
    va_list pairs;

    if (!is_wanted(logger, level))
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
    logger->function(logger->userdata, level, event, message, names, values, count);
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
