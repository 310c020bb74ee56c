/* SPDX-License-Identifier: Apache-2.0 */
/* Triggering a run: ids, keys, and whether anybody handles it. */
#include "flow.h"

#include "base/uuid.h"
#include "uuid_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAGS_MAX = 8,
};

#define HOUR_MS INT64_C(3600000)
#define NEW_MS 100 /* the engine believes that an id is new if it is not older, and not ahead */

static bool
queue_is_handled(struct oracle *o, int queue)
{
    uint64_t bit = (uint64_t)1 << queue;

    for (size_t i = 0; i < o->sessions_count; i++) {
        const struct oracle_session *s = &o->sessions[i];

        if (s->ended == NULL && s->lease_until > o->now && (s->queues & bit) != 0)
            return true;
    }
    return false;
}

/* Of a flow: the steps that it starts with. */
bool
oracle_handled(struct oracle *o, const struct oracle_workflow *workflow)
{
    if (!workflow->flow)
        return queue_is_handled(o, workflow->queue);
    for (int i = 0; i < workflow->steps_count; i++)
        if (workflow->steps[i].deps_count == 0 && workflow->steps[i].queue != -1 &&
            !queue_is_handled(o, workflow->steps[i].queue))
            return false;
    return true;
}

bool
oracle_is_off(const struct oracle *o, const struct pw_uuid *id)
{
    int64_t off_ms = uuid_time_ms(id) - o->now / 1000;

    return off_ms < -HOUR_MS || off_ms >= HOUR_MS || id->bytes[6] >> 4 != 7;
}

bool
oracle_is_of_now(const struct oracle *o, const struct pw_uuid *id)
{
    int64_t time_ms = uuid_time_ms(id);

    return time_ms == o->now / 1000 || time_ms == (o->now + 500) / 1000;
}

bool
oracle_key_is_over(const struct oracle *o, const struct oracle_key *key)
{
    return key->expires_at != ORACLE_NONE && key->expires_at <= o->now;
}

struct oracle_key *
oracle_find_key(
    struct oracle *o, const char *tenant, const struct oracle_workflow *workflow, const char *key)
{
    for (size_t i = 0; i < o->keys_count; i++) {
        struct oracle_key *k = &o->keys[i];

        if (k->workflow == workflow && strcmp(k->tenant, tenant) == 0 && strcmp(k->key, key) == 0)
            return k;
    }
    return NULL;
}

/* Whether the last input of the key counts. */
static bool
is_replacing(const struct oracle_trigger_spec *spec)
{
    return spec->replace || spec->debounce_us != ORACLE_NONE ||
        spec->debounce_max_us != ORACLE_NONE;
}

static bool
replace_problem(struct oracle *o, const struct oracle_trigger_spec *spec)
{
    const struct oracle_workflow *w = oracle_find_workflow(o, spec->workflow);

    if (spec->key == NULL || spec->key_ttl_us != ORACLE_NONE || spec->key_while_active)
        return true;
    if (spec->debounce_us == ORACLE_NONE)
        return spec->debounce_max_us != ORACLE_NONE;
    return spec->debounce_us <= 0 || spec->delay_us != ORACLE_NONE || w->flow ||
        (spec->debounce_max_us != ORACLE_NONE && spec->debounce_max_us < spec->debounce_us);
}

static const char *
argument_problem(struct oracle *o, const struct oracle_trigger_spec *spec)
{
    struct pw_uuid id;

    if (spec->input == NULL || strlen(spec->input) > ORACLE_PAYLOAD_MAX ||
        (spec->metadata != NULL && strlen(spec->metadata) > ORACLE_PAYLOAD_MAX))
        return "PW009";
    if (spec->key != NULL && (spec->key[0] == '\0' || strlen(spec->key) > 500))
        return "PW003";
    if (spec->priority != -1 && (spec->priority < 0 || spec->priority > 32767))
        return "PW003";
    if (spec->key_ttl_us != ORACLE_NONE && (spec->key_ttl_us <= 0 || spec->key_while_active))
        return "PW003";
    if (spec->expires_us != ORACLE_NONE && spec->expires_us <= 0)
        return "PW003";
    if (is_replacing(spec) && replace_problem(o, spec))
        return "PW003";
    if (spec->id != NULL) {
        if (!pw_uuid_parse(spec->id, &id))
            return "22P02";
        if (oracle_is_off(o, &id))
            return "PW003";
    }
    return NULL;
}

