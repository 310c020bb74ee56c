/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as SQL: the arguments, by which the engine is called and which a script shows. */
#include "player.h"

#include "base/json_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct render {
    struct player *player;
    bool script;
    bool missing; /* something is named that is not there */
    struct pw_buf *out;
};

static void
add_text(struct render *r, const char *text)
{
    if (text == NULL) {
        pw_buf_adds(r->out, "null");
        return;
    }
    pw_buf_addc(r->out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            pw_buf_addc(r->out, '\'');
        pw_buf_addc(r->out, *text);
    }
    pw_buf_addc(r->out, '\'');
}

static void
add_made(struct render *r, const struct player_list *list, int maker, char letter)
{
    const char *id = player_find(list, maker);

    if (maker == CALL_NOBODY) {
        pw_buf_adds(r->out, letter == 's' ? "99" : "'01234567-89ab-7def-8123-456789abcdef'");
        return;
    }
    if (id == NULL)
        r->missing = true;
    else if (r->script)
        pw_buf_addf(r->out, letter == 's' ? ":%c%d" : ":'%c%d'", letter, maker);
    else
        pw_buf_addf(r->out, letter == 's' ? "%s" : "'%s'", id);
}

static void
add_run(struct render *r, int maker)
{
    add_made(r, &r->player->runs, maker, 'r');
}

static void
add_session(struct render *r, int maker)
{
    add_made(r, &r->player->sessions, maker, 's');
}

static void
add_span(struct render *r, int64_t us)
{
    if (us == ORACLE_NONE)
        pw_buf_adds(r->out, "null");
    else
        pw_buf_addf(r->out, "'%" PRId64 " microseconds'", us);
}

static void
add_bool(struct render *r, bool value)
{
    pw_buf_adds(r->out, value ? "true" : "false");
}

static void
render_workflow(struct render *r, const struct call *call)
{
    const struct oracle_workflow_spec *w = &call->workflow;

    add_text(r, w->name);
    pw_buf_adds(r->out, ", ");
    add_text(r, w->runtime);
    pw_buf_addf(r->out, ", %d, %d, ", w->priority, w->policy.max_attempts);
    add_span(r, w->policy.base_us);
    pw_buf_addf(r->out, ", %.3f, ", w->policy.factor);
    add_span(r, w->policy.cap_us);
    pw_buf_addf(r->out, ", %.3f, ", w->policy.jitter);
    add_span(r, w->run_timeout_us);
    pw_buf_adds(r->out, ", ");
    add_span(r, w->step_timeout_us);
    if (call->verb == CALL_CREATE_FLOW)
        return;
    pw_buf_adds(r->out, ", ");
    add_bool(r, w->strict_order);
    if (w->key_limit == 0)
        pw_buf_adds(r->out, ", null, null, ");
    else
        pw_buf_addf(r->out, ", null, %d, ", w->key_limit);
    add_bool(r, w->fair);
}

static void
add_json_span(struct render *r, const char *name, int64_t us)
{
    if (us == ORACLE_NONE)
        pw_buf_addf(r->out, ", \"%s\": null", name);
    else
        pw_buf_addf(r->out, ", \"%s\": \"%" PRId64 " microseconds\"", name, us);
}

static void
render_alter(struct render *r, const struct call *call)
{
    const struct oracle_workflow_spec *w = &call->workflow;

    add_text(r, w->name);
    pw_buf_addf(r->out, ", '{\"priority\": %d, \"max_attempts\": %d, \"factor\": %.3f", w->priority,
        w->policy.max_attempts, w->policy.factor);
    pw_buf_addf(r->out, ", \"jitter\": %.3f, \"strict_order\": %s", w->policy.jitter,
        w->strict_order ? "true" : "false");
    add_json_span(r, "base", w->policy.base_us);
    add_json_span(r, "cap", w->policy.cap_us);
    add_json_span(r, "run_timeout", w->run_timeout_us);
    add_json_span(r, "step_timeout", w->step_timeout_us);
    if (w->sets_lanes && w->key_limit == 0)
        pw_buf_addf(r->out, ", \"key_limit\": null, \"fair\": %s", w->fair ? "true" : "false");
    else if (w->sets_lanes)
        pw_buf_addf(
            r->out, ", \"key_limit\": %d, \"fair\": %s", w->key_limit, w->fair ? "true" : "false");
    if (w->runtime == NULL)
        pw_buf_adds(r->out, ", \"runtime\": null");
    else
        pw_buf_addf(r->out, ", \"runtime\": \"%s\"", w->runtime);
    pw_buf_adds(r->out, call->flag ? ", \"colour\": 1}'" : "}'");
}

