/* SPDX-License-Identifier: Apache-2.0 */
/* What calls are made of by chance. Percentages are such that every answer comes up; no rule of the engine is here. */
#ifndef PAWL_ORACLE_CHANCE_H
#define PAWL_ORACLE_CHANCE_H

#include "generate.h"

extern const char *const chance_workflows[4];
extern const char *const chance_flows[4]; /* the last has no steps */
extern const char *const chance_payloads[7];
extern const char *const chance_signals[2];

/* 0 to n - 1. */
int chance_below(struct generator *g, int n);
bool chance_of(struct generator *g, int percent);
const char *chance_pick(struct generator *g, const char *const *list, size_t count);

/* The same text as a constant: a call outlives the oracle that it was chosen by. */
const char *chance_constant(const char *text);

/* Payloads that are the same every time: one over the limit, and one that is kept apart from the hot row. */
const char *chance_huge(void);
const char *chance_large(void);

enum want {
    WANT_ANY,
    WANT_LIVING,
    WANT_HELD,
    WANT_ENDED,
    WANT_FAILED,
    WANT_WAITING,
    WANT_ROLLING_BACK,
    WANT_ENDING,
    WANT_PAUSED,
    WANT_TIMED, /* it waits, for time or something else */
    WANT_STUCK,
    WANT_FLOW, /* it lives */
};

/* A run of that kind if a few tries find one, mostly one of the younger ones; else any. */
int chance_run(
    struct generator *g, const struct player *p, enum want want, struct oracle_view *view);

/* The same of a flow's tasks, too; task 0 is a run. */
int chance_task(struct generator *g, const struct player *p, enum want want,
    struct oracle_view *view, int *task);

/* A workflow or, now and then, a flow. */
const char *chance_workflow(struct generator *g);

/* A session, mostly one that lives. */
int chance_session(struct generator *g, const struct player *p);
int chance_session_maker(const struct player *p, int64_t session);
int chance_count_sessions(const struct player *p);
void chance_policy(struct generator *g, struct oracle_policy *policy);

/* Flows and their steps; shape.c. */
void shape_flow(struct generator *g, struct call *call);
void shape_step(struct generator *g, const struct player *p, struct call *call);

/* Calls that report progress; progress.c. */
void progress_commit(struct generator *g, const struct player *p, struct call *call);
void progress_one(struct generator *g, const struct player *p, struct call *call);
void progress_record_step(struct generator *g, const struct player *p, struct call *call);

#endif
