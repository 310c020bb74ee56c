/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the oracle when it asks what the engine has chosen, from the engine's tables. */
#include "player.h"

#include "harness.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static PGresult *
ask(struct player *player, const char *statement, const char *run, int task, const char *name,
    int round)
{
    char *quoted = PQescapeLiteral(player->conn, name, strlen(name));
    struct pw_buf sql;
    PGresult *result;

    pw_buf_init(&sql, 4096);
    pw_buf_addf(&sql, "'%s', %d, %s", run, task, quoted);
    if (round > 0)
        pw_buf_addf(&sql, ", %d", round);
    PQfreemem(quoted);
    result = player_call(player, statement, pw_buf_text(&sql));
    pw_buf_done(&sql);
    return result;
}

/* It gets a name, too, if there are not too many. */
static const char *
remember_found(struct player *player, const char *id)
{
    int maker = player->number * CALL_NAMES_MAX + CALL_ITEMS_MAX + player->children;

    player_remember(&player->runs,
        player->children < CALL_NAMES_MAX - CALL_ITEMS_MAX ? maker : CALL_NOBODY - 1, id);
    player->children++;
    return player->runs.made[player->runs.count - 1].id;
}

static const char *
choose_child(void *userdata, const char *parent, int task, const char *step)
{
    struct player *player = userdata;
    PGresult *result = ask(player, "children", parent, task, step, 0);
    const char *ids = player_column(result, 0), *id = NULL;
    char text[40] = "";

    while (*ids != '\0' && text[0] == '\0') {
        size_t length = strcspn(ids, " ");

        (void)snprintf(text, sizeof(text), "%.*s", (int)length, ids); /* an id */
        if (player_knows(&player->runs, text))
            text[0] = '\0'; /* of an earlier round */
        ids += length + (ids[length] == ' ');
    }
    if (text[0] != '\0')
        id = remember_found(player, text);
    PQclear(result);
    return id;
}

static bool
has_row(PGresult *result)
{
    bool found = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;

    PQclear(result);
    return found;
}

static bool
still_waits(void *userdata, const char *run, int task, const char *name)
{
    return has_row(ask(userdata, "waits", run, task, name, 0));
}

static bool
has_record(void *userdata, const char *run, int task, const char *name, int round)
{
    return has_row(ask(userdata, "records", run, task, name, round));
}

static int64_t
nth_swept(void *userdata, int n)
{
    struct player *player = userdata;
    int64_t session = 0;

    if (n == 0) {
        PQclear(player->swept);
        player->swept = bench_exec(player->conn, "select session from oracle.swept order by n");
    }
    if (n < PQntuples(player->swept) &&
        !pw_parse_i64(PQgetvalue(player->swept, n, 0), 1, INT64_MAX, &session))
        session = 0;
    return session;
}

static const char *
find_scheduled(void *userdata, const char *tenant, const char *workflow, const char *key)
{
    struct player *player = userdata;
    char sql[300];
    const char *id = NULL;
    PGresult *result;

    (void)snprintf(sql, sizeof(sql), "'%s', '%s', '%s'", tenant, workflow, key); /* plain names */
    result = player_call(player, "scheduled", sql);
    if (player_column(result, 0)[0] != '\0')
        id = remember_found(player, player_column(result, 0));
    PQclear(result);
    return id;
}

void
player_answer_oracle(struct player *player)
{
    player->chooser = (struct oracle_chooser){
        player, choose_child, still_waits, has_record, nth_swept, find_scheduled};
    oracle_set_chooser(player->oracle, &player->chooser);
}
