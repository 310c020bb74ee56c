/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/script/script_client.h"

#include "cli/report/exit.h"
#include "cli/show/time_text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
script_client_open(struct script_client *client)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("PAWL_SOCKET");

    *client = (struct script_client){.fd = -1};
    pw_buf_init(&client->out, FRAME_MAX);
    if (path == NULL || path[0] == '\0')
        return exit_saying(EXIT_USAGE, "Execute the script with: pawl run-script FILE",
            "this is for scripts that a worker executes, and PAWL_SOCKET is not set");
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd >= 0 && connect(client->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return EXIT_OK;
    /* The worker is gone, or has ended this run. If the script continued, no worker would record what it does. */
    script_client_abandon();
}

void
script_client_close(struct script_client *client)
{
    if (client->fd >= 0)
        (void)close(client->fd);
    frame_done(&client->reader);
    pw_buf_done(&client->out);
}

void
script_client_begin_plain(struct script_client *client)
{
    pw_buf_clear(&client->out);
    client->start = frame_begin(&client->out, &client->writer);
}

void
script_client_begin(struct script_client *client, const char *call, const char *name)
{
    client->name = name;
    script_client_begin_plain(client);
    pw_json_key(&client->writer, "call");
    pw_json_add_text(&client->writer, call);
    pw_json_key(&client->writer, "name");
    pw_json_add_text(&client->writer, name);
}

int
script_client_send(struct script_client *client)
{
    size_t sent = 0;

    frame_end(&client->out, &client->writer, client->start);
    if (!pw_buf_ok(&client->out))
        return exit_saying(EXIT_USAGE, NULL, "that is too large to be kept");
    while (sent < client->out.size) {
        ssize_t got =
            send(client->fd, client->out.data + sent, client->out.size - sent, MSG_NOSIGNAL);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            script_client_abandon();
        sent += (size_t)got;
    }
    return EXIT_OK;
}

void
script_client_abandon(void)
{
    /* Usually the worker, or its guard, kills them sooner. */
    (void)sleep(1);
    (void)kill(0, SIGKILL); /* the group of the script, which this process is in */
    _exit(EXIT_OTHER);
}

struct pw_json
script_client_receive(struct script_client *client)
{
    struct pw_json message = {0};
    bool bad = false;

    while (!frame_next(&client->reader, &message, &bad))
        if (frame_read(&client->reader, client->fd) <= 0)
            script_client_abandon();
    if (bad)
        script_client_abandon();
    return message;
}

int
script_client_end(struct script_client *client, struct pw_json answer, bool newline)
{
    struct pw_json output = pw_json_member(answer, "output");
    struct pw_json words = pw_json_member(answer, "message");
    int64_t code = EXIT_OTHER;
    size_t size = 0;
    char *text;

    (void)pw_json_to_int(pw_json_member(answer, "exit"), &code);
    if (pw_json_given(output) && (text = frame_output_of(output, &size)) != NULL) {
        (void)fwrite(text, 1, size, stdout);
        if (newline)
            (void)putchar('\n');
        free(text);
    }
    if (pw_json_given(words) && (text = frame_output_of(words, &size)) != NULL) {
        (void)exit_saying((int)code, NULL, "%s: %s", client->name, text);
        free(text);
    }
    return (int)code;
}

int
script_client_ask(struct script_client *client)
{
    int code = script_client_send(client);

    return code != EXIT_OK ? code : script_client_end(client, script_client_receive(client), true);
}

void
script_client_add_options(struct script_client *client, const struct invocation *invocation)
{
    pw_json_key(&client->writer, "options");
    pw_json_open(&client->writer, '{');
    for (size_t i = 0; i < invocation->given_count; i++) {
        const struct given *given = &invocation->given[i];
        char text[24];

        if (given->option->argument == NULL)
            continue;
        pw_json_key(&client->writer, given->option->argument);
        (void)snprintf(text, sizeof(text), "%" PRId64, time_text_duration_ms(given->value));
        pw_json_add_text(
            &client->writer, given->option->kind == KIND_DURATION ? text : given->value);
    }
    pw_json_close(&client->writer);
}

void
script_client_mistake(void)
{
    struct script_client client;
    const char *path = getenv("PAWL_SOCKET");

    if (path == NULL || path[0] == '\0')
        return;
    if (script_client_open(&client) == EXIT_OK) {
        script_client_begin(&client, "mistake", "mistake");
        if (script_client_send(&client) == EXIT_OK)
            (void)script_client_receive(&client); /* the worker has counted it by now */
    }
    script_client_close(&client);
}
