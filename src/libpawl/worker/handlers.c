/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/handlers.h"

#include "base/alloc.h"
#include "libpawl/worker/worker.h"

#include <stddef.h>
#include <string.h>

static const size_t pattern_max = 301; /* a flow's name, a slash, a step's */

void
pw_handlers_done(struct pw_handlers *handlers)
{
    for (size_t i = 0; i < handlers->count; i++)
        pw_free(handlers->list[i].pattern);
    for (size_t i = 0; i < handlers->undo_count; i++)
        pw_free(handlers->undos[i].name);
    pw_free(handlers->list);
    pw_free(handlers->undos);
}

/* Checks a name such as "a.b", or with a final star "a.*". The engine checks it again. */
static bool
check_pattern(const char *pattern, bool star, struct pw_error *err)
{
    size_t size = pattern == NULL ? 0 : strlen(pattern);

    /* guard:pattern_max */
    if (size == 0 || size > pattern_max ||
        strspn(pattern, "abcdefghijklmnopqrstuvwxyz0123456789_.-/") +
                (star && pattern[size - 1] == '*') !=
            size) {
        pw_error_set(err, PAWL_EINVAL, "bad name \"%.80s\"", pattern == NULL ? "" : pattern);
        pw_error_hint(err, "Names have 1 to %zu of a-z, 0-9, _, . and -%s.", pattern_max,
            star ? "; a step of a flow is FLOW/STEP, a pattern ends in *" : "");
        return false;
    }
    return true;
}

static int
add_handler(struct pw_handlers *handlers, const char *pattern, pawl_handler_fn handler,
    void *userdata, struct pw_error *err)
{
    struct pw_handler *grown;
    size_t size = strlen(pattern);
    bool prefix = pattern[size - 1] == '*';
    char *copy;

    for (size_t i = 0; i < handlers->count; i++) {
        const struct pw_handler *other = &handlers->list[i];

        if (other->prefix == prefix && strlen(other->pattern) == size - prefix &&
            strncmp(other->pattern, pattern, size - prefix) == 0) {
            pw_error_set(err, PAWL_EINVAL, "\"%s\" has a handler already", pattern);
            return PAWL_EINVAL;
        }
    }
    if (handlers->count == PW_HANDLERS_MAX) {
        pw_error_set(err, PAWL_ETOOLARGE, "a worker has at most %d handlers", PW_HANDLERS_MAX);
        return PAWL_ETOOLARGE;
    }
    copy = pw_memdup(pattern, size - prefix);
    grown =
        copy == NULL ? NULL : pw_realloc_array(handlers->list, handlers->count + 1, sizeof(*grown));
    if (grown == NULL) {
        pw_free(copy);
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    handlers->list = grown;
    grown[handlers->count] = (struct pw_handler){copy, prefix, handler, userdata};
    handlers->count++;
    return PAWL_OK;
}

static int
add_undo(struct pw_handlers *handlers, const char *name, pawl_undo_fn undo, void *userdata,
    struct pw_error *err)
{
    struct pw_undo_handler *grown;
    char *copy;

    for (size_t i = 0; i < handlers->undo_count; i++) {
        if (strcmp(handlers->undos[i].name, name) == 0) {
            pw_error_set(err, PAWL_EINVAL, "\"%s\" has an undo handler already", name);
            return PAWL_EINVAL;
        }
    }
    if (handlers->undo_count == PW_HANDLERS_MAX) {
        pw_error_set(err, PAWL_ETOOLARGE, "a worker has at most %d undo handlers", PW_HANDLERS_MAX);
        return PAWL_ETOOLARGE;
    }
    copy = pw_strdup(name);
    grown = copy == NULL
        ? NULL
        : pw_realloc_array(handlers->undos, handlers->undo_count + 1, sizeof(*grown));
    if (grown == NULL) {
        pw_free(copy);
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    handlers->undos = grown;
    grown[handlers->undo_count] = (struct pw_undo_handler){copy, undo, userdata};
    handlers->undo_count++;
    return PAWL_OK;
}

int
pw_handlers_add(struct pw_handlers *handlers, const char *pattern, pawl_handler_fn function,
    void *userdata, struct pw_error *err)
{
    return check_pattern(pattern, true, err)
        ? add_handler(handlers, pattern, function, userdata, err)
        : PAWL_EINVAL;
}

int
pw_handlers_add_undo(struct pw_handlers *handlers, const char *name, pawl_undo_fn function,
    void *userdata, struct pw_error *err)
{
    if (!check_pattern(name, false, err))
        return PAWL_EINVAL;
    if (function == NULL) {
        pw_error_set(err, PAWL_EINVAL, "no function was given for \"%s\"", name);
        return PAWL_EINVAL;
    }
    return add_undo(handlers, name, function, userdata, err);
}

int
pw_handlers_add_table(struct pw_handlers *handlers, const pawl_declaration *table, size_t count,
    void *userdata, struct pw_error *err)
{
    const char *at = (const char *)table;
    int status = PAWL_OK;

    if (table == NULL && count > 0) {
        pw_error_set(err, PAWL_EINVAL, "no table was given");
        return PAWL_EINVAL;
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const pawl_declaration *entry = (const pawl_declaration *)(const void *)at;

        /* The size of the first release is enough, whatever later releases add. */
        if (entry->size < offsetof(pawl_declaration, unused) + sizeof(entry->unused)) {
            pw_error_set(err, PAWL_EINVAL,
                "declaration %zu is invalid: its size is smaller than that of pawl_declaration", i);
            status = PAWL_EINVAL;
        } else if (entry->undo != NULL) {
            status = pw_handlers_add_undo(handlers, entry->name, entry->undo, userdata, err);
        } else {
            status = pw_handlers_add(handlers, entry->name, entry->handler, userdata, err);
        }
        at += entry->size;
    }
    return status;
}

bool
pw_worker_find(
    pawl_worker *worker, const char *workflow, pawl_handler_fn *function, void **userdata)
{
    const struct pw_handler *best = NULL;

    for (size_t i = 0; i < worker->handlers.count; i++) {
        const struct pw_handler *handler = &worker->handlers.list[i];
        size_t size = strlen(handler->pattern);

        if (handler->prefix ? strncmp(handler->pattern, workflow, size) != 0
                            : strcmp(handler->pattern, workflow) != 0)
            continue;
        /* A whole name wins over every prefix. */
        if (best == NULL || !handler->prefix || (best->prefix && strlen(best->pattern) < size))
            best = handler;
        if (!handler->prefix)
            break;
    }
    if (best == NULL)
        return false;
    *function = best->function;
    *userdata = best->userdata;
    return true;
}

bool
pw_worker_find_undo(pawl_worker *worker, const char *name, pawl_undo_fn *function, void **userdata)
{
    for (size_t i = 0; i < worker->handlers.undo_count; i++) {
        if (strcmp(worker->handlers.undos[i].name, name) == 0) {
            *function = worker->handlers.undos[i].function;
            *userdata = worker->handlers.undos[i].userdata;
            return true;
        }
    }
    return false;
}
