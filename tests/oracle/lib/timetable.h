/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about schedules, by chance. */
#ifndef PAWL_ORACLE_TIMETABLE_H
#define PAWL_ORACLE_TIMETABLE_H

#include "generate.h"

enum call_verb schedule_verb(struct generator *g);
void schedule_create(struct generator *g, struct call *call);

/* Any verb about a schedule that is there, or is not. */
void schedule_call(struct generator *g, struct call *call);

#endif
