/* SPDX-License-Identifier: Apache-2.0 */
#include "server/ready.h"

#include "base/alloc.h"
#include "base/time.h"
#include "server/callers.h"
#include "server/server.h"

#include <string.h>

/* After this time without an answer the database is asked; after the other one it counts as away. */
static const int64_t ask_after_us = 2000000;
static const int64_t away_after_us = 5000000;

struct question {
    struct job job;
    struct server *server;
};

/* Any answer will do, also that this login may do nothing without a token. A schema that does not fit gives another one. */
static pawl_status
act(struct job *job, pawl_client *client)
{
    struct question *question = PW_CONTAINER(job, struct question, job);
    const pawl_bytes none = {NULL, 0};
    pawl_status status = PAWL_ECONN;

    if (client != NULL)
        status = pawl_client_act_as_token(client, none, NULL);
    if (status == PAWL_OK)
        status = pawl_client_call(client, "epoch", NULL, NULL, 0, NULL, NULL);
    atomic_store(&question->server->asking, false);
    pw_free(question);
    return status;
}

void
ready_tick(struct server *server, int64_t now_us)
{
    int64_t answered = callers_answered_us(server->callers);
    struct question *question;

    if (now_us - answered < ask_after_us || atomic_exchange(&server->asking, true))
        return;
    question = pw_calloc(1, sizeof(*question));
    if (question != NULL) {
        question->job.act = act;
        question->server = server;
        if (callers_add(server->callers, &question->job))
            return;
    }
    pw_free(question);
    atomic_store(&server->asking, false);
}

bool
ready_now(struct server *server)
{
    int64_t answered = callers_answered_us(server->callers);

    return !atomic_load(&server->draining) && answered > 0 &&
        pw_now_us() - answered < away_after_us;
}
