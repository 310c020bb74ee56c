/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/top_asker.h"

#include "base/time.h"
#include "base/wake.h"
#include "cli/report/answer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERB_SIZE = 16,
    MESSAGE_SIZE = 300,
    STOP_US = 300000,
    AGAIN_US = 1000000, /* after an error */
    REST = 40,          /* as in top_look.c */
};

/* All fields except the marked ones are shared, and used only with the lock held. */
struct top_asker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct pw_wake news;
    pawl_client *client;   /* used only by the thread */
    struct top_look *look; /* its view is shared; only the thread asks */
    enum top_list list;
    char open_id[TOP_ID_SIZE];
    char verb[VERB_SIZE]; /* to call for run verb_id; "": none */
    char verb_id[TOP_ID_SIZE];
    bool wanted; /* the list or the open run changed: ask at once */
    bool paused;
    bool stop;
    bool stopped;
    pawl_rows *run;
    pawl_rows *why;
    int64_t run_due_us;
    char trouble[MESSAGE_SIZE];
    int64_t trouble_us;
    char answer[MESSAGE_SIZE];
    int64_t asking_us;
};

/* The wishes of the user, copied when the thread begins a look. */
struct wish {
    enum top_list list;
    char open_id[TOP_ID_SIZE];
    char verb[VERB_SIZE];
    char verb_id[TOP_ID_SIZE];
    bool hurry;
    bool open_due;
};

static void
set_message(char room[static MESSAGE_SIZE], const char *text)
{
    (void)snprintf(room, MESSAGE_SIZE, "%.*s", (int)strcspn(text, "\n"), text);
}

/* With the lock held. */
static void
note_trouble(struct top_asker *asker, pawl_status status, pawl_error *error)
{
    if (status == PAWL_OK) {
        asker->trouble[0] = '\0';
        return;
    }
    if (asker->trouble[0] == '\0')
        asker->trouble_us = pw_now_us();
    if (status == PAWL_ECONN || status == PAWL_ETIMEOUT || status == PAWL_EUNKNOWN)
        set_message(asker->trouble, "no connection to the database");
    else
        set_message(asker->trouble, pawl_error_message(error));
}

/* Writes "cancel: ok", or why the verb was refused. */
static void
write_answer(char room[static MESSAGE_SIZE], const char *verb, pawl_status status,
    const pawl_rows *rows, const pawl_error *error)
{
    const char *answer = status == PAWL_OK ? pawl_rows_text(rows, 0, "answer") : NULL;
    const char *meaning = answer == NULL ? NULL : answer_meaning(verb, answer);

    if (meaning == NULL && answer != NULL)
        meaning = strcmp(answer, "ok") == 0    ? "done"
            : strcmp(answer, "already") == 0   ? "it is so already"
            : strcmp(answer, "not_found") == 0 ? "there is no such run any more"
                                               : answer;
    if (status == PAWL_EUNKNOWN)
        meaning = "outcome unknown; look again";
    else if (status == PAWL_ECONN)
        meaning = "no connection to the database; nothing was done";
    else if (status != PAWL_OK)
        meaning = pawl_error_message(error);
    (void)snprintf(room, MESSAGE_SIZE, "%s: %.*s", verb,
        meaning == NULL ? 0 : (int)strcspn(meaning, "\n"), meaning == NULL ? "" : meaning);
}

static void
do_verb(struct top_asker *asker, const struct wish *wish)
{
    const char *names[] = {"runs"};
    char list[TOP_ID_SIZE + 2];
    const char *values[] = {list};
    char answer[MESSAGE_SIZE];
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;
    pawl_status status;

    (void)snprintf(list, sizeof(list), "{%s}", wish->verb_id);
    status = pawl_client_call(asker->client, wish->verb, names, values, 1, &rows, &error);
    write_answer(answer, wish->verb, status, rows, error);
    pawl_rows_free(rows);
    pawl_error_free(error);
    (void)pthread_mutex_lock(&asker->lock);
    memcpy(asker->answer, answer, sizeof(answer));
    (void)pthread_mutex_unlock(&asker->lock);
}

/* Asks for the open run: the rows of pawl run show and pawl why. */
static pawl_status
ask_open(struct top_asker *asker, const struct wish *wish, pawl_error **error)
{
    const char *names[] = {"run"};
    const char *values[] = {wish->open_id};
    pawl_rows *run = NULL;
    pawl_rows *why = NULL;
    int64_t begin_us = pw_now_us();
    pawl_status status = pawl_client_call(asker->client, "get_run", names, values, 1, &run, error);

    if (status == PAWL_OK)
        status = pawl_client_call(asker->client, "why", names, values, 1, &why, error);
    (void)pthread_mutex_lock(&asker->lock);
    if (status == PAWL_OK && strcmp(asker->open_id, wish->open_id) == 0) {
        pawl_rows *old_run = asker->run;
        pawl_rows *old_why = asker->why;

        asker->run = run;
        asker->why = why;
        run = old_run;
        why = old_why;
        asker->run_due_us = pw_now_us() + REST * (pw_now_us() - begin_us);
    }
    (void)pthread_mutex_unlock(&asker->lock);
    pawl_rows_free(run);
    pawl_rows_free(why);
    return status;
}

/* Makes one look. Holds the lock only while the view changes. */
static pawl_status
look(struct top_asker *asker, const struct wish *wish, pawl_error **error)
{
    pawl_status status;

    if (wish->hurry)
        top_look_hurry(asker->look);
    status = top_look_ask(asker->look, wish->list, error);
    if (status != PAWL_OK)
        return status;
    (void)pthread_mutex_lock(&asker->lock);
    if (!top_look_take(asker->look))
        status = PAWL_ENOMEM;
    (void)pthread_mutex_unlock(&asker->lock);
    if (status == PAWL_OK)
        status = top_look_ask_texts(asker->look, error);
    (void)pthread_mutex_lock(&asker->lock);
    top_look_take_texts(asker->look);
    (void)pthread_mutex_unlock(&asker->lock);
    return status;
}

