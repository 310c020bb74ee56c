/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about schedules, bulks, lanes and subscriptions, by chance. */
#ifndef PAWL_ORACLE_TIMETABLE_H
#define PAWL_ORACLE_TIMETABLE_H

#include "generate.h"

enum call_verb schedule_verb(struct generator *g);
void schedule_create(struct generator *g, struct call *call);

/* Any verb about a schedule that is there, or is not. */
void schedule_call(struct generator *g, struct call *call);

/* The same of bulks, one at a time. */
enum call_verb bulk_verb(struct generator *g, const struct player *p);
void bulk_call(struct generator *g, const struct player *p, struct call *call);
bool bulk_goes_on(const struct player *p);

/* The same of lanes. */
enum call_verb lane_verb(struct generator *g);
void lane_call(struct generator *g, struct call *call);
void lane_options(struct generator *g, struct oracle_workflow_spec *workflow);

/* A limit key in this tenant; NULL: none. */
const char *lane_key(struct generator *g, const char *tenant);

/* The same of subscriptions. */
enum call_verb subscription_verb(struct generator *g);
void subscription_call(struct generator *g, struct call *call);

#endif
