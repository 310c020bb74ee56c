/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/guard.h"

#include "base/text.h"
#include "base/utf8.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    HOST_SIZE = 300,
};

/* Headers that this server reads, of which two could be read in two ways. */
static const char *const singles[GUARD_SINGLES] = {
    "Authorization", "Content-Type", "Idempotency-Key", "traceparent", "Expect"};

void
guard_init(struct guard *guard)
{
    *guard = (struct guard){.length = -1};
}

static void
refuse_with(struct guard *guard, unsigned status, const char *problem)
{
    if (guard->problem != NULL)
        return;
    guard->problem = problem;
    guard->status = status;
}

static void
refuse(struct guard *guard, const char *problem)
{
    refuse_with(guard, 400, problem);
}

/* A character of a token of RFC 9110: names of headers and methods. */
static bool
is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
        (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Checks the characters of a target, and the bytes that its percent signs stand for: they must be characters, and none of them may be a
 * separator of a path, because a proxy might have read the path after decoding it.
 */
static void
check_characters(struct guard *guard, const char *target)
{
    char decoded[GUARD_TARGET_MAX + 1];
    size_t size = 0;
    bool query = false;

    for (const char *at = target; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;

        query = query || *at == '?';
        if (byte <= ' ' || byte >= 127 || strchr("\"<>\\^`{|}#", *at) != NULL) {
            refuse(guard, "the address has a character that must be percent-encoded");
            return;
        }
        if (*at == '%') {
            if (hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0) {
                refuse(guard, "the address has a malformed percent-encoding");
                return;
            }
            byte = (unsigned char)(hex_digit(at[1]) * 16 + hex_digit(at[2]));
            at += 2;
            if (byte < ' ' || byte == 127)
                refuse(guard, "the address has an encoded control character");
            else if (!query && (byte == '/' || byte == '\\'))
                refuse(guard, "the path has an encoded slash");
        }
        decoded[size++] = (char)byte;
    }
    if (!pw_utf8_valid(decoded, size))
        refuse(guard, "the address is not UTF-8");
}

/* Counts the dots that a segment of size bytes consists of, encoded ones as well; 0 if it has anything else. */
static size_t
dots_of(const char *segment, size_t size)
{
    size_t dots = 0;

    for (size_t i = 0; i < size; i++) {
        if (segment[i] == '.')
            dots++;
        else if (i + 2 < size && strncasecmp(segment + i, "%2e", 3) == 0)
            dots++, i += 2;
        else
            return 0;
    }
    return dots;
}

/* Checks the segments of the path: a proxy may have removed "..", or may have joined "//". */
static void
check_path(struct guard *guard, const char *target)
{
    const char *at = target;
    size_t path = strcspn(target, "?");

    while (at < target + path) {
        size_t size = strcspn(at + 1, "/?");
        size_t dots = dots_of(at + 1, size);

        if (dots == 1 || dots == 2)
            refuse(guard, "the path has a segment of dots");
        if (size == 0 && at + 1 < target + path)
            refuse(guard, "the path has an empty segment");
        at += 1 + size;
    }
}

/* Methods of routes, and OPTIONS, which browsers send ahead. */
static bool
is_method(const char *method)
{
    static const char *const methods[] = {
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i], method) == 0)
            return true;
    return false;
}

void
guard_line(struct guard *guard, const char *method, const char *target, const char *version)
{
    if (!is_method(method))
        refuse_with(guard, 501, "the method is not supported");
    if (version == NULL || (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0))
        refuse_with(guard, 505, "the version is not HTTP/1.1");
    if (strlen(target) > GUARD_TARGET_MAX) {
        refuse_with(guard, 414, "the address has more than 8,192 bytes");
        return;
    }
    if (target[0] != '/') {
        refuse(guard, "the address does not begin with a slash");
        return;
    }
    guard->bodiless =
        strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
    check_characters(guard, target);
    check_path(guard, target);
}

static bool
is_name(const char *name, size_t size, const char *wanted)
{
    return strlen(wanted) == size && strncasecmp(name, wanted, size) == 0;
}

/* Digits alone: no sign, no list, no blank. */
static void
add_length(struct guard *guard, const char *value, size_t size)
{
    char text[20];

    guard->lengths++;
    if (size == 0 || size >= sizeof(text) - 1) {
        refuse(guard, "Content-Length is malformed");
        return;
    }
    memcpy(text, value, size);
    text[size] = '\0';
    if (strspn(text, "0123456789") != size || !pw_parse_i64(text, 0, INT64_MAX, &guard->length))
        refuse(guard, "Content-Length is malformed");
}

void
guard_layout(struct guard *guard, const char *method, const char *url, const char *target,
    const char *version)
{
    if (version == NULL || url != method + strlen(method) + 1 ||
        version != url + strlen(target) + 1)
        refuse(guard, "the first line has more than one blank between its parts");
    else
        guard->next = version + strlen(version) + 2;
}

