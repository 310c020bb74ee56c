/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes calls of the library into libpq, and calls of both into the system, fail; which of them is chosen by sites.h. libpq's functions are
 * put in their places by the linker, the system's by having their names in the program, so that libpq finds them, too.
 *
 *   libpq       a call fails as it does without memory; in a burst, its connection is cut right before it
 *   system      recv and send say that the connection was reset, connect that it is refused, socket and eventfd that there are no descriptors left,
 *               poll that there is no memory, getrandom that there is none
 *   interrupt   nothing fails for good: every second call is interrupted, and the others receive and send a few bytes only
 */
#ifndef PAWL_TORTURE_CALLS_H
#define PAWL_TORTURE_CALLS_H

#include <stdbool.h>

/* Nothing happens to this descriptor: it is of a connection that only looks on. */
void calls_spare(int fd);

/* Interrupts from now on, or no more. */
void calls_interrupt(bool on);

/* How many calls were interrupted or cut short since that was last begun. */
long calls_interrupted(void);

#endif
