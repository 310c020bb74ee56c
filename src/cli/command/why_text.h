/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence of pawl.why() for a terminal: it names commands where the engine, which knows only SQL, names functions. */
#ifndef PW_CLI_COMMAND_WHY_TEXT_H
#define PW_CLI_COMMAND_WHY_TEXT_H

/*
 * "... Resume it with pawl.resume()." becomes "... Resume it with pawl run resume 01998f4e-...". Functions without a command stay. run_id: or
 * the name of the schedule, in a sentence of pawl.why_schedule(). Malloced; NULL if why is NULL or out of memory.
 */
char *why_text(const char *why, const char *run_id);

#endif
