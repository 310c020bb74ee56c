/* SPDX-License-Identifier: Apache-2.0 */
/* The script's side of a call: how pawl step, sleep, wait, child, set and get reach the worker that executes their script. */
#ifndef PW_CLI_SCRIPT_SCRIPT_CLIENT_H
#define PW_CLI_SCRIPT_SCRIPT_CLIENT_H

#include "cli/command/invocation.h"
#include "cli/script/frame.h"

struct script_client {
    int fd;
    const char *name; /* of the step, value or wait */
    struct frame_reader reader;
    struct pw_buf out;
    struct pw_json_writer writer;
    size_t start;
};

/* Connects. Returns EXIT_OK, or prints why not and returns the exit code. */
int script_client_open(struct script_client *client);
void script_client_close(struct script_client *client);

/* Begins a message about a call: {"call": …, "name": …. The caller adds members to client->writer. */
void script_client_begin(struct script_client *client, const char *call, const char *name);

/* Begins an empty message. */
void script_client_begin_plain(struct script_client *client);
int script_client_send(struct script_client *client);

/*
 * Waits for a message, borrowed until the next call. Does not return if none will arrive, because the run is suspended or the worker is
 * gone: the script must not continue then.
 */
struct pw_json script_client_receive(struct script_client *client);

/* Ends this process and its script, because no worker records what they do. */
void script_client_abandon(void) __attribute__((noreturn));

/* Prints the output and the message of the answer, and returns its exit code. newline: adds a line break after the output. */
int script_client_end(struct script_client *client, struct pw_json answer, bool newline);

/* Sends the message, receives the answer and ends with it, for calls of one question and one answer. */
int script_client_ask(struct script_client *client);

/* Adds {"options": …} from the typed options that have an argument, under its name, durations in milliseconds. */
void script_client_add_options(struct script_client *client, const struct invocation *invocation);

/* Reports to the worker that this process has rejected an invalid call. So the worker need not execute the script again to see that. */
void script_client_mistake(void);

#endif
