/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the next step, wait or child, as pawl_run_set_option() takes them from text. */
#ifndef PW_LIBPAWL_OPTION_H
#define PW_LIBPAWL_OPTION_H

#include <stdbool.h>
#include <stdint.h>

struct pw_arena;
struct pw_json_writer;

/* The calls that accept an option, as bits. */
enum pw_option_for {
    PW_FOR_STEP = 1,
    PW_FOR_EVENT = 2,
    PW_FOR_CHILD = 4,
};

/* The order is that of the table in option.c. */
enum pw_option {
    PW_OPTION_MAX_ATTEMPTS,
    PW_OPTION_BASE_MS,
    PW_OPTION_FACTOR,
    PW_OPTION_CAP_MS,
    PW_OPTION_JITTER,
    PW_OPTION_TIMEOUT_MS,
    PW_OPTION_UNDO,
    PW_OPTION_UNDO_INPUT,
    PW_OPTION_UNDO_MAX_ATTEMPTS,
    PW_OPTION_UNDO_BASE_MS,
    PW_OPTION_KEY,
    PW_OPTION_MATCH,
    PW_OPTION_PRIORITY,
    PW_OPTION_DELAY_MS,
    PW_OPTION_METADATA,
    PW_OPTION_LIMIT_KEY,
    PW_OPTIONS,
};

/* All zero is none. Texts are in the arena of the branch. */
struct pw_options {
    const char *values[PW_OPTIONS]; /* NULL: not given; else of the right form */
    const char *mistake;            /* what is wrong with an option */
    const char *about;              /* the option that the mistake is about, cut */
    bool oom;
};

/* Sets one option; value NULL unsets it. An invalid option is stored until pw_options_fit() reports it; the first one counts. */
void pw_options_set(
    struct pw_options *options, struct pw_arena *arena, const char *name, const char *value);

/* Returns true if all options are valid and accepted by this kind of call. Otherwise mistake and about are set. */
bool pw_options_fit(struct pw_options *options, unsigned call);

/* The number of an option that is given, or default_value. */
int64_t pw_options_number(
    const struct pw_options *options, enum pw_option option, int64_t default_value);

/* Writes the member under this key, if it is given. */
void pw_options_write(const struct pw_options *options, enum pw_option option, const char *key,
    struct pw_json_writer *writer);

/* Writes the step's own retry policy as member "policy", if there is one. */
void pw_options_write_policy(const struct pw_options *options, struct pw_json_writer *writer);

/* Writes the undo as member "undo". There must be one. */
void pw_options_write_undo(const struct pw_options *options, struct pw_json_writer *writer);

#endif
