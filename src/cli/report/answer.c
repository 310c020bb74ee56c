/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/answer.h"

#include "cli/report/exit.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *verb; /* NULL: all other verbs */
    const char *answer;
    int code;
    const char *meaning;
} answers[] = {
    {"retry", "refused", EXIT_REFUSED,
        "the run ended SUCCESS, or its steps were undone (start a new run with pawl run fork), or "
        "another run has its key"},
    {"purge", "refused", EXIT_REFUSED,
        "the run has not ended; cancel it first with pawl run cancel, or wait"},
    {"fork", "refused", EXIT_REFUSED,
        "the run is queued or running; wait until it has ended, or pause it with pawl run pause"},
    {"fork", "no_such_step", EXIT_NOT_FOUND,
        "the run has no step of that name; pawl run show lists its steps"},
    {"rollback_retry", "refused", EXIT_REFUSED,
        "no rollback of the run is stuck, or another run has its key"},
    {"rollback_skip", "refused", EXIT_REFUSED,
        "no rollback of the run is stuck, or it has no step of that name with an undo; pawl why "
        "names the steps that are not undone"},
    {"pause_all", "pausing", EXIT_REFUSED,
        "everything is paused, but a transaction that is still open may have claimed before; "
        "repeat "
        "the command to wait for it"},
    {NULL, "pausing", EXIT_REFUSED, NULL},
    {NULL, "no_such_step", EXIT_NOT_FOUND, "there is no step of that name"},
    {NULL, "refused", EXIT_REFUSED, "the state of the run does not allow it; see pawl why"},
    {NULL, "busy", EXIT_REFUSED, "another transaction holds the run; try again"},
    {NULL, "SUCCESS", EXIT_REFUSED, "too late: the run has ended SUCCESS"},
    {NULL, "ERROR", EXIT_REFUSED, "too late: the run has failed"},
    {NULL, "CANCELLED", EXIT_REFUSED, "too late: the run was cancelled"},
    {NULL, "not_found", EXIT_NOT_FOUND, NULL},
    {NULL, "differs", EXIT_DIFFERS, NULL},
};

static size_t
find(const char *verb, const char *answer)
{
    size_t i = 0;

    while (i < sizeof(answers) / sizeof(answers[0]) &&
        (strcmp(answers[i].answer, answer) != 0 ||
            (answers[i].verb != NULL && (verb == NULL || strcmp(answers[i].verb, verb) != 0))))
        i++;
    return i;
}

const char *
answer_meaning(const char *verb, const char *answer)
{
    size_t i = find(verb, answer);

    return i < sizeof(answers) / sizeof(answers[0]) ? answers[i].meaning : NULL;
}

int
answer_code(const char *answer)
{
    size_t i = find(NULL, answer);

    return i < sizeof(answers) / sizeof(answers[0]) ? answers[i].code : EXIT_OK;
}
