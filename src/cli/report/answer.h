/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of a verb means, for the person who called it: "refused" alone does not say what to do. */
#ifndef PW_CLI_REPORT_ANSWER_H
#define PW_CLI_REPORT_ANSWER_H

/* One sentence without a full stop; NULL if the answer says it all. */
const char *answer_meaning(const char *verb, const char *answer);

/* The exit code that goes with an answer. */
int answer_code(const char *answer);

#endif