/* An id that the engine made tells the time, and with a key the slot that follows from it. */
static const char *
made_problem(struct oracle *o, const struct oracle_trigger_spec *spec, const char *made)
{
    struct pw_uuid id;

    if (made == NULL || !pw_uuid_parse(made, &id))
        return "not allowed: no id was made";
    if (!oracle_is_of_now(o, &id))
        return "not allowed: the id has another time";
    if (oracle_find_run(o, made) != NULL)
        return "not allowed: the id is in use";
    if (spec->key != NULL && uuid_slot(&id) != pw_key_slot(spec->tenant, spec->workflow, spec->key))
        return "not allowed: the id is in another slot than its key";
    return NULL;
}

static int
compare_texts(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;

    return strcmp(*x, *y);
}

/* Each tag once, in order; false: one of them, or their number, is over a limit. */
static bool
put_tags(struct oracle *o, const char *const *tags, const char **text)
{
    const char *list[TAGS_MAX + 1], *all = "";
    size_t count = 0;

    *text = NULL;
    for (; tags != NULL && tags[count] != NULL; count++) {
        if (count == TAGS_MAX || tags[count][0] == '\0' || strlen(tags[count]) > 100)
            return false;
        list[count] = tags[count];
    }
    if (count == 0)
        return true;
    qsort(list, count, sizeof(list[0]), compare_texts);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(list[i], list[i - 1]) != 0)
            all = oracle_keepf(o, "%s%s%s", all, i == 0 ? "" : ",", list[i]);
    *text = oracle_keepf(o, "{%s}", all);
    return true;
}

static const char *
say(struct oracle *o, const struct oracle_workflow *w, const char *id, bool created,
    struct pw_buf *reply)
{
    pw_buf_addf(reply, "%s %s %s", id, created ? "t" : "f", oracle_handled(o, w) ? "t" : "f");
    return created ? "created" : "existing";
}

bool
oracle_may_be_new(struct oracle *oracle, const char *id)
{
    const struct oracle_run *old = id == NULL ? NULL : oracle_find_run(oracle, id);
    struct pw_uuid uuid;
    int64_t age_ms;

    if (old == NULL || old->living || !pw_uuid_parse(id, &uuid))
        return true;
    /* The engine rounds its clock to milliseconds, this division does not. */
    age_ms = oracle->now / 1000 - uuid_time_ms(&uuid);
    return age_ms < -1 || age_ms > NEW_MS;
}

/* What an id that is called new and is not comes to; NULL if it is. */
static const char *
new_problem(const struct oracle_run *old)
{
    return old == NULL ? NULL : old->living ? "23505" : "PW010";
}

static bool
has_key(const struct oracle_run *run, const struct oracle_workflow *w, const char *key)
{
    return run->workflow == w && oracle_same(run->key, key);
}

static bool
is_over(const struct oracle *o, int64_t limit)
{
    return limit != ORACLE_NONE && limit <= o->now;
}

/* Whether a run can still get another input. */
static bool
is_replaceable(const struct oracle *o, const struct oracle_run *run)
{
    return run != NULL && run->living && !oracle_locked(o, run) && run->place != ORACLE_OPEN &&
        run->claimed_at == ORACLE_NONE && run->round == 1 && !run->ending &&
        !is_over(o, run->timeout_at) && !is_over(o, run->cancel_at) &&
        !is_over(o, run->expires_at) && !run->expires_put_off;
}

