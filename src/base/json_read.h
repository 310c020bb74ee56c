/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON that the engine made: envelopes with members that we know, and values that we only cut out and pass on.
 * Not a general parser: it finds where values begin and end. It trusts nothing: malformed text ends the walk and sets
 * bad.
 */
#ifndef PW_BASE_JSON_READ_H
#define PW_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_arena;

/* One value, without blanks around it; borrowed from the text it was cut out of. NULL data: there is none. */
struct pw_json {
    const char *data;
    size_t size;
};

/* A walk over the members of an object or the elements of an array. */
struct pw_json_walk {
    const char *at;
    const char *end;
    bool object;
    bool first;
    bool bad; /* the text is malformed, or nested more than 128 deep */
};

/* Begins a walk; one over something that is neither object nor array has no members and is bad. */
void pw_json_walk(struct pw_json_walk *walk, struct pw_json value);

/* The next member. key is the name of an object's member, still escaped and without quotes; nothing in an array. */
bool pw_json_walk_next(struct pw_json_walk *walk, struct pw_json *key, struct pw_json *value);

/* Whether this is one whole JSON value, nested 128 deep at most, with nothing but blanks around it. */
bool pw_json_valid(struct pw_json value);

/* Whether a key is this plain word. */
bool pw_json_is(struct pw_json key, const char *word);

/* The member of an object by its name, or nothing. */
struct pw_json pw_json_member(struct pw_json object, const char *name);

/* Whether there is a value other than null. */
bool pw_json_given(struct pw_json value);

/* A string without quotes and escapes, as a text in the arena (\u0000 becomes U+FFFD); of another value its own text. NULL: out of memory. */
char *pw_json_text(struct pw_json value, struct pw_arena *arena);

/*
 * Takes the next byte or escape out of a string, which is between *at and end, without its quotes. Writes its meaning
 * to out: 1 to 4 bytes, and never more than the escape itself has. Moves *at past it, and returns how many bytes it
 * wrote. \u0000 and half a surrogate pair become U+FFFD.
 */
size_t pw_json_unescape(const char **at, const char *end, char *out);

/* Read whole numbers and booleans. Return false for any other value. */
bool pw_json_to_int(struct pw_json value, int64_t *out);
bool pw_json_to_bool(struct pw_json value, bool *out);

/* A point in time as PostgreSQL writes one into JSON, "2026-03-01T12:00:00.123456+00:00", in microseconds since
 * 1970. A time beyond their range, in the year 294247, is INT64_MAX. */
bool pw_json_to_time_us(struct pw_json value, int64_t *out);

#endif
