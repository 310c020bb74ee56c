/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of pawl-serve. */
#ifndef PW_SERVER_OPTIONS_H
#define PW_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    OPTIONS_NAMES_MAX = 16,
};

enum log_form {
    LOG_TEXT,
    LOG_JSON,
    LOG_OFF,
};

struct options {
    const char *listen; /* "127.0.0.1:7295" or "unix:PATH" */
    const char *hosts[OPTIONS_NAMES_MAX + 1];
    const char *origins[OPTIONS_NAMES_MAX + 1];
    const char *database;
    char *kept; /* the memory of database, if it was an option */
    bool behind_proxy;
    bool insecure;
    bool read_only;
    bool print_routes;
    int64_t rate; /* requests in a second of each token */
    int64_t callers;
    enum log_form log;
};

/* Reads the words of the command line. Returns -1 to go on, or prints something and returns the exit code. */
int options_read(struct options *options, int count, char **words);

/* Frees what options_read() has kept. */
void options_done(struct options *options);

#endif
