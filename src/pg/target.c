/* SPDX-License-Identifier: Apache-2.0 */
/* The connection parameters for libpq. */
#include "pg/target.h"

#include "pawl/error.h"

#include <arpa/inet.h>
#include <assert.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* Our defaults, except for the limit of unacknowledged data, which depends on the number of hosts. */
static const struct {
    const char *keyword;
    const char *value;
} keepalives[] = {
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
};

enum {
    KEEPALIVES = sizeof(keepalives) / sizeof(keepalives[0])
};

/* The user's parameters that our defaults depend on. */
struct said {
    bool several_hosts;
    bool session_attrs;
    bool user_timeout;
    /* Set by a service. libpq asks it only for parameters that no other source sets, so our default would take precedence. */
    bool served_timeout;
    bool served_keepalives[KEEPALIVES];
};

static void
add_word(struct pw_target *target, int *count, const char *keyword, const char *value)
{
    assert(*count < PW_TARGET_MAX);
    target->keywords[*count] = keyword;
    target->values[*count] = value;
    (*count)++;
    target->keywords[*count] = NULL;
    target->values[*count] = NULL;
}

static const char *
option_value(const PQconninfoOption *options, const char *keyword)
{
    for (; options != NULL && options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0)
            return options->val;
    return NULL;
}

static bool
is_given(const PQconninfoOption *options, const char *keyword)
{
    const char *value = option_value(options, keyword);

    return value != NULL && value[0] != '\0';
}

/* Hosts are separated by commas, whether they are named, given as addresses, or told apart by their ports. */
static bool
names_several(const PQconninfoOption *options)
{
    const char *host = option_value(options, "host");
    const char *address = option_value(options, "hostaddr");

    return (host != NULL && strchr(host, ',') != NULL) ||
        (address != NULL && strchr(address, ',') != NULL);
}

/* True if the text is a port as libpq accepts it. An empty text is the default port. */
static bool
is_port(const char *text, size_t size)
{
    static const char blanks[] = " \t\n\v\f\r";
    int number = 0;

    for (; size > 0 && strchr(blanks, text[size - 1]) != NULL; size--)
        ;
    for (; size > 0 && strchr(blanks, *text) != NULL; size--, text++)
        ;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
        if (number > 65535)
            return false;
    }
    return size == 0 || number > 0;
}

/* False for a name with @ in it. A path and an abstract socket, which begin with / and @, may have one. */
static bool
is_host(const char *text, size_t size)
{
    return size == 0 || text[0] == '/' || text[0] == '@' || memchr(text, '@', size) == NULL;
}

static bool
each_is(const char *list, bool (*is)(const char *text, size_t size))
{
    while (list != NULL) {
        size_t size = strcspn(list, ",");

        if (!is(list, size))
            return false;
        list = list[size] == ',' ? list + size + 1 : NULL;
    }
    return true;
}

/*
 * A URI whose password has a / or @ that is not escaped is read as another one. Then the text ahead of the / is a port, and the text after
 * the first @ is a host. libpq shows both when it cannot connect.
 */
static bool
is_misread(const PQconninfoOption *options)
{
    return !each_is(option_value(options, "port"), is_port) ||
        !each_is(option_value(options, "host"), is_host);
}

/*
 * Returns the parameters of a conninfo that names a service, with the service's file and libpq's variables. libpq returns them only for a
 * connection, so this starts one. An sslmode that does not exist keeps libpq from connecting.
 */
static PQconninfoOption *
read_service(const char *conninfo)
{
    const char *const keywords[] = {"dbname", "sslmode", NULL};
    const char *const values[] = {conninfo, "no mode", NULL};
    PGconn *conn = PQconnectStartParams(keywords, values, 1);
    PQconninfoOption *options = PQconninfo(conn);

    PQfinish(conn);
    return options;
}

/*
 * Whether a text is the name of a database, as psql has it: neither pairs nor a URI. libpq reads it so as well. A text with "@" or ":"
 * may be a URI whose scheme was forgotten, or a line of a password file: it could show a password to a server that it was not meant for.
 */
static bool
is_name(const char *conninfo)
{
    return strpbrk(conninfo, "=@:") == NULL && strlen(conninfo) < 64;
}

