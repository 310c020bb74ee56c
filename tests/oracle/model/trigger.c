/* SPDX-License-Identifier: Apache-2.0 */
/* Triggering a run: ids, keys, and whether anybody handles it. */
#include "flow.h"

#include "base/uuid.h"
#include "uuid_parts.h"

#include <stdlib.h>
#include <string.h>

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

/* tried: nobody made the id, because the whole call came to nothing. */
static const char *
trigger(struct oracle *oracle, const struct oracle_trigger_spec *spec, const char *made, bool tried,
    struct pw_buf *reply)
{
    struct oracle_workflow *w = oracle_find_workflow(oracle, spec->workflow);
    const char *id = spec->id, *problem;
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
    if (key != NULL && oracle_key_is_over(oracle, key)) {
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
            .delay_us = spec->delay_us,
        });
    if (spec->key != NULL && key == NULL) {
        key = over != NULL ? over : oracle_push(&oracle->keys, &oracle->keys_count, sizeof(*key));
        key->tenant = oracle_keep(oracle, spec->tenant);
        key->workflow = w;
        key->key = oracle_keep(oracle, spec->key);
        key->run = oracle_keep(oracle, id);
        key->input = oracle_keep(oracle, spec->input);
        key->expires_at = spec->key_while_active ? ORACLE_NEVER
            : spec->key_ttl_us == ORACLE_NONE    ? ORACLE_NONE
                                                 : oracle->now + spec->key_ttl_us;
    }
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
