/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that concern one family of runs: its own, those of the sessions that had its runs, and the events that it waits for. Their
 * numbers are an order that fits all locks. Where a call took no lock (a run that had ended, a session that was ending), a call that it
 * did not see may have a lower number: an order is as good if no call comes before one that it has seen.
 */
#include "journal.h"
#include "oracle.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions_max = 256,
    topics_max = 16,
    moves_max = 200
};

static int
compare_entries(const void *a, const void *b)
{
    const struct journal_entry *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static void
add(struct family *family, const struct journal_entry *entry)
{
    struct journal_entry *more =
        realloc(family->entries, (family->entries_count + 1) * sizeof(*more));

    if (more == NULL)
        bench_die("out of memory");
    family->entries = more;
    family->entries[family->entries_count++] = *entry;
}

static void
add_sessions(struct family *family)
{
    const struct journal *journal = family->journal;
    int64_t seen[sessions_max];
    size_t count = 0, own = family->entries_count;

    for (size_t i = 0; i < own; i++) {
        int64_t session = family->entries[i].session;
        size_t at = 0;

        while (at < count && seen[at] != session)
            at++;
        if (session == 0 || at < count)
            continue;
        if (count == sessions_max)
            bench_die("a family had more than %d sessions", sessions_max);
        seen[count++] = session;
        for (size_t k = 0; k < journal->sessions_count; k++)
            if (journal->sessions[k].session == session)
                add(family, &journal->sessions[k]);
    }
}

static bool
same_member(struct pw_json a, struct pw_json b, const char *name)
{
    struct pw_json x = pw_json_member(a, name), y = pw_json_member(b, name);

    /* No key is an empty one. */
    x = pw_json_given(x) ? x : (struct pw_json){"\"\"", 2};
    y = pw_json_given(y) ? y : (struct pw_json){"\"\"", 2};
    return x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
}

static void
add_emits(struct family *family)
{
    const struct journal *journal = family->journal;
    struct pw_json seen[topics_max];
    size_t count = 0, own = family->entries_count;

    for (size_t i = 0; i < own; i++) {
        struct pw_json option = {0};
        size_t at = 0;

        if (strcmp(family->entries[i].what, "item") == 0)
            option = pw_json_member(family->entries[i].args, "option");
        if (!pw_json_given(pw_json_member(option, "topic")))
            continue;
        while (at < count &&
            !(same_member(seen[at], option, "topic") && same_member(seen[at], option, "key")))
            at++;
        if (at < count)
            continue;
        if (count == topics_max)
            bench_die("a family waits on more than %d topics", topics_max);
        seen[count++] = option;
        for (size_t k = 0; k < journal->emits_count; k++)
            if (same_member(journal->emits[k].args, option, "topic") &&
                same_member(journal->emits[k].args, option, "key"))
                add(family, &journal->emits[k]);
    }
}

static void
make_calls(struct family *family)
{
    qsort(family->entries, family->entries_count, sizeof(*family->entries), compare_entries);
    family->calls = race_alloc((long)family->entries_count + 1, sizeof(*family->calls));
    for (size_t i = 0; i < family->entries_count; i++) {
        if (i > 0 && family->entries[i].n == family->entries[i - 1].n)
            family->calls[family->calls_count - 1].count++;
        else
            family->calls[family->calls_count++] =
                (struct journal_call){.entries = &family->entries[i], .count = 1};
    }
}

void
family_open(struct family *family, const struct journal *journal, size_t *at)
{
    const char *root = journal->roots[*at];

    memset(family, 0, sizeof(*family));
    family->journal = journal;
    for (; *at < journal->entries_count && strcmp(journal->roots[*at], root) == 0; (*at)++)
        add(family, &journal->entries[*at]);
    for (size_t i = 0; i < journal->runs_count; i++) {
        if (strcmp(journal->runs[i].root, root) != 0)
            continue;
        family->runs = family->runs == NULL ? &journal->runs[i] : family->runs;
        family->runs_count++;
    }
    add_sessions(family);
    add_emits(family);
    make_calls(family);
}

void
family_done(struct family *family)
{
    free(family->entries);
    free(family->calls);
    memset(family, 0, sizeof(*family));
}

/* A snapshot is xmin:xmax:those in between that had not been committed. */
bool
call_sees(const struct journal_call *call, const struct journal_call *other)
{
    const char *at = call->entries->seen;
    int64_t number = 0, xid = other->entries->xid;

    if (xid == call->entries->xid)
        return true;
    for (int part = 0;; at++) {
        if (*at >= '0' && *at <= '9') {
            number = number * 10 + (*at - '0');
            continue;
        }
        if (part == 0 && xid < number)
            return true;
        if (part == 1 && xid >= number)
            return false;
        if (part == 2 && xid == number)
            return false;
        if (*at == '\0')
            return true;
        part += *at == ':';
        number = 0;
    }
}

static void
create_workflows(struct oracle *oracle, const PGresult *res)
{
    for (int i = 0; i < PQntuples(res); i++) {
        struct oracle_workflow_spec spec = {
            .name = PQgetvalue(res, i, 0),
            .priority = (int)race_field(res, i, 1),
            .policy = {.max_attempts = (int)race_field(res, i, 2),
                .base_us = race_field(res, i, 3),
                .cap_us = race_field(res, i, 5)},
            .run_timeout_us = ORACLE_NONE,
            .step_timeout_us = ORACLE_NONE,
        };

        if (!pw_parse_double(PQgetvalue(res, i, 4), 0, 1e9, &spec.policy.factor) ||
            !pw_parse_double(PQgetvalue(res, i, 6), 0, 1e9, &spec.policy.jitter) ||
            strcmp(oracle_create_workflow(oracle, &spec), "created") != 0)
            bench_die("the oracle does not take workflow \"%s\"", spec.name);
    }
}

/* Everything known of each run when all is over. */
static const char *
check_end(struct replay *replay)
{
    const struct family *family = replay->family;
    const char *problem = NULL;

    for (size_t i = 0; problem == NULL && i < family->runs_count; i++) {
        struct pw_buf shown;

        pw_buf_init(&shown, (size_t)1 << 22);
        oracle_show_run(replay->oracle, family->runs[i].id, &shown);
        problem = replay_difference(replay, pw_buf_text(&shown), family->runs[i].shown);
        pw_buf_done(&shown);
        if (problem != NULL)
            problem = replay_text(replay, "run %s at the end: %s", family->runs[i].id, problem);
    }
    return problem;
}

static void
say_call(const struct journal_call *call, struct pw_buf *problem)
{
    const struct journal_entry *first = call->entries;

    pw_buf_addf(problem, "%s (number %lld, session %lld, run %s): ", first->what,
        (long long)first->n, (long long)first->session, first->run == NULL ? "-" : first->run);
    for (size_t i = 0; strcmp(first->what, "item") == 0 && i < call->count; i++) {
        struct pw_json kind = pw_json_member(call->entries[i].args, "kind");
        struct pw_json name = pw_json_member(call->entries[i].args, "name");

        pw_buf_addf(problem, "%.*s %.*s%s", (int)kind.size, kind.data,
            pw_json_given(name) ? (int)name.size : 0, pw_json_given(name) ? name.data : "",
            i + 1 < call->count ? ", " : ": ");
    }
}

bool
family_replay(
    const struct family *family, struct pw_buf *problem, size_t *refused, struct admitted *admitted)
{
    struct replay replay = {
        .oracle = oracle_new(family->calls_count > 0 ? family->calls[0].entries->at : 0),
        .family = family,
        .admitted = admitted};
    const char *why = NULL;

    pw_arena_init(&replay.texts, (size_t)1 << 28);
    oracle_observe(replay.oracle, family->journal->crash_max, family->journal->grace_us);
    create_workflows(replay.oracle, family->journal->results[4]);
    pw_buf_clear(problem);
    for (*refused = 0; *refused < family->calls_count; (*refused)++) {
        why = replay_call(&replay, &family->calls[*refused]);
        if (why != NULL) {
            say_call(&family->calls[*refused], problem);
            break;
        }
    }
    if (why == NULL)
        why = check_end(&replay);
    if (why != NULL)
        pw_buf_adds(problem, why);
    pw_arena_done(&replay.texts);
    oracle_free(replay.oracle);
    return why == NULL;
}

void
family_list(const struct family *family, const char *problem, const char *path)
{
    FILE *file = fopen(path, "ae");

    if (file == NULL)
        bench_die("cannot open \"%s\"", path);
    (void)fprintf(file, "refused: %s\n", problem);
    for (size_t i = 0; i < family->entries_count; i++) {
        const struct journal_entry *e = &family->entries[i];

        (void)fprintf(file, "%lld.%lld xid %lld saw %s at %lld: %s session %lld run %s %.*s %s",
            (long long)e->n, (long long)e->item, (long long)e->xid, e->seen, (long long)e->at,
            e->what, (long long)e->session, e->run == NULL ? "-" : e->run, (int)e->args.size,
            e->args.data, e->payload == NULL ? "-" : e->payload);
        (void)fprintf(file, " answer %s %s\n%s%s", e->answer == NULL ? "-" : e->answer,
            e->value == NULL ? "-" : e->value, e->told == NULL ? "" : e->told,
            e->image == NULL ? "" : e->image);
    }
    if (fclose(file) != 0)
        bench_die("cannot write \"%s\"", path);
}

/* Whether the order of two calls can matter to one of them. */
static bool
is_related(const struct journal_call *a, const struct journal_call *b)
{
    if (a->entries->session != 0 && a->entries->session == b->entries->session)
        return true;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (a->entries[i].run != NULL && b->entries[k].run != NULL &&
                strcmp(a->entries[i].run, b->entries[k].run) == 0)
                return true;
    return false;
}

/* Puts a call before an earlier one, and with it all in between that it, or one of these, has seen. False: one of them has
 * seen that one. */
static bool
move_before(struct family *family, size_t at, size_t before)
{
    struct journal_call *calls = family->calls;
    struct journal_call *order = race_alloc((long)(at - before + 1), sizeof(*order));
    bool *with = race_alloc((long)(at - before + 1), sizeof(*with));
    size_t count = 0;
    bool may = true;

    with[at - before] = true;
    for (size_t i = at; may && i > before; i--)
        for (size_t k = i; with[i - before] && k > before; k--) {
            with[k - 1 - before] = with[k - 1 - before] || call_sees(&calls[i], &calls[k - 1]);
            may = !with[0];
        }
    for (int pass = 0; may && pass < 2; pass++)
        for (size_t i = before; i <= at; i++)
            if (with[i - before] == (pass == 0))
                order[count++] = calls[i];
    if (may)
        memcpy(&calls[before], order, count * sizeof(*order));
    free(order);
    free(with);
    return may;
}

/* A call that is not allowed where it stands may stand before one that it has not seen. */
static bool
move_earlier(struct family *family, size_t at)
{
    const struct journal_call *calls = family->calls;

    for (size_t i = at; i > 0; i--)
        if (is_related(&calls[at], &calls[i - 1]) && !call_sees(&calls[at], &calls[i - 1]) &&
            move_before(family, at, i - 1))
            return true;
    return false;
}

bool
family_admit(struct family *family, struct pw_buf *problem, struct admitted *admitted)
{
    struct admitted before = *admitted;
    struct pw_buf first;
    size_t refused;
    bool admits;

    pw_buf_init(&first, (size_t)1 << 20);
    admits = family_replay(family, problem, &refused, admitted);
    pw_buf_adds(&first, pw_buf_text(problem));
    for (int moves = 1; !admits && moves <= moves_max && refused < family->calls_count &&
         move_earlier(family, refused);
         moves++) {
        *admitted = before;
        admits = family_replay(family, problem, &refused, admitted);
        admitted->moved += moves;
    }
    if (!admits) {
        pw_buf_clear(problem);
        pw_buf_adds(problem, pw_buf_text(&first));
    }
    pw_buf_done(&first);
    return admits;
}