/* Reads parameters from the conninfo or, if it does not set them, from libpq's variables and service files. */
static int
read_said(const char *conninfo, struct said *said, struct pw_error *err)
{
    PQconninfoOption *parsed = NULL;
    PQconninfoOption *defaults;
    const char *attrs;
    char *problem = NULL;

    if (conninfo != NULL && !is_name(conninfo)) {
        parsed = PQconninfoParse(conninfo, &problem);
        if (parsed == NULL && problem == NULL) {
            pw_error_oom(err);
            return PAWL_ENOMEM;
        }
        if (parsed == NULL || is_misread(parsed)) {
            /* The problem's text may show a part of a password, so it is not passed on. */
            /* guard:conninfo_is_secret */
            PQfreemem(problem);
            PQconninfoFree(parsed);
            pw_error_set(err, PAWL_EINVAL, "the connection string of the database cannot be read");
            pw_error_hint(err,
                "It is a URI (postgresql://..., with %%2F for / and %%40 for @ in a password), "
                "pairs keyword=value, as libpq takes them, or the name of a database.");
            return PAWL_EINVAL;
        }
    }
    /* guard:service */
    defaults = is_given(parsed, "service") ? read_service(conninfo) : PQconndefaults();
    if (defaults == NULL) {
        PQconninfoFree(parsed);
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }

    said->several_hosts = names_several(parsed);
    if (option_value(parsed, "host") == NULL && option_value(parsed, "hostaddr") == NULL)
        said->several_hosts = names_several(defaults);
    attrs = option_value(defaults, "target_session_attrs");
    said->session_attrs = option_value(parsed, "target_session_attrs") != NULL ||
        (attrs != NULL && strcmp(attrs, "any") != 0);
    said->served_timeout = is_given(defaults, "tcp_user_timeout");
    said->user_timeout = said->served_timeout || option_value(parsed, "tcp_user_timeout") != NULL;
    for (int i = 0; i < KEEPALIVES; i++)
        said->served_keepalives[i] = is_given(defaults, keepalives[i].keyword);
    PQconninfoFree(defaults);
    PQconninfoFree(parsed);
    return PAWL_OK;
}

int
pw_target_init(struct pw_target *target, const char *conninfo, const char *application_name,
    struct pw_error *err)
{
    struct said said = {.several_hosts = false};
    int count = 0;
    int status;

    if (conninfo != NULL && conninfo[0] == '\0')
        conninfo = NULL;
    status = read_said(conninfo, &said, err);
    if (status != PAWL_OK)
        return status;

    /* libpq takes the later of two equal keywords: the parameters that dbname expands to win over these. */
    add_word(target, &count, "fallback_application_name", application_name);
    for (int i = 0; i < KEEPALIVES; i++)
        if (!said.served_keepalives[i])
            add_word(target, &count, keepalives[i].keyword, keepalives[i].value);
    /*
     * The same limit ends an attempt to connect to a host that does not answer. With several hosts it is short at first, so
     * that the next one gets its turn, and raised when the connection is there.
     */
    target->raise_unacked = said.several_hosts && !said.user_timeout;
    /* guard:several_patience */
    if (!said.served_timeout)
        add_word(target, &count, "tcp_user_timeout", said.several_hosts ? "3000" : "20000");
    /* guard:several_writable */
    if (said.several_hosts && !said.session_attrs)
        add_word(target, &count, "target_session_attrs", "read-write");
    if (conninfo != NULL)
        add_word(target, &count, "dbname", conninfo);
    /* Payloads are UTF-8, whatever the user's variables say. */
    add_word(target, &count, "client_encoding", "UTF8");
    return PAWL_OK;
}

/* A unix socket, or an address of this machine's loopback. */
static bool
is_local(const PGconn *pq)
{
    const char *host = PQhost(pq);
    const char *address = PQhostaddr(pq);
    struct in6_addr six;
    struct in_addr four;

    if (host != NULL && (host[0] == '/' || host[0] == '@'))
        return true;
    if (address == NULL || address[0] == '\0')
        return host == NULL || host[0] == '\0';
    if (inet_pton(AF_INET, address, &four) == 1)
        return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Either the certificate was checked, or SCRAM is bound to the channel: a server in between knows no password. */
static bool
is_verified(const PQconninfoOption *options)
{
    const char *mode = option_value(options, "sslmode");
    const char *binding = option_value(options, "channel_binding");

    return (mode != NULL && strncmp(mode, "verify-", 7) == 0) ||
        (binding != NULL && strcmp(binding, "require") == 0);
}

bool
pw_target_unverified(PGconn *pq)
{
    PQconninfoOption *options;
    bool verified;

    if (is_local(pq) || PQgssEncInUse(pq) != 0)
        return false;
    if (PQsslInUse(pq) == 0)
        return true;
    options = PQconninfo(pq);
    /* Without memory, the server is not reported as unverified. */
    verified = options == NULL || is_verified(options);
    PQconninfoFree(options);
    return !verified;
}

void
pw_target_connected(bool raise_unacked, int fd)
{
    int limit = PW_TARGET_UNACKED_MS;

    /* Without this option, or on a unix socket, the shorter limit does no harm. */
    if (raise_unacked)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
}
