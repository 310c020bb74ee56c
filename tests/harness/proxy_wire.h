/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of PostgreSQL's protocol as the proxy needs: where messages begin, which of them is a request, what statement it
 * executes, and which answer is the last one to it. Knows nothing of sockets.
 */
#ifndef PAWL_PROXY_WIRE_H
#define PAWL_PROXY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    wire_flow_bytes = 64 * 1024,
    /* So much of a request is looked at; the rest of a longer one passes unseen. */
    wire_head_bytes = 4096,
    wire_statements_max = 64,
    wire_name_bytes = 64,
    wire_text_bytes = 1024
};

/* One direction: bytes from start to parsed may be forwarded, those up to end are still to be looked at. */
struct wire_flow {
    char *data;
    size_t start;
    size_t parsed;
    size_t end;
    /* How much of the message at parsed has still to pass. */
    uint64_t left;
};

struct wire_statement {
    char name[wire_name_bytes];
    char text[wire_text_bytes];
};

/* One connection. */
struct wire {
    struct wire_flow up;   /* from the client to the server */
    struct wire_flow down; /* from the server to the client */
    bool started;
    /* Nothing is looked at any more: a request to cancel, or something that is no protocol of ours. */
    bool raw;
    /* Answers asked for and answers complete: each ends with ReadyForQuery. */
    long asked;
    long answered;
    /* The number of the answer of which no byte may be forwarded; 0 for none. */
    long withheld;
    /* The answer that is being read holds an error. */
    bool failed;
    /* What was prepared, so that an execution is known by the text of its statement. */
    struct wire_statement *statements;
    int statement_count;
    int statement_next;
    /* The head of the last simple query, as a string. */
    char query[wire_head_bytes];
};

/* What is executed. Both are empty where they are not known. */
struct wire_request {
    const char *name;
    const char *text;
};

enum wire_event {
    WIRE_MORE,     /* all that is there has been looked at */
    WIRE_REQUEST,  /* up: a request stands at parsed; wire_pass() lets it go */
    WIRE_ANSWER,   /* down: an answer is complete */
    WIRE_WITHHELD, /* down: the withheld answer is complete and gone */
};

void wire_init(struct wire *wire);
void wire_done(struct wire *wire);

/* Where to read to, after making room; `room` is 0 when the flow is full. */
char *wire_room(struct wire_flow *flow, size_t *room);

/* Drops all that is in the flow. */
void wire_drop(struct wire_flow *flow);

/* Looks at what the client sent. The request is valid until the next call. */
enum wire_event wire_look_up(struct wire *wire, struct wire_request *request);

/* Lets the request go that wire_look_up() has stopped at. */
void wire_pass(struct wire *wire);

/* Withholds the answer to the request that wire_look_up() has stopped at. */
void wire_withhold(struct wire *wire);

/* Looks at what the server sent. `failed` says whether the complete answer holds an error. */
enum wire_event wire_look_down(struct wire *wire, bool *failed);

/*
 * Whether the request is one of a statement of that name, or of one whose text holds it as a whole word: pawl.commit is
 * not found in pawl.commit_each. An empty text is in every request.
 */
bool wire_matches(const struct wire_request *request, const char *text);

#endif
