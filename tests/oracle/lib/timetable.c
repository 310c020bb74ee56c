/* SPDX-License-Identifier: Apache-2.0 */
#include "timetable.h"

#include "chance.h"

#include <string.h>

static const char *const names[] = {"s1", "s1", "s1", "s.2"};
static const char *const tenants[] = {"", "", "", "", "", "acme"};
static const char *const policies[] = {"none", "last", "all"};

enum call_verb
schedule_verb(struct generator *g)
{
    static const enum call_verb verbs[] = {CALL_CREATE_SCHEDULE, CALL_CREATE_SCHEDULE,
        CALL_CREATE_SCHEDULE, CALL_PAUSE_SCHEDULE, CALL_RESUME_SCHEDULE, CALL_RESUME_SCHEDULE,
        CALL_DELETE_SCHEDULE, CALL_BACKFILL_SCHEDULE, CALL_TICK, CALL_TICK, CALL_TICK,
        CALL_HOUSEKEEP};

    return verbs[chance_below(g, sizeof(verbs) / sizeof(verbs[0]))];
}

/* Where days pass, no time comes so often that there are thousands. */
static void
pick_calendar(struct generator *g, struct oracle_schedule_spec *s)
{
    static const char *const crons[] = {"* * * * *", "*/2 * * * *", "5 * * * *", "30 5 * * *",
        "0 0 L * *", "0 12 2 * 5", "15 */6 * 1 *"};
    int rare = g->days ? 3 : 0;
    int which = chance_below(g, 100);

    if (which < 45)
        s->cron = chance_pick(g, crons + rare, sizeof(crons) / sizeof(crons[0]) - (size_t)rare);
    else if (which < 85)
        s->every_us = (g->days ? 25200 : chance_of(g, 60) ? 10 : 60) * INT64_C(1000000);
    else
        s->in_us = (chance_below(g, 60) - 5) * INT64_C(1000000);
}

static const char *
large_object(void)
{
    static char text[3700];

    if (text[0] == '\0') {
        memset(text, 'x', sizeof(text) - 1);
        memcpy(text, "{\"k\": \"", 7);
        memcpy(text + sizeof(text) - 3, "\"}", 2);
    }
    return text;
}

static void
make_invalid(struct generator *g, struct oracle_schedule_spec *s)
{
    s->invalid = true;
    switch (chance_below(g, 6)) {
    case 0:
        s->name = "Bad Name";
        break;
    case 1:
        s->overlap = "maybe";
        break;
    case 2:
        s->catch_up = "some";
        break;
    case 3:
        s->zone = "CET";
        break;
    case 4:
        s->input = "[]";
        break;
    default:
        s->cron = "61 * * * *";
        s->every_us = s->in_us = ORACLE_NONE;
    }
}

void
schedule_create(struct generator *g, struct call *call)
{
    static const char *const overlaps[] = {"skip", "skip", "queue", "queue", "cancel", "allow"};
    struct oracle_schedule_spec *s = &call->schedule;

    *s = (struct oracle_schedule_spec){
        .name = chance_pick(g, names, 4),
        .workflow = chance_of(g, 5) ? "none" : chance_pick(g, chance_workflows, 4),
        .every_us = ORACLE_NONE,
        .in_us = ORACLE_NONE,
        .zone = chance_of(g, 70) ? "UTC" : "Asia/Kolkata",
        .input = chance_of(g, 50) ? "{}" : "{\"k\": 1}",
        .tenant = chance_pick(g, tenants, 6),
        .priority = chance_of(g, 80) ? -1 : 90,
        .metadata = chance_of(g, 70) ? NULL : "{\"m\": 1}",
        .catch_up = chance_pick(g, policies, 3),
        .within_us = (chance_of(g, 30) ? 90 : 600) * INT64_C(1000000),
        .overlap = chance_pick(g, overlaps, 6),
        .jitter_us = chance_of(g, 70) ? 0 : INT64_C(20000000),
        .starts_in_us = ORACLE_NONE,
        .ends_in_us = ORACLE_NONE,
    };
    if (chance_of(g, 25)) {
        /* The same every time, so that it exists. */
        s->workflow = "o.a";
        s->zone = "UTC";
        s->input = "{}";
        s->priority = -1;
        s->metadata = NULL;
        s->catch_up = "last";
        s->within_us = INT64_C(600000000);
        s->overlap = "queue";
        s->jitter_us = 0;
        s->every_us = (g->days ? 25200 : 60) * INT64_C(1000000);
        return;
    }
    pick_calendar(g, s);
    /* Else there would be more runs than a claim looks at. */
    if (s->every_us == INT64_C(10000000) && strcmp(s->overlap, "allow") == 0)
        s->within_us = 0;
    if (chance_of(g, 15))
        s->starts_in_us = (int64_t)chance_below(g, 60) * 1000000;
    if (chance_of(g, 15))
        s->ends_in_us = INT64_C(300000000);
    if (chance_of(g, 8))
        make_invalid(g, s);
    else if (chance_of(g, 4))
        s->input = large_object();
}

void
schedule_call(struct generator *g, struct call *call)
{
    call->schedule.name = chance_of(g, 10) ? "none" : chance_pick(g, names, 4);
    call->schedule.tenant = chance_pick(g, tenants, 6);
    if (call->verb == CALL_RESUME_SCHEDULE)
        call->text = chance_of(g, 50) ? NULL
            : chance_of(g, 10)        ? "some"
            : chance_of(g, 40)        ? "none"
                                      : chance_pick(g, policies, 3);
    call->backfill = (struct oracle_backfill_spec){
        .name = call->schedule.name,
        .tenant = call->schedule.tenant,
        .since_us = (int64_t)(1 + chance_below(g, g->days ? 100000 : 300)) * 1000000,
        .until_us = chance_of(g, 10) ? -1000000 : (int64_t)chance_below(g, 2) * 30000000,
        .most = 1 + chance_below(g, 3),
    };
}
