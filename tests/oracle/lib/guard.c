/* SPDX-License-Identifier: Apache-2.0 */
/* Guards, taken out by the edits of tests/mutants/list; see the header. */
#include "guard.h"

#include "harness.h"

#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *
guard_read_list(void)
{
    FILE *file = fopen(ORACLE_SOURCE_ROOT "/tests/mutants/list", "r");
    char *text = calloc(1, 1 << 20);

    if (file == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, file) == 0)
        bench_die("cannot read tests/mutants/list");
    (void)fclose(file); /* it was only read */
    return text;
}

/* The function that has the tag. */
static char *
read_function(PGconn *conn, const char *guard)
{
    char pattern[80], *whole;
    const char *params[1] = {pattern};
    PGresult *result;

    (void)snprintf(pattern, sizeof(pattern), "%%guard:%s\n%%", guard); /* names are short */
    result = bench_exec_params(conn,
        "select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = "
        "'pawl'::regnamespace and p.prosrc like replace($1, '_', '\\_')",
        1, params);
    if (PQntuples(result) != 1)
        bench_die("guard:%s is in %d functions", guard, PQntuples(result));
    whole = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    if (whole == NULL)
        bench_die("out of memory");
    return whole;
}

/* One "- OLD" or "-^ OLD" and the "+ NEW" behind it. Returns what stands behind them. */
static const char *
edit(struct pw_buf *sql, const char *guard, const char *lines)
{
    char tag[80], *old, *new, *text = strdup(pw_buf_text(sql)), *at;
    bool from_start = lines[3] == '^';
    const char *plus = strchr(lines, '\n') + 1;
    size_t length = strcspn(plus, "\n");

    old = strndup(lines + (from_start ? 5 : 4), (size_t)(plus - 1 - lines) - (from_start ? 5 : 4));
    new = length > 4 ? strndup(plus + 4, length - 4) : strdup("");
    if (text == NULL || old == NULL || new == NULL || strncmp(plus, "  +", 3) != 0)
        bench_die("cannot read how guard:%s is taken out", guard);
    (void)snprintf(tag, sizeof(tag), "guard:%s\n", guard); /* names are short */
    at = strstr(from_start ? text : strstr(text, tag), old);
    if (at == NULL)
        bench_die("guard:%s is not followed by \"%s\"", guard, old);
    pw_buf_clear(sql);
    pw_buf_add(sql, text, (size_t)(at - text));
    pw_buf_adds(sql, new);
    pw_buf_adds(sql, at + strlen(old));
    free(old);
    free(new);
    free(text);
    return plus + length + 1;
}

char *
guard_take_out(PGconn *conn, const char *list, const char *guard)
{
    char *whole = read_function(conn, guard);
    char line[80];
    const char *at;
    struct pw_buf sql;

    (void)snprintf(line, sizeof(line), "\n%s\n", guard); /* names are short */
    at = strstr(list, line);
    if (at == NULL)
        bench_die("tests/mutants/list has no \"%s\"", guard);
    pw_buf_init(&sql, (size_t)1 << 20);
    pw_buf_adds(&sql, whole);
    for (at += strlen(line); strncmp(at, "  -", 3) == 0;)
        at = edit(&sql, guard, at);
    bench_do(conn, pw_buf_text(&sql));
    pw_buf_done(&sql);
    return whole;
}

static bool
is_wanted(int argc, char **argv, const char *guard, bool by_default)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], guard) == 0 || strcmp(argv[i], "all") == 0)
            return true;
    return argc == 1 && by_default;
}

int
guard_each(int argc, char **argv, const char *const *guards, int count, int few,
    guard_fn is_noticed, void *userdata)
{
    char *list = guard_read_list();
    int failed = 0;

    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        bool noticed;

        if (!is_wanted(argc, argv, guards[i], i < few)) {
            printf("ok %d - without %s # SKIP not asked for\n", i + 1, guards[i]);
            continue;
        }
        noticed = is_noticed(userdata, list, guards[i], i);
        printf("%s %d - without %s\n", noticed ? "ok" : "not ok", i + 1, guards[i]);
        failed += !noticed;
    }
    free(list);
    return failed == 0 ? 0 : 1;
}
