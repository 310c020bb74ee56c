/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/attempts.h"

#include "base/time.h"
#include "libpawl/common/log.h"
#include "libpawl/worker/worker.h"

#include <stdio.h>
#include <string.h>

static const int64_t again_us = 60000000;

void
pw_attempt_failed(pawl_worker *worker, int level, const char *event, const char *what,
    const struct pw_error *error, int64_t now_us)
{
    struct pw_attempts *attempts = &worker->attempts;
    struct pw_told *told = NULL;

    for (size_t i = 0; i < PW_TOLD_MAX && told == NULL; i++)
        if (attempts->told[i].event != NULL && strcmp(attempts->told[i].event, event) == 0 &&
            strcmp(attempts->told[i].message, error->message) == 0)
            told = &attempts->told[i];
    /* guard:attempts_told_once */
    if (told != NULL && now_us < told->again_us)
        return;
    if (told == NULL) {
        told = &attempts->told[attempts->next++ % PW_TOLD_MAX];
        told->event = event;
        (void)snprintf(told->message, sizeof(told->message), "%s", error->message);
    }
    told->again_us = pw_add_us(now_us, again_us);
    pw_log_error(&worker->settings.logger, level, event, what, error);
}

void
pw_attempts_over(pawl_worker *worker)
{
    worker->attempts = (struct pw_attempts){0};
}
