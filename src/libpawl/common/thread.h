/* SPDX-License-Identifier: Apache-2.0 */
/* The library's threads. */
#ifndef PW_LIBPAWL_THREAD_H
#define PW_LIBPAWL_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts a thread with all signals blocked, because signals belong to the program. Signals of the thread's own faults (SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL, SIGTRAP, SIGSYS) stay unblocked, so that a crash reporter can handle them. stack is the size of its stack, 0 for the
 * system's default. Returns 0 or an error number. The caller must join the thread.
 */
int pw_thread_start(pthread_t *thread, size_t stack, void *(*function)(void *), void *argument);

#endif
