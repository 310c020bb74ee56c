/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of a scenario: lines of text in shared memory. */
#include "ledger.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ROOM = 1 << 20,
    PROBLEM = 2000
};

struct ledger {
    pthread_mutex_t lock;
    size_t size;
    char lines[ROOM]; /* a line for each call, "c NAME", and for each value, "t JSON" */
    char problem[PROBLEM];
};

struct ledger *
ledger_new(void)
{
    struct ledger *ledger =
        mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t shared;

    if (ledger == MAP_FAILED || pthread_mutexattr_init(&shared) != 0 ||
        pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_mutex_init(&ledger->lock, &shared) != 0) {
        (void)fprintf(stderr, "play: no shared memory\n");
        exit(2);
    }
    (void)pthread_mutexattr_destroy(&shared);
    return ledger;
}

void
ledger_free(struct ledger *ledger)
{
    (void)munmap(ledger, sizeof(*ledger));
}

void
ledger_clear(struct ledger *ledger)
{
    ledger->size = 0;
    ledger->lines[0] = '\0';
    ledger->problem[0] = '\0';
}

/* Adds a line; one that does not fit is a problem. With the lock held. */
static void
add_line(struct ledger *ledger, char kind, const char *text)
{
    size_t room = ROOM - ledger->size;
    int size = snprintf(ledger->lines + ledger->size, room, "%c %s\n", kind, text);

    if (size > 0 && (size_t)size < room) {
        ledger->size += (size_t)size;
        return;
    }
    ledger->lines[ledger->size] = '\0';
    (void)snprintf(ledger->problem, PROBLEM, "too many calls for the player");
}

int64_t
ledger_call(struct ledger *ledger, const char *name)
{
    size_t size = strlen(name);
    int64_t before = 0;

    (void)pthread_mutex_lock(&ledger->lock);
    for (const char *at = ledger->lines; (at = strstr(at, name)) != NULL; at += size)
        before += at - ledger->lines >= 2 && at[-2] == 'c' && at[-1] == ' ' && at[size] == '\n' &&
            (at - ledger->lines == 2 || at[-3] == '\n');
    add_line(ledger, 'c', name);
    (void)pthread_mutex_unlock(&ledger->lock);
    return before;
}

void
ledger_trace(struct ledger *ledger, const char *json)
{
    (void)pthread_mutex_lock(&ledger->lock);
    add_line(ledger, 't', json);
    (void)pthread_mutex_unlock(&ledger->lock);
}

void
ledger_problem(struct ledger *ledger, const char *format, va_list args)
{
    (void)pthread_mutex_lock(&ledger->lock);
    if (ledger->problem[0] == '\0')
        (void)vsnprintf(ledger->problem, PROBLEM, format, args);
    (void)pthread_mutex_unlock(&ledger->lock);
}

const char *
ledger_failed(const struct ledger *ledger)
{
    return ledger->problem;
}

/* Returns the next line of a kind, without its end, and moves to the line after it. */
static bool
next_line(const char **at, char kind, pawl_bytes *line)
{
    while (**at != '\0') {
        const char *start = *at, *end = strchr(start, '\n');

        *at = end + 1;
        *line = (pawl_bytes){start + 2, (size_t)(end - start) - 2};
        if (*start == kind)
            return true;
    }
    return false;
}

/* Returns the number of calls of a name, and whether a line before this one has it, too. */
static int64_t
count_calls(const struct ledger *ledger, pawl_bytes name, bool *seen)
{
    const char *at = ledger->lines;
    int64_t count = 0;
    pawl_bytes line;

    *seen = false;
    while (next_line(&at, 'c', &line)) {
        if (line.size != name.size || memcmp(line.data, name.data, name.size) != 0)
            continue;
        *seen = *seen || line.data < name.data;
        count++;
    }
    return count;
}

pawl_bytes
ledger_calls(struct ledger *ledger, struct pool *pool)
{
    const char *at = ledger->lines;
    struct text out = {0};
    pawl_bytes name;

    text_say(&out, "{");
    while (next_line(&at, 'c', &name)) {
        bool seen;
        int64_t count = count_calls(ledger, name, &seen);

        if (!seen)
            text_say(&out,
                pool_printf(pool, "%s\"%.*s\":%lld", out.size > 1 ? "," : "", (int)name.size,
                    name.data, (long long)count));
    }
    text_say(&out, "}");
    return text_take(&out, pool);
}

pawl_bytes
ledger_traces(struct ledger *ledger, struct pool *pool)
{
    const char *at = ledger->lines;
    struct text out = {0};
    pawl_bytes json;

    text_say(&out, "[");
    while (next_line(&at, 't', &json)) {
        text_say(&out, out.size > 1 ? "," : "");
        text_add(&out, json.data, json.size);
    }
    text_say(&out, "]");
    return text_take(&out, pool);
}
