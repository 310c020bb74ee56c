/* SPDX-License-Identifier: Apache-2.0 */
/* Framing of PostgreSQL's protocol, version 3; see the header. */
#include "proxy_wire.h"

#include "harness.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    header_bytes = 5,
    startup_bytes = 8,
    cancel_code = 80877102,
    tls_code = 80877103,
    gss_code = 80877104
};

void
wire_init(struct wire *wire)
{
    memset(wire, 0, sizeof(*wire));
    wire->up.data = malloc(wire_flow_bytes);
    wire->down.data = malloc(wire_flow_bytes);
    wire->statements = calloc(wire_statements_max, sizeof(*wire->statements));
    if (wire->up.data == NULL || wire->down.data == NULL || wire->statements == NULL)
        bench_die("out of memory");
}

void
wire_done(struct wire *wire)
{
    free(wire->up.data);
    free(wire->down.data);
    free(wire->statements);
    memset(wire, 0, sizeof(*wire));
}

char *
wire_room(struct wire_flow *flow, size_t *room)
{
    if (flow->start > 0 && (flow->start == flow->end || flow->end == wire_flow_bytes)) {
        memmove(flow->data, flow->data + flow->start, flow->end - flow->start);
        flow->parsed -= flow->start;
        flow->end -= flow->start;
        flow->start = 0;
    }
    *room = wire_flow_bytes - flow->end;
    return flow->data + flow->end;
}

void
wire_drop(struct wire_flow *flow)
{
    flow->start = flow->parsed = flow->end = 0;
}

static uint32_t
number_at(const char *data)
{
    uint32_t number = 0;

    for (int i = 0; i < 4; i++)
        number = number << 8 | (unsigned char)data[i];
    return number;
}

/* Takes `count` bytes at parsed out of the flow. */
static void
take_out(struct wire_flow *flow, size_t count)
{
    char *at = flow->data + flow->parsed;

    memmove(at, at + count, flow->end - flow->parsed - count);
    flow->end -= count;
}

/* Lets what is there of the current message pass, or takes it out. */
static void
go_on(struct wire_flow *flow, bool out)
{
    size_t there = flow->end - flow->parsed;
    size_t count = flow->left < there ? (size_t)flow->left : there;

    if (out)
        take_out(flow, count);
    else
        flow->parsed += count;
    flow->left -= count;
}

/* The string at *at, which ends before `end`; *at moves behind it. What is cut off is no string. */
static const char *
string_at(const char **at, const char *end)
{
    const char *string = *at;
    const char *zero = string < end ? memchr(string, '\0', (size_t)(end - string)) : NULL;

    if (zero == NULL) {
        *at = end;
        return NULL;
    }
    *at = zero + 1;
    return string;
}