static void
add_tags(struct render *r, const char *const *tags)
{
    pw_buf_adds(r->out, tags == NULL ? ", null" : ", array[");
    for (int i = 0; tags != NULL && tags[i] != NULL; i++) {
        pw_buf_adds(r->out, i > 0 ? ", " : "");
        add_text(r, tags[i]);
    }
    pw_buf_adds(r->out, tags == NULL ? "" : "]::text[]");
}

static void
render_trigger(struct render *r, const struct call *call)
{
    const struct oracle_trigger_spec *t = &call->trigger;
    char id[40];

    add_text(r, t->workflow);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->input);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->key);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->tenant);
    if (t->priority == -1)
        pw_buf_adds(r->out, ", null, ");
    else
        pw_buf_addf(r->out, ", %d, ", t->priority);
    add_span(r, t->delay_us);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->metadata);
    pw_buf_adds(r->out, ", ");
    if (call->other != 0)
        add_run(r, call->other);
    else
        add_text(r, player_trigger_id(r->player, call, id));
    pw_buf_adds(r->out, ", ");
    add_span(r, t->key_ttl_us);
    pw_buf_adds(r->out, ", ");
    add_bool(r, t->key_while_active);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->limit_key);
    pw_buf_adds(r->out, ", ");
    add_bool(r, player_is_new(r->player, call));
    add_tags(r, t->tags);
    pw_buf_adds(r->out, ", ");
    add_span(r, t->expires_us);
    pw_buf_adds(r->out, ", ");
    add_bool(r, t->replace);
    pw_buf_adds(r->out, ", ");
    add_span(r, t->debounce_us);
    pw_buf_adds(r->out, ", ");
    add_span(r, t->debounce_max_us);
}

static void
render_limit_keys(struct render *r, const struct call *call)
{
    bool any = false;

    for (int i = 0; i < call->many_count; i++)
        any = any || call->many[i].limit_key != NULL;
    pw_buf_adds(r->out, any ? ", array[" : ", null");
    for (int i = 0; any && i < call->many_count; i++) {
        pw_buf_adds(r->out, i > 0 ? ", " : "");
        add_text(r, call->many[i].limit_key);
    }
    pw_buf_adds(r->out, any ? "]::text[], " : ", ");
}

/* Lists of one thing each; keys and ids are left out where no run has one. */
static void
render_many(struct render *r, const struct call *call)
{
    const struct oracle_trigger_spec *t = &call->trigger;
    bool keyed = false, named = false;

    for (int i = 0; i < call->many_count; i++) {
        keyed = keyed || call->many[i].key != NULL;
        named = named || call->many[i].other != 0;
    }
    add_text(r, t->workflow);
    for (int which = 0; which < 2; which++) {
        /* A list too long refuses the call. */
        int count = call->many_count + (which == 1 && call->flag ? 1 : 0);

        if (which == 1 && !keyed && !call->flag) {
            pw_buf_adds(r->out, ", null");
            continue;
        }
        pw_buf_adds(r->out, ", array[");
        for (int i = 0; i < count; i++) {
            pw_buf_adds(r->out, i > 0 ? ", " : "");
            add_text(r,
                i == call->many_count ? NULL
                    : which == 0      ? call->many[i].input
                                      : call->many[i].key);
        }
        pw_buf_adds(r->out, which == 0 ? "]::json[]" : "]::text[]");
    }
    pw_buf_adds(r->out, ", ");
    add_text(r, t->tenant);
    pw_buf_addf(r->out, t->priority == -1 ? ", null, " : ", %d, ", t->priority);
    add_span(r, t->delay_us);
    pw_buf_adds(r->out, ", ");
    add_text(r, t->metadata);
    pw_buf_adds(r->out, named ? ", array[" : ", null");
    for (int i = 0; named && i < call->many_count; i++) {
        pw_buf_adds(r->out, i > 0 ? ", " : "");
        if (call->many[i].other == 0)
            pw_buf_adds(r->out, "null");
        else
            add_run(r, call->many[i].other);
    }
    pw_buf_adds(r->out, named ? "]::uuid[], " : ", ");
    add_span(r, t->key_ttl_us);
    pw_buf_adds(r->out, ", ");
    add_bool(r, t->key_while_active);
    render_limit_keys(r, call);
    add_bool(r, player_is_new(r->player, call));
    add_tags(r, t->tags);
    pw_buf_adds(r->out, ", ");
    add_span(r, t->expires_us);
}

