/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a journal in the oracle: whether it is allowed, answers alike and leaves the same behind. */
#include "journal.h"
#include "meanwhile.h"
#include "oracle.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    text_bytes = 20000,
    items_max = 16,
    handles_max = 100
};

const char *
replay_text(struct replay *replay, const char *format, ...)
{
    char text[text_bytes];
    va_list arguments;
    const char *copy;

    va_start(arguments, format);
    (void)vsnprintf(
        text, sizeof(text), format, arguments); /* What is longer is for people and cut. */
    va_end(arguments);
    copy = pw_arena_copy(&replay->texts, text, strlen(text));
    if (copy == NULL)
        bench_die("out of memory");
    return copy;
}

static const char *
member(struct replay *replay, struct pw_json object, const char *name)
{
    struct pw_json value = pw_json_member(object, name);
    const char *text;

    if (!pw_json_given(value))
        return NULL;
    text = pw_json_text(value, &replay->texts);
    if (text == NULL)
        bench_die("out of memory");
    return text;
}

static int64_t
number(struct pw_json object, const char *name, int64_t none)
{
    struct pw_json value = pw_json_member(object, name);
    int64_t found;

    return pw_json_given(value) && pw_json_to_int(value, &found) ? found : none;
}

static bool
flag(struct pw_json object, const char *name)
{
    struct pw_json value = pw_json_member(object, name);
    bool found;

    return pw_json_given(value) && pw_json_to_bool(value, &found) && found;
}

static double
real(struct replay *replay, struct pw_json object, const char *name, double none)
{
    const char *text = member(replay, object, name);
    double found;

    return text != NULL && pw_parse_double(text, 0, 1e9, &found) ? found : none;
}

/* A time that was made of whole milliseconds, and one that was not. */
static bool
is_rounded(const char *a, const char *b)
{
    const char *from[] = {a, b};
    int64_t times[2];

    if (strncmp(a, "step ", 5) != 0 || strncmp(b, "step ", 5) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        char digits[24] = "";

        /* step NAME round state kind seq attempt fence started_at ... */
        for (int word = 0; word < 8; word++) {
            const char *space = strchr(from[i], ' ');

            if (space == NULL || (word == 4 && from[i][0] == '1'))
                return false;
            from[i] = space + 1;
        }
        (void)snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(from[i], " "), from[i]);
        if (!pw_parse_i64(digits, 0, INT64_MAX, &times[i]))
            return false;
    }
    return from[0] - a == from[1] - b && strncmp(a, b, (size_t)(from[0] - a)) == 0 &&
        llabs(times[0] - times[1]) <= 1000 &&
        strcmp(from[0] + strcspn(from[0], " "), from[1] + strcspn(from[1], " ")) == 0;
}

const char *
replay_difference(struct replay *replay, const char *wanted, const char *got)
{
    while (*wanted != '\0' || *got != '\0') {
        size_t a = strcspn(wanted, "\n"), b = strcspn(got, "\n");

        if (a != b || strncmp(wanted, got, a) != 0) {
            const char *x = replay_text(replay, "%.*s", (int)a, wanted);
            const char *y = replay_text(replay, "%.*s", (int)b, got);

            if (!is_rounded(x, y))
                return replay_text(replay, "it is \"%s\", and the oracle has \"%s\"", y, x);
            replay->admitted->rounded++;
        }
        wanted += a + (wanted[a] != '\0');
        got += b + (got[b] != '\0');
    }
    return NULL;
}

/* Whether something was done to another run of the family, which may have ended a parent, in a transaction that this call has not seen. */
static bool
end_is_unseen(const struct replay *replay, const struct journal_call *call, const char *run)
{
    const struct family *family = replay->family;

    for (size_t i = 0; i < family->calls_count; i++)
        if (family->calls[i].entries->run != NULL &&
            strcmp(family->calls[i].entries->run, run) != 0 &&
            family->calls[i].entries->n < call->entries->n && !call_sees(call, &family->calls[i]))
            return true;
    return false;
}

/*
 * A cancel that is passed on to a child which others hold is a row beside that child, not a change of it: until it is committed, who has
 * the child does not see it. Returns what the oracle shows without it.
 */
