/* SPDX-License-Identifier: Apache-2.0 */
/* Explains an answer of a verb to the user: "refused" alone does not say what to do. */
#ifndef PW_CLI_REPORT_ANSWER_H
#define PW_CLI_REPORT_ANSWER_H

/* Returns one sentence without a full stop; NULL if the answer needs no explanation. */
const char *answer_meaning(const char *verb, const char *answer);

/* Returns the exit code for an answer. */
int answer_code(const char *answer);

#endif