static void
render_register(struct render *r, const struct call *call)
{
    const struct oracle_register_spec *w = &call->worker;

    add_text(r, w->name);
    pw_buf_adds(r->out, ", '{");
    for (const char *const *h = w->handles; *h != NULL; h++)
        pw_buf_addf(r->out, "%s%s", h == w->handles ? "" : ",", *h);
    pw_buf_adds(r->out, "}', ");
    pw_buf_addf(r->out, "'{%s}', ", w->runtime == NULL ? "" : w->runtime);
    add_span(r, w->lease_us);
    pw_buf_addf(r->out, ", %d", w->protocol);
}

static void
render_heartbeat(struct render *r, const struct call *call)
{
    add_session(r, call->session);
    if (call->running.malformed) {
        pw_buf_adds(r->out, ", '[{\"run\": 7}]'");
    } else if (call->running_run == 0) {
        pw_buf_adds(r->out, ", null");
    } else {
        pw_buf_adds(r->out, ", json_build_array(json_build_object('run', ");
        add_run(r, call->running_run);
        pw_buf_addf(
            r->out, "::text, 'step', 'a#1', 'started_ms', %" PRId64, call->running.started_ms);
        pw_buf_addf(r->out, ", 'timeout_ms', %" PRId64 ", 'task', %d))", call->running.timeout_ms,
            call->running.task);
    }
}

/* One member of an option object; the writer sets the commas. */
static void
add_member(struct pw_json_writer *w, const char *name, const char *text)
{
    if (text != NULL) {
        pw_json_key(w, name);
        pw_json_add_text(w, text);
    }
}

static void
add_raw_member(struct pw_json_writer *w, const char *name, const char *json)
{
    if (json != NULL) {
        pw_json_key(w, name);
        pw_json_add_raw(w, json, strlen(json));
    }
}

static void
add_number(struct pw_json_writer *w, const char *name, int64_t value, int64_t none)
{
    if (value != none) {
        pw_json_key(w, name);
        pw_json_add_int(w, value);
    }
}

static void
add_flag(struct pw_json_writer *w, const char *name, bool value)
{
    if (value) {
        pw_json_key(w, name);
        pw_json_add_bool(w, true);
    }
}

static void
add_option(struct pw_json_writer *w, const struct call_item *item)
{
    const struct oracle_option *o = &item->item.option;

    add_raw_member(w, "undo", o->undo);
    add_number(w, "ms", o->ms, ORACLE_NONE);
    add_number(w, "timeout_ms", o->timeout_ms, ORACLE_NONE);
    add_member(w, "topic", o->topic);
    add_member(w, "key", o->key);
    add_raw_member(w, "match", o->match);
    add_member(w, "signal", o->signal);
    add_raw_member(w, "form", o->form);
    add_member(w, "workflow", o->workflow);
    add_flag(w, "detached", o->detached);
    add_number(w, "delay_ms", o->delay_ms, ORACLE_NONE);
    add_member(w, "limit_key", o->limit_key);
    add_number(w, "priority", o->priority, -1);
    add_flag(w, "final", o->final);
    add_flag(w, "permanent", o->permanent);
    add_number(w, "failure", o->failure, 0);
    add_number(w, "retry_after_ms", o->retry_after_ms, ORACLE_NONE);
    add_raw_member(w, "unused", o->unused);
    add_member(w, "kind", o->note);
    if (item->has_policy) {
        pw_json_key(w, "policy");
        pw_json_open(w, '{');
        add_number(w, "max_attempts", item->policy.max_attempts, -1);
        add_number(w, "base_ms", item->policy.base_us / 1000, -1);
        add_number(w, "cap_ms", item->policy.cap_us / 1000, -1);
        pw_json_key(w, "factor");
        pw_json_add_double(w, item->policy.factor);
        pw_json_key(w, "jitter");
        pw_json_add_double(w, item->policy.jitter);
        pw_json_close(w);
    }
}

