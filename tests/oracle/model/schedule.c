/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules: each nominal time triggers one run, or is listed with the reason why not. Of a calendar it knows numbers, steps and stars,
 * and zones whose clocks never change: tests/sql/schedule compares the whole calendar with another one.
 */
#include "flow.h"

#include "base/sha256.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)

enum {
    FIRED_MAX = 20, /* in one transaction; then overlap is decided anew */
};

static int64_t
floor_to(int64_t at, int64_t unit)
{
    int64_t rest = at % unit;

    return at - (rest < 0 ? rest + unit : rest);
}

static struct oracle_schedule *
find(struct oracle *o, const char *tenant, const char *name)
{
    for (size_t i = 0; i < o->schedules_count; i++)
        if (strcmp(o->schedules[i].spec.tenant, tenant) == 0 &&
            strcmp(o->schedules[i].spec.name, name) == 0)
            return &o->schedules[i];
    return NULL;
}

/* --- the calendar --- */

static int
number(const char *text)
{
    int64_t n;

    return pw_parse_i64(text, 0, 99, &n) ? (int)n : -1;
}

static bool
field_matches(const char *field, int value, bool last)
{
    if (field[0] == '*')
        return field[1] != '/' || value % number(field + 2) == 0;
    return strcmp(field, "L") == 0 ? last : number(field) == value;
}

/* Five words, shorter than those of a real crontab may be. */
static void
split(const char *cron, char fields[5][8])
{
    for (size_t i = 0; i < 5; i++) {
        size_t length = strcspn(cron, " ");

        (void)snprintf(fields[i], 8, "%.*s", (int)length, cron); /* it fits */
        cron += length + (cron[length] == ' ');
    }
}

static bool
day_matches(char fields[5][8], const struct tm *day, bool last)
{
    bool by_day = field_matches(fields[2], day->tm_mday, last);
    bool by_weekday = field_matches(fields[4], day->tm_wday, false);

    /* Both restricted: either will do. */
    return field_matches(fields[3], day->tm_mon + 1, false) &&
        (fields[2][0] != '*' && fields[4][0] != '*' ? by_day || by_weekday : by_day && by_weekday);
}

/* The first minute after a moment that the expression names, in a zone whose clock is so far ahead. */
static int64_t
next_of_cron(const char *cron, int64_t ahead, int64_t after)
{
    char fields[5][8];
    int64_t at = floor_to(after, MINUTE) + MINUTE;

    split(cron, fields);
    for (int64_t end = at + 9 * 366 * ORACLE_DAY_US; at < end;) {
        time_t wall = (time_t)((at + ahead) / SECOND), tomorrow = wall + 86400;
        struct tm day, next;

        (void)gmtime_r(&wall, &day);
        (void)gmtime_r(&tomorrow, &next);
        if (!day_matches(fields, &day, next.tm_mday == 1))
            at += ORACLE_DAY_US - (day.tm_hour * 60 + day.tm_min) * MINUTE;
        else if (field_matches(fields[1], day.tm_hour, false) &&
            field_matches(fields[0], day.tm_min, false))
            return at;
        else
            at += MINUTE;
    }
    return ORACLE_NEVER;
}

static int64_t
ahead_of_utc(const char *zone)
{
    return strcmp(zone, "Asia/Kolkata") == 0 ? 330 * MINUTE : 0;
}

/* The first nominal time after a moment. */
static int64_t
next_time(const struct oracle_schedule *s, int64_t after)
{
    int64_t at;

    if (s->starts_at != ORACLE_NONE && after < s->starts_at)
        after = s->starts_at - 1;
    if (s->spec.cron != NULL)
        at = next_of_cron(s->spec.cron, ahead_of_utc(s->spec.zone), after);
    else if (s->spec.every_us != ORACLE_NONE)
        at = s->anchor_at + floor_to(after - s->anchor_at, s->spec.every_us) + s->spec.every_us;
    else
        at = s->once_at > after ? s->once_at : ORACLE_NEVER;
    return s->ends_at != ORACLE_NONE && at >= s->ends_at ? ORACLE_NEVER : at;
}

