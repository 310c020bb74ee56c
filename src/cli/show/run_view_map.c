/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/run_view_map.h"

#include "cli/show/term.h"

#include <pawl/pawl.h>
#include <string.h>

enum {
    ELEMENTS_SHOWN = 10, /* a map step with more elements is summed up */
    LINES_SHOWN = 10,    /* for elements that are executed, wait or have failed */
};

static const char *const state_names[RUN_VIEW_MAP_STATES] = {
    "SUCCESS", "SKIPPED", "ERROR", "RUNNING", "PAUSED", "QUEUED", "CANCELLED"};

/* Returns true for an element: "thumb[3]" and "thumb[3]/add#1" are parts of "thumb". Sets size to the length of that name. */
static bool
is_element(const char *name, size_t *size)
{
    *size = strcspn(name, "[/#:");
    return name[*size] == '[';
}

static bool
is_of(const struct run_view_map *map, const char *name)
{
    size_t size;

    return is_element(name, &size) && strlen(map->name) == size &&
        strncmp(map->name, name, size) == 0;
}

static void
count(struct run_view_map *map, const char *name, const char *state)
{
    if (strchr(name, '/') != NULL)
        return;
    map->all++;
    for (size_t i = 0; i < RUN_VIEW_MAP_STATES; i++)
        map->states[i] += strcmp(state_names[i], state) == 0;
}

/* Counts the elements up to the last, ahead of the walk. */
static void
count_rest(struct run_view_map *map, const struct pw_json_walk *rest)
{
    struct pw_json_walk ahead = *rest;
    struct pw_json key;
    struct pw_json value;
    char name[320];
    char state[16];

    while (pw_json_walk_next(&ahead, &key, &value)) {
        pawl_bytes json = {value.data, value.size};

        if (pawl_json_text(json, "/name", name, sizeof(name)) != PAWL_OK || !is_of(map, name))
            break;
        if (pawl_json_text(json, "/state", state, sizeof(state)) == PAWL_OK)
            count(map, name, state);
    }
}

bool
run_view_map_hides(
    struct run_view_map *map, const char *name, const char *state, const struct pw_json_walk *rest)
{
    size_t size;
    bool dull = strcmp(state, "SUCCESS") == 0 || strcmp(state, "SKIPPED") == 0 ||
        strcmp(state, "QUEUED") == 0;

    map->begins = false;
    if (!is_element(name, &size) || size >= sizeof(map->name)) {
        *map = (struct run_view_map){0};
        return false;
    }
    if (!is_of(map, name)) {
        *map = (struct run_view_map){0};
        memcpy(map->name, name, size);
        count(map, name, state);
        count_rest(map, rest);
        map->summed = map->all > ELEMENTS_SHOWN;
        map->begins = map->summed;
    }
    if (!map->summed)
        return false;
    return dull || map->lines++ >= LINES_SHOWN;
}

void
run_view_map_print(FILE *out, const struct run_view_map *map, size_t name_columns)
{
    char name[sizeof(map->name) + 2];
    size_t size;

    (void)snprintf(name, sizeof(name), "%s[]", map->name);
    (void)fputs("  ", out);
    size = term_print_cut(out, name, name_columns);
    (void)fprintf(out, "%*s  %smap%s       %zu/%zu", (int)(name_columns - size), "",
        term_style(TERM_OUT, TERM_DIM), term_style(TERM_OUT, TERM_PLAIN),
        map->states[0] + map->states[1], map->all);
    for (size_t i = 1; i < RUN_VIEW_MAP_STATES; i++)
        if (map->states[i] > 0)
            (void)fprintf(out, ", %s%zu %s%s", term_style(TERM_OUT, term_style_of(state_names[i])),
                map->states[i], state_names[i], term_style(TERM_OUT, TERM_PLAIN));
    (void)fputs("; --all shows each\n", out);
}