/* Gives a run another input; with debounce it starts later, but not later than debounce_max after its trigger. */
static void
replace_input(struct oracle *o, struct oracle_run *run, const struct oracle_trigger_spec *spec)
{
    int64_t due = spec->debounce_us == ORACLE_NONE ? ORACLE_NONE : o->now + spec->debounce_us;
    int64_t from = due != ORACLE_NONE ? due : run->paused ? run->paused_due : run->due_at;

    if (due != ORACLE_NONE && spec->debounce_max_us != ORACLE_NONE &&
        run->triggered_at + spec->debounce_max_us < due)
        from = due = run->triggered_at + spec->debounce_max_us;
    run->input = oracle_keep(o, spec->input);
    run->metadata = oracle_keep(o, spec->metadata);
    if (run->paused && due != ORACLE_NONE) {
        run->paused_due = due;
        run->paused_reason = "delay";
        run->woken = run->woken && due <= o->now;
    } else if (due > o->now) {
        run->place = ORACLE_WAITING;
        run->due_at = due;
        run->reason = "delay";
    } else if (due != ORACLE_NONE && run->place == ORACLE_WAITING) {
        run->due_at = o->now;
    }
    from = from < o->now ? o->now : from;
    run->timeout_at = run->workflow->run_timeout_us == ORACLE_NONE
        ? ORACLE_NONE
        : from + run->workflow->run_timeout_us;
    run->expires_at = spec->expires_us == ORACLE_NONE ? ORACLE_NONE : from + spec->expires_us;
    run->touched = true;
}

static const char *
later_id(const char *a, const char *b)
{
    return b == NULL || (a != NULL && strcmp(a, b) > 0) ? a : b;
}

/* An id that the engine made and did not tell: later than those that clients made up to now. */
static const char *
unseen_id(struct oracle *o)
{
    uint64_t ms = (uint64_t)o->now / 1000;

    return oracle_keepf(
        o, "%08x-%04x-7fff-bfff-ffffffffffff", (unsigned)(ms >> 16), (unsigned)(ms & 0xffff));
}

/*
 * A trigger with replace or debounce whose key is there: NULL if the key passes to a new run, else the answer. The caller has found that
 * the new run can be made.
 */
static const char *
meet_replacing(struct oracle *o, const struct oracle_trigger_spec *spec, struct oracle_key *key,
    struct pw_buf *reply)
{
    struct oracle_workflow *w = key->workflow;
    const char *id = spec->id, *last = later_id(key->run, key->last_id);
    struct oracle_run *old = id == NULL ? NULL : oracle_find_run(o, id);
    struct oracle_run *run = oracle_find_run(o, key->run);
    bool known = old != NULL && has_key(old, w, spec->key);

    if (key->expires_at == ORACLE_NEVER)
        return "PW004";
    if (id != NULL && !spec->is_new && (strcmp(id, last) <= 0 || known))
        return say(o, w, known ? id : key->run, false, reply);
    if (is_replaceable(o, run)) {
        replace_input(o, run, spec);
        key->input = oracle_keep(o, spec->input);
        key->expires_at = ORACLE_NONE;
        key->last_id = oracle_keep(o, later_id(last, id != NULL ? id : unseen_id(o)));
        (void)say(o, w, key->run, false, reply); /* one that was there */
        return "replaced";
    }
    if (old != NULL)
        return spec->is_new ? new_problem(old) : "PW004";
    if (spec->replace && run != NULL && run->living && run->cancel_at == ORACLE_NONE) {
        run->cancel_at = o->now;
        run->cancel_why = "a trigger with its key has replaced it";
        run->touched = true;
    }
    return NULL;
}

/* The key stands for a new run. over: its row, if there is one. */
static void
take_key(struct oracle *oracle, const struct oracle_trigger_spec *spec, struct oracle_key *over,
    const struct oracle_run *run)
{
    struct oracle_key *key =
        over != NULL ? over : oracle_push(&oracle->keys, &oracle->keys_count, sizeof(*key));
    const char *last = over == NULL ? NULL : later_id(key->last_id, key->run);

    key->tenant = oracle_keep(oracle, spec->tenant);
    key->workflow = run->workflow;
    key->key = oracle_keep(oracle, spec->key);
    key->run = run->id;
    key->input = run->input;
    key->last_id = is_replacing(spec) ? oracle_keep(oracle, later_id(last, run->id)) : key->last_id;
    key->expires_at = spec->key_while_active ? ORACLE_NEVER
        : spec->key_ttl_us == ORACLE_NONE    ? ORACLE_NONE
                                             : oracle->now + spec->key_ttl_us;
}

