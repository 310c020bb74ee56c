/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one call in both worlds and compares answers and runs. */
#include "player.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The test database begins there; lib/oracle.sql says the same. */
static const int64_t beginning_us = INT64_C(2208988800000000);

const char *
player_find(const struct player_list *list, int maker)
{
    if (maker == CALL_NOBODY)
        return "01234567-89ab-7def-8123-456789abcdef";
    for (size_t i = 0; i < list->count; i++)
        if (list->made[i].maker == maker)
            return list->made[i].id;
    return NULL;
}

void
player_remember(struct player_list *list, int maker, const char *id)
{
    struct player_made *made = realloc(list->made, (list->count + 1) * sizeof(*made));

    if (made == NULL)
        bench_die("out of memory");
    list->made = made;
    made[list->count].maker = maker;
    made[list->count].id = strdup(id);
    if (made[list->count].id == NULL)
        bench_die("out of memory");
    list->count++;
}

void
player_open(struct player *player, struct coverage *coverage)
{
    *player = (struct player){.coverage = coverage};
    player->conn = bench_connect();
    player->blocker = bench_connect();
    bench_do(player->conn, "set timezone to 'UTC'; set client_min_messages to warning");
    bench_do(
        player->blocker, "prepare hold as select from pawl_data.task where run_id = $1 for update");
    player_prepare(player->conn);
    pw_buf_init(&player->sql, (size_t)1 << 20);
    pw_buf_init(&player->got, (size_t)1 << 26);
    pw_buf_init(&player->wanted, (size_t)1 << 26);
    pw_buf_init(&player->problem, (size_t)1 << 20);
}

static void
forget(struct player_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->made[i].id);
    free(list->made);
    *list = (struct player_list){0};
}

void
player_close(struct player *player)
{
    oracle_free(player->oracle);
    PQclear(player->swept);
    forget(&player->runs);
    forget(&player->sessions);
    forget(&player->events);
    pw_buf_done(&player->sql);
    pw_buf_done(&player->got);
    pw_buf_done(&player->wanted);
    pw_buf_done(&player->problem);
    PQfinish(player->conn);
    PQfinish(player->blocker);
}

void
player_reset(struct player *player)
{
    bench_do(player->conn, "select oracle.reset()");
    oracle_free(player->oracle);
    player->oracle = oracle_new(beginning_us);
    bench_do(player->conn, "delete from oracle.swept");
    player_answer_oracle(player);
    forget(&player->runs);
    forget(&player->sessions);
    forget(&player->events);
    player->digest = UINT64_C(0xcbf29ce484222325);
}

/* Says where two texts differ, by their first lines that do. */
static enum player_outcome
compare(struct player *player, const char *what)
{
    const char *got = pw_buf_text(&player->got), *wanted = pw_buf_text(&player->wanted);
    const char *got_line = got, *wanted_line = wanted;

    if (strcmp(got, wanted) == 0)
        return PLAYER_SAME;
    for (; *got != '\0' && *got == *wanted; got++, wanted++)
        if (*got == '\n') {
            got_line = got + 1;
            wanted_line = wanted + 1;
        }
    pw_buf_addf(&player->problem, "%s\n  engine: %.*s\n  oracle: %.*s\n", what,
        (int)strcspn(got_line, "\n"), got_line, (int)strcspn(wanted_line, "\n"), wanted_line);
    return PLAYER_DIFFERS;
}

/* Counts the answers of a commit by the kinds of its items. */
static void
count_items(struct player *player, const struct call *call)
{
    const char *line = pw_buf_text(&player->wanted);

    for (int i = 0; i < call->items_count && line[0] != '\0'; i++) {
        const char *kind = call->items[i].item.kind, *answer = strchr(line, ' ');
        char word[24], name[24];

        if (answer == NULL)
            return;
        (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(answer + 1, " "), answer + 1);
        (void)snprintf(name, sizeof(name), "%s%s%s", call->items[i].task > 0 ? "task " : "", kind,
            strcmp(kind, "retry") == 0 || strcmp(kind, "signal") == 0 ? " item" : "");
        coverage_count(player->coverage, name, word);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

bool
player_knows(const struct player_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->made[i].id, id) == 0)
            return true;
    return false;
}

static void
remember_many(struct player *player, const struct call *call, const char *chosen)
{
    for (int i = 0; i < call->many_count && *chosen != '\0'; i++) {
        char id[40];
        size_t length = strcspn(chosen, " ");

        (void)snprintf(id, sizeof(id), "%.*s", (int)length, chosen); /* an id */
        if (!player_knows(&player->runs, id))
            player_remember(&player->runs, call->number * CALL_NAMES_MAX + i, id);
        chosen += length + (chosen[length] == ' ');
    }
}

void
player_remember_made(
    struct player *player, const struct call *call, const char *answer, const char *chosen)
{
    int maker = call->number * CALL_NAMES_MAX;

