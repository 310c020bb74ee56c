/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison must notice an engine that is wrong: guards of tests/mutants/list are taken out one by one, and a seed has
 * to show a difference for each. One of them is reduced, to see that a short script comes of it.
 *
 *     tools/pg_tmp tests/harness/with_database build/tests/oracle_notices [all | GUARD]...
 *
 * Without words the first few.
 */
#include "harness.h"
#include "match.h"
#include "reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS_MAX = 60,
    CALLS_MAX = 1500,
    FEW = 3,
};

static const char *const guards[] = {
    "item_fence",      /* a late item is taken */
    "sweep_fence",     /* what was swept keeps its fence */
    "backoff_cap",     /* a delay has no upper bound */
    "quiet",           /* a suspect is given to a worker that has other work */
    "wait_looks_back", /* an event that came before its wait is lost */
    "suspend_woken",   /* so is what was settled while a worker had the run */
    "retry_status",    /* a run that ended well is opened again */
};

/* The text behind a mark on a line of its own, after the line that is the name of the guard. */
static char *
read_edit(const char *list, const char *guard, const char *mark)
{
    char line[80];
    const char *at, *end;
    char *text;

    (void)snprintf(line, sizeof(line), "\n%s\n", guard); /* names are short */
    at = strstr(list, line);
    at = at == NULL ? NULL : strstr(at, mark);
    if (at == NULL)
        bench_die("tests/mutants/list has no \"%s\"", guard);
    at += strlen(mark);
    end = strchr(at, '\n');
    text = strndup(at, (size_t)(end - at));
    if (text == NULL)
        bench_die("out of memory");
    return text;
}

static char *
read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    if (file == NULL || text == NULL)
        bench_die("cannot read %s", path);
    if (fread(text, 1, (1 << 20) - 1, file) == 0)
        bench_die("cannot read %s", path);
    (void)fclose(file); /* it was only read */
    return text;
}

/* Takes the guard out of its function, and returns the function as it was. */
static char *
take_out(PGconn *conn, const char *list, const char *guard)
{
    char *old = read_edit(list, guard, "  - "), *new = read_edit(list, guard, "  + ");
    char tag[80], *whole, *at;
    const char *params[1] = {tag};
    PGresult *result;
    struct pw_buf sql;

    (void)snprintf(tag, sizeof(tag), "%%guard:%s\n%%", guard);
    result = bench_exec_params(conn,
        "select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = "
        "'pawl'::regnamespace and p.prosrc like replace($1, '_', '\\_')",
        1, params);
    if (PQntuples(result) != 1)
        bench_die("guard:%s is in %d functions", guard, PQntuples(result));
    whole = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    tag[strlen(tag) - 1] = '\0';
    at = whole == NULL ? NULL : strstr(strstr(whole, tag + 1), old);
    if (at == NULL)
        bench_die("guard:%s is not followed by \"%s\"", guard, old);
    pw_buf_init(&sql, (size_t)1 << 20);
    pw_buf_add(&sql, whole, (size_t)(at - whole));
    pw_buf_adds(&sql, new);
    pw_buf_adds(&sql, at + strlen(old));
    bench_do(conn, pw_buf_text(&sql));
    pw_buf_done(&sql);
    free(old);
    free(new);
    return whole;
}

/* The seed that shows a difference, or 0. */
static long
find_seed(struct player *player, bool reduce)
{
    struct match_plan plan = {.calls = CALLS_MAX, .reduce = reduce};

    for (long seed = 1; seed <= SEEDS_MAX; seed++)
        if (!match_seed(player, seed, &plan))
            return seed;
    return 0;
}

/* A seed shows a difference without the guard, and none with it. */
static bool
is_noticed(struct player *player, const char *list, const char *guard, bool reduce)
{
    struct match_plan plan = {.calls = CALLS_MAX};
    char *whole = take_out(player->conn, list, guard);
    long seed = find_seed(player, reduce);

    bench_do(player->conn, whole);
    free(whole);
    return seed > 0 && match_seed(player, seed, &plan);
}

static bool
is_wanted(int argc, char **argv, int number)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], guards[number]) == 0 || strcmp(argv[i], "all") == 0)
            return true;
    return argc == 1 && number < FEW;
}

int
main(int argc, char **argv)
{
    const int count = (int)(sizeof(guards) / sizeof(guards[0]));
    struct coverage coverage = {.lines_count = 0};
    struct player player;
    char *list = read_file(ORACLE_SOURCE_ROOT "/tests/mutants/list");
    char server[64];
    int failed = 0;

    match_prepare_database(server, sizeof(server));
    player_open(&player, &coverage);
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        bool noticed;

        if (!is_wanted(argc, argv, i)) {
            printf("ok %d - without %s # SKIP not asked for\n", i + 1, guards[i]);
            continue;
        }
        noticed = is_noticed(&player, list, guards[i], i == 0);
        printf("%s %d - without %s\n", noticed ? "ok" : "not ok", i + 1, guards[i]);
        failed += !noticed;
    }
    player_close(&player);
    free(list);
    return failed == 0 ? 0 : 1;
}