static const char *
without_unseen_cancel(struct replay *replay, const struct journal_call *call,
    const struct journal_entry *entry, const char *shown)
{
    const char *limits = strstr(shown, "limits "), *end;

    if (limits == NULL || limits[7] == '-' || strstr(entry->image, "limits - ") == NULL ||
        !end_is_unseen(replay, call, entry->run))
        return shown;
    end = strchr(limits + 7, ' ');
    if (end == NULL)
        return shown;
    replay->admitted->unseen++;
    return replay_text(replay, "%.*slimits -%s", (int)(limits - shown), shown, end);
}

/* The run as the call has left it. */
static const char *
check_image(
    struct replay *replay, const struct journal_call *call, const struct journal_entry *entry)
{
    struct pw_buf shown;
    const char *problem;

    if (entry->image == NULL)
        return NULL;
    pw_buf_init(&shown, (size_t)1 << 22);
    oracle_show_task(replay->oracle, entry->run, &shown);
    problem = replay_difference(
        replay, without_unseen_cancel(replay, call, entry, pw_buf_text(&shown)), entry->image);
    pw_buf_done(&shown);
    return problem == NULL ? NULL : replay_text(replay, "after it, %s", problem);
}

static const char *
check_answer(struct replay *replay, const char *answer, const char *wanted)
{
    if (strncmp(wanted, "not allowed", 11) == 0)
        return wanted;
    return strcmp(answer, wanted) == 0
        ? NULL
        : replay_text(replay, "it answered \"%s\", and the oracle \"%s\"", answer, wanted);
}

static const char *
replay_trigger(struct replay *replay, const struct journal_entry *entry)
{
    struct oracle_trigger_spec spec = {
        .workflow = member(replay, entry->args, "workflow"),
        .input = entry->payload,
        .key = member(replay, entry->args, "key"),
        .tenant = member(replay, entry->args, "tenant"),
        .priority = (int)number(entry->args, "priority", -1),
        .delay_us = ORACLE_NONE,
        .id = member(replay, entry->args, "id"),
        .key_ttl_us = ORACLE_NONE,
        .expires_us = ORACLE_NONE,
        .debounce_us = ORACLE_NONE,
        .debounce_max_us = ORACLE_NONE,
    };
    struct pw_buf reply;
    const char *problem;

    pw_buf_init(&reply, 4096);
    problem = check_answer(
        replay, entry->answer, oracle_trigger(replay->oracle, &spec, entry->run, &reply));
    if (problem == NULL && strncmp(pw_buf_text(&reply), entry->run, strlen(entry->run)) != 0)
        problem = replay_text(replay, "it stands for another run: %s", pw_buf_text(&reply));
    pw_buf_done(&reply);
    return problem;
}

static const char *
replay_emit(struct replay *replay, const struct journal_entry *entry)
{
    struct oracle_event_spec spec = {
        .topic = member(replay, entry->args, "topic"),
        .payload = entry->payload,
        .key = member(replay, entry->args, "key"),
        .tenant = member(replay, entry->args, "tenant"),
        .id = member(replay, entry->args, "id"),
    };
    struct pw_buf reply;
    const char *answer;

    pw_buf_init(&reply, 4096);
    /* How many it woke is known of this family only. */
    answer = oracle_emit(replay->oracle, &spec, member(replay, entry->args, "made"), &reply);
    pw_buf_done(&reply);
    return check_answer(replay, entry->answer, strcmp(answer, "woke") == 0 ? "ok" : answer);
}

/* What a worker handles, NULL at the end. */
static const char *const *
read_handles(struct replay *replay, struct pw_json list)
{
    const char **handles = pw_arena_alloc(&replay->texts, (handles_max + 1) * sizeof(*handles));
    struct pw_json_walk walk;
    struct pw_json key, value;
    size_t count = 0;

    if (handles == NULL)
        bench_die("out of memory");
    pw_json_walk(&walk, list);
    while (count < handles_max && pw_json_walk_next(&walk, &key, &value))
        handles[count++] = pw_json_text(value, &replay->texts);
    handles[count] = NULL;
    return handles;
}

static const char *
replay_session(struct replay *replay, const struct journal_entry *entry)
{
    struct pw_buf reply;
    const char *answer;

    if (strcmp(entry->what, "ended") == 0) {
        answer = oracle_end_session(replay->oracle, entry->session, entry->answer);
        return strcmp(answer, "ok") == 0 ? NULL : answer;
    }
    pw_buf_init(&reply, 65536);
    if (strcmp(entry->what, "register") == 0) {
        struct oracle_register_spec spec = {
            .name = member(replay, entry->args, "name"),
            .handles = read_handles(replay, pw_json_member(entry->args, "handles")),
            .lease_us = number(entry->args, "lease", 0),
            .protocol = 1,
        };

        answer = oracle_register(replay->oracle, &spec, entry->session, &reply);
    } else {
        answer = oracle_heartbeat(replay->oracle, entry->session, NULL, &reply);
    }
    pw_buf_done(&reply);
    return strncmp(answer, "not allowed", 11) == 0 || answer[0] == 'P'
        ? replay_text(replay, "the session cannot do that: %s", answer)
        : NULL;
}

