/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out pieces of a sequence, halves first and single calls last; see the header. */
#include "reduce.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAYS_MAX = 600, /* a bound on the time that it takes */
};

/* Plays all but [from, from + without) and returns how many calls it took to differ; 0: it did not. */
static size_t
play_without(
    struct player *player, const struct call *calls, size_t count, size_t from, size_t without)
{
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
    int plays = 0;

    player->coverage = &aside;
    for (size_t piece = count / 2; piece > 0; piece /= 2) {
        for (size_t from = 0; from < count && plays < PLAYS_MAX;) {
            size_t without = piece < count - from ? piece : count - from;
            size_t end = play_without(player, calls, count, from, without);

            plays++;
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

static void
print_call(struct player *player, const struct call *call)
{
    const char *name = call_verb_name(call->verb);
    struct pw_buf sql;
    int maker = call->number * CALL_ITEMS_MAX;

    pw_buf_init(&sql, (size_t)1 << 20);
    if (call->lock != 0)
        printf("-- meanwhile, in another session: begin; select from pawl.task where run_id = "
               ":'r%d' for update;\n",
            call->lock);
    (void)player_render(
        player, call, true, &sql); /* what is missing was skipped when it was played */
    if (call->verb == CALL_ADVANCE)
        printf("select pawl.test_clock_advance(%s);\n", pw_buf_text(&sql));
    else if (call->verb == CALL_TRIGGER || call->verb == CALL_FORK)
        printf("select *, run_id as r%d from pawl.%s(%s) \\gset\n", maker, name, pw_buf_text(&sql));
    else if (call->verb == CALL_REGISTER)
        printf("select session as s%d from pawl.register(%s) \\gset\n", maker, pw_buf_text(&sql));
    else if (call->verb == CALL_EMIT)
        printf("select event_id as e%d, answer, woken from pawl.emit(%s) \\gset\n", maker,
            pw_buf_text(&sql));
    else
        printf("select * from pawl.%s(%s);\n", name, pw_buf_text(&sql));
    for (int i = 0; i < call->items_count; i++)
        if (player_find(&player->runs, maker + i) != NULL)
            printf("select child_id as r%d from pawl.wait where child_id is not null order by "
                   "created_at desc limit 1 \\gset\n",
                maker + i);
    pw_buf_done(&sql);
}

void
reduce_print(struct player *player, const struct call *calls, size_t count)
{
    printf("-- After sql/test/clock.sql, with psql:\n"
           "select pawl.test_clock_set('2040-01-01 00:00+00'); update pawl.setting set payload_max "
           "= 4000;\n");
    player_reset(player);
    for (size_t i = 0; i < count; i++) {
        /* Before it is played, because fences are those of that moment. */
        struct pw_buf sql;
        bool there;
        enum player_outcome outcome;

        pw_buf_init(&sql, (size_t)1 << 20);
        there = player_render(player, &calls[i], false, &sql);
        pw_buf_done(&sql);
        if (!there)
            continue;
        print_call(player, &calls[i]);
        outcome = player_play(player, &calls[i]);
        if (outcome == PLAYER_DIFFERS)
            break;
    }
    if (player->problem.size == 0)
        (void)player_compare_all(player); /* it says what differs */
    printf("-- %s", pw_buf_text(&player->problem));
    (void)fflush(stdout);
}
