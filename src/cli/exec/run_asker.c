/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec/run_asker.h"

#include "base/time.h"
#include "base/wake.h"
#include "cli/script/frame.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STOP_US = 300000 /* how long the end of the program waits for a pending call */
};

enum stage {
    IDLE,
    ASKED,
    ANSWERED,
};

/* All fields except the marked ones are shared, and used only with the lock held. */
struct run_asker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct pw_wake news;
    pawl_client *client;       /* used only by the thread */
    char run_id[PAWL_ID_SIZE]; /* never changes */
    enum stage stage;
    bool also_why;
    bool stop;
    bool stopped;
    struct run_answer answer;
};

void
run_answer_done(struct run_answer *answer)
{
    pawl_error_free(answer->error);
    free(answer->output);
    free(answer->why);
    *answer = (struct run_answer){0};
}

/* Returns a text of the one row that a verb answers with; malloced, or NULL. */
static char *
text_of(struct run_asker *asker, const char *verb, const char *column)
{
    const char *names[] = {"run"};
    const char *values[] = {asker->run_id};
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;
    const char *text = NULL;
    char *copy;

    if (pawl_client_call(asker->client, verb, names, values, 1, &rows, &error) == PAWL_OK)
        text = pawl_rows_text(rows, 0, column);
    copy = text != NULL ? strdup(text) : NULL;
    pawl_rows_free(rows);
    pawl_error_free(error);
    return copy;
}

/* Asks the database, without the lock. */
static struct run_answer
ask_for(struct run_asker *asker, bool also_why)
{
    struct run_answer answer = {0};
    pawl_bytes output = {0};
    char *reason;

    answer.status = pawl_client_wait(asker->client, asker->run_id, 0, &output, &answer.error);
    if (answer.status == PAWL_OK)
        answer.output =
            frame_output_of((struct pw_json){output.data, output.size}, &answer.output_size);
    if (answer.status == PAWL_ETIMEOUT && also_why) {
        reason = text_of(asker, "get_run", "reason");
        if (reason != NULL && strcmp(reason, "retry") == 0)
            answer.why = text_of(asker, "why", "why");
        free(reason);
    }
    return answer;
}

static void *
ask(void *userdata)
{
    struct run_asker *asker = userdata;
    struct run_answer answer;
    bool also_why;

    (void)pthread_mutex_lock(&asker->lock);
    for (;;) {
        while (!asker->stop && asker->stage != ASKED)
            (void)pw_cond_wait_until(&asker->changed, &asker->lock, INT64_MAX);
        if (asker->stop)
            break;
        also_why = asker->also_why;
        (void)pthread_mutex_unlock(&asker->lock);
        answer = ask_for(asker, also_why);
        (void)pthread_mutex_lock(&asker->lock);
        asker->answer = answer;
        asker->stage = ANSWERED;
        pw_wake_set(&asker->news);
        (void)pthread_cond_broadcast(&asker->changed);
    }
    asker->stopped = true;
    (void)pthread_cond_broadcast(&asker->changed);
    (void)pthread_mutex_unlock(&asker->lock);
    return NULL;
}

struct run_asker *
run_asker_start(pawl_client *client, const char *run_id)
{
    struct run_asker *asker = calloc(1, sizeof(*asker));

    if (asker == NULL)
        return NULL;
    asker->client = client;
    asker->news.fd = -1;
    (void)snprintf(asker->run_id, sizeof(asker->run_id), "%s", run_id);
    if (pthread_mutex_init(&asker->lock, NULL) == 0) {
        if (pw_cond_init_clock(&asker->changed) == 0) {
            if (pw_wake_open(&asker->news) == 0 &&
                pthread_create(&asker->thread, NULL, ask, asker) == 0)
                return asker;
            (void)pthread_cond_destroy(&asker->changed);
        }
        (void)pthread_mutex_destroy(&asker->lock);
    }
    pw_wake_close(&asker->news);
    free(asker);
    return NULL;
}

int
run_asker_fd(const struct run_asker *asker)
{
    return asker->news.fd;
}

bool
run_asker_ask(struct run_asker *asker, bool also_why)
{
    bool asked;

    (void)pthread_mutex_lock(&asker->lock);
    asked = asker->stage == IDLE;
    if (asked) {
        asker->stage = ASKED;
        asker->also_why = also_why;
        (void)pthread_cond_broadcast(&asker->changed);
    }
    (void)pthread_mutex_unlock(&asker->lock);
    return asked;
}

/* With the lock held. */
static bool
take(struct run_asker *asker, struct run_answer *answer)
{
    if (asker->stage != ANSWERED)
        return false;
    (void)pw_wake_clear(&asker->news);
    *answer = asker->answer;
    asker->answer = (struct run_answer){0};
    asker->stage = IDLE;
    return true;
}

bool
run_asker_take(struct run_asker *asker, struct run_answer *answer)
{
    bool taken;

    (void)pthread_mutex_lock(&asker->lock);
    taken = take(asker, answer);
    (void)pthread_mutex_unlock(&asker->lock);
    return taken;
}

bool
run_asker_wait(struct run_asker *asker, int64_t until_us, struct run_answer *answer)
{
    bool taken;

    (void)run_asker_ask(asker, false);
    (void)pthread_mutex_lock(&asker->lock);
    while (asker->stage == ASKED && pw_cond_wait_until(&asker->changed, &asker->lock, until_us))
        ;
    taken = take(asker, answer);
    (void)pthread_mutex_unlock(&asker->lock);
    return taken;
}

bool
run_asker_stop(struct run_asker *asker)
{
    int64_t deadline_us = pw_now_us() + STOP_US;
    bool stopped;

    if (asker == NULL)
        return true;
    (void)pthread_mutex_lock(&asker->lock);
    asker->stop = true;
    (void)pthread_cond_broadcast(&asker->changed);
    while (!asker->stopped && pw_cond_wait_until(&asker->changed, &asker->lock, deadline_us))
        ;
    stopped = asker->stopped;
    (void)pthread_mutex_unlock(&asker->lock);
    if (!stopped)
        return false;
    (void)pthread_join(asker->thread, NULL);
    run_answer_done(&asker->answer);
    pawl_client_close(asker->client);
    pw_wake_close(&asker->news);
    (void)pthread_cond_destroy(&asker->changed);
    (void)pthread_mutex_destroy(&asker->lock);
    free(asker);
    return true;
}
