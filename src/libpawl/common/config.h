/* SPDX-License-Identifier: Apache-2.0 */
/* The settings as clients and workers read them: one typed field for each. */
#ifndef PW_LIBPAWL_CONFIG_H
#define PW_LIBPAWL_CONFIG_H

#include "base/error.h"
#include "libpawl/common/log.h"
#include "pawl/config.h"
#include "pg/conn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A copy of a configuration. Texts are its own; freed by pw_settings_done(). Durations are milliseconds where the name ends in _ms. */
struct pw_settings {
    char *database; /* "": libpq's own variables and defaults */
    char *application_name;
    int64_t connect_timeout_ms;
    int64_t call_timeout_ms;
    int64_t wait_poll_ms;
    bool prepared;         /* prepare statements where no pooler is found */
    bool listen;           /* wait for notifications where that works */
    char *listen_database; /* "": none but database */
    char *worker_name;     /* "": host:pid, which the worker makes when it starts */
    char *runtimes;        /* separated by commas, without blanks */
    char *client;          /* "": libpawl and its version */
    char *code_version;    /* "": not given */
    int64_t lease_ms;
    int64_t concurrency; /* 0: auto */
    int64_t connections;
    int64_t batch_max;
    int64_t batch_window_us;
    int64_t poll_ms;
    int64_t drain_timeout_ms;
    int64_t start_timeout_ms; /* 0: no limit */
    size_t payload_max;       /* bytes */
    size_t memory_max;        /* bytes */
    size_t thread_stack;      /* bytes; 0: the system's default */
    bool create_workflows;
    struct pw_logger logger; /* its ring is NULL: the worker makes one */
    int log_kept;            /* the least important level that a worker keeps; -1: none */
};

/* Copies all settings. PAWL_ENOMEM: then out is empty and needs no pw_settings_done(). config may be NULL: all defaults. */
int pw_config_settings(const pawl_config *config, struct pw_settings *out, struct pw_error *err);

/* Frees the texts. Has no effect on empty settings, or if repeated. */
void pw_settings_done(struct pw_settings *settings);

/* Returns the target of connections, borrowed from the settings. */
struct pw_conn_spec pw_settings_spec(const struct pw_settings *settings);

/*
 * Writes the accepted values of a setting, for errors and documents: "a duration from 500ms to 1h". Returns false beyond the last
 * setting.
 */
bool pw_config_range(size_t index, char *out, size_t size);

/*
 * Walks the runtimes: begin with *at = settings->runtimes. Returns true and the next name, borrowed and without a final NUL, and its
 * size.
 */
bool pw_settings_runtime(const char **at, const char **name, size_t *size);

#endif