static int
compare_runs(const void *a, const void *b)
{
    const struct journal_entry *const *x = a;
    const struct journal_entry *const *y = b;

    return strcmp((*x)->run, (*y)->run);
}

/* Whether the session of a call ended without the call having seen it. */
static bool
is_overtaken(struct replay *replay, const struct journal_call *call)
{
    for (size_t i = 0; i < replay->family->calls_count; i++) {
        const struct journal_call *other = &replay->family->calls[i];

        if (strcmp(other->entries->what, "ended") == 0 &&
            other->entries->session == call->entries->session)
            return !call_sees(call, other);
    }
    return false;
}

static bool
has_run(const struct journal_call *call, const char *run)
{
    for (size_t i = 0; i < call->count; i++)
        if (strcmp(call->entries[i].run, run) == 0)
            return true;
    return false;
}

/*
 * Whether the session made another claim that this one has not seen: the connection was cut, and the same request was sent again before
 * the server had noticed. Then both hand something out; unless the other was committed in time, and this one gives its answer once more.
 */
static bool
has_unseen_claim(const struct replay *replay, const struct journal_call *call)
{
    for (size_t i = 0; i < replay->family->calls_count; i++) {
        const struct journal_call *other = &replay->family->calls[i];

        if (strcmp(other->entries->what, "claim") == 0 && other->entries->n < call->entries->n &&
            other->entries->session == call->entries->session && !call_sees(call, other) &&
            !has_run(other, call->entries->run))
            return true;
    }
    return false;
}

static const char *
replay_claim(struct replay *replay, const struct journal_call *call)
{
    const struct oracle_meanwhile meanwhile = {.other_claim = has_unseen_claim(replay, call)};
    const struct journal_entry *first = call->entries, *sorted[items_max];
    struct oracle_claim_spec spec = {
        .session = first->session,
        .most = (int)number(first->args, "most", 1),
        .request = (int)number(first->args, "request", 0),
        .start = flag(first->args, "start"),
        .quiet = flag(first->args, "quiet"),
        .taken = (int)number(first->args, "count", 0),
        .overtaken = is_overtaken(replay, call),
    };
    const char *chosen[items_max + 1] = {NULL}, *problem;
    struct pw_buf told, reply;

    if (call->count > items_max)
        return "too many runs of one family in one claim for this checker";
    pw_buf_init(&told, (size_t)1 << 22);
    pw_buf_init(&reply, (size_t)1 << 22);
    for (size_t i = 0; i < call->count; i++)
        sorted[i] = &call->entries[i];
    qsort(sorted, call->count, sizeof(sorted[0]), compare_runs);
    for (size_t i = 0; i < call->count; i++) {
        chosen[i] = sorted[i]->run;
        pw_buf_adds(&told, sorted[i]->told);
    }
    oracle_set_meanwhile(replay->oracle, meanwhile.other_claim ? &meanwhile : NULL);
    problem = oracle_claim(replay->oracle, &spec, chosen, &reply);
    oracle_set_meanwhile(replay->oracle, NULL);
    if (strncmp(problem, "not allowed", 11) != 0 && problem[0] != 'P') {
        problem = replay_difference(replay, pw_buf_text(&reply), pw_buf_text(&told));
        if (problem != NULL)
            problem = replay_text(replay, "what it handed out: %s", problem);
    }
    pw_buf_done(&told);
    pw_buf_done(&reply);
    return problem;
}