/* The same for everybody: a part of the jitter that follows from name and time. */
static int64_t
fire_time(const struct oracle_schedule *s, int64_t at)
{
    struct pw_sha256_state state;
    unsigned char digest[PW_SHA256_SIZE];
    char text[80];
    double part;

    if (s->spec.jitter_us == 0 || at == ORACLE_NEVER)
        return at;
    (void)snprintf(text, sizeof(text), "%s %" PRId64, s->spec.name, at / SECOND); /* it fits */
    pw_sha256_init(&state);
    pw_sha256_add(&state, text, strlen(text));
    pw_sha256_end(&state, digest);
    part = (double)(digest[0] * 65536 + digest[1] * 256 + digest[2]) / 16777216;
    return at + (int64_t)rint((double)s->spec.jitter_us * part);
}

/* --- firing --- */

static const char *
time_text(struct oracle *o, int64_t at, const char *end)
{
    time_t seconds = (time_t)(at / SECOND);
    struct tm tm;
    char text[40];

    (void)gmtime_r(&seconds, &tm);
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm); /* it fits */
    return oracle_keepf(o, "%s%s", text, end);
}

/* What the schedule adds to an object, which has one member of a short name, or none. */
static const char *
with_scheduled(struct oracle *o, const struct oracle_schedule *s, const char *object, int64_t at)
{
    bool empty = object == NULL || strcmp(object, "{}") == 0;

    return oracle_keepf(o,
        "%.*s%s\"scheduled\": {\"at\": \"%s\", \"by\": \"%s\", \"zone\": \"%s\", "
        "\"local\": \"%s\"}}",
        empty ? 1 : (int)strlen(object) - 1, empty ? "{" : object, empty ? "" : ", ",
        time_text(o, at, "Z"), s->spec.name, s->spec.zone,
        time_text(o, at + ahead_of_utc(s->spec.zone), ""));
}

static bool
is_empty_flow(const struct oracle_workflow *w)
{
    return w->flow && w->steps_count == 0;
}

/* The run of a time: it is made now, or has been. */
static const char *
run_of_time(struct oracle *o, const struct oracle_schedule *s, int64_t at, bool *created)
{
    struct oracle_workflow *w = oracle_find_workflow(o, s->spec.workflow);
    const char *name = oracle_keepf(o, "schedule/%s/%" PRId64, s->spec.name, at / SECOND);
    struct oracle_key *key = oracle_find_key(o, s->spec.tenant, w, name);
    struct oracle_run *run;
    const char *id;

    *created = key == NULL;
    if (key != NULL)
        return key->run;
    id = o->chooser == NULL || o->chooser->scheduled == NULL
        ? NULL
        : o->chooser->scheduled(o->chooser->userdata, s->spec.tenant, w->name, name);
    if (id == NULL || oracle_find_run(o, id) != NULL)
        id = oracle_keepf(o, "00000000-0000-7000-8000-%012zu", o->keys_count); /* there is none */
    run = oracle_add_run(o,
        &(struct oracle_new_run){
            .workflow = w,
            .id = id,
            .tenant = s->spec.tenant,
            .key = name,
            .priority = s->spec.priority == -1 ? w->priority : s->spec.priority,
            .input = with_scheduled(o, s, s->spec.input, at),
            .metadata = with_scheduled(o, s, s->spec.metadata, at),
            .delay_us = ORACLE_NONE,
        });
    key = oracle_push(&o->keys, &o->keys_count, sizeof(*key));
    *key = (struct oracle_key){oracle_keep(o, id), oracle_keep(o, s->spec.tenant), w, name,
        "of a schedule", NULL, ORACLE_NONE};
    oracle_open_flow(o, run, ORACLE_NONE);
    return run->id;
}

