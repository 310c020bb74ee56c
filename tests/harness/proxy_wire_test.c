/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy finds the same requests and answers in a stream of bytes, in whatever pieces it comes. */
#include "proxy_wire.h"

#include "race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    stream_bytes = 400000
};

/* A stream under construction. */
struct stream {
    char *data;
    size_t length;
};

static void
add_bytes(struct stream *stream, const char *data, size_t length)
{
    if (length > stream_bytes - stream->length)
        bench_die("the stream runs over");
    memcpy(stream->data + stream->length, data, length);
    stream->length += length;
}

static void
add_number(struct stream *stream, uint32_t number)
{
    char bytes[] = {(char)(number >> 24), (char)(number >> 16), (char)(number >> 8), (char)number};

    add_bytes(stream, bytes, sizeof(bytes));
}

/* A message whose body is two strings and then so many bytes. Without a type it is a startup packet. */
static void
add_message(struct stream *stream, char type, const char *first, const char *second, size_t filler)
{
    size_t length = strlen(first) + 1 + strlen(second) + 1 + filler;

    if (type != '\0')
        add_bytes(stream, &type, 1);
    add_number(stream, (uint32_t)length + (type != '\0' ? 4 : 8));
    if (type == '\0')
        add_number(stream, 196608);
    add_bytes(stream, first, strlen(first) + 1);
    add_bytes(stream, second, strlen(second) + 1);
    for (size_t i = 0; i < filler; i++)
        add_bytes(stream, "Z", 1); /* What looks like an end in the middle of a message is none. */
}

/* What was found in a stream, as text. */
struct found {
    struct bench_text events;
    size_t forwarded;
};

/* Forwards what may be forwarded. */
static void
forward(struct wire_flow *flow, struct found *found)
{
    found->forwarded += flow->parsed - flow->start;
    flow->start = flow->parsed;
}

/* Puts the next bytes into the flow; returns how many there was room for. */
static size_t
feed(struct wire_flow *flow, const struct stream *stream, size_t from, size_t piece)
{
    size_t room;
    char *to = wire_room(flow, &room);
    size_t count = piece < room ? piece : room;

    if (count > stream->length - from)
        count = stream->length - from;
    if (count == 0)
        bench_die("the flow is stuck");
    memcpy(to, stream->data + from, count);
    flow->end += count;
    return count;
}

/* Feeds requests in pieces; withholds the answer to the statement pawl_two. */
static void
feed_up(struct wire *wire, const struct stream *stream, size_t piece, struct found *found)
{
    struct wire_request request;

    for (size_t at = 0; at < stream->length;) {
        at += feed(&wire->up, stream, at, piece);
        while (wire_look_up(wire, &request) == WIRE_REQUEST) {
            bench_text_addf(&found->events, "%.20s|%.20s;", request.name, request.text);
            if (wire_matches(&request, "pawl_two"))
                wire_withhold(wire);
            wire_pass(wire);
        }
        forward(&wire->up, found);
    }
}

static void
feed_down(struct wire *wire, const struct stream *stream, size_t piece, struct found *found)
{
    enum wire_event event;
    bool failed;

    for (size_t at = 0; at < stream->length;) {
        at += feed(&wire->down, stream, at, piece);
        while ((event = wire_look_down(wire, &failed)) != WIRE_MORE)
            bench_text_addf(&found->events, "%s%s;", event == WIRE_WITHHELD ? "withheld" : "answer",
                failed ? " failed" : "");
        forward(&wire->down, found);
    }
}

static void
fill_streams(struct stream *up, struct stream *down, size_t *kept)
{
    add_message(up, '\0', "user", "postgres", 0);
    add_message(up, 'P', "pawl_one", "select one", 10);
    add_message(up, 'P', "pawl_two", "select two", 10);
    add_message(up, 'B', "", "pawl_one", 100000);
    add_message(up, 'E', "", "", 4);
    add_message(up, 'S', "", "", 0);
    add_message(up, 'Q', "select simple", "", 0);
    add_message(up, 'B', "", "pawl_two", 7);
    add_message(up, 'S', "", "", 0);
    add_message(down, 'R', "", "", 2);
    add_bytes(down, "Z\0\0\0\5I", 6);
    add_message(down, 'D', "", "", 100000);
    add_bytes(down, "Z\0\0\0\5I", 6);
    add_message(down, 'E', "error", "", 3);
    add_bytes(down, "Z\0\0\0\5I", 6);
    *kept = down->length;
    add_message(down, 'D', "", "", 70000);
    add_bytes(down, "Z\0\0\0\5I", 6);
}

static void
pieces_make_no_difference(struct race *race)
{
    static const size_t pieces[] = {1, 2, 3, 5, 7, 1000, 4096, 65536, stream_bytes};
    struct stream up = {.data = race_alloc(stream_bytes, 1)};
    struct stream down = {.data = race_alloc(stream_bytes, 1)};
    size_t kept;

    fill_streams(&up, &down, &kept);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct found sent = {0}, answered = {0};
        struct wire wire;

        wire_init(&wire);
        bench_text_init(&sent.events, 1000);
        bench_text_init(&answered.events, 1000);
        feed_up(&wire, &up, pieces[i], &sent);
        feed_down(&wire, &down, pieces[i], &answered);
        race_ok(race,
            strcmp(sent.events.data, "pawl_one|select one;|select simple;pawl_two|select two;") ==
                    0 &&
                sent.forwarded == up.length,
            "in pieces of %zu bytes all requests are found, and all bytes pass", pieces[i]);
        race_ok(race,
            strcmp(answered.events.data, "answer;answer;answer failed;withheld;") == 0 &&
                answered.forwarded == kept,
            "in pieces of %zu bytes all answers are found, and only the withheld one is missing",
            pieces[i]);
        bench_text_done(&sent.events);
        bench_text_done(&answered.events);
        wire_done(&wire);
    }
    free(up.data);
    free(down.data);
}

static void
statements_beyond_the_limit_are_forgotten(struct race *race)
{
    struct stream stream = {.data = race_alloc(stream_bytes, 1)};
    struct found found = {0};
    struct wire wire;
    char name[32];

    wire_init(&wire);
    bench_text_init(&found.events, 1000);
    add_message(&stream, '\0', "user", "postgres", 0);
    for (int i = 0; i <= wire_statements_max; i++) {
        (void)snprintf(name, sizeof(name), "name_%d", i);
        add_message(&stream, 'P', name, "some text", 0);
    }
    add_message(&stream, 'B', "", "name_0", 0);
    add_message(&stream, 'B', "", name, 0);
    feed_up(&wire, &stream, 100, &found);
    race_ok(race, strcmp(found.events.data, "name_0|;name_64|some text;") == 0,
        "the text of the oldest statement is forgotten when there are too many");
    bench_text_done(&found.events);
    wire_done(&wire);
    free(stream.data);
}

int
main(int argc, char **argv)
{
    struct race race;

    race_start(&race, argc, argv);
    pieces_make_no_difference(&race);
    statements_beyond_the_limit_are_forgotten(&race);
    return race_end(&race);
}