static void
render_option(struct render *r, const struct call_item *item)
{
    struct pw_json_writer w;
    struct pw_buf option;

    pw_buf_init(&option, 8192);
    pw_json_writer_init(&w, &option);
    pw_json_open(&w, '{');
    add_option(&w, item);
    pw_json_close(&w);
    /* Without an option an item can take the short way. */
    add_text(r, strcmp(pw_buf_text(&option), "{}") == 0 ? NULL : pw_buf_text(&option));
    pw_buf_done(&option);
}

static void
add_fence(struct render *r, const struct call_item *item)
{
    struct oracle_view view = {0};
    const char *id = player_find(&r->player->runs, item->run);

    if (id != NULL)
        oracle_look_task(r->player->oracle, id, item->task, &view);
    pw_buf_addf(r->out, "%d", view.fence + item->fence_off < 0 ? 0 : view.fence + item->fence_off);
}

/* One list of a commit: which says what of each item. */
static void
render_list(struct render *r, const struct call *call, char which)
{
    pw_buf_adds(r->out, which == 'r' ? "array[" : ", array[");
    for (int i = 0; i < call->items_count; i++) {
        const struct call_item *item = &call->items[i];

        pw_buf_adds(r->out, i > 0 ? ", " : "");
        if (which == 'r')
            add_run(r, item->run);
        else if (which == 'f')
            add_fence(r, item);
        else if (which == 'k')
            add_text(r, item->item.kind);
        else if (which == 'n')
            add_text(r, item->name[0] == '\0' ? NULL : item->name);
        else if (which == 'p')
            add_text(r, item->item.payload);
        else if (which == 's' && item->item.seq == 0)
            pw_buf_adds(r->out, "null");
        else if (which == 's')
            pw_buf_addf(r->out, "%d", item->item.seq);
        else if (which == 't')
            pw_buf_addf(r->out, "%d", item->task);
        else if (which == 'm')
            pw_buf_addf(r->out, "%d", item->item.millis);
        else
            render_option(r, item);
    }
    pw_buf_adds(r->out,
        which == 'r'                        ? "]::uuid[]"
            : strchr("fsmt", which) != NULL ? "]::int[]"
                                            : "]::text[]");
}

static void
render_commit(struct render *r, const struct call *call)
{
    add_session(r, call->session);
    pw_buf_adds(r->out, ", ");
    for (const char *which = "rfknps"; *which != '\0'; which++)
        render_list(r, call, *which);
    render_list(r, call, 't');
    render_list(r, call, 'm');
    render_list(r, call, 'o');
}

/* The name as a person would type it: the first of its kind has no number. */
static void
add_bare_name(struct render *r, const char *name)
{
    char bare[48];
    size_t length = strlen(name);

    (void)snprintf(bare, sizeof(bare), "%s", name); /* as long as in call_item */
    if (length > 2 && strcmp(name + length - 2, "#1") == 0)
        bare[length - 2] = '\0';
    add_text(r, bare);
}

static void
render_one(struct render *r, const struct call *call)
{
    const struct call_item *item = &call->items[0];
    const struct oracle_option *o = &item->item.option;
    int64_t timeout_us = o->timeout_ms == ORACLE_NONE ? ORACLE_NONE : o->timeout_ms * 1000;

    add_session(r, call->session);
    pw_buf_adds(r->out, ", ");
    add_run(r, item->run);
    pw_buf_adds(r->out, ", ");
    add_fence(r, item);
    if (item->name[0] != '\0') {
        pw_buf_adds(r->out, ", ");
        add_bare_name(r, item->name);
    }
    pw_buf_adds(r->out, ", ");
    if (call->verb == CALL_RELEASE) {
        pw_buf_addf(r->out, "%d", item->task);
        return;
    }
    if (call->verb == CALL_SLEEP) {
        add_span(r, o->ms == ORACLE_NONE ? ORACLE_NONE : o->ms * 1000);
    } else if (call->verb == CALL_WAIT_SIGNAL) {
        add_span(r, timeout_us);
    } else if (call->verb == CALL_WAIT_EVENT) {
        add_text(r, o->topic);
        pw_buf_adds(r->out, ", ");
        add_text(r, o->key);
        pw_buf_adds(r->out, ", ");
        add_text(r, o->match);
        pw_buf_adds(r->out, ", ");
        add_span(r, timeout_us);
    } else {
        add_text(r, item->item.payload);
    }
    if (call->verb == CALL_FAIL) {
        pw_buf_adds(r->out, ", ");
        add_bool(r, o->final);
    }
    pw_buf_addf(r->out, ", %d", item->task);
}

