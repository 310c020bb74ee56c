/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a worker has for workflows and undos. Not changed after the start. */
#ifndef PW_LIBPAWL_WORKER_HANDLERS_H
#define PW_LIBPAWL_WORKER_HANDLERS_H

#include "base/error.h"
#include "pawl/worker.h"

#include <stdbool.h>

enum {
    PW_HANDLERS_MAX = 1000, /* the engine's limit for one session */
};

struct pw_handler {
    char *pattern; /* without the final '*' */
    bool prefix;
    pawl_handler_fn function;
    void *userdata;
};

struct pw_undo_handler {
    char *name;
    pawl_undo_fn function;
    void *userdata;
};

struct pw_handlers {
    struct pw_handler *list;
    size_t count;
    struct pw_undo_handler *undos;
    size_t undo_count;
};

void pw_handlers_done(struct pw_handlers *handlers);

/* These check the name and register a function. They return PAWL_OK, PAWL_EINVAL, PAWL_ETOOLARGE or PAWL_ENOMEM. */
int pw_handlers_add(struct pw_handlers *handlers, const char *pattern, pawl_handler_fn function,
    void *userdata, struct pw_error *err);
int pw_handlers_add_undo(struct pw_handlers *handlers, const char *name, pawl_undo_fn function,
    void *userdata, struct pw_error *err);
int pw_handlers_add_table(struct pw_handlers *handlers, const pawl_declaration *table, size_t count,
    void *userdata, struct pw_error *err);

#endif