/* Waits until a question is due or wanted. Returns false if the thread must stop. */
static bool
next_wish(struct top_asker *asker, struct wish *wish)
{
    bool go = false;

    (void)pthread_mutex_lock(&asker->lock);
    asker->asking_us = -1;
    while (!asker->stop && !go) {
        int64_t due_us =
            asker->trouble[0] != '\0' ? pw_now_us() + AGAIN_US : top_look_due_us(asker->look);

        if (asker->paused)
            due_us = INT64_MAX;
        if (asker->verb[0] != '\0' || asker->wanted || due_us <= pw_now_us())
            break;
        go = !pw_cond_wait_until(&asker->changed, &asker->lock, due_us);
    }
    *wish = (struct wish){.list = asker->list,
        .hurry = asker->trouble[0] != '\0' || asker->verb[0] != '\0',
        .open_due = asker->wanted || asker->run_due_us <= pw_now_us()};
    memcpy(wish->open_id, asker->open_id, sizeof(wish->open_id));
    memcpy(wish->verb, asker->verb, sizeof(wish->verb));
    memcpy(wish->verb_id, asker->verb_id, sizeof(wish->verb_id));
    asker->verb[0] = '\0';
    asker->wanted = false;
    asker->asking_us = pw_now_us();
    go = !asker->stop;
    (void)pthread_mutex_unlock(&asker->lock);
    return go;
}

static void *
ask(void *userdata)
{
    struct top_asker *asker = userdata;
    struct wish wish;

    while (next_wish(asker, &wish)) {
        pawl_error *error = NULL;
        pawl_status status;

        if (wish.verb[0] != '\0')
            do_verb(asker, &wish);
        status = look(asker, &wish, &error);
        if (status == PAWL_OK && wish.open_id[0] != '\0' && (wish.open_due || wish.hurry))
            status = ask_open(asker, &wish, &error);
        (void)pthread_mutex_lock(&asker->lock);
        note_trouble(asker, status, error);
        (void)pthread_mutex_unlock(&asker->lock);
        pawl_error_free(error);
        pw_wake_set(&asker->news);
    }
    (void)pthread_mutex_lock(&asker->lock);
    asker->stopped = true;
    (void)pthread_cond_broadcast(&asker->changed);
    (void)pthread_mutex_unlock(&asker->lock);
    return NULL;
}

struct top_asker *
top_asker_start(pawl_client *client, struct top_look *look)
{
    struct top_asker *asker = calloc(1, sizeof(*asker));

    if (asker == NULL)
        return NULL;
    asker->client = client;
    asker->look = look;
    asker->asking_us = -1;
    asker->news.fd = -1;
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
top_asker_fd(const struct top_asker *asker)
{
    return asker->news.fd;
}

void
top_asker_lock(struct top_asker *asker, struct top_found *found)
{
    (void)pw_wake_clear(&asker->news);
    (void)pthread_mutex_lock(&asker->lock);
    *found = (struct top_found){.view = top_look_view(asker->look),
        .run = asker->run,
        .why = asker->why,
        .trouble = asker->trouble,
        .trouble_us = asker->trouble_us,
        .answer = asker->answer,
        .asking_us = asker->asking_us};
}

void
top_asker_unlock(struct top_asker *asker)
{
    (void)pthread_mutex_unlock(&asker->lock);
}

void
top_asker_want(struct top_asker *asker, enum top_list list, const char *run_id)
{
    (void)pthread_mutex_lock(&asker->lock);
    asker->list = list;
    if (run_id == NULL || strcmp(run_id, asker->open_id) != 0) {
        pawl_rows_free(asker->run);
        pawl_rows_free(asker->why);
        asker->run = NULL;
        asker->why = NULL;
        (void)snprintf(asker->open_id, sizeof(asker->open_id), "%s", run_id == NULL ? "" : run_id);
    }
    asker->answer[0] = '\0';
    asker->wanted = true;
    (void)pthread_cond_broadcast(&asker->changed);
    (void)pthread_mutex_unlock(&asker->lock);
}

void
top_asker_pause(struct top_asker *asker, bool paused)
{
    (void)pthread_mutex_lock(&asker->lock);
    asker->paused = paused;
    (void)pthread_cond_broadcast(&asker->changed);
    (void)pthread_mutex_unlock(&asker->lock);
}

void
top_asker_do(struct top_asker *asker, const char *verb, const char *run_id)
{
    (void)pthread_mutex_lock(&asker->lock);
    (void)snprintf(asker->verb, sizeof(asker->verb), "%s", verb);
    (void)snprintf(asker->verb_id, sizeof(asker->verb_id), "%s", run_id);
    (void)snprintf(asker->answer, sizeof(asker->answer), "%s ...", verb);
    (void)pthread_cond_broadcast(&asker->changed);
    (void)pthread_mutex_unlock(&asker->lock);
}

bool
top_asker_stop(struct top_asker *asker)
{
    int64_t deadline_us = pw_now_us() + STOP_US;
    bool stopped;

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
    pawl_rows_free(asker->run);
    pawl_rows_free(asker->why);
    top_look_free(asker->look);
    pawl_client_close(asker->client);
    pw_wake_close(&asker->news);
    (void)pthread_cond_destroy(&asker->changed);
    (void)pthread_mutex_destroy(&asker->lock);
    free(asker);
    return true;
}