static void
render_record_step(struct render *r, const struct call *call)
{
    const struct call_item *item = &call->items[0];

    pw_buf_adds(r->out, "pawl.step_token(");
    add_session(r, call->session);
    pw_buf_adds(r->out, ", ");
    add_run(r, item->run);
    pw_buf_adds(r->out, ", ");
    add_fence(r, item);
    pw_buf_adds(r->out, ", ");
    add_text(r, item->name);
    if (item->item.seq != 0)
        pw_buf_addf(r->out, ", %d, %d), ", item->item.seq, item->task);
    else
        pw_buf_addf(r->out, ", null, %d), ", item->task);
    add_text(r, item->item.payload);
}

static void
render_event(struct render *r, const struct call *call)
{
    add_text(r, call->event.topic);
    pw_buf_adds(r->out, ", ");
    add_text(r, call->event.payload);
    pw_buf_adds(r->out, ", ");
    add_text(r, call->event.key);
    pw_buf_adds(r->out, ", ");
    add_text(r, call->event.tenant);
    pw_buf_adds(r->out, ", ");
    if (call->other != 0)
        add_made(r, &r->player->events, call->other, 'e');
    else
        add_text(r, call->event.id);
}

/* Verbs of one run: the run, and what else the verb takes. */
static void
render_run(struct render *r, const struct call *call)
{
    enum call_verb v = call->verb;
    bool list = v == CALL_CANCEL || v == CALL_KILL || v == CALL_PAUSE || v == CALL_RESUME ||
        v == CALL_WAKE || v == CALL_RETRY || v == CALL_ROLLBACK_RETRY || v == CALL_PURGE;

    pw_buf_adds(r->out, list ? "array[" : "");
    add_run(r, call->run);
    pw_buf_adds(r->out, list ? "]::uuid[], " : ", ");
    if (v == CALL_SIGNAL) {
        add_text(r, call->name);
        pw_buf_adds(r->out, ", ");
        add_text(r, call->text);
        return;
    }
    if (v == CALL_APPROVE || v == CALL_REJECT) {
        add_text(r, call->name);
        pw_buf_adds(r->out, ", 'op', 'because', ");
        add_text(r, call->text);
        return;
    }
    if (v == CALL_ROLLBACK_SKIP || v == CALL_FORK) {
        add_text(r, call->name);
        pw_buf_adds(r->out, v == CALL_FORK ? ", null, " : ", 'because', ");
    } else if (v == CALL_WAKE) {
        add_text(r, call->name);
        pw_buf_adds(r->out, ", 'because', ");
    } else if (v == CALL_CANCEL) {
        add_text(r, call->text);
        pw_buf_adds(r->out, ", ");
        add_bool(r, call->flag);
        pw_buf_adds(r->out, ", ");
    } else if (v == CALL_KILL || v == CALL_PAUSE || v == CALL_PURGE) {
        add_text(r, call->text);
        pw_buf_adds(r->out, ", ");
    }
    pw_buf_adds(r->out, "'op'");
}

static void
add_span_member(struct pw_json_writer *w, const char *name, int64_t us)
{
    char text[40];

    if (us == ORACLE_NONE)
        return;
    (void)snprintf(text, sizeof(text), "%" PRId64 " microseconds", us); /* a number fits */
    add_member(w, name, text);
}