void
guard_layout_end(struct guard *guard, const char *method, size_t size)
{
    if (guard->next != NULL && method + size != guard->next + 2)
        refuse(guard, "the headers do not end with an empty line");
}

void
guard_header(
    struct guard *guard, const char *name, size_t name_size, const char *value, size_t value_size)
{
    if (guard->next != NULL && name != guard->next)
        refuse(guard, "a line of the headers is folded, or does not end as it must");
    if (guard->next != NULL)
        guard->next = value + value_size + 2;
    guard->headers++;
    guard->bytes += name_size + value_size + 4;
    if (guard->headers > GUARD_HEADERS_MAX)
        refuse_with(guard, 431, "there are more than 100 headers");
    if (guard->bytes > GUARD_HEADER_BYTES_MAX)
        refuse_with(guard, 431, "the headers have more than 16,384 bytes");
    if (name_size == 0)
        refuse(guard, "a header has no name");
    for (size_t i = 0; i < name_size; i++)
        if (!is_token_char(name[i])) {
            refuse(guard, "the name of a header is malformed");
            break;
        }
    for (size_t i = 0; i < value_size; i++)
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 127) {
            refuse(guard, "the value of a header has a control character");
            break;
        }
    if (is_name(name, name_size, "Content-Length")) {
        add_length(guard, value, value_size);
    } else if (is_name(name, name_size, "Transfer-Encoding")) {
        guard->chunked++;
        if (!is_name(value, value_size, "chunked"))
            refuse(guard, "Transfer-Encoding is not chunked");
    } else if (is_name(name, name_size, "Host")) {
        guard->hosts++;
    } else if (is_name(name, name_size, "Expect") && !is_name(value, value_size, "100-continue")) {
        refuse(guard, "Expect is not 100-continue");
    }
    for (size_t i = 0; i < GUARD_SINGLES; i++)
        guard->singles[i] += is_name(name, name_size, singles[i]);
}

bool
guard_end(struct guard *guard)
{
    if (guard->lengths > 1)
        refuse(guard, "there is more than one Content-Length");
    if (guard->chunked > 1)
        refuse(guard, "there is more than one Transfer-Encoding");
    if (guard->lengths > 0 && guard->chunked > 0)
        refuse(guard, "there are Content-Length and Transfer-Encoding");
    if (guard->hosts != 1)
        refuse(guard, "there is not exactly one Host");
    for (size_t i = 0; i < GUARD_SINGLES; i++)
        if (guard->singles[i] > 1)
            refuse(guard, "a header is there twice that may be there once");
    if (guard->bodiless && guard_has_body(guard))
        refuse(guard, "a request with this method has no body");
    return guard->problem == NULL;
}

bool
guard_has_body(const struct guard *guard)
{
    return guard->chunked > 0 || guard->length > 0;
}

/* Splits "name:port" or "[::1]:port". port is -1 if there is none. Returns false if it is malformed. */
static bool
split_host(const char *value, char name[HOST_SIZE], int64_t *port)
{
    const char *end = value[0] == '[' ? strchr(value, ']') : NULL;
    size_t size = end != NULL ? (size_t)(end + 1 - value) : strcspn(value, ":");

    *port = -1;
    if (size == 0 || size >= HOST_SIZE || (value[0] == '[' && end == NULL))
        return false;
    memcpy(name, value, size);
    name[size] = '\0';
    if (value[size] == '\0')
        return true;
    return value[size] == ':' && value[size + 1] != '-' &&
        pw_parse_i64(value + size + 1, 1, 65535, port);
}

static bool
is_loopback_name(const char *name)
{
    return strcasecmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
        strcmp(name, "[::1]") == 0;
}

/* A page cannot be bound to an address without a name, so an address is as good as a listed name where the server has one for others. */
static bool
is_address(const char *name)
{
    unsigned char room[sizeof(struct in6_addr)];
    char inner[INET6_ADDRSTRLEN];
    size_t size = strlen(name);

    if (name[0] != '[')
        return inet_pton(AF_INET, name, room) == 1;
    if (size < 3 || size - 2 >= sizeof(inner))
        return false;
    memcpy(inner, name + 1, size - 2);
    inner[size - 2] = '\0';
    return inet_pton(AF_INET6, inner, room) == 1;
}

bool
guard_host(const struct guard_hosts *hosts, const char *value)
{
    char name[HOST_SIZE];
    char listed[HOST_SIZE];
    int64_t port;
    int64_t listed_port;

    if (!split_host(value, name, &port))
        return false;
    for (size_t i = 0; hosts->names != NULL && hosts->names[i] != NULL; i++)
        if (split_host(hosts->names[i], listed, &listed_port) && strcasecmp(name, listed) == 0 &&
            (listed_port == -1 || listed_port == port))
            return true;
    if (hosts->port == 0)
        return is_loopback_name(name);
    if (port != (int64_t)hosts->port && !(port == -1 && hosts->port == 80))
        return false;
    return is_loopback_name(name) || (!hosts->loopback && is_address(name));
}