/* A copy that may be cut short. */
static void
copy_head(char *to, size_t size, const char *from, const char *end)
{
    size_t length = from < end ? strnlen(from, (size_t)(end - from)) : 0;

    if (length >= size)
        length = size - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

static struct wire_statement *
find_statement(struct wire *wire, const char *name)
{
    for (int i = 0; i < wire->statement_count; i++) {
        if (strcmp(wire->statements[i].name, name) == 0)
            return &wire->statements[i];
    }
    return NULL;
}

/* Keeps name and text of a Parse. When there is no room the oldest is forgotten. */
static void
keep_statement(struct wire *wire, const char *head, const char *end)
{
    const char *name = string_at(&head, end);
    struct wire_statement *statement;

    if (name == NULL || strlen(name) >= wire_name_bytes)
        return;
    statement = find_statement(wire, name);
    if (statement == NULL) {
        statement = &wire->statements[wire->statement_next];
        wire->statement_next = (wire->statement_next + 1) % wire_statements_max;
        if (wire->statement_count < wire_statements_max)
            wire->statement_count++;
    }
    (void)snprintf(statement->name, sizeof(statement->name), "%s", name);
    copy_head(statement->text, sizeof(statement->text), head, end);
}

/* The first message has no type. Returns whether it has been dealt with. */
static bool
look_at_startup(struct wire *wire)
{
    struct wire_flow *up = &wire->up;
    uint32_t length, code;

    if (up->end - up->parsed < startup_bytes)
        return false;
    length = number_at(up->data + up->parsed);
    code = number_at(up->data + up->parsed + 4);
    if (code == tls_code || code == gss_code) {
        take_out(up, startup_bytes);
        /* The client waits for this one byte, so nothing else can be on its way. */
        wire_drop(&wire->down);
        wire->down.data[0] = 'N';
        wire->down.parsed = wire->down.end = 1;
        return true;
    }
    if (code == cancel_code || length < startup_bytes)
        wire->raw = true;
    wire->started = true;
    wire->asked = 1;
    up->left = length;
    return true;
}

static bool
is_one_of(char type, const char *types)
{
    return type != '\0' && strchr(types, type) != NULL;
}

/* Whether the message at parsed is a request; fills what is known of it. The head has been read. */
static bool
is_request(
    struct wire *wire, char type, const char *head, const char *end, struct wire_request *request)
{
    const struct wire_statement *statement;
    const char *name;

    request->name = request->text = "";
    if (type == 'Q') {
        copy_head(wire->query, sizeof(wire->query), head, end);
        request->text = wire->query;
        return true;
    }
    if (type != 'B')
        return false;
    (void)string_at(&head, end); /* The portal. */
    name = string_at(&head, end);
    if (name == NULL)
        return true;
    request->name = name;
    statement = find_statement(wire, name);
    if (statement != NULL)
        request->text = statement->text;
    return true;
}

enum wire_event
wire_look_up(struct wire *wire, struct wire_request *request)
{
    struct wire_flow *up = &wire->up;

    for (;;) {
        const char *head = up->data + up->parsed;
        size_t there = up->end - up->parsed;
        size_t needed;
        uint32_t length;

        if (wire->raw) {
            up->parsed = up->end;
            return WIRE_MORE;
        }
        if (up->left > 0) {
            if (there == 0)
                return WIRE_MORE;
            go_on(up, false);
            continue;
        }
        if (!wire->started) {
            if (!look_at_startup(wire))
                return WIRE_MORE;
            continue;
        }
        if (there < header_bytes)
            return WIRE_MORE;
        length = number_at(head + 1);
        if (length < 4) {
            wire->raw = true;
            continue;
        }
        needed = (size_t)length + 1 < wire_head_bytes ? (size_t)length + 1 : wire_head_bytes;
        if (is_one_of(head[0], "PBQ") && there < needed)
            return WIRE_MORE;
        if (is_request(wire, head[0], head + header_bytes, head + needed, request))
            return WIRE_REQUEST;
        if (head[0] == 'P')
            keep_statement(wire, head + header_bytes, head + needed);
        wire_pass(wire);
    }
}

void
wire_pass(struct wire *wire)
{
    struct wire_flow *up = &wire->up;
    char type = up->data[up->parsed];

    if (is_one_of(type, "QSF"))
        wire->asked++;
    up->left = (uint64_t)number_at(up->data + up->parsed + 1) + 1;
}

void
wire_withhold(struct wire *wire)
{
    /* A Query is answered by itself, an execution with the next Sync: either way it is the next to be asked for. */
    if (wire->withheld == 0)
        wire->withheld = wire->asked + 1;
}

enum wire_event
wire_look_down(struct wire *wire, bool *failed)
{
    struct wire_flow *down = &wire->down;

    for (;;) {
        const char *head = down->data + down->parsed;
        size_t there = down->end - down->parsed;
        bool out = wire->withheld != 0 && wire->answered >= wire->withheld - 1;
        uint32_t length;

        if (wire->raw || !wire->started) {
            down->parsed = down->end;
            return WIRE_MORE;
        }
        if (down->left > 0) {
            if (there == 0)
                return WIRE_MORE;
            go_on(down, out);
            continue;
        }
        if (there < header_bytes)
            return WIRE_MORE;
        length = number_at(head + 1);
        if (length < 4) {
            wire->raw = true;
            continue;
        }
        if (head[0] == 'E')
            wire->failed = true;
        down->left = (uint64_t)length + 1;
        if (head[0] != 'Z')
            continue;
        if (there < down->left) {
            down->left = 0;
            return WIRE_MORE;
        }
        go_on(down, out);
        wire->answered++;
        *failed = wire->failed;
        wire->failed = false;
        return out ? WIRE_WITHHELD : WIRE_ANSWER;
    }
}

static bool
is_word_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool
wire_matches(const struct wire_request *request, const char *text)
{
    size_t length = strlen(text);

    if (length == 0 || strcmp(request->name, text) == 0)
        return true;
    for (const char *at = request->text; (at = strstr(at, text)) != NULL; at++) {
        if ((at == request->text || !is_word_part(at[-1])) && !is_word_part(at[length]))
            return true;
    }
    return false;
}