/* tried: nobody made the id, because the whole call came to nothing. */
static const char *
trigger(struct oracle *oracle, const struct oracle_trigger_spec *spec, const char *made, bool tried,
    struct pw_buf *reply)
{
    struct oracle_workflow *w = oracle_find_workflow(oracle, spec->workflow);
    const char *id = spec->id, *problem, *tags;
    struct oracle_key *key, *over = NULL;
    struct oracle_run *old, *run;

    if (w == NULL)
        return "PW002";
    problem = argument_problem(oracle, spec);
    /* A malformed id is found before the call begins. */
    if (oracle->refuses_triggers)
        return oracle_same(problem, "22P02") ? problem : "PW013";
    if (w->flow && w->steps_count == 0)
        return "PW003";
    if (problem != NULL)
        return problem;
    key = spec->key == NULL ? NULL : oracle_find_key(oracle, spec->tenant, w, spec->key);
    if (key != NULL && is_replacing(spec)) {
        problem = meet_replacing(oracle, spec, key, reply);
        if (problem != NULL)
            return problem;
        over = key;
        key = NULL;
    } else if (key != NULL && oracle_key_is_over(oracle, key)) {
        over = key;
        key = NULL;
    }
    old = id == NULL ? NULL : oracle_find_run(oracle, id);
    /* The key decides before the id does, but for a call that is sent again when its run has freed the key and another has it. */
    if (key != NULL &&
        (old == NULL || spec->is_new || strcmp(key->run, id) == 0 || !has_key(old, w, spec->key))) {
        if (strcmp(key->input, spec->input) != 0)
            return "PW004";
        if (id == NULL || strcmp(key->run, id) != 0)
            return say(oracle, w, key->run, false, reply);
    }
    if (spec->is_new && old != NULL)
        return new_problem(old);
    if (old != NULL) {
        if (spec->key != NULL && !has_key(old, w, spec->key))
            return "PW004";
        /* A call that is sent again when its run has ended must not leave a key that nobody frees. */
        if (over != NULL)
            oracle_drop(
                oracle->keys, &oracle->keys_count, sizeof(*over), (size_t)(over - oracle->keys));
        return say(oracle, w, id, false, reply);
    }
    /* Only a run that is made gets any. */
    if (!put_tags(oracle, spec->tags, &tags))
        return "PW003";
    if (id == NULL) {
        problem = tried ? NULL : made_problem(oracle, spec, made);
        if (problem != NULL)
            return problem;
        id = made;
    }
    run = oracle_add_run(oracle,
        &(struct oracle_new_run){
            .workflow = w,
            .id = id,
            .tenant = spec->tenant,
            .key = spec->key,
            .priority = spec->priority == -1 ? w->priority : spec->priority,
            .input = spec->input,
            .metadata = spec->metadata,
            .limit_key = spec->limit_key,
            .tags = tags,
            .delay_us = spec->debounce_us != ORACLE_NONE ? spec->debounce_us : spec->delay_us,
        });
    if (spec->expires_us != ORACLE_NONE)
        run->expires_at = run->due_at + spec->expires_us;
    if (spec->key != NULL && key == NULL)
        take_key(oracle, spec, over, run);
    oracle_open_flow(oracle, run, spec->delay_us);
    return say(oracle, w, id, true, reply);
}

const char *
oracle_trigger(struct oracle *oracle, const struct oracle_trigger_spec *spec, const char *made,
    struct pw_buf *reply)
{
    return trigger(oracle, spec, made, false, reply);
}

