/* SPDX-License-Identifier: Apache-2.0 */
/* pawl sleep and pawl wait: a script releases its worker until a time has passed or an event has occurred. */
#include "base/json_read.h"
#include "cli/command/commands.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"
#include "cli/show/time_text.h"

#include <stdlib.h>
#include <string.h>

static int
sleep_for(struct invocation *invocation)
{
    int64_t ms = time_text_duration_ms(invocation_operand(invocation, 1));
    struct script_client client;
    int code;

    if (ms < 0)
        return exit_saying(EXIT_USAGE, "Write 250ms, 30s, 10m, 2h or 7d.", "\"%s\" is no duration",
            invocation_operand(invocation, 1));
    code = script_client_open(&client);
    if (code == EXIT_OK) {
        script_client_begin(&client, "sleep", invocation_operand(invocation, 0));
        pw_json_key(&client.writer, "ms");
        pw_json_add_int(&client.writer, ms);
        code = script_client_ask(&client);
    }
    script_client_close(&client);
    return code;
}

/* Adds {"/path": value} from /path=value. A value that is not JSON becomes a text. The library takes the object as a text. */
static int
add_match(const struct invocation *invocation, struct pw_json_writer *writer)
{
    struct pw_json_writer inner;
    struct pw_buf buf;
    bool any = false;

    pw_buf_init(&buf, 65536);
    pw_json_writer_init(&inner, &buf);
    pw_json_open(&inner, '{');
    for (size_t i = 0; i < invocation->given_count; i++) {
        const char *given = invocation->given[i].value;
        const char *equals = strchr(given, '=');
        char *path;

        if (strcmp(invocation->given[i].option->name, "match") != 0)
            continue;
        any = true;
        path = equals != NULL ? strndup(given, (size_t)(equals - given)) : NULL;
        if (path == NULL || path[0] != '/') {
            free(path);
            pw_buf_done(&buf);
            return exit_saying(EXIT_USAGE, NULL, "--match takes /path=value, not \"%s\"", given);
        }
        pw_json_key(&inner, path);
        free(path);
        if (pw_json_valid((struct pw_json){equals + 1, strlen(equals + 1)}))
            pw_json_add_raw(&inner, equals + 1, strlen(equals + 1));
        else
            pw_json_add_text(&inner, equals + 1);
    }
    pw_json_close(&inner);
    pw_json_key(writer, "options");
    pw_json_open(writer, '{');
    if (any) {
        pw_json_key(writer, "match");
        pw_json_add_text(writer, pw_buf_text(&buf));
    }
    if (invocation_has(invocation, "key")) {
        pw_json_key(writer, "key");
        pw_json_add_text(writer, invocation_option(invocation, "key"));
    }
    pw_json_close(writer);
    pw_buf_done(&buf);
    return EXIT_OK;
}

/* Adds the event, the form and the timeout of the wait to the message. */
static int
add_wait(struct invocation *invocation, struct script_client *client)
{
    const char *timeout = invocation_option(invocation, "timeout");
    int code = EXIT_OK;
    char *form;

    if (timeout != NULL) {
        pw_json_key(&client->writer, "timeout_ms");
        pw_json_add_int(&client->writer, time_text_duration_ms(timeout));
    }
    if (invocation_has(invocation, "event")) {
        pw_json_key(&client->writer, "topic");
        pw_json_add_text(&client->writer, invocation_option(invocation, "event"));
        return add_match(invocation, &client->writer);
    }
    if (!invocation_has(invocation, "form"))
        return EXIT_OK;
    form = invocation_json(invocation_option(invocation, "form"), &code);
    if (form != NULL && !pw_json_valid((struct pw_json){form, strlen(form)}))
        code = exit_saying(EXIT_USAGE, NULL, "--form takes JSON");
    if (form != NULL && code == EXIT_OK) {
        pw_json_key(&client->writer, "form");
        pw_json_add_raw(&client->writer, form, strlen(form));
    }
    free(form);
    return code;
}

static int
wait_for(struct invocation *invocation)
{
    const char *kind = invocation_has(invocation, "event") ? "event"
        : invocation_has(invocation, "signal")             ? "signal"
                                                           : "approval";
    struct script_client client;
    int code;

    if ((int)invocation_has(invocation, "event") + (int)invocation_has(invocation, "signal") +
            (int)invocation_has(invocation, "approval") !=
        1)
        return exit_saying(EXIT_USAGE, NULL, "say one of --event TOPIC, --signal and --approval");
    code = script_client_open(&client);
    if (code == EXIT_OK) {
        script_client_begin(&client, kind, invocation_operand(invocation, 0));
        code = add_wait(invocation, &client);
    }
    if (code == EXIT_OK)
        code = script_client_ask(&client);
    script_client_close(&client);
    return code;
}

const struct command cmd_sleep[] = {
    {.name = "sleep",
        .summary = "Continue after a time, without holding a worker",
        .text = "The script is ended, and executed again from its start when the time has passed; "
                "its steps are not. So a sleep of a month costs nothing, and survives everything.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT, .value = "NAME", .summary = "of a-z, 0-9, _, . and -"},
                {.kind = KIND_DURATION, .value = "TIME", .summary = "such as 30s, 10m, 2h or 7d"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl sleep cool-down 10m", "continues ten minutes later"},
                {NULL, NULL},
            },
        .act = sleep_for,
        .no_database = true},
    {.name = "wait",
        .summary = "Continue on an event, a signal or an approval",
        .text = "Prints the payload: JSON, but a string as its text. Exits with 5 if the time is "
                "over, and with 4 if an "
                "approval was refused; like all that scripts ask for, so it does each time.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "NAME",
                    .summary = "of a-z, 0-9, _, . and -; of a signal or an approval, what it is "
                               "sent to"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "event",
                    .value = "TOPIC",
                    .summary = "wait for an event, as pawl emit makes it"},
                {.kind = KIND_TEXT,
                    .name = "key",
                    .value = "KEY",
                    .summary = "of the event; without it, one without a key"},
                {.kind = KIND_TEXT,
                    .name = "match",
                    .value = "/PATH=VALUE",
                    .summary = "only an event whose payload has this value there",
                    .many = true},
                {.kind = KIND_FLAG,
                    .name = "signal",
                    .summary = "wait for a signal of this name, as pawl signal sends it"},
                {.kind = KIND_FLAG,
                    .name = "approval",
                    .summary = "wait for pawl approve or pawl reject"},
                {.kind = KIND_JSON,
                    .name = "form",
                    .value = "JSON",
                    .summary = "what is asked, for those who decide"},
                {.kind = KIND_DURATION,
                    .name = "timeout",
                    .value = "TIME",
                    .summary = "how long to wait; without it, for as long as it takes"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl wait paid --event payment --match /order=17 --timeout 3d",
                    "waits for a payment of this order"},
                {"pawl wait go-live --approval --timeout 1d || exit 0", "asks a person"},
                {NULL, NULL},
            },
        .act = wait_for,
        .no_database = true},
    {0},
};