static void
render_step(struct render *r, const struct call *call)
{
    const struct oracle_step_spec *s = &call->step;
    struct pw_json_writer w;
    struct pw_buf option;

    add_text(r, s->flow);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->step);
    pw_buf_adds(r->out, ", '{");
    for (int i = 0; i < ORACLE_DEPS_MAX && s->deps[i] != NULL; i++)
        pw_buf_addf(r->out, "%s%s", i > 0 ? "," : "", s->deps[i]);
    pw_buf_adds(r->out, "}', ");
    pw_buf_init(&option, 8192);
    pw_json_writer_init(&w, &option);
    pw_json_open(&w, '{');
    add_member(&w, "map", s->map);
    add_raw_member(&w, "condition", s->condition);
    add_member(&w, "unmet", s->unmet);
    add_member(&w, "failed", s->failed);
    add_member(&w, "workflow", s->workflow);
    add_member(&w, "undo", s->undo);
    add_span_member(&w, "delay", s->delay_us);
    add_span_member(&w, "timeout", s->timeout_us);
    add_number(&w, "priority", s->priority, -1);
    add_number(&w, "max_attempts", s->max_attempts, -1);
    add_span_member(&w, "base", s->base_us);
    add_flag(&w, "colour", s->unknown_option);
    pw_json_close(&w);
    add_text(r, pw_buf_text(&option));
    pw_buf_done(&option);
}

static void
render_claim(struct render *r, const struct call *call)
{
    add_session(r, call->session);
    pw_buf_addf(r->out, ", %d, ", call->claim.most);
    if (call->claim.request == 0)
        pw_buf_adds(r->out, "null, ");
    else
        pw_buf_addf(r->out, "%d, ", call->claim.request);
    add_bool(r, call->claim.start);
    pw_buf_adds(r->out, ", ");
    add_bool(r, call->claim.quiet);
}

static void
render_schedule(struct render *r, const struct call *call)
{
    const struct oracle_schedule_spec *s = &call->schedule;
    const int64_t spans[] = {s->within_us, s->jitter_us, s->starts_in_us, s->ends_in_us};

    add_text(r, s->name);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->workflow);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->cron);
    pw_buf_adds(r->out, ", ");
    add_span(r, s->every_us);
    pw_buf_adds(r->out, ", ");
    add_span(r, s->in_us);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->zone);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->input);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->tenant);
    if (s->priority == -1)
        pw_buf_adds(r->out, ", null, ");
    else
        pw_buf_addf(r->out, ", %d, ", s->priority);
    add_text(r, s->metadata);
    pw_buf_adds(r->out, ", ");
    add_text(r, s->catch_up);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        pw_buf_adds(r->out, ", ");
        add_span(r, spans[i]);
        if (i == 0) {
            pw_buf_adds(r->out, ", ");
            add_text(r, s->overlap);
        }
    }
}

static void
render_schedule_verb(struct render *r, const struct call *call)
{
    add_text(r, call->schedule.tenant);
    pw_buf_adds(r->out, ", ");
    add_text(r, call->schedule.name);
    if (call->verb == CALL_RESUME_SCHEDULE) {
        pw_buf_adds(r->out, ", ");
        add_text(r, call->text);
    } else if (call->verb == CALL_BACKFILL_SCHEDULE) {
        pw_buf_adds(r->out, ", ");
        add_span(r, call->backfill.since_us);
        pw_buf_adds(r->out, ", ");
        add_span(r, call->backfill.until_us);
        pw_buf_addf(r->out, ", %d", call->backfill.most);
    }
}

static void
render_bulk(struct render *r, const struct call *call)
{
    const struct oracle_bulk_spec *b = &call->bulk;
    const char *const names[] = {"workflow", "tenant", "status"};
    const char *const values[] = {b->workflow, b->tenant, b->status};
    struct pw_json_writer w;
    struct pw_buf filter;

    if (call->verb == CALL_STOP_BULK) {
        pw_buf_addf(r->out, "%d", call->bulk_number);
        return;
    }
    pw_buf_init(&filter, 4096);
    pw_json_writer_init(&w, &filter);
    pw_json_open(&w, '{');
    for (int i = 0; i < 3; i++)
        add_member(&w, names[i], values[i]);
    add_flag(&w, "colour", b->invalid);
    pw_json_close(&w);
    add_text(r, b->act);
    pw_buf_adds(r->out, ", ");
    add_text(r, pw_buf_text(&filter));
    pw_buf_addf(r->out, ", %d, %s", b->rate, b->other_digest ? "'of another'" : "null");
    pw_buf_done(&filter);
}