/* Which comes first: by key, then by id, those without one last, then as they were given. */
static bool
comes_before(const struct oracle_trigger_spec *specs, size_t a, size_t b)
{
    const char *x[] = {specs[a].key, specs[a].id}, *y[] = {specs[b].key, specs[b].id};

    for (int i = 0; i < 2; i++)
        if (!oracle_same(x[i], y[i]))
            return x[i] == NULL ? false : y[i] == NULL ? true : strcmp(x[i], y[i]) < 0;
    return a < b;
}

/* The arguments of all are looked at before anything is done: first the payloads. */
static const char *
arguments_problem(struct oracle *o, const struct oracle_trigger_spec *specs, size_t count)
{
    const struct oracle_workflow *w = oracle_find_workflow(o, specs[0].workflow);
    static const char *const order[] = {"22P02", "PW009", "PW003"};

    if (w->flow && w->steps_count == 0)
        return "PW003";
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < count; i++)
            if (oracle_same(argument_problem(o, &specs[i]), order[k]))
                return order[k];
    return NULL;
}

/* All are made at once: an id of a run that lives, or that is there twice, is found first. */
static const char *
new_problems(struct oracle *o, const struct oracle_trigger_spec *specs, size_t count)
{
    const char *problem = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *one = new_problem(oracle_find_run(o, specs[i].id));

        for (size_t k = 0; k < i; k++)
            if (strcmp(specs[i].id, specs[k].id) == 0)
                return "23505";
        if (one != NULL && (problem == NULL || strcmp(one, "23505") == 0))
            problem = one;
    }
    return problem;
}

/* One after the other, until one is refused. */
static const char *
trigger_each(struct oracle *oracle, const struct oracle_trigger_spec *specs,
    const char *const *made, size_t count, struct pw_buf *reply)
{
    const char *lines[16] = {NULL}, *answer = "existing";

    for (size_t done = 0; done < count && done < 16; done++) {
        struct pw_buf line;
        const char *said, *id;
        size_t next = count;

        for (size_t i = 0; i < count; i++)
            if (lines[i] == NULL && (next == count || comes_before(specs, i, next)))
                next = i;
        pw_buf_init(&line, 256);
        id = made[next] == NULL ? oracle_keepf(oracle, "tried %zu", next) : made[next];
        said = trigger(oracle, &specs[next], id, made[next] == NULL, &line);
        lines[next] = oracle_keep(oracle, pw_buf_text(&line));
        pw_buf_done(&line);
        if (strcmp(said, "existing") != 0)
            answer = said;
        if (strcmp(said, "created") != 0 && strcmp(said, "existing") != 0)
            return answer;
    }
    for (size_t i = 0; i < count; i++)
        pw_buf_addf(reply, "%zu %s\n", i + 1, lines[i]);
    return answer;
}

const char *
oracle_trigger_many(struct oracle *oracle, const struct oracle_trigger_spec *specs,
    const char *const *made, size_t count, bool uneven, struct pw_buf *reply)
{
    struct oracle *copy;
    struct pw_buf unused;
    const char *answer;

    if (oracle_find_workflow(oracle, specs[0].workflow) == NULL)
        return "PW002";
    if (oracle->refuses_triggers)
        return "PW013";
    if (uneven)
        return "PW003";
    answer = arguments_problem(oracle, specs, count);
    if (answer == NULL && specs[0].is_new)
        answer = new_problems(oracle, specs, count);
    if (answer != NULL)
        return answer;
    if (count == 0 || made[0] != NULL)
        return trigger_each(oracle, specs, made, count, reply);
    /* It was refused. What came before that is gone, but decided on the rest: a run that ends at once frees its key. */
    copy = oracle_copy(oracle);
    oracle_set_chooser(copy, NULL);
    pw_buf_init(&unused, (size_t)1 << 20);
    answer = trigger_each(copy, specs, made, count, &unused);
    pw_buf_done(&unused);
    oracle_free(copy);
    return strcmp(answer, "created") == 0 || strcmp(answer, "existing") == 0
        ? "not allowed: no ids were made"
        : answer;
}
