/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor of a program in a sandbox. Landlock does not decide about modes, owners, times and extended attributes of files, and a
 * seccomp filter sees no paths. So the filter hands these calls over to the supervisor. The supervisor opens the file as the caller names
 * it, and asks the kernel where that file is. If the caller may make the change, the supervisor makes it through the descriptor. The kernel
 * never continues a call whose path was checked: the caller could change the path after the check.
 */
#ifndef PW_CLI_SANDBOX_SANDBOX_SUPERVISOR_H
#define PW_CLI_SANDBOX_SANDBOX_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>

struct sandbox;

struct supervisor {
    int listener;     /* delivers the calls that the filter hands over; -1: none */
    int *directories; /* in which the program may change files */
    size_t count;
};

/* Returns the number of a call that the filter must always hand over, for index 0 and up; -1 after the last. */
int supervisor_call(size_t index);

/* Called in the process of the program: sends its supervisor the descriptor that filter_enter() has returned. Returns false with errno. */
bool supervisor_send(int socket, int listener);

/*
 * Opens the directories in which the program may change files. Without supervisor_receive(), every call that the filter hands over fails.
 */
void supervisor_init(
    struct supervisor *supervisor, const struct sandbox *sandbox, const char *temporary);

/* Waits at the other end of the socket for the descriptor, and closes the socket. */
void supervisor_receive(struct supervisor *supervisor, int socket);

/* Receives one call and answers it. Call it when poll() reports the listener as readable. */
void supervisor_answer(struct supervisor *supervisor);

void supervisor_close(struct supervisor *supervisor);

/* Returns true if the kernel's messages to a supervisor are at most as long as this program supports. */
bool supervisor_fits(void);

#endif
