/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of traces and spans. They follow from the records, so a program that exports the records computes the same ids. */
#include "base/json_read.h"
#include "base/sha256.h"
#include "libpawl/run/branch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TRACE_SIZE = 32, /* hexadecimal digits of the id of a trace */
    SPAN_SIZE = 16,  /* of the id of a span */
    TEXT_MAX = PW_KEY_MAX + 32
};

static bool
is_hex(const char *text, size_t size)
{
    return strspn(text, "0123456789abcdef") >= size;
}

/* Reads the trace and the flags of a traceparent (W3C Trace Context): 00-TRACE-SPAN-FLAGS. Later versions may append more. */
static bool
read_traceparent(const char *text, char trace[TRACE_SIZE + 1], char flags[3])
{
    size_t size = strlen(text);

    /* guard:traceparent */
    if (size < PAWL_TRACEPARENT_SIZE - 1 || !is_hex(text, 2) || strncmp(text, "ff", 2) == 0 ||
        (strncmp(text, "00", 2) == 0 && size > PAWL_TRACEPARENT_SIZE - 1) || text[2] != '-' ||
        !is_hex(text + 3, TRACE_SIZE) || strspn(text + 3, "0") >= TRACE_SIZE || text[35] != '-' ||
        !is_hex(text + 36, SPAN_SIZE) || text[52] != '-' || !is_hex(text + 53, 2) ||
        (size > PAWL_TRACEPARENT_SIZE - 1 && text[PAWL_TRACEPARENT_SIZE - 1] != '-'))
        return false;
    (void)snprintf(trace, TRACE_SIZE + 1, "%.32s", text + 3);
    (void)snprintf(flags, 3, "%.2s", text + 53);
    return true;
}

/* Finds the traceparent in the metadata. */
static bool
find_trace(pawl_bytes metadata, char trace[TRACE_SIZE + 1], char flags[3])
{
    struct pw_json found =
        pw_json_member((struct pw_json){metadata.data, metadata.size}, "traceparent");
    char text[2 * PAWL_TRACEPARENT_SIZE];

    /* The digits of a traceparent need no escapes. */
    if (found.data == NULL || found.size < 2 || found.data[0] != '"' ||
        found.size - 2 >= sizeof(text))
        return false;
    memcpy(text, found.data + 1, found.size - 2);
    text[found.size - 2] = '\0';
    return read_traceparent(text, trace, flags);
}

/* The id of a run as that of a trace: its digits without dashes. */
static void
trace_of_run(const char *id, char trace[TRACE_SIZE + 1])
{
    size_t size = 0;

    for (; *id != '\0' && size < TRACE_SIZE; id++)
        if (*id != '-')
            trace[size++] = *id;
    trace[size] = '\0';
}

/* The first 8 bytes of the SHA-256 of a text. */
static void
hash_span(const char *text, char span[SPAN_SIZE + 1])
{
    struct pw_sha256_state state;
    uint8_t digest[PW_SHA256_SIZE];

    pw_sha256_init(&state);
    pw_sha256_add(&state, text, strlen(text));
    pw_sha256_end(&state, digest);
    for (size_t i = 0; i < SPAN_SIZE / 2; i++)
        (void)snprintf(span + 2 * i, 3, "%02x", (unsigned)digest[i]);
}

void
pawl_run_traceparent(pawl_run *run, char traceparent[PAWL_TRACEPARENT_SIZE])
{
    char trace[TRACE_SIZE + 1];
    char span[SPAN_SIZE + 1];
    char flags[3] = "01";
    char text[TEXT_MAX];
    const char *key = pawl_step_key(run);

    traceparent[0] = '\0';
    if (run == NULL)
        return;
    if (!find_trace(run->task->metadata, trace, flags))
        trace_of_run(run->task->id_text, trace);
    if (key != NULL)
        (void)snprintf(
            text, sizeof(text), "%s %" PRId32 " %d", key, run->task->round, pawl_step_attempt(run));
    else if (run->task->number == 0)
        (void)snprintf(text, sizeof(text), "%s %" PRId32, run->task->id_text, run->task->round);
    else
        (void)snprintf(text, sizeof(text), "%s/%" PRId32 " %" PRId32, run->task->id_text,
            run->task->number, run->task->round);
    hash_span(text, span);
    (void)snprintf(traceparent, PAWL_TRACEPARENT_SIZE, "00-%s-%s-%s", trace, span, flags);
}