static void
render_lane(struct render *r, const struct call *call)
{
    const struct oracle_lane_spec *l = &call->lane;
    const int numbers[] = {l->limit, l->weight};

    add_text(r, l->workflow);
    pw_buf_adds(r->out, ", ");
    add_text(r, l->limit_key);
    for (int i = 0; i < 2; i++)
        if (numbers[i] == 0)
            pw_buf_adds(r->out, ", null");
        else
            pw_buf_addf(r->out, ", %d", numbers[i]);
    pw_buf_adds(r->out, ", ");
    add_text(r, l->tenant);
}

static void
render_subscription(struct render *r, const struct call *call)
{
    const struct oracle_subscription_spec *s = &call->subscription;
    const char *const created[] = {s->name, s->topic, s->workflow, s->key, s->match, s->tenant,
        s->whole_event ? "event" : "payload"};
    const char *const named[] = {s->tenant, s->name};
    bool creates = call->verb == CALL_CREATE_SUBSCRIPTION;

    for (size_t i = 0; i < (creates ? 7 : 2); i++) {
        pw_buf_adds(r->out, i > 0 ? ", " : "");
        add_text(r, creates ? created[i] : named[i]);
    }
}

static void
render_small(struct render *r, const struct call *call)
{
    switch ((int)call->verb) {
    case CALL_ADVANCE:
    case CALL_RETAIN:
        add_span(r, call->advance_us);
        break;
    case CALL_REST:
        add_session(r, call->session);
        pw_buf_adds(r->out, ", ");
        add_bool(r, call->flag);
        break;
    case CALL_LEAVE:
    case CALL_DRAIN_WORKER:
    case CALL_HELD:
        add_session(r, call->session);
        break;
    case CALL_PAUSE_ALL:
        add_bool(r, call->flag);
        break;
    case CALL_RAISE_EPOCH:
        pw_buf_adds(r->out, "'test'");
        break;
    case CALL_PAUSE_WORKFLOW:
    case CALL_RESUME_WORKFLOW:
    case CALL_PAUSE_QUEUE:
    case CALL_RESUME_QUEUE:
        add_text(r, call->name);
        break;
    default:
        break;
    }
}

bool
player_render(struct player *player, const struct call *call, bool script, struct pw_buf *out)
{
    struct render r = {player, script, false, out};

    switch ((int)call->verb) {
    case CALL_CREATE_WORKFLOW:
    case CALL_CREATE_FLOW:
        render_workflow(&r, call);
        break;
    case CALL_ADD_STEP:
        render_step(&r, call);
        break;
    case CALL_ALTER_WORKFLOW:
        render_alter(&r, call);
        break;
    case CALL_TRIGGER:
        render_trigger(&r, call);
        break;
    case CALL_TRIGGER_MANY:
        render_many(&r, call);
        break;
    case CALL_REGISTER:
        render_register(&r, call);
        break;
    case CALL_HEARTBEAT:
        render_heartbeat(&r, call);
        break;
    case CALL_CLAIM:
        render_claim(&r, call);
        break;
    case CALL_COMMIT:
    case CALL_COMMIT_EACH:
        render_commit(&r, call);
        break;
    case CALL_RECORD_STEP:
        render_record_step(&r, call);
        break;
    case CALL_EMIT:
        render_event(&r, call);
        break;
    case CALL_CREATE_SCHEDULE:
        render_schedule(&r, call);
        break;
    case CALL_PAUSE_SCHEDULE:
    case CALL_RESUME_SCHEDULE:
    case CALL_DELETE_SCHEDULE:
    case CALL_BACKFILL_SCHEDULE:
        render_schedule_verb(&r, call);
        break;
    case CALL_BEGIN_BULK:
    case CALL_STOP_BULK:
        render_bulk(&r, call);
        break;
    case CALL_SET_LANE:
    case CALL_PAUSE_LANE:
    case CALL_RESUME_LANE:
        render_lane(&r, call);
        break;
    case CALL_CREATE_SUBSCRIPTION:
    case CALL_PAUSE_SUBSCRIPTION:
    case CALL_RESUME_SUBSCRIPTION:
    case CALL_DELETE_SUBSCRIPTION:
        render_subscription(&r, call);
        break;
    default:
        if (call_is_one(call->verb))
            render_one(&r, call);
        else if (call->verb >= CALL_SIGNAL && call->verb <= CALL_PURGE)
            render_run(&r, call);
        else
            render_small(&r, call);
    }
    return !r.missing;
}
