/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that need no database. */
#ifndef PW_SERVER_OWN_H
#define PW_SERVER_OWN_H

struct request;

/* Sets the reply of a route without a verb. */
void own_answer(struct request *request);

#endif
