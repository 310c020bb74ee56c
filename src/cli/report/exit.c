/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/exit.h"

#include "base/secret.h"
#include "cli/report/privilege.h"
#include "cli/show/term.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HINT_SIZE = 300,
};

static const struct {
    int code;
    const char *summary;
} codes[] = {
    {EXIT_OK, "success"},
    {EXIT_OTHER, "another error; the message names it"},
    {EXIT_USAGE, "invalid command line"},
    {EXIT_NOT_FOUND, "there is no such run, workflow, queue or worker"},
    {EXIT_REFUSED,
        "the database refused it: the run is in another state, or a key was used with another "
        "input"},
    {EXIT_TIMEOUT, "timeout"},
    {EXIT_RUN_FAILED, "the awaited run failed or was cancelled"},
    {EXIT_NO_DATABASE, "cannot connect to the database, or cannot log in"},
    {EXIT_SCHEMA, "pawl is not installed in the database, or in another version"},
    {EXIT_FORBIDDEN, "permission denied"},
    {EXIT_UNKNOWN, "outcome unknown: the call was sent, and its reply was lost"},
    {EXIT_DIFFERS, "differences found"},
    {EXIT_STOPPED, "a search stopped before its end, so the list can be incomplete"},
    {EXIT_INTERRUPTED, "interrupted"},
};

const char *
exit_summary(int code)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].code == code)
            return codes[i].summary;
    return NULL;
}

int
exit_code_of(pawl_status status)
{
    switch ((int)status) {
    case PAWL_OK:
        return EXIT_OK;
    case PAWL_EINVAL:
        return EXIT_USAGE;
    case PAWL_ENOTFOUND:
        return EXIT_NOT_FOUND;
    case PAWL_EREFUSED:
    case PAWL_ECONFLICT:
    case PAWL_ETOOLARGE:
    case PAWL_EBUSY:
        return EXIT_REFUSED;
    case PAWL_ETIMEOUT:
        return EXIT_TIMEOUT;
    case PAWL_ERUN:
    case PAWL_ECANCELLED:
        return EXIT_RUN_FAILED;
    case PAWL_ECONN:
        return EXIT_NO_DATABASE;
    case PAWL_ESCHEMA:
        return EXIT_SCHEMA;
    case PAWL_EFORBIDDEN:
        return EXIT_FORBIDDEN;
    case PAWL_EUNKNOWN:
        return EXIT_UNKNOWN;
    default:
        return EXIT_OTHER;
    }
}

/* Prints a text, which may quote what the user typed, without passwords and characters that could move a terminal's cursor. */
static void
print(const char *text)
{
    char *covered = strdup(text);

    if (covered == NULL)
        return;
    /* guard:message_covered */
    pw_secret_cover(covered);
    term_print(stderr, covered);
    (void)fputc('\n', stderr);
    free(covered);
}

/* Prints at most two lines. */
static void
say(const char *message, const char *hint)
{
    (void)fflush(stdout);
    (void)fprintf(
        stderr, "%spawl:%s ", term_style(TERM_ERR, TERM_BAD), term_style(TERM_ERR, TERM_PLAIN));
    print(message);
    if (hint != NULL && hint[0] != '\0') {
        (void)fputs("      ", stderr);
        print(hint);
    }
}

/*
 * libpq says "connection to server at "db", port 5432 failed: FATAL:  password authentication failed; and more". Prints only where and why.
 */
static void
say_no_connection(const char *message)
{
    static const char begin[] = "connection to server ";
    static const char middle[] = " failed: ";
    static const char fatal[] = "FATAL:  ";
    const char *where = strstr(message, begin);
    const char *why = where == NULL ? NULL : strstr(where, middle);
    char text[1000];

    if (why == NULL) {
        (void)snprintf(text, sizeof(text), "no connection to the database: %s", message);
    } else {
        int where_size = (int)(why - where) - (int)strlen(begin);

        why += strlen(middle);
        if (strncmp(why, fatal, strlen(fatal)) == 0)
            why += strlen(fatal);
        (void)snprintf(text, sizeof(text), "no connection to the database %.*s: %.*s", where_size,
            where + strlen(begin), (int)strcspn(why, ";\n"), why);
    }
    say(text,
        getenv("PAWL_SOCKET") != NULL
            ? "A script that a worker executes has no way to the database; what it can do: pawl "
              "step, sleep, wait, child, set and get."
            : "Say where it is with --database, PAWL_DATABASE_URL, or PGHOST, PGDATABASE, PGUSER "
              "and PGPASSWORD; or try: pawl dev");
}

