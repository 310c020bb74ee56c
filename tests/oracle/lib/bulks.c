/* SPDX-License-Identifier: Apache-2.0 */
#include "timetable.h"

#include "chance.h"

#include <string.h>

bool
bulk_goes_on(const struct player *p)
{
    int number;
    const char *act = oracle_running_bulk(p->oracle, &number);

    return act != NULL && strcmp(act, "retry") == 0;
}

enum call_verb
bulk_verb(struct generator *g, const struct player *p)
{
    int number;

    if (oracle_running_bulk(p->oracle, &number) == NULL)
        return chance_of(g, 85) ? CALL_BEGIN_BULK : CALL_STOP_BULK;
    if (chance_of(g, 20))
        return CALL_STOP_BULK;
    return bulk_goes_on(p) && oracle_count_living(p->oracle) >= 20 ? CALL_CLAIM : CALL_TICK;
}

/* Slow where it makes runs; never so many at once that the engine stops in between, because that took long. */
static void
begin(struct generator *g, struct oracle_bulk_spec *b)
{
    static const char *const acts[] = {
        "retry", "retry", "cancel", "kill", "pause", "resume", "resume", "wake", "purge", "fork"};
    static const char *const ended[] = {NULL, NULL, "ERROR", "CANCELLED"};
    static const int rates[] = {5, 25, 100};

    *b = (struct oracle_bulk_spec){
        .act = acts[chance_below(g, chance_of(g, 10) ? 10 : 9)],
        .tenant = chance_of(g, 20) ? "acme" : NULL,
        .rate = rates[chance_below(g, 3)],
    };
    if (strcmp(b->act, "retry") == 0)
        b->rate = 5;
    if (strcmp(b->act, "retry") == 0 || strcmp(b->act, "purge") == 0)
        b->status = chance_pick(g, ended, 4);
    /* A run of a flow is shown as one of its tasks. */
    if (strcmp(b->act, "resume") == 0 || strcmp(b->act, "wake") == 0)
        b->workflow = chance_pick(g, chance_workflows, 4);
    else if (chance_of(g, 70))
        b->workflow = chance_workflow(g);
    b->invalid = chance_of(g, 3);
    b->other_digest = !b->invalid && chance_of(g, 5);
    if (!b->invalid && !b->other_digest && chance_of(g, 3))
        b->rate = 1001;
}

void
bulk_call(struct generator *g, const struct player *p, struct call *call)
{
    if (call->verb == CALL_BEGIN_BULK) {
        begin(g, &call->bulk);
        return;
    }
    (void)oracle_running_bulk(p->oracle, &call->bulk_number); /* also one that has ended */
    if (chance_of(g, 15) || call->bulk_number == 0)
        call->bulk_number = 77;
}
