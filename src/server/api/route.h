/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes: constant descriptions of requests, and the search for the one that a request means. From the table in routes.c come the router,
 * the checks of arguments, the OpenAPI document and the list of --print-routes.
 */
#ifndef PW_SERVER_API_ROUTE_H
#define PW_SERVER_API_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

/* How an argument is written in a request, and of which type it is in SQL. */
enum argument_kind {
    ARGUMENT_END = 0, /* the last element of a list */
    ARGUMENT_TEXT,
    ARGUMENT_ID,     /* an id of a run or an event */
    ARGUMENT_ONE_ID, /* the same for a verb that takes a list of ids */
    ARGUMENT_IDS,    /* ids separated by commas */
    ARGUMENT_INTEGER,
    ARGUMENT_NUMBER,
    ARGUMENT_BOOLEAN,
    ARGUMENT_DURATION, /* milliseconds; the name of the field ends with _ms */
    ARGUMENT_TIME,     /* RFC 3339 */
    ARGUMENT_JSON,     /* passed on byte by byte */
    ARGUMENT_TEXTS,    /* a list of texts */
    ARGUMENT_JSONS,    /* a list of JSON values */
    ARGUMENT_HEX,      /* bytes as hexadecimal digits */
};

enum argument_place {
    PLACE_QUERY = 0,
    PLACE_PATH,
    PLACE_BODY,
    PLACE_WHOLE, /* the body is the value */
};

struct argument {
    enum argument_kind kind;
    enum argument_place place;
    const char *name;  /* of the argument in SQL */
    const char *field; /* in the request; NULL: follows from the name */
    const char *into; /* the argument in SQL, a JSON object, that this is a member of; NULL: none */
    bool required;
};

enum answer_shape {
    SHAPE_ROW = 0, /* one object */
    SHAPE_LIST,    /* {"runs": [...]} */
    SHAPE_VALUE,   /* {"why": ...} */
    SHAPE_TEXT,    /* a text as it is */
    SHAPE_STREAM,  /* events of a run, as they happen */
    SHAPE_OWN,     /* no verb: the server answers alone */
};

enum {
    ROUTE_OPEN = 1,    /* needs no token */
    ROUTE_READS = 2,   /* changes nothing; all GET routes do so without this flag */
    ROUTE_CREATES = 4, /* 201 if something was created */
    ROUTE_WAITS = 8,   /* Prefer: wait=SECONDS */
    ROUTE_TAGGED = 16, /* ETag, If-None-Match */
    ROUTE_LARGE = 32,  /* a body of up to 8 MB */
    ROUTE_ENDS = 64,   /* no row: the run has not ended, 202 */
};

struct route {
    const char *method;
    const char *path; /* "/v1/runs/{run}/why" */
    const char *verb; /* of the SQL API; of routes without one, a name */
    enum answer_shape shape;
    unsigned flags;
    const char *noun;   /* of a list or a value */
    const char *cursor; /* of a list with pages: the column to continue from */
    const struct argument *arguments;
    const char *summary;
};

enum {
    ROUTE_PARTS_MAX = 4,
    ROUTE_FIELD_SIZE = 48,
};

/* A variable part of a path, still percent-encoded. */
struct route_part {
    const char *name; /* as in {name}, with its end */
    size_t name_size;
    const char *text;
    size_t size;
};

struct route_match {
    const struct route *route; /* NULL: no route has this path and method */
    struct route_part parts[ROUTE_PARTS_MAX];
    size_t part_count;
    char allowed[48]; /* the methods of this path: "GET, POST"; empty: no route has this path */
};

/* Finds the route of a method and a path of size bytes, without a query. HEAD means GET. */
void route_find(struct route_match *match, const char *method, const char *path, size_t size);

/* Writes the name of an argument in a request. */
void route_field(const struct argument *argument, char field[ROUTE_FIELD_SIZE]);

/* Returns the argument with this field in one of two places, or NULL. */
const struct argument *route_argument(
    const struct route *route, enum argument_place place, const char *field);

/* Decodes size bytes with percent signs into out, which has size + 1 bytes. plus: "+" is a blank, as in a query. */
void route_decode(const char *text, size_t size, bool plus, char *out);

/* The table. */
const struct route *route_at(size_t index);

/* Prints the table as a page for users. */
bool route_print(void);

#endif