    if (call->verb == CALL_TRIGGER && strcmp(answer, "created") == 0)
        player_remember(&player->runs, maker, chosen);
    else if (call->verb == CALL_TRIGGER_MANY && strcmp(answer, "created") == 0)
        remember_many(player, call, chosen);
    else if (call->verb == CALL_FORK && strcmp(answer, "ok") == 0)
        player_remember(&player->runs, maker, chosen);
    else if (call->verb == CALL_REGISTER && strcmp(answer, "ok") == 0)
        player_remember(&player->sessions, maker, chosen);
    else if (call->verb == CALL_EMIT && (strcmp(answer, "ok") == 0 || strcmp(answer, "woke") == 0))
        player_remember(&player->events, maker, chosen);
}

struct touched {
    struct player *player;
    struct pw_buf *ids;
};

static void
add_touched(const char *run, void *userdata)
{
    struct touched *touched = userdata;

    if (touched->ids->size == 0 || strstr(pw_buf_text(touched->ids), run) == NULL) {
        pw_buf_addf(touched->ids, "%s%s", touched->ids->size > 0 ? "," : "", run);
        oracle_show_run(touched->player->oracle, run, &touched->player->wanted);
    }
}

static enum player_outcome
show_and_compare(struct player *player, struct pw_buf *ids)
{
    struct pw_buf list;
    PGresult *result;

    pw_buf_clear(&player->got);
    if (ids->size == 0)
        return PLAYER_SAME;
    pw_buf_init(&list, (size_t)1 << 22);
    pw_buf_addf(&list, "'{%s}'", pw_buf_text(ids));
    result = player_call(player, "show", pw_buf_text(&list));
    pw_buf_adds(&player->got, player_column(result, 0));
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        pw_buf_adds(&player->got, PQresultErrorMessage(result));
    PQclear(result);
    pw_buf_done(&list);
    if (player->put_in_order != NULL) {
        player->put_in_order(&player->got);
        player->put_in_order(&player->wanted);
    }
    return compare(player, "the runs differ");
}

/* The runs that the oracle knows to have changed, and the one that the call names. */
static enum player_outcome
compare_touched(struct player *player, const struct call *call)
{
    struct pw_buf ids;
    struct touched touched = {player, &ids};
    enum player_outcome outcome;
    const char *named = call->run == 0 ? NULL : player_find(&player->runs, call->run);

    pw_buf_init(&ids, (size_t)1 << 20);
    pw_buf_clear(&player->wanted);
    oracle_each_touched(player->oracle, add_touched, &touched);
    outcome = show_and_compare(player, &ids);
    /* By itself, because the others are in the order of their ids. */
    if (outcome == PLAYER_SAME && named != NULL && strstr(pw_buf_text(&ids), named) == NULL) {
        pw_buf_clear(&ids);
        pw_buf_clear(&player->wanted);
        add_touched(named, &touched);
        outcome = show_and_compare(player, &ids);
    }
    pw_buf_done(&ids);
    return outcome;
}

static bool
is_error(const char *answer)
{
    return strncmp(answer, "PW0", 3) == 0 || strncmp(answer, "not allowed", 11) == 0 ||
        strcmp(answer, "22P02") == 0 || strcmp(answer, "23505") == 0;
}

/* Verbs whose reply says more than one word. */
static bool
has_reply(enum call_verb verb)
{
    return verb == CALL_TRIGGER || verb == CALL_REGISTER || verb == CALL_HEARTBEAT ||
        verb == CALL_LEAVE || verb == CALL_HELD || verb == CALL_CLAIM || verb == CALL_COMMIT ||
        verb == CALL_COMMIT_EACH || verb == CALL_EMIT || verb == CALL_RAISE_EPOCH ||
        verb == CALL_TRIGGER_MANY || verb == CALL_RETAIN || verb == CALL_BACKFILL_SCHEDULE ||
        verb == CALL_BEGIN_BULK || call_is_one(verb);
}

void
player_finish_reply(struct player *player, const struct call *call, const char *answer)
{
    if (is_error(answer))
        pw_buf_clear(&player->wanted);
    if (is_error(answer) ||
        (!has_reply(call->verb) && !(call->verb == CALL_FORK && strcmp(answer, "ok") == 0)))
        pw_buf_adds(&player->wanted, answer);
}

/* A verb that is called like a kind of item is counted apart from that. */
static void
count_answer(struct player *player, const struct call *call, const char *answer)
{
    char name[24];

    (void)snprintf(name, sizeof(name), "%s%s%s",
        call->items_count > 0 && call->items[0].task > 0 ? "task " : "",
        call_is_one(call->verb) ? "pawl." : "", call_verb_name(call->verb));
    coverage_count(player->coverage, name, strcmp(answer, "gave back") == 0 ? "gave_back" : answer);
}

/* What is random in this call depends on its number alone, also when others are left out. In one message with the call, which
 * spares a round trip. */
