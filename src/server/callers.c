/* SPDX-License-Identifier: Apache-2.0 */
#include "server/callers.h"

#include "base/alloc.h"
#include "base/time.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    JOBS_MAX = 1024,
    THREADS_MAX = 64,
};

/* For this time after a call has found no database, jobs are answered at once instead of waiting for one in turn. */
static const int64_t rest_us = 1000000;

struct callers {
    pthread_mutex_t mutex;
    pthread_cond_t some;
    struct pw_list jobs;
    size_t count;
    atomic_bool ending; /* set under the mutex */
    const pawl_config *config;
    _Atomic int64_t answered_us; /* relaxed: only its age is of interest */
    _Atomic int64_t away_us;     /* until when the database counts as away; relaxed */
    atomic_uint acting;          /* threads that have a job */
    unsigned thread_count;
    pthread_t threads[THREADS_MAX];
};

/* Waits for a job. Returns NULL at the end. */
static struct job *
take(struct callers *callers)
{
    struct pw_list *link = NULL;

    (void)pthread_mutex_lock(&callers->mutex);
    while ((link = pw_list_first(&callers->jobs)) == NULL && !callers->ending)
        (void)pthread_cond_wait(&callers->some, &callers->mutex);
    if (link != NULL) {
        pw_list_remove(link);
        callers->count--;
        callers->acting++;
    }
    (void)pthread_mutex_unlock(&callers->mutex);
    return link != NULL ? PW_CONTAINER(link, struct job, link) : NULL;
}

static void
note(struct callers *callers, pawl_status status)
{
    int64_t now = pw_now_us();

    if (status == PAWL_ECONN || status == PAWL_ETIMEOUT || status == PAWL_ESCHEMA)
        atomic_store_explicit(&callers->away_us, now + rest_us, memory_order_relaxed);
    else if (status != PAWL_EUNKNOWN)
        atomic_store_explicit(&callers->answered_us, now, memory_order_relaxed);
}

/* Connects, unless there is a client. Returns false if it does not succeed, or was tried a moment ago. */
static bool
connect_client(struct callers *callers, pawl_client **client)
{
    if (pw_now_us() < atomic_load_explicit(&callers->away_us, memory_order_relaxed))
        return false;
    if (*client != NULL)
        return true;
    if (pawl_client_open(callers->config, client, NULL) == PAWL_OK)
        return true;
    *client = NULL;
    note(callers, PAWL_ECONN);
    return false;
}

static void *
work(void *argument)
{
    struct callers *callers = argument;
    pawl_client *client = NULL;
    struct job *job;

    while ((job = take(callers)) != NULL) {
        bool connected = !callers->ending && connect_client(callers, &client);
        pawl_status status = job->act(job, connected ? client : NULL);

        if (connected)
            note(callers, status);
        callers->acting--;
    }
    pawl_client_close(client);
    return NULL;
}

struct callers *
callers_new(const pawl_config *config, unsigned threads)
{
    struct callers *callers = pw_calloc(1, sizeof(*callers));

    if (callers == NULL)
        return NULL;
    callers->config = config;
    pw_list_init(&callers->jobs);
    (void)pthread_mutex_init(&callers->mutex, NULL); /* neither can fail with default attributes */
    (void)pthread_cond_init(&callers->some, NULL);
    while (callers->thread_count < threads && callers->thread_count < THREADS_MAX) {
        if (pthread_create(&callers->threads[callers->thread_count], NULL, work, callers) != 0) {
            callers_free(callers);
            return NULL;
        }
        callers->thread_count++;
    }
    return callers;
}

void
callers_free(struct callers *callers)
{
    if (callers == NULL)
        return;
    (void)pthread_mutex_lock(&callers->mutex);
    callers->ending = true;
    (void)pthread_cond_broadcast(&callers->some);
    (void)pthread_mutex_unlock(&callers->mutex);
    for (unsigned i = 0; i < callers->thread_count; i++)
        (void)pthread_join(callers->threads[i], NULL);
    (void)pthread_cond_destroy(&callers->some);
    (void)pthread_mutex_destroy(&callers->mutex);
    pw_free(callers);
}

bool
callers_add(struct callers *callers, struct job *job)
{
    bool fits;

    (void)pthread_mutex_lock(&callers->mutex);
    fits = callers->count < JOBS_MAX && !callers->ending;
    if (fits) {
        pw_list_add_tail(&callers->jobs, &job->link);
        callers->count++;
        (void)pthread_cond_signal(&callers->some);
    }
    (void)pthread_mutex_unlock(&callers->mutex);
    return fits;
}

size_t
callers_waiting(struct callers *callers)
{
    size_t count;

    (void)pthread_mutex_lock(&callers->mutex);
    count = callers->count;
    (void)pthread_mutex_unlock(&callers->mutex);
    return count;
}

bool
callers_busy(struct callers *callers)
{
    return callers_waiting(callers) > 0 || atomic_load(&callers->acting) > 0;
}

int64_t
callers_answered_us(struct callers *callers)
{
    return atomic_load_explicit(&callers->answered_us, memory_order_relaxed);
}
