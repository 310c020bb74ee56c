/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the oracle when it asks what the engine has chosen: after a phase from what the tables hold then, which is read once. */
#include "history.h"

#include "harness.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run gets a name when it is heard of, if the call that made it has one left. */
static void
name_child(struct history *h, const char *id)
{
    struct player_list *runs = &h->player->runs;

    if (player_knows(runs, id))
        return;
    for (int i = CALL_ITEMS_MAX; i < CALL_NAMES_MAX; i++)
        if (player_find(runs, h->number * CALL_NAMES_MAX + i) == NULL) {
            player_remember(runs, h->number * CALL_NAMES_MAX + i, id);
            return;
        }
}

/* Those of a step that the oracle which is tried does not know. */
static const char *
choose_child(void *userdata, const char *parent, int task, const char *step)
{
    struct history *h = userdata;

    if (!h->explaining)
        history_ask_children(h);
    for (int i = 0; i < PQntuples(h->children); i++) {
        const char *id = PQgetvalue(h->children, i, 0);
        struct oracle_view view;
        int64_t number = 0;

        if (strcmp(PQgetvalue(h->children, i, 1), parent) != 0 ||
            strcmp(PQgetvalue(h->children, i, 3), step) != 0 ||
            !pw_parse_i64(PQgetvalue(h->children, i, 2), 0, INT32_MAX, &number) || number != task)
            continue;
        oracle_look(h->player->oracle, id, &view);
        if (!view.found) {
            name_child(h, id);
            return id;
        }
    }
    return NULL;
}

/* How the line of something begins: its word, with the task if it is of one; then more words. */
static void
write_head(char *head, size_t size, const char *word, int task)
{
    if (task > 0)
        (void)snprintf(head, size, "%s/%d ", word, task); /* they are short */
    else
        (void)snprintf(head, size, "%s ", word);
}

static void
add_word(char *head, size_t size, const char *word)
{
    size_t length = strlen(head);

    (void)snprintf(head + length, size - length, "%s ", word); /* what is cut off is not found */
}

static bool
still_waits(void *userdata, const char *run, int task, const char *name)
{
    struct history *h = userdata;
    char head[128];

    if (!h->explaining)
        return h->player->chooser.waits(h->player, run, task, name);
    write_head(head, sizeof(head), "wait", task);
    add_word(head, sizeof(head), name);
    return history_has_line(h, run, head);
}

static bool
has_record(void *userdata, const char *run, int task, const char *name, int round)
{
    struct history *h = userdata;
    char head[128], number[16];

    if (!h->explaining)
        return h->player->chooser.records(h->player, run, task, name, round);
    (void)snprintf(number, sizeof(number), "%d", round); /* it fits */
    write_head(head, sizeof(head), "step", task);
    add_word(head, sizeof(head), name);
    add_word(head, sizeof(head), number);
    return history_has_line(h, run, head);
}

static int64_t
nth_swept(void *userdata, int n)
{
    struct history *h = userdata;
    int64_t session = 0;

    if (!h->explaining)
        return h->player->chooser.swept(h->player, n);
    if (n < PQntuples(h->swept) &&
        !pw_parse_i64(PQgetvalue(h->swept, n, 0), 1, INT64_MAX, &session))
        session = 0;
    return session;
}

void
history_ask_children(struct history *history)
{
    PQclear(history->children);
    history->children = bench_exec(history->player->conn,
        "select c.* from (select t.run_id, t.parent_id, coalesce(t.parent_task, 0), t.parent_step"
        " from pawl_data.task t where t.task_no = 0 and t.parent_id is not null"
        " union select r.run_id, r.parent_id, coalesce(r.parent_task, 0), r.parent_step"
        " from pawl_data.run r where r.parent_id is not null and r.parent_step is not null) c"
        " order by c.run_id");
}

void
history_ask(struct history *history)
{
    history_ask_children(history);
    PQclear(history->swept);
    history->swept =
        bench_exec(history->player->conn, "select session from oracle.swept order by n");
}

void
history_answer_oracle(struct history *history)
{
    history->chooser =
        (struct oracle_chooser){history, choose_child, still_waits, has_record, nth_swept, NULL};
    oracle_set_chooser(history->player->oracle, &history->chooser);
}
