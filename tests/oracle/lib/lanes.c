/* SPDX-License-Identifier: Apache-2.0 */
#include "timetable.h"

#include "chance.h"

enum call_verb
lane_verb(struct generator *g)
{
    static const enum call_verb verbs[] = {CALL_SET_LANE, CALL_SET_LANE, CALL_SET_LANE,
        CALL_PAUSE_LANE, CALL_RESUME_LANE, CALL_RESUME_LANE, CALL_RESUME_LANE, CALL_ALTER_WORKFLOW,
        CALL_ALTER_WORKFLOW, CALL_CLAIM, CALL_CLAIM};

    return verbs[chance_below(g, sizeof(verbs) / sizeof(verbs[0]))];
}

/* Few lanes in all, so that a claim visits each of them. */
const char *
lane_key(struct generator *g, const char *tenant)
{
    static const char *const keys[] = {NULL, "a", "a", "b"};

    return tenant[0] != '\0' ? NULL : chance_pick(g, keys, 4);
}

void
lane_call(struct generator *g, struct call *call)
{
    static const char *const tenants[] = {"", "", "", "acme"};
    static const int limits[] = {0, 1, 1, 2, 3};
    static const int weights[] = {0, 0, 2, 5};

    call->lane = (struct oracle_lane_spec){
        .workflow = chance_of(g, 4) ? "none"
            : chance_of(g, 4)       ? chance_pick(g, chance_flows, 4)
                                    : chance_pick(g, chance_workflows, 3),
        .tenant = chance_pick(g, tenants, 4),
    };
    call->lane.limit_key = lane_key(g, call->lane.tenant);
    if (call->verb != CALL_SET_LANE)
        return;
    call->lane.limit = chance_of(g, 3) ? -1 : limits[chance_below(g, 5)];
    call->lane.weight = chance_of(g, 3) ? 101 : weights[chance_below(g, 4)];
}

void
lane_options(struct generator *g, struct oracle_workflow_spec *workflow)
{
    static const int limits[] = {0, 1, 1, 2};

    workflow->sets_lanes = chance_of(g, 70);
    if (!workflow->sets_lanes)
        return;
    workflow->key_limit = chance_of(g, 4) ? -1 : limits[chance_below(g, 4)];
    workflow->fair = chance_of(g, 20);
}
