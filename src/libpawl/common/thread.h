/* SPDX-License-Identifier: Apache-2.0 */
/* The library's threads. */
#ifndef PW_LIBPAWL_THREAD_H
#define PW_LIBPAWL_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts a thread with all signals blocked, for they are the program's, but for those by which it is told of a fault of its own
 * (SIGSEGV and its like), so that whoever reports crashes can. stack is the size of its stack, 0 the system's default. Returns 0
 * or an error number. The caller joins it.
 */
int pw_thread_start(pthread_t *thread, size_t stack, void *(*function)(void *), void *argument);

#endif
