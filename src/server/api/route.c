/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/route.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* Compares a path with the pattern of a route, and collects the variable parts. */
static bool
path_matches(const char *pattern, const char *path, size_t size, struct route_match *match)
{
    const char *end = path + size;

    match->part_count = 0;
    while (*pattern == '/') {
        size_t wanted = strcspn(pattern + 1, "/");
        const char *slash;
        size_t got;

        if (path == end || *path != '/')
            return false;
        pattern++;
        path++;
        slash = memchr(path, '/', (size_t)(end - path));
        got = slash != NULL ? (size_t)(slash - path) : (size_t)(end - path);
        if (*pattern == '{') {
            if (got == 0)
                return false;
            match->parts[match->part_count++] =
                (struct route_part){pattern + 1, wanted - 2, path, got};
        } else if (got != wanted || memcmp(pattern, path, got) != 0) {
            return false;
        }
        pattern += wanted;
        path += got;
    }
    return path == end;
}

static void
add_method(char allowed[], size_t room, const char *method)
{
    size_t used = strlen(allowed);

    (void)snprintf(allowed + used, room - used, "%s%s", used > 0 ? ", " : "", method);
}

void
route_find(struct route_match *match, const char *method, const char *path, size_t size)
{
    const struct route *route;
    struct route_match each;

    *match = (struct route_match){0};
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; (route = route_at(i)) != NULL; i++) {
        if (!path_matches(route->path, path, size, &each))
            continue;
        add_method(match->allowed, sizeof(match->allowed), route->method);
        if (strcmp(route->method, method) != 0)
            continue;
        match->route = route;
        match->part_count = each.part_count;
        memcpy(match->parts, each.parts, sizeof(each.parts));
        return;
    }
}

void
route_field(const struct argument *argument, char field[ROUTE_FIELD_SIZE])
{
    const char *name = argument->field != NULL ? argument->field : argument->name;

    if (argument->field == NULL && argument->place == PLACE_QUERY && strncmp(name, "only_", 5) == 0)
        name += 5;
    (void)snprintf(
        field, ROUTE_FIELD_SIZE, "%s%s", name, argument->kind == ARGUMENT_DURATION ? "_ms" : "");
}

const struct argument *
route_argument(const struct route *route, enum argument_place place, const char *field)
{
    const struct argument *argument = route->arguments;
    char name[ROUTE_FIELD_SIZE];

    for (; argument != NULL && argument->kind != ARGUMENT_END; argument++) {
        route_field(argument, name);
        if (argument->place == place && strcmp(name, field) == 0)
            return argument;
    }
    return NULL;
}

static int
digit_of(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

void
route_decode(const char *text, size_t size, bool plus, char *out)
{
    static const char digits[] = "0123456789abcdefABCDEF";

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '%' && i + 2 < size && strchr(digits, text[i + 1]) != NULL &&
            strchr(digits, text[i + 2]) != NULL) {
            *out++ = (char)(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
            i += 2;
        } else {
            *out++ = plus && text[i] == '+' ? ' ' : text[i];
        }
    }
    *out = '\0';
}

static const char *
place_text(enum argument_place place)
{
    switch (place) {
    case PLACE_PATH:
        return "path";
    case PLACE_QUERY:
        return "query";
    case PLACE_WHOLE:
        return "whole body";
    case PLACE_BODY:
        break;
    }
    return "body";
}

static void
print_arguments(const struct route *route, enum argument_place place)
{
    const struct argument *argument = route->arguments;
    char field[ROUTE_FIELD_SIZE];
    bool first = true;

    for (; argument != NULL && argument->kind != ARGUMENT_END; argument++) {
        if (argument->place != place)
            continue;
        route_field(argument, field);
        (void)printf("%s`%s`%s", first ? "" : ", ", place == PLACE_WHOLE ? argument->name : field,
            argument->required && place != PLACE_PATH ? " (required)" : "");
        first = false;
    }
    if (!first)
        (void)printf(" in the %s", place_text(place));
}

static void
print_answer(const struct route *route)
{
    switch (route->shape) {
    case SHAPE_ROW:
        (void)printf("the row as an object");
        break;
    case SHAPE_LIST:
        (void)printf(
            "`{\"%s\": […]%s}`", route->noun, route->cursor != NULL ? ", \"next\": …" : "");
        break;
    case SHAPE_VALUE:
        (void)printf("`{\"%s\": …}`", route->noun);
        break;
    case SHAPE_TEXT:
        (void)printf("text");
        break;
    case SHAPE_STREAM:
        (void)printf("events (SSE)");
        break;
    case SHAPE_OWN:
        (void)printf("an object");
        break;
    }
}

bool
route_print(void)
{
    const struct route *route;

    (void)printf("| request | SQL | what it does | arguments | answer |\n|---|---|---|---|---|\n");
    for (size_t i = 0; (route = route_at(i)) != NULL; i++) {
        static const enum argument_place places[] = {PLACE_QUERY, PLACE_BODY, PLACE_WHOLE};

        (void)printf("| `%s %s` | ", route->method, route->path);
        if (route->shape == SHAPE_OWN)
            (void)printf("–");
        else
            (void)printf("[%s](sql-api.md#%s)", route->verb, route->verb);
        (void)printf(" | %s | ", route->summary);
        for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++)
            print_arguments(route, places[j]);
        (void)printf(" | ");
        print_answer(route);
        (void)printf(" |\n");
    }
    return fflush(stdout) == 0 && ferror(stdout) == 0;
}