/* One row for times that follow each other and have one reason. */
static void
list_skip(struct oracle *o, struct oracle_schedule *s, int64_t at, const char *reason)
{
    const char *run = strcmp(reason, "overlap") == 0 ? s->last_run : NULL;
    struct oracle_skip *row = NULL;

    for (size_t i = 0; i < o->skips_count; i++)
        if (o->skips[i].schedule == s->number && o->skips[i].first_at == s->skip_at &&
            strcmp(o->skips[i].reason, reason) == 0 && oracle_same(o->skips[i].run, run))
            row = &o->skips[i];
    if (row == NULL) {
        row = oracle_push(&o->skips, &o->skips_count, sizeof(*row));
        *row = (struct oracle_skip){s->number, at, at, 0, reason, run};
        s->skip_at = at;
    }
    if (at > row->last_at)
        row->last_at = at;
    row->times++;
    if (run != NULL)
        s->skipped++;
    else
        s->missed++;
}

/* The catch_up of the pause that the time lay in; NULL: it lay in none. */
static const char *
catch_up_of_pause(const struct oracle_schedule *s, int64_t at)
{
    if (s->paused_at != ORACLE_NONE && s->resumed_at != ORACLE_NONE && at >= s->paused_at &&
        at < s->resumed_at)
        return s->resumed_catch_up;
    for (int i = 0; i < s->earlier_pauses_count; i++)
        if (at >= s->earlier_pauses[i].paused_at && at < s->earlier_pauses[i].resumed_at)
            return s->earlier_pauses[i].catch_up;
    return NULL;
}

static bool
is_late(const struct oracle *o, const struct oracle_schedule *s, int64_t at)
{
    return fire_time(s, at) < o->now - MINUTE || catch_up_of_pause(s, at) != NULL;
}

/* Late times are made up for, or not. NULL: this one counts. */
static const char *
left_out(const struct oracle *o, const struct oracle_schedule *s, int64_t at, int64_t newest)
{
    const char *of_pause = catch_up_of_pause(s, at);
    const char *policy = of_pause != NULL ? of_pause : s->spec.catch_up;

    if (is_late(o, s, at) &&
        (strcmp(policy, "none") == 0 || (strcmp(policy, "last") == 0 && at != newest) ||
            at < o->now - s->spec.within_us))
        return of_pause != NULL ? "paused" : "missed";
    return NULL;
}

static bool
lives(struct oracle *o, const char *id)
{
    const struct oracle_run *run = id == NULL ? NULL : oracle_find_run(o, id);

    return run != NULL && run->living;
}

static bool
trigger_at(struct oracle *o, struct oracle_schedule *s, int64_t at)
{
    bool created;

    s->last_run = run_of_time(o, s, at, &created);
    s->last_at = at;
    s->skip_at = ORACLE_NONE;
    s->fired += created;
    return true;
}

static void
cancel_last(struct oracle *o, const struct oracle_schedule *s)
{
    struct oracle_run *run = oracle_find_run(o, s->last_run);

    if (run != NULL && run->living && !run->ending && !run->rolling_back &&
        !oracle_locked(o, run)) {
        (void)oracle_cancel_run(
            o, run, "pawl", oracle_keepf(o, "schedule %s has its next time", s->spec.name), false);
        run->touched = true;
    }
}

/* All that overlap lets through fires; of what has to wait the newest stays. */
static bool
handle(struct oracle *o, struct oracle_schedule *s, int64_t at, int64_t newest, bool living)
{
    const char *why = left_out(o, s, at, newest);

    if (why == NULL && living && strcmp(s->spec.overlap, "skip") == 0)
        why = "overlap";
    if (why != NULL) {
        list_skip(o, s, at, why);
        return false;
    }
    if (!living || strcmp(s->spec.overlap, "allow") == 0)
        return trigger_at(o, s, at);
    if (s->waiting_at != ORACLE_NONE)
        list_skip(o, s, s->waiting_at, "overlap");
    s->waiting_at = at;
    return false;
}

