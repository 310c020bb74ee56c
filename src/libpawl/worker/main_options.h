/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the environment of a program that calls pawl_worker_main(). */
#ifndef PW_LIBPAWL_MAIN_OPTIONS_H
#define PW_LIBPAWL_MAIN_OPTIONS_H

#include "base/buf.h"
#include "base/error.h"
#include "pawl/worker.h"

#include <stdbool.h>

struct pw_main_options {
    const char *program; /* its name, without directories */
    pawl_config *config;
    int log_level;
    bool help;
    bool version;
};

/*
 * Reads the settings, first from the environment and then from the arguments, and overwrites passwords in argv. Returns PAWL_OK,
 * PAWL_EINVAL or PAWL_ENOMEM; pw_main_options_done() is needed in any case.
 */
int pw_main_options_read(
    struct pw_main_options *options, int argc, char **argv, struct pw_error *err);

void pw_main_options_done(struct pw_main_options *options);

/* Writes what --help prints. */
void pw_main_options_help(const struct pw_main_options *options, const pawl_declaration *table,
    size_t count, struct pw_buf *out);

#endif
