/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flow/flow_diff.h"

#include "base/json_read.h"
#include "cli/show/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pw_json
json_at(const pawl_rows *rows, size_t row, const char *column)
{
    const char *text = pawl_rows_text(rows, row, column);

    return (struct pw_json){text, text == NULL ? 0 : strlen(text)};
}

/* Returns true if two JSON values differ only in white space. */
static bool
is_same(struct pw_json left, struct pw_json right)
{
    size_t i = 0;
    size_t j = 0;
    bool quoted = false;

    for (;;) {
        while (!quoted && i < left.size && strchr(" \t\r\n", left.data[i]) != NULL)
            i++;
        while (!quoted && j < right.size && strchr(" \t\r\n", right.data[j]) != NULL)
            j++;
        if (i == left.size || j == right.size)
            return i == left.size && j == right.size;
        if (left.data[i] != right.data[j])
            return false;
        if (left.data[i] == '"')
            quoted = !quoted;
        if (quoted && left.data[i] == '\\' && i + 1 < left.size && j + 1 < right.size) {
            if (left.data[++i] != right.data[++j])
                return false;
        }
        i++;
        j++;
    }
}

static void
print_value(struct pw_json value)
{
    char *text = value.data == NULL ? NULL : strndup(value.data, value.size);

    if (text == NULL)
        (void)fputs("nothing", stdout);
    else if (text[0] == '"' && value.size > 1) {
        text[value.size - 1] = '\0';
        term_print(stdout, text + 1);
    } else {
        term_print(stdout, text);
    }
    free(text);
}

/* Prints "      max_attempts: 2 -> 3", or only the new value for a step that is added. */
static void
print_option(struct pw_json key, struct pw_json was, struct pw_json becomes, bool added)
{
    (void)fputs("      ", stdout);
    print_value(key);
    (void)fputs(": ", stdout);
    if (!added) {
        print_value(was);
        (void)fputs(" -> ", stdout);
    }
    print_value(becomes);
    (void)fputc('\n', stdout);
}

static void
print_options(struct pw_json was, struct pw_json becomes, bool added)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    char name[120];

    for (pw_json_walk(&walk, becomes); pw_json_walk_next(&walk, &key, &value);) {
        struct pw_json before;

        (void)snprintf(name, sizeof(name), "%.*s", (int)key.size, key.data);
        before = was.data == NULL ? (struct pw_json){0} : pw_json_member(was, name);
        if (!is_same(before, value))
            print_option(key, before, value, added);
    }
    if (was.data == NULL)
        return;
    for (pw_json_walk(&walk, was); pw_json_walk_next(&walk, &key, &value);) {
        (void)snprintf(name, sizeof(name), "%.*s", (int)key.size, key.data);
        if (pw_json_member(becomes, name).data == NULL)
            print_option(key, value, (struct pw_json){0}, added);
    }
}

static struct pw_json
member(struct pw_json object, const char *name)
{
    return object.data == NULL ? (struct pw_json){0} : pw_json_member(object, name);
}

static void
print_step(const pawl_rows *rows, size_t row, const char *change)
{
    struct pw_json was = json_at(rows, row, "was");
    struct pw_json becomes = json_at(rows, row, "becomes");
    struct pw_json deps = member(becomes, "deps");
    bool added = strcmp(change, "add") == 0;
    const char *sign = added ? "+" : strcmp(change, "remove") == 0 ? "-" : "~";

    (void)printf("  %s%s step ",
        term_style(TERM_OUT,
            added                ? TERM_GOOD
                : sign[0] == '-' ? TERM_BAD
                                 : TERM_WAIT),
        sign);
    term_print(stdout, pawl_rows_text(rows, row, "step"));
    (void)printf("%s\n", term_style(TERM_OUT, TERM_PLAIN));
    if (becomes.data == NULL)
        return;
    if (!is_same(member(was, "deps"), deps) && !(added && is_same(deps, (struct pw_json){"[]", 2})))
        print_option((struct pw_json){"deps", 4}, member(was, "deps"), deps, added);
    print_options(member(was, "options"), member(becomes, "options"), added);
}

static void
print_flow_option(const pawl_rows *rows, size_t row)
{
    struct pw_json was = json_at(rows, row, "was");
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    char name[120];

    pw_json_walk(&walk, json_at(rows, row, "becomes"));
    if (!pw_json_walk_next(&walk, &key, &value))
        return;
    (void)snprintf(name, sizeof(name), "%.*s", (int)key.size, key.data);
    (void)printf("  %s~ option ", term_style(TERM_OUT, TERM_WAIT));
    term_print(stdout, name);
    (void)printf("%s\n", term_style(TERM_OUT, TERM_PLAIN));
    print_option(key, member(was, name), value, false);
}

void
flow_diff_print(const char *flow, const pawl_rows *changes)
{
    (void)printf("%sflow ", term_style(TERM_OUT, TERM_BOLD));
    term_print(stdout, flow);
    (void)printf("%s%s\n", term_style(TERM_OUT, TERM_PLAIN),
        pawl_rows_count(changes) == 0 ? " is as it should be" : "");
    for (size_t i = 0; i < pawl_rows_count(changes); i++) {
        const char *change = pawl_rows_text(changes, i, "change");

        if (change != NULL && strcmp(change, "option") == 0)
            print_flow_option(changes, i);
        else if (change != NULL)
            print_step(changes, i, change);
    }
}

bool
flow_diff_has_steps(const pawl_rows *changes)
{
    for (size_t i = 0; i < pawl_rows_count(changes); i++) {
        const char *change = pawl_rows_text(changes, i, "change");

        if (change != NULL && strcmp(change, "option") != 0)
            return true;
    }
    return false;
}