/* Whether the time is one that a further transaction has to fire. */
static bool
is_left(const struct oracle *o, const struct oracle_schedule *s, int64_t at, int64_t newest,
    bool living, int fired)
{
    return fired >= FIRED_MAX && left_out(o, s, at, newest) == NULL &&
        (!living || strcmp(s->spec.overlap, "allow") == 0);
}

/* A flow without steps triggers no run, and has had none: nothing lives or waits. */
static bool
is_refused(struct oracle *o, const struct oracle_schedule *s, int64_t newest)
{
    if (!is_empty_flow(oracle_find_workflow(o, s->spec.workflow)))
        return false;
    for (int64_t at = s->next_at; at <= o->now && fire_time(s, at) <= o->now; at = next_time(s, at))
        if (left_out(o, s, at, newest) == NULL)
            return true;
    return false;
}

static void
fire(struct oracle *o, struct oracle_schedule *s)
{
    bool living = lives(o, s->last_run);
    int64_t newest = ORACLE_NONE, wait;
    int fired = 0;

    for (int64_t at = s->next_at; at <= o->now; at = next_time(s, at))
        if (is_late(o, s, at))
            newest = at;
    /* Then nothing comes of the times before, either, and all are tried again later. */
    s->refused = is_refused(o, s, newest);
    if (s->refused) {
        s->fire_at = o->now + MINUTE;
        return;
    }
    if (s->waiting_at != ORACLE_NONE && !living) {
        living = trigger_at(o, s, s->waiting_at);
        s->waiting_at = ORACLE_NONE;
    }
    while (s->next_at <= o->now && fire_time(s, s->next_at) <= o->now &&
        !is_left(o, s, s->next_at, newest, living, fired)) {
        if (handle(o, s, s->next_at, newest, living)) {
            living = true;
            fired++;
        }
        s->handled_at = s->next_at;
        s->next_at = next_time(s, s->handled_at);
    }
    s->fire_at = fire_time(s, s->next_at);
    if (s->waiting_at == ORACLE_NONE)
        return;
    if (strcmp(s->spec.overlap, "cancel") == 0)
        cancel_last(o, s);
    /* It is looked for after a second, and less often the longer that takes. */
    wait = (o->now - s->waiting_at) / 10;
    wait = wait < SECOND ? SECOND : wait > MINUTE ? MINUTE : wait;
    if (s->fire_at > o->now + wait)
        s->fire_at = o->now + wait;
}

void
oracle_fire(struct oracle *o)
{
    for (size_t i = 0; i < o->schedules_count; i++)
        while (!o->all_paused && !o->schedules[i].paused && o->schedules[i].fire_at <= o->now)
            fire(o, &o->schedules[i]);
}

/* --- the verbs --- */

static const char *
problem_of(const struct oracle_schedule_spec *spec)
{
    if (spec->invalid)
        return "PW003";
    return strlen(spec->input) > ORACLE_PAYLOAD_MAX - 700 ? "PW009" : NULL;
}

static bool
same_spec(const struct oracle_schedule *a, const struct oracle_schedule *b)
{
    const struct oracle_schedule_spec *x = &a->spec, *y = &b->spec;

    return strcmp(x->workflow, y->workflow) == 0 && oracle_same(x->cron, y->cron) &&
        x->every_us == y->every_us && a->once_at == b->once_at && strcmp(x->zone, y->zone) == 0 &&
        strcmp(x->input, y->input) == 0 && x->priority == y->priority &&
        oracle_same(x->metadata, y->metadata) && strcmp(x->catch_up, y->catch_up) == 0 &&
        x->within_us == y->within_us && strcmp(x->overlap, y->overlap) == 0 &&
        x->jitter_us == y->jitter_us && a->starts_at == b->starts_at && a->ends_at == b->ends_at;
}