/* Hints for errors of the database, printed after its message. An error that has its own hint keeps it, unless always is set. */
static const struct {
    char sqlstate[6];
    bool always; /* the hint of the database is for authors of SQL */
    const char *hint;
} hints[] = {
    {"42883", true, "The engine in this database may be older than this program: pawl migrate"},
    {"42P01", true, "The engine in this database may be older than this program: pawl migrate"},
    {"42703", true, "The engine in this database may be older than this program: pawl migrate"},
    {"PW001", false, "It may be misspelt, older than the retention, or in another database."},
    {"PW002", true, "pawl workflow list shows all there are; pawl workflow create makes one."},
};

/* The server says "permission denied for function X". Only pawl can tell which privilege set has the function. */
static const char *
hint_for_rights(const char *verb, const char *message, char *room, size_t size)
{
    static const char database[] = "permission denied for database ";
    char sets[PRIVILEGE_SIZE];
    char set[PRIVILEGE_SIZE];

    if (strncmp(message, database, strlen(database)) == 0) {
        (void)snprintf(room, size,
            "Connect as the owner of the database, or have the owner send: grant create on "
            "database "
            "%.*s to ROLE",
            (int)strcspn(message + strlen(database), " "), message + strlen(database));
    } else if (verb == NULL) {
        (void)snprintf(room, size,
            "The owner of schema pawl can grant a privilege set: pawl grant ROLE reader, producer, "
            "worker or operator");
    } else if (privilege_sets(verb, sets, set)) {
        (void)snprintf(room, size,
            "pawl.%s needs privilege set %s. The owner of schema pawl can grant it: pawl grant "
            "ROLE %s",
            verb, sets, set);
    } else {
        (void)snprintf(room, size, "Only the owner of schema pawl may call pawl.%s.", verb);
    }
    return room;
}

static void
say_error(const pawl_error *error, const char *verb)
{
    const char *message = pawl_error_message(error);
    const char *hint = pawl_error_hint(error);
    const char *sqlstate = pawl_error_sqlstate(error);
    char room[HINT_SIZE];

    if (strcmp(sqlstate, "3F000") == 0 && strstr(message, "\"pawl\"") != NULL) {
        say("pawl is not installed in this database",
            "Install it: pawl install; or psql -f pawl.sql");
        return;
    }
    if (strcmp(sqlstate, "42501") == 0 && hint[0] == '\0')
        hint = hint_for_rights(verb, message, room, sizeof(room));
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (strcmp(hints[i].sqlstate, sqlstate) == 0 && (hint[0] == '\0' || hints[i].always))
            hint = hints[i].hint;
    say(message, hint);
}

int
exit_with(pawl_status status, pawl_error *error)
{
    return exit_with_verb(status, error, NULL);
}

int
exit_with_verb(pawl_status status, pawl_error *error, const char *verb)
{
    int code = exit_code_of(status);

    /* For the library a missing password is a refusal, and a wrong one is a failed connection. Here both are failed connections. */
    if (status == PAWL_ECONN ||
        (status == PAWL_EFORBIDDEN && pawl_error_sqlstate(error)[0] == '\0')) {
        /* An error with its own hint is not about the address of the database. */
        if (status == PAWL_ECONN && pawl_error_hint(error)[0] != '\0')
            say_error(error, verb);
        else
            say_no_connection(pawl_error_message(error));
        code = EXIT_NO_DATABASE;
    } else if (status != PAWL_OK) {
        say_error(error, verb);
    }
    pawl_error_free(error);
    return code;
}

int
exit_saying(int code, const char *hint, const char *format, ...)
{
    char message[1000];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    say(message, hint);
    return code;
}