/* The policy of an item; what it does not say, the workflow does. */
static const struct oracle_policy *
read_policy(struct replay *replay, const char *run, struct pw_json policy)
{
    const PGresult *res = replay->family->journal->results[4];
    struct oracle_policy *read = pw_arena_alloc(&replay->texts, sizeof(*read));
    const char *workflow = "";

    if (read == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < replay->family->runs_count; i++)
        if (strcmp(replay->family->runs[i].id, run) == 0)
            workflow = replay->family->runs[i].workflow;
    memset(read, 0, sizeof(*read));
    for (int i = 0; i < PQntuples(res); i++)
        if (strcmp(PQgetvalue(res, i, 0), workflow) == 0) {
            read->max_attempts = (int)race_field(res, i, 2);
            read->base_us = race_field(res, i, 3);
            read->cap_us = race_field(res, i, 5);
            if (!pw_parse_double(PQgetvalue(res, i, 4), 0, 1e9, &read->factor) ||
                !pw_parse_double(PQgetvalue(res, i, 6), 0, 1e9, &read->jitter))
                bench_die("a policy has no numbers");
        }
    read->max_attempts = (int)number(policy, "max_attempts", read->max_attempts);
    read->base_us = number(policy, "base_ms", read->base_us / 1000) * 1000;
    read->cap_us = number(policy, "cap_ms", read->cap_us / 1000) * 1000;
    read->factor = real(replay, policy, "factor", read->factor);
    read->jitter = real(replay, policy, "jitter", read->jitter);
    return read;
}

static void
read_option(struct replay *replay, const struct journal_entry *entry, struct oracle_option *option)
{
    struct pw_json json = pw_json_member(entry->args, "option");
    struct pw_json policy = pw_json_member(json, "policy");

    *option = (struct oracle_option){
        .undo = member(replay, json, "undo"),
        .ms = number(json, "ms", ORACLE_NONE),
        .timeout_ms = number(json, "timeout_ms", ORACLE_NONE),
        .topic = member(replay, json, "topic"),
        .key = member(replay, json, "key"),
        .match = member(replay, json, "match"),
        .signal = member(replay, json, "signal"),
        .form = member(replay, json, "form"),
        .workflow = member(replay, json, "workflow"),
        .detached = flag(json, "detached"),
        .delay_ms = number(json, "delay_ms", ORACLE_NONE),
        .priority = (int)number(json, "priority", -1),
        .final = flag(json, "final"),
        .permanent = flag(json, "permanent"),
        .failure = (int)number(json, "failure", 0),
        .retry_after_ms = number(json, "retry_after_ms", ORACLE_NONE),
        .unused = member(replay, json, "unused"),
        .note = member(replay, json, "kind"),
        .policy = pw_json_given(policy) ? read_policy(replay, entry->run, policy) : NULL,
    };
}

static void
read_item(struct replay *replay, const struct journal_entry *entry, struct oracle_item *item)
{
    struct pw_json value = {entry->value, entry->value == NULL ? 0 : strlen(entry->value)};
    const char *child = member(replay, value, "child");

    *item = (struct oracle_item){
        .run = entry->run,
        .fence = (int)number(entry->args, "fence", 0),
        .kind = member(replay, entry->args, "kind"),
        .name = member(replay, entry->args, "name"),
        .payload = entry->payload,
        .seq = (int)number(entry->args, "seq", 0),
        .millis = (int)number(entry->args, "millis", 0),
        .chosen_due_us = number(entry->args, "due", ORACLE_NONE),
        .chosen_reason = member(replay, entry->args, "reason"),
        .chosen_event = member(replay, entry->args, "event"),
        .chosen_child =
            child != NULL ? child : member(replay, pw_json_member(value, "output"), "run_id"),
    };
    read_option(replay, entry, &item->option);
}

/* Undos are done newest first, which is the worker's to see to. */
static const char *
check_undo(struct replay *replay, const struct oracle_item *item, const char *answer)
{
    struct oracle_view view;

    if (strcmp(item->kind, "step") != 0 || strncmp(item->name, "rollback:", 9) != 0 ||
        strcmp(answer, "ok") != 0)
        return NULL;
    oracle_look(replay->oracle, item->run, &view);
    return view.undone != NULL && strcmp(view.undone, item->name + 9) == 0
        ? NULL
        : replay_text(replay, "not allowed: the next to undo is %s",
              view.undone == NULL ? "nothing" : view.undone);
}