const char *
oracle_create_schedule(struct oracle *o, const struct oracle_schedule_spec *spec)
{
    struct oracle_schedule new = {
        .spec = *spec,
        .once_at =
            spec->in_us == ORACLE_NONE ? ORACLE_NONE : floor_to(o->now + spec->in_us, SECOND),
        .starts_at = spec->starts_in_us == ORACLE_NONE
            ? ORACLE_NONE
            : floor_to(o->now + spec->starts_in_us, SECOND),
        .ends_at = spec->ends_in_us == ORACLE_NONE ? ORACLE_NONE : o->now + spec->ends_in_us,
        .waiting_at = ORACLE_NONE,
        .paused_at = ORACLE_NONE,
        .resumed_at = ORACLE_NONE,
        .last_at = ORACLE_NONE,
        .skip_at = ORACLE_NONE,
    };
    const struct oracle_schedule *old;
    const char *problem;

    if (oracle_find_workflow(o, spec->workflow) == NULL)
        return "PW002";
    problem = problem_of(spec);
    if (problem != NULL)
        return problem;
    new.anchor_at = new.starts_at == ORACLE_NONE ? floor_to(o->now, SECOND) : new.starts_at;
    /* Times before now are not made up for; one that is given and has just passed is fired. */
    new.handled_at =
        new.once_at != ORACLE_NONE &&new.once_at - SECOND < o->now ? new.once_at - SECOND : o->now;
    new.next_at = next_time(&new, new.handled_at);
    new.fire_at = fire_time(&new, new.next_at);
    old = find(o, spec->tenant, spec->name);
    if (old != NULL)
        return same_spec(old, &new) ? "exists" : "differs";
    new.number = ++o->schedules_made;
    *(struct oracle_schedule *)oracle_push(&o->schedules, &o->schedules_count, sizeof(new)) = new;
    return "created";
}

/* Another pause begins: the last one is kept until its times are handled. */
static bool
keep_pause(struct oracle_schedule *s)
{
    int kept = 0;

    if (s->paused_at != ORACLE_NONE)
        s->earlier_pauses[s->earlier_pauses_count++] =
            (struct oracle_schedule_pause){s->paused_at, s->resumed_at, s->resumed_catch_up};
    for (int i = 0; i < s->earlier_pauses_count; i++)
        if (s->next_at < s->earlier_pauses[i].resumed_at &&
            s->earlier_pauses[i].paused_at < s->earlier_pauses[i].resumed_at)
            s->earlier_pauses[kept++] = s->earlier_pauses[i];
    s->earlier_pauses_count = kept < ORACLE_PAUSES_MAX ? kept : kept - 1;
    return kept < ORACLE_PAUSES_MAX;
}

const char *
oracle_pause_schedule(struct oracle *o, const char *tenant, const char *name)
{
    struct oracle_schedule *s = find(o, tenant, name);

    if (s == NULL)
        return "PW001";
    if (s->paused)
        return "already";
    if (!keep_pause(s))
        return "PW010";
    s->paused = true;
    s->paused_at = o->now;
    s->resumed_at = ORACLE_NONE;
    return "ok";
}

const char *
oracle_resume_schedule(struct oracle *o, const char *tenant, const char *name, const char *catch_up)
{
    struct oracle_schedule *s = find(o, tenant, name);

    if (catch_up != NULL && strcmp(catch_up, "none") != 0 && strcmp(catch_up, "last") != 0 &&
        strcmp(catch_up, "all") != 0)
        return "PW003";
    if (s == NULL)
        return "PW001";
    if (!s->paused)
        return "already";
    s->paused = false;
    s->resumed_at = o->now;
    s->resumed_catch_up = catch_up == NULL ? s->spec.catch_up : catch_up;
    return "ok";
}

