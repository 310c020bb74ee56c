/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access_log.h"

#include "server/options.h"
#include "server/request.h"
#include "server/server.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_SIZE = 512, /* short enough to be written in one piece */
    TOKEN_BYTES = 4,
};

/* The beginning of the digest distinguishes tokens. No token can be made from it. */
static void
write_token(const struct request *request, char out[2 * TOKEN_BYTES + 1])
{
    out[0] = '\0';
    if (!request->has_token)
        return;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", request->digest[i]);
}

void
access_log(const struct request *request, int64_t took_us)
{
    const struct route *route = request->match.route;
    enum log_form form = request->server->options->log;
    const char *method = route != NULL ? route->method : "-";
    const char *path = route != NULL ? route->path : "-";
    double ms = (double)took_us / 1000;
    const char *code = request->problem.status != 0 ? request->problem.code : "";
    char token[2 * TOKEN_BYTES + 1];
    char line[LINE_SIZE];
    char at[32];
    struct timespec now;
    struct tm tm;
    int size;

    if (form == LOG_OFF)
        return;
    write_token(request, token);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &tm);
    (void)strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm);
    if (form == LOG_JSON)
        size = snprintf(line, sizeof(line),
            "{\"at\":\"%s.%03dZ\",\"method\":\"%s\",\"route\":\"%s\",\"status\":%u,"
            "\"ms\":%.3f,\"bytes\":%zu,\"code\":\"%s\",\"token\":\"%s\"}\n",
            at, (int)(now.tv_nsec / 1000000), method, path, request->reply.status, ms,
            request->sent, code, token);
    else
        size = snprintf(line, sizeof(line), "%s.%03dZ %s %s %u %.3f ms %zu bytes %s %s\n", at,
            (int)(now.tv_nsec / 1000000), method, path, request->reply.status, ms, request->sent,
            code[0] != '\0' ? code : "-", token[0] != '\0' ? token : "-");
    if (size > 0 && (size_t)size < sizeof(line))
        (void)!write(
            STDERR_FILENO, line, (size_t)size); /* a log that cannot be written stops nothing */
}
