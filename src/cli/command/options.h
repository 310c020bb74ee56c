/* SPDX-License-Identifier: Apache-2.0 */
/* Options and operands that many commands have, each described once. Initializers of struct option and struct operand. */
#ifndef PW_CLI_COMMAND_OPTIONS_H
#define PW_CLI_COMMAND_OPTIONS_H

#include "cli/command/command.h"

#define OPTION_BY(what)                                                    \
    {                                                                      \
        .kind = KIND_TEXT, .name = "by", .value = "WHO", .argument = "by", \
        .summary = what "; else the database role"                         \
    }
#define OPTION_WHY(what)                                                                      \
    {                                                                                         \
        .kind = KIND_TEXT, .name = "why", .value = "TEXT", .argument = "why", .summary = what \
    }
#define OPTION_TENANT(sql, what)                                                                 \
    {                                                                                            \
        .kind = KIND_TEXT, .name = "tenant", .value = "TENANT", .argument = sql, .summary = what \
    }
#define OPTION_AFTER                                                             \
    {                                                                            \
        .kind = KIND_NUMBER, .name = "after", .value = "N", .argument = "after", \
        .summary = "only what came after this number"                            \
    }
#define OPTION_LIMIT(by_default)                                                                  \
    {                                                                                             \
        .kind = KIND_COUNT, .letter = 'n', .name = "limit", .value = "N", .argument = "max_rows", \
        .summary = "maximum number of rows (" by_default ")"                                      \
    }

/* A time span of a list; what happened then. */
#define OPTION_SINCE(sql, what)                                               \
    {                                                                         \
        .kind = KIND_TIME, .name = "since", .value = "TIME", .argument = sql, \
        .summary = what " at this time or later, as 2h for two hours ago"     \
    }
#define OPTION_BEFORE(sql, what)                                               \
    {                                                                          \
        .kind = KIND_TIME, .name = "before", .value = "TIME", .argument = sql, \
        .summary = what " before this time"                                    \
    }

#define OPERAND_RUN                                                                       \
    {                                                                                     \
        .kind = KIND_RUN, .value = "RUN", .argument = "run", .summary = "the id of a run" \
    }

#endif
