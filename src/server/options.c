/* SPDX-License-Identifier: Apache-2.0 */
#include "server/options.h"

#include "base/secret.h"
#include "base/text.h"

#include <pawl/pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_USAGE = 2,
};

static const char help[] =
    "usage: pawl-serve [OPTION]...\n"
    "\n"
    "Serves the SQL API of pawl over HTTP. Callers show tokens (pawl token create).\n"
    "\n"
    "  -d, --database DATABASE   connection string (PAWL_DATABASE_URL, or libpq's variables)\n"
    "      --listen ADDRESS      ADDRESS:PORT or unix:PATH (127.0.0.1:7295; port 0: any free "
    "port)\n"
    "      --host NAME           a name by which clients call the server; may be repeated\n"
    "      --behind-proxy        listen on any address: a proxy in front ends TLS, and its\n"
    "                            X-Forwarded-For is trusted\n"
    "      --insecure            listen on any address without a proxy\n"
    "      --read-only           refuse all requests that change something\n"
    "      --cors ORIGIN         let pages of this origin call the server; may be repeated\n"
    "      --rate N              requests in a second of each token (200)\n"
    "      --callers N           connections to the database (8)\n"
    "      --log FORM            access log on standard error: text, json or off (text)\n"
    "      --print-routes        print all routes and exit\n"
    "      --version             print the version and exit\n"
    "  -h, --help                show this help\n";

static int
complain(const char *what, const char *word)
{
    (void)fprintf(stderr, "pawl-serve: %s \"%s\" (see pawl-serve --help)\n", what, word);
    return EXIT_USAGE;
}

static bool
add_name(const char *names[OPTIONS_NAMES_MAX + 1], const char *name)
{
    size_t count = 0;

    while (names[count] != NULL)
        count++;
    if (count == OPTIONS_NAMES_MAX)
        return false;
    names[count] = name;
    return true;
}

static bool
read_log(struct options *options, const char *value)
{
    static const char *const forms[] = {"text", "json", "off"};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(forms[i], value) == 0) {
            options->log = (enum log_form)i;
            return true;
        }
    return false;
}

/* A name of a host, or an address, with a port or not. */
static bool
is_host(const char *name)
{
    size_t size =
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]");

    return size > 0 && name[size] == '\0';
}

/* "https://host", as browsers send it. Not "*": a page of any origin could then try tokens. */
static bool
is_origin(const char *origin)
{
    if (strncmp(origin, "https://", 8) == 0)
        return is_host(origin + 8);
    return strncmp(origin, "http://", 7) == 0 && is_host(origin + 7);
}

/* Returns true if the word is this flag. */
static bool
take_flag(struct options *options, const char *word)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"--behind-proxy", &options->behind_proxy},
        {"--insecure", &options->insecure},
        {"--read-only", &options->read_only},
        {"--print-routes", &options->print_routes},
    };

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strcmp(flags[i].name, word) == 0) {
            *flags[i].flag = true;
            return true;
        }
    return false;
}

/* Sets the option of a name. Returns 0 for a bad value, -1 for an unknown name, else 1. */
static int
take_value(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--listen") == 0)
        options->listen = value;
    else if (strcmp(name, "-d") == 0 || strcmp(name, "--database") == 0)
        options->database = value;
    else if (strcmp(name, "--host") == 0)
        return is_host(value) && add_name(options->hosts, value);
    else if (strcmp(name, "--cors") == 0)
        return is_origin(value) && add_name(options->origins, value);
    else if (strcmp(name, "--rate") == 0)
        return pw_parse_i64(value, 1, 1000000, &options->rate);
    else if (strcmp(name, "--callers") == 0)
        return pw_parse_i64(value, 1, 64, &options->callers);
    else if (strcmp(name, "--log") == 0)
        return read_log(options, value);
    else
        return -1;
    return 1;
}

/* Takes "--name value" or "--name=value". Returns how many words it took, or 0 after a message. */
static int
take_option(struct options *options, int count, char **words)
{
    char name[32];
    char *equals = strncmp(words[0], "--", 2) == 0 ? strchr(words[0], '=') : NULL;
    char *value = equals != NULL ? equals + 1 : count > 1 ? words[1] : NULL;
    size_t size = equals != NULL ? (size_t)(equals - words[0]) : strlen(words[0]);
    int taken;

    if (size >= sizeof(name))
        return complain("unknown option", words[0]), 0;
    memcpy(name, words[0], size);
    name[size] = '\0';
    taken = take_value(options, name, value != NULL ? value : "");
    if (taken < 0)
        return complain("unknown option", name), 0;
    if (value == NULL)
        return complain("no value for option", name), 0;
    if (taken == 0)
        return complain("bad value for option", name), 0;
    if (options->database == value) {
        /* Other users of the machine can read the command line, but not this copy. */
        free(options->kept);
        options->kept = strdup(value);
        options->database = options->kept;
        if (options->kept == NULL)
            return complain("out of memory for option", name), 0;
        if (pw_secret_in(value))
            pw_secret_hide(value);
    }
    return equals != NULL ? 1 : 2;
}

void
options_done(struct options *options)
{
    free(options->kept);
    options->kept = NULL;
}

int
options_read(struct options *options, int count, char **words)
{
    *options = (struct options){.listen = "127.0.0.1:7295", .rate = 200, .callers = 8};
    options->database = getenv("PAWL_DATABASE_URL");
    for (int at = 1; at < count;) {
        int taken = 1;

        if (strcmp(words[at], "-h") == 0 || strcmp(words[at], "--help") == 0)
            return fputs(help, stdout) < 0;
        if (strcmp(words[at], "--version") == 0)
            return printf("pawl-serve %d.%d.%d\n", PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR,
                       PAWL_VERSION_PATCH) < 0;
        if (words[at][0] != '-')
            return complain("unexpected argument", words[at]);
        if (!take_flag(options, words[at]))
            taken = take_option(options, count - at, words + at);
        if (taken == 0)
            return EXIT_USAGE;
        at += taken;
    }
    return -1;
}