static void
set_seed(struct player *player, int number)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = ((uint64_t)player->seed * golden + (uint64_t)number) * golden;

    if (player->seed != 0)
        (void)snprintf(player->before, sizeof(player->before), "execute chance(%.9f); ",
            (double)(mixed >> 40) / (double)(1 << 24));
}

/* A batch that commit refuses as a whole goes through commit_each, as the library sends it. */
static PGresult *
call_with_care(struct player *player, const struct call *call)
{
    PGresult *result = player_call(player, call_verb_name(call->verb), pw_buf_text(&player->sql));
    const char *code = player_column(result, 0);

    if (call->verb == CALL_COMMIT && PQresultStatus(result) != PGRES_TUPLES_OK &&
        (strcmp(code, "PW010") == 0 || strcmp(code, "22P02") == 0 || strcmp(code, "23505") == 0)) {
        PQclear(result);
        result = player_call(player, "commit_each", pw_buf_text(&player->sql));
    }
    return result;
}

static void
hold_lock(struct player *player, const char *run)
{
    char sql[80];

    if (run != NULL) {
        (void)snprintf(sql, sizeof(sql), "begin; execute hold('%s')", run);
        bench_do(player->blocker, sql);
    } else {
        bench_do(player->blocker, "rollback");
    }
    oracle_hold_lock(player->oracle, run);
}

/* FNV-1a. */
static void
add_to_digest(struct player *player)
{
    for (const char *at = pw_buf_text(&player->got); *at != '\0'; at++)
        player->digest = (player->digest ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
}

enum player_outcome
player_play(struct player *player, const struct call *call)
{
    struct oracle_item choices[CALL_ITEMS_MAX] = {0};
    const char *locked = call->lock == 0 ? NULL : player_find(&player->runs, call->lock);
    enum player_outcome outcome;
    const char *answer;
    PGresult *result;
    char *chosen, *words;

    pw_buf_clear(&player->sql);
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    pw_buf_clear(&player->problem);
    player->number = call->number;
    player->children = 0;
    if (!player_render(player, call, false, &player->sql) || (call->lock != 0 && locked == NULL))
        return PLAYER_SKIPPED;
    for (int i = 0; i < call->items_count; i++)
        player_fill_item(player, &call->items[i], &choices[i]);
    if (locked != NULL)
        hold_lock(player, locked);
    set_seed(player, call->number);
    result = call_with_care(player, call);
    for (int i = 0; i < call->items_count; i++)
        player_learn_choice(player, &call->items[i], &player->choices[i], &choices[i]);
    pw_buf_adds(&player->got, player_column(result, 0));
    add_to_digest(player);
    chosen = strdup(PQresultStatus(result) == PGRES_TUPLES_OK ? player_column(result, 1) : "");
    if (chosen == NULL)
        bench_die("out of memory");
    /* Follow cuts it into words. */
    words = strdup(chosen);
    if (words == NULL)
        bench_die("out of memory");
    answer = player_follow(player, call, words, choices);
    free(words);
    if (call->verb == CALL_COMMIT || call->verb == CALL_COMMIT_EACH)
        count_items(player, call);
    else
        count_answer(player, call, answer);
    player->coverage->calls++;
    player_remember_made(player, call, answer, chosen);
    player_finish_reply(player, call, answer);
    outcome = compare(player, "the answers differ");
    if (outcome == PLAYER_DIFFERS && PQresultStatus(result) != PGRES_TUPLES_OK)
        pw_buf_addf(&player->problem, "  %s", PQresultErrorMessage(result));
    if (locked != NULL)
        hold_lock(player, NULL);
    if (outcome == PLAYER_SAME)
        outcome = compare_touched(player, call);
    PQclear(result);
    free(chosen);
    return outcome;
}

static void
add_id(const char *run, void *userdata)
{
    pw_buf_addf(userdata, "%s\n", run);
}

enum player_outcome
player_compare_all(struct player *player)
{
    struct pw_buf ids;
    struct touched touched = {player, &ids};
    enum player_outcome outcome;
    PGresult *result;

    pw_buf_clear(&player->problem);
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    result = bench_exec(player->conn, "select string_agg(r || e'\\n', '') from oracle.runs() r");
    pw_buf_adds(&player->got, player_column(result, 0));
    PQclear(result);
    oracle_each_run(player->oracle, add_id, &player->wanted);
    outcome = compare(player, "not the same runs are there");
    if (outcome != PLAYER_SAME)
        return outcome;
    pw_buf_init(&ids, (size_t)1 << 22);
    pw_buf_clear(&player->wanted);
    oracle_each_run(player->oracle, add_touched, &touched);
    outcome = show_and_compare(player, &ids);
    pw_buf_done(&ids);
    if (outcome != PLAYER_SAME)
        return outcome;
    pw_buf_clear(&player->got);
    pw_buf_clear(&player->wanted);
    result = bench_exec(player->conn, "select oracle.show_rest()");
    pw_buf_adds(&player->got, player_column(result, 0));
    PQclear(result);
    oracle_show_rest(player->oracle, &player->wanted);
    return compare(player, "what is not a run differs");
}