/* Who was told busy has done nothing; what he says in the end is another call. */
static const char *
replay_items(struct replay *replay, const struct journal_call *call)
{
    struct oracle_item items[items_max];
    struct pw_buf told, reply;
    const char *problem = NULL;
    size_t count = 0;

    pw_buf_init(&told, (size_t)1 << 22);
    pw_buf_init(&reply, (size_t)1 << 22);
    for (size_t i = 0; i < call->count; i++) {
        const struct journal_entry *entry = &call->entries[i];

        if (strcmp(entry->answer, "busy") == 0) {
            replay->admitted->busy++;
            continue;
        }
        if (count == items_max) {
            problem = "too many items of one family in one commit for this checker";
            break;
        }
        read_item(replay, entry, &items[count]);
        problem = problem == NULL ? check_undo(replay, &items[count], entry->answer) : problem;
        count++;
        pw_buf_addf(
            &told, "%zu %s %s\n", count, entry->answer, entry->value == NULL ? "-" : entry->value);
    }
    if (problem == NULL && count > 0) {
        (void)oracle_commit(replay->oracle, call->entries[0].session, items, count,
            &reply); /* The reply has the answers. */
        problem = replay_difference(replay, pw_buf_text(&reply), pw_buf_text(&told));
        if (problem != NULL)
            problem = replay_text(replay, "the answer: %s", problem);
    }
    pw_buf_done(&told);
    pw_buf_done(&reply);
    return problem;
}

static const char *
replay_record(struct replay *replay, const struct journal_entry *entry)
{
    struct oracle_item item = {
        .run = entry->run,
        .fence = (int)number(entry->args, "fence", 0),
        .name = member(replay, entry->args, "name"),
        .payload = entry->payload,
        .seq = (int)number(entry->args, "seq", 0),
    };

    return check_answer(
        replay, entry->answer, oracle_record_step(replay->oracle, entry->session, &item));
}

/* A run that is to end stays, without a holder, if another transaction has its parent. */
static const char *
replay_take_back(struct replay *replay, const struct journal_entry *entry)
{
    const char *answer;

    for (size_t i = 0; entry->image[0] != '\0' && i < replay->family->runs_count; i++)
        if (strcmp(replay->family->runs[i].id, entry->run) == 0)
            oracle_hold_lock(replay->oracle, replay->family->runs[i].parent);
    answer =
        oracle_take_back(replay->oracle, entry->session, entry->run, flag(entry->args, "crashed"));
    oracle_hold_lock(replay->oracle, NULL);
    return answer;
}

/* Whatever is about one run and has one answer. */
static const char *
replay_one(struct replay *replay, const struct journal_entry *entry)
{
    struct oracle *o = replay->oracle;
    const char *what = entry->what, *answer = entry->answer == NULL ? "ok" : entry->answer;

    if (strcmp(answer, "busy") == 0) {
        replay->admitted->busy++;
        if (strcmp(what, "limit") != 0)
            return NULL;
    }
    if (strcmp(what, "trigger") == 0)
        return replay_trigger(replay, entry);
    if (strcmp(what, "record") == 0)
        return replay_record(replay, entry);
    if (strcmp(what, "promote") == 0)
        return check_answer(replay, answer, oracle_promote(o, entry->run));
    if (strcmp(what, "due") == 0)
        return check_answer(
            replay, answer, oracle_time_out(o, entry->run, member(replay, entry->args, "name")));
    if (strcmp(what, "take_back") == 0)
        return check_answer(replay, answer, replay_take_back(replay, entry));
    if (strcmp(what, "limit") == 0)
        return check_answer(replay, answer,
            oracle_enforce(
                o, entry->run, member(replay, entry->args, "name"), strcmp(answer, "busy") == 0));
    if (strcmp(what, "signal") == 0)
        return check_answer(replay, answer,
            oracle_signal(o, entry->run, member(replay, entry->args, "name"), entry->payload));
    if (strcmp(what, "cancel") == 0)
        return check_answer(replay, answer,
            oracle_cancel(o, entry->run, member(replay, entry->args, "why"),
                flag(entry->args, "rollback"), member(replay, entry->args, "by")));
    if (strcmp(what, "retry") == 0)
        return check_answer(
            replay, answer, oracle_retry(o, entry->run, member(replay, entry->args, "by")));
    return replay_text(replay, "nobody here knows \"%s\"", what);
}

const char *
replay_call(struct replay *replay, const struct journal_call *call)
{
    const struct journal_entry *first = call->entries;
    const char *problem = NULL;

    oracle_set_time(replay->oracle, first->at);
    if (strcmp(first->what, "claim") == 0)
        problem = replay_claim(replay, call);
    else if (strcmp(first->what, "item") == 0)
        problem = replay_items(replay, call);
    else if (strcmp(first->what, "emit") == 0)
        problem = replay_emit(replay, first);
    else if (first->run == NULL)
        problem = replay_session(replay, first);
    else
        problem = replay_one(replay, first);
    for (size_t i = 0; problem == NULL && i < call->count; i++)
        problem = check_image(replay, call, &call->entries[i]);
    return problem;
}
