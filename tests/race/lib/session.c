/* SPDX-License-Identifier: Apache-2.0 */
/* Worker sessions of the race programs; see the header. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double patience_s = 30;

void
race_session_register(struct race_session *session, const char *handles, const char *lease)
{
    const char *params[] = {handles, lease};
    PGresult *res = bench_exec_params(session->conn,
        "select session from pawl.register('race', array[$1], lease => $2::interval)", 2, params);

    (void)snprintf(session->id, sizeof(session->id), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
}

void
race_session_open(struct race_session *session, const char *handles)
{
    memset(session, 0, sizeof(*session));
    session->conn = bench_connect();
    race_session_register(session, handles, "1 h");
}

void
race_session_close(struct race_session *session)
{
    PQfinish(session->conn);
    session->conn = NULL;
}

PGresult *
race_claim(struct race_session *session, int most, int request)
{
    char count[16], number[16];
    const char *params[] = {session->id, count, request > 0 ? number : NULL};

    (void)snprintf(count, sizeof(count), "%d", most);
    (void)snprintf(number, sizeof(number), "%d", request);
    return bench_exec_params(session->conn,
        "select run_id, fence, input ->> 'n', json_array_length(record -> 'steps'),"
        " json_array_length(record -> 'waits'), rolling_back::int from pawl.claim($1, $2, $3, "
        "true, true)",
        3, params);
}

static void
copy(char *to, size_t size, const char *text)
{
    if (text == NULL)
        text = "";
    if (strlen(text) >= size)
        bench_die("\"%s\" does not fit its field of an item", text);
    memcpy(to, text, strlen(text) + 1);
}

void
race_item_set(struct race_item *item, const char *run, int fence, const char *kind,
    const char *name, const char *payload, const char *option)
{
    memset(item, 0, sizeof(*item));
    copy(item->run, sizeof(item->run), run);
    item->fence = fence;
    /* Without a number the engine would have to look for one. */
    item->seq = name == NULL ? 0 : 1;
    copy(item->kind, sizeof(item->kind), kind);
    copy(item->name, sizeof(item->name), name);
    copy(item->payload, sizeof(item->payload), payload);
    copy(item->option, sizeof(item->option), option);
}

/* Adds an element of an array parameter; an empty one is null. */
static void
add_element(struct bench_text *array, const char *value)
{
    bench_text_add(array, array->length == 0 ? "{" : ",");
    if (value[0] == '\0') {
        bench_text_add(array, "null");
        return;
    }
    bench_text_add(array, "\"");
    for (; *value != '\0'; value++)
        bench_text_addf(array, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    bench_text_add(array, "\"");
}

enum list {
    LIST_RUNS,
    LIST_FENCES,
    LIST_KINDS,
    LIST_NAMES,
    LIST_PAYLOADS,
    LIST_SEQS,
    LIST_OPTIONS,
    LISTS,
};

static void
build_lists(struct bench_text *lists, const struct race_item *items, int count)
{
    for (int i = 0; i < count; i++) {
        char number[16];

        add_element(&lists[LIST_RUNS], items[i].run);
        (void)snprintf(number, sizeof(number), "%d", items[i].fence);
        add_element(&lists[LIST_FENCES], number);
        add_element(&lists[LIST_KINDS], items[i].kind);
        add_element(&lists[LIST_NAMES], items[i].name);
        add_element(&lists[LIST_PAYLOADS], items[i].payload);
        (void)snprintf(number, sizeof(number), "%d", items[i].seq);
        add_element(&lists[LIST_SEQS], items[i].seq > 0 ? number : "");
        add_element(&lists[LIST_OPTIONS], items[i].option);
    }
    for (int i = 0; i < LISTS; i++)
        bench_text_add(&lists[i], "}");
}

static PGresult *
send_lists(struct race_session *session, const char *const *params)
{
    static const char *const fast = "select item, answer, reason, value ->> 'state'"
                                    " from pawl.commit($1, $2, $3, $4, $5, $6, $7, options => $8)";
    static const char *const each =
        "select item, answer, reason, value ->> 'state'"
        " from pawl.commit_each($1, $2, $3, $4, $5, $6, $7, options => $8)";
    const char *sql = fast;

    for (int tries = 0; tries < 100; tries++) {
        PGresult *res = race_try(session->conn, sql, 8, params);
        const char *state = race_state(res);

        if (state[0] == '\0')
            return res;
        if (strcmp(state, "40P01") == 0)
            session->deadlocks++;
        else if ((strcmp(state, "23505") == 0 || strcmp(state, "PW010") == 0) && sql == fast)
            sql = each;
        else
            bench_die("commit: %s", PQresultErrorMessage(res));
        PQclear(res);
    }
    bench_die("commit: 100 deadlocks one after the other");
}

void
race_commit(struct race_session *session, struct race_item *items, int count)
{
    struct bench_text lists[LISTS];
    const char *params[LISTS + 1] = {session->id};
    PGresult *res;

    if (count == 0)
        return;
    for (int i = 0; i < LISTS; i++) {
        bench_text_init(&lists[i], (size_t)count * 400 + 16);
        params[i + 1] = lists[i].data;
    }
    build_lists(lists, items, count);
    res = send_lists(session, params);
    session->commits++;
    if (PQntuples(res) != count)
        bench_die("commit: %d answers to %d items", PQntuples(res), count);
    for (int i = 0; i < count; i++) {
        long number = race_field(res, i, 0);
        struct race_item *item;

        if (number < 1 || number > count)
            bench_die("commit: answer to item %ld of %d", number, count);
        item = &items[number - 1];
        (void)snprintf(item->answer, sizeof(item->answer), "%s", PQgetvalue(res, i, 1));
        (void)snprintf(item->reason, sizeof(item->reason), "%s", PQgetvalue(res, i, 2));
        (void)snprintf(item->state, sizeof(item->state), "%s", PQgetvalue(res, i, 3));
        if (strcmp(item->answer, "busy") == 0)
            session->busy++;
    }
    PQclear(res);
    for (int i = 0; i < LISTS; i++)
        bench_text_done(&lists[i]);
}

void
race_commit_all(struct race_session *session, struct race_item *items, int count)
{
    double until = bench_limit_s(patience_s);
    struct race_item *again = race_alloc(count + 1, sizeof(*again));
    int *places = race_alloc(count + 1, sizeof(*places));
    int left = count, tries = 0;

    for (int i = 0; i < count; i++)
        places[i] = i;
    while (left > 0) {
        int kept = 0;

        for (int i = 0; i < left; i++)
            again[i] = items[places[i]];
        race_commit(session, again, left);
        for (int i = 0; i < left; i++) {
            items[places[i]] = again[i];
            if (strcmp(again[i].answer, "busy") == 0)
                places[kept++] = places[i];
        }
        left = kept;
        if (left > 0 && bench_now_s() > until)
            bench_die("run %s is busy for %.0f s: %s", items[places[0]].run, patience_s,
                items[places[0]].reason);
        /* Longer each time, as a library would, so that what is in the way gets out of it. */
        for (int i = 0; left > 0 && i < 1 + tries && i < 20; i++)
            race_breathe();
        tries++;
    }
    free(places);
    free(again);
}