const char *
oracle_delete_schedule(struct oracle *o, const char *tenant, const char *name)
{
    struct oracle_schedule *s = find(o, tenant, name);

    if (s == NULL)
        return "PW001";
    for (size_t i = o->skips_count; i-- > 0;)
        if (o->skips[i].schedule == s->number)
            oracle_drop(o->skips, &o->skips_count, sizeof(*o->skips), i);
    oracle_drop(o->schedules, &o->schedules_count, sizeof(*s), (size_t)(s - o->schedules));
    return "ok";
}

const char *
oracle_backfill_schedule(
    struct oracle *o, const struct oracle_backfill_spec *spec, struct pw_buf *reply)
{
    const struct oracle_schedule *s = find(o, spec->tenant, spec->name);
    int64_t since = o->now - spec->since_us, until = o->now - spec->until_us;
    int left = spec->most;
    bool any = false;

    if (since > until || until > o->now)
        return "PW003";
    if (s == NULL)
        return "PW001";
    for (int64_t at = next_time(s, since - 1); at <= until && left > 0; at = next_time(s, at)) {
        bool created;
        const char *run;

        if (is_empty_flow(oracle_find_workflow(o, s->spec.workflow)))
            return "PW003";
        run = run_of_time(o, s, at, &created);
        pw_buf_addf(reply, "%" PRId64 " %s %s\n", at, run, created ? "t" : "f");
        any = any || created;
        left--;
    }
    return any ? "created" : left < spec->most ? "fired" : "nothing";
}

/* --- looking --- */

static void
add_time(struct pw_buf *out, int64_t at)
{
    if (at == ORACLE_NONE)
        pw_buf_adds(out, " -");
    else if (at == ORACLE_NEVER)
        pw_buf_adds(out, " inf");
    else
        pw_buf_addf(out, " %" PRId64, at);
}

static int
compare_skips(const void *a, const void *b)
{
    const struct oracle_skip *x = a, *y = b;

    if (x->schedule != y->schedule)
        return x->schedule < y->schedule ? -1 : 1;
    return x->first_at < y->first_at ? -1 : x->first_at > y->first_at;
}

void
oracle_show_schedules(struct oracle *o, struct pw_buf *out)
{
    if (o->skips_count > 1)
        qsort(o->skips, o->skips_count, sizeof(*o->skips), compare_skips);
    for (size_t i = 0; i < o->schedules_count; i++) {
        const struct oracle_schedule *s = &o->schedules[i];

        pw_buf_addf(out, "schedule %s '%s' %s", s->spec.name, s->spec.tenant, s->spec.workflow);
        add_time(out, s->handled_at);
        add_time(out, s->next_at);
        add_time(out, s->fire_at);
        add_time(out, s->waiting_at);
        pw_buf_adds(out, s->paused ? " t" : " f");
        add_time(out, s->last_at);
        pw_buf_addf(out, " %s %d %d %d", s->last_run == NULL ? "-" : s->last_run, s->fired,
            s->skipped, s->missed);
        add_time(out, s->skip_at);
        if (s->refused)
            pw_buf_addf(out, " PW003 flow \"%s\" has no steps", s->spec.workflow);
        pw_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < o->skips_count; i++) {
        const struct oracle_skip *k = &o->skips[i];

        pw_buf_addf(out, "skip %d", k->schedule);
        add_time(out, k->first_at);
        add_time(out, k->last_at);
        pw_buf_addf(out, " %d %s %s\n", k->times, k->reason, k->run == NULL ? "-" : k->run);
    }
}

void
oracle_each_schedule_time(struct oracle *o,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata)
{
    for (size_t i = 0; i < o->skips_count; i++)
        tell("schedule time", o->skips[i].reason, userdata);
    for (size_t i = 0; i < o->schedules_count; i++) {
        const struct oracle_schedule *s = &o->schedules[i];

        if (s->fired > 0)
            tell("schedule time", strcmp(s->spec.overlap, "skip") == 0 ? "fired" : s->spec.overlap,
                userdata);
        if (s->waiting_at != ORACLE_NONE)
            tell("schedule time", "waits", userdata);
    }
}
