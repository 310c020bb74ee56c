/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out pieces of a sequence, halves first and single calls last; see the header. */
#include "reduce.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEATS = 5,
    PLAYED_MAX = 100000, /* calls: a bound on the time that it takes */
};

/* Plays all but [from, from + without) and returns how many calls it took to differ; 0: it did not. */
static size_t
play_without(struct player *player, const struct call *calls, size_t count, size_t from,
    size_t without, size_t *played)
{
    *played += count - without;
    player_reset(player);
    for (size_t i = 0; i < count; i++) {
        if (i >= from && i < from + without)
            continue;
        if (player_play(player, &calls[i]) == PLAYER_DIFFERS)
            return i + 1;
    }
    return player_compare_all(player) == PLAYER_DIFFERS ? count : 0;
}

size_t
reduce_calls(struct player *player, struct call *calls, size_t count)
{
    struct coverage *counted = player->coverage, aside = {.lines_count = 0};
    size_t played = 0, again = 0;

    player->coverage = &aside;
    for (int i = 0; i < REPEATS && again == 0; i++)
        again = play_without(player, calls, count, count, 0, &played);
    count = again;
    for (size_t piece = count / 2; piece > 0; piece /= 2) {
        for (size_t from = 0; from < count && played < PLAYED_MAX;) {
            size_t without = piece < count - from ? piece : count - from;
            size_t end = play_without(player, calls, count, from, without, &played);

            if (end == 0) {
                from += piece;
                continue;
            }
            /* What comes after the difference is not needed either. */
            if (end < from)
                without = 0;
            memmove(&calls[from], &calls[from + without],
                (end > from + without ? end - from - without : 0) * sizeof(*calls));
            count = end < from ? end : end - without;
        }
    }
    player->coverage = counted;
    return count;
}

/* The call as a person would make it, so that the names of what it makes can be used behind it. */
static void
write_call(struct player *player, const struct call *call, struct pw_buf *out)
{
    const char *name = call_verb_name(call->verb);
    int maker = call->number * CALL_NAMES_MAX;
    struct pw_buf sql;

    pw_buf_init(&sql, (size_t)1 << 20);
    (void)player_render(
        player, call, true, &sql); /* what is missing was skipped when it was played */
    if (call->verb == CALL_ADVANCE) {
        pw_buf_addf(out, "select pawl.test_clock_advance(%s);\n", pw_buf_text(&sql));
    } else if (call->verb == CALL_RETAIN) {
        pw_buf_addf(out, "select oracle.retain(%s);\n", pw_buf_text(&sql));
    } else if (call->verb == CALL_TRIGGER || call->verb == CALL_FORK) {
        pw_buf_addf(out, "select *, run_id as r%d from pawl.%s(%s) \\gset\n", maker, name,
            pw_buf_text(&sql));
    } else if (call->verb == CALL_TRIGGER_MANY) {
        for (int i = 0; i < call->many_count; i++)
            pw_buf_addf(out, "%s (array_agg(run_id order by item))[%d] as r%d",
                i == 0 ? "select" : ",", i + 1, maker + i);
        pw_buf_addf(out, " from pawl.trigger_many(%s) \\gset\n", pw_buf_text(&sql));
    } else if (call->verb == CALL_REGISTER) {
        pw_buf_addf(
            out, "select session as s%d from pawl.register(%s) \\gset\n", maker, pw_buf_text(&sql));
    } else if (call->verb == CALL_EMIT) {
        pw_buf_addf(out, "select event_id as e%d, answer, woken from pawl.emit(%s) \\gset\n", maker,
            pw_buf_text(&sql));
    } else {
        pw_buf_addf(out, "select * from pawl.%s(%s);\n", name, pw_buf_text(&sql));
    }
    for (int i = CALL_ITEMS_MAX; i < CALL_NAMES_MAX; i++)
        if (player_find(&player->runs, maker + i) != NULL)
            pw_buf_addf(out,
                "select run_id as r%d from pawl_data.task where parent_id is not null and "
                "triggered_at "
                "= "
                "pawl.now() order by run_id desc offset %d limit 1 \\gset\n",
                maker + i, i - CALL_ITEMS_MAX);
    for (int i = 0; i < call->items_count; i++)
        if (player_find(&player->runs, maker + i) != NULL)
            pw_buf_addf(out,
                "select child_id as r%d from pawl_data.wait where child_id is not null order by "
                "created_at desc limit 1 \\gset\n",
                maker + i);
    pw_buf_done(&sql);
}

void
reduce_print_comment(const char *text)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, "\n");

        printf("# %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
    (void)fflush(stdout); /* several write; each its own lines */
}

void
reduce_print(struct player *player, const struct call *calls, size_t count)
{
    struct pw_buf script;

    pw_buf_init(&script, (size_t)1 << 24);
    pw_buf_adds(&script,
        "-- After sql/test/clock.sql, with psql:\n"
        "select pawl.test_clock_set('2040-01-01 00:00+00'); update pawl_data.setting set "
        "payload_max "
        "= 4000;\n");
    player_reset(player);
    for (size_t i = 0; i < count; i++) {
        /* Before it is played, because fences are those of that moment. */
        struct pw_buf sql;
        bool there;

        pw_buf_init(&sql, (size_t)1 << 20);
        there = player_render(player, &calls[i], false, &sql);
        pw_buf_done(&sql);
        if (!there)
            continue;
        if (calls[i].lock != 0)
            pw_buf_addf(&script,
                "-- meanwhile, in another session: begin; select from pawl_data.task where run_id "
                "= "
                ":'r%d' for update;\n",
                calls[i].lock);
        write_call(player, &calls[i], &script);
        if (player_play(player, &calls[i]) == PLAYER_DIFFERS)
            break;
    }
    if (player->problem.size == 0)
        (void)player_compare_all(player); /* it says what differs */
    pw_buf_addf(&script, "-- %s", pw_buf_text(&player->problem));
    reduce_print_comment(pw_buf_text(&script));
    pw_buf_done(&script);
}
