/* SPDX-License-Identifier: Apache-2.0 */
/* A phase that no order explains, for people: its calls with their answers, and the longest order that was possible. */
#include "history.h"

#include "reduce.h"

#include <stdio.h>
#include <string.h>

static void
tell_call(struct history *h, int at)
{
    const struct history_call *call = &h->calls[at];
    struct oracle *kept = h->player->oracle;
    struct pw_buf text;

    pw_buf_init(&text, (size_t)1 << 20);
    pw_buf_addf(&text, "%2d client %d, sent %ld, ", at + 1, call->client + 1, call->sent);
    if (call->answered == HISTORY_UNKNOWN)
        pw_buf_adds(&text, "unknown");
    else
        pw_buf_addf(&text, "answered %ld", call->answered);
    pw_buf_addf(&text, "%s: %s(%s)\n", call->held_open ? ", held open" : "",
        call_verb_name(call->call.verb), call->arguments);
    if (call->answered != HISTORY_UNKNOWN)
        pw_buf_addf(&text, "     %s\n", call->got);
    reduce_print_comment(pw_buf_text(&text));
    pw_buf_done(&text);
    h->player->oracle = kept;
}

static void
tell_way(const struct history_way *way)
{
    static const char *const moments[] = {
        "", " (in its sweep)", " (when that ends it)", " (at its time limits)"};

    printf("#   %d%s%s%s%s%s", way->at + 1, way->nothing ? ", without effect" : "",
        way->lost_tick ? ", only its mark of housekeeping" : "",
        way->other_tick ? ", another does the housekeeping" : "",
        way->other_claim ? ", does not see another claim of its session" : "",
        way->unseen_ending ? ", does not see that its run is to end" : "");
    if (way->chosen[0] != '\0')
        printf(", took %s", way->chosen);
    for (int i = 0; i < way->held_count; i++)
        printf("%s%s%s", i == 0 ? ", held by others: " : ", ", way->held[i].id,
            moments[way->held[i].moment]);
    printf("\n");
}

/* Lines of one text that the other does not have. */
static void
tell_lines(const char *who, const char *text, const char *other)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        char line[1024];

        (void)snprintf(line, sizeof(line), "%.*s\n", (int)length, text); /* enough to find it */
        if (strstr(other, line) == NULL)
            printf("#   %s: %s", who, line);
        text += length + (text[length] == '\n');
    }
}

/* What else a call would have been answered behind the longest order. */
static void
tell_next(struct history *h, struct oracle *oracle, int at, unsigned done)
{
    struct history_way way;

    for (int n = 0, told = 0; told < 3 && history_way(h, oracle, at, done, n, &way); n++) {
        struct oracle *next = way.impossible ? NULL : oracle_copy(oracle);

        if (next != NULL && !history_apply(h, next, &way)) {
            printf("#   then %d would be answered:\n", at + 1);
            reduce_print_comment(pw_buf_text(&h->player->wanted));
            told++;
        }
        oracle_free(next);
    }
}

void
history_tell(struct history *history, long seed, long phase)
{
    struct history *h = history;
    struct player *p = h->player;
    struct oracle *base = p->oracle, *copy = oracle_copy(base);
    unsigned done = 0;

    printf("# seed %ld, phase %ld: no order of these %d calls explains it%s. Before them:\n", seed,
        phase, h->calls_count, h->gave_up ? ", as far as they were tried" : "");
    history_show(h, base);
    reduce_print_comment(pw_buf_text(&p->wanted));
    printf("# The calls:\n");
    for (int i = 0; i < h->calls_count; i++)
        tell_call(h, i);
    printf("# The longest order that is possible has %d of them:\n", h->ways_count);
    for (int i = 0; i < h->ways_count; i++) {
        tell_way(&h->ways[i]);
        (void)history_apply(h, copy, &h->ways[i]); /* it was possible before */
        done |= 1U << h->ways[i].at;
    }
    for (int i = 0; i < h->calls_count; i++)
        if ((done >> i & 1) == 0 && h->calls[i].answered != HISTORY_UNKNOWN)
            tell_next(h, copy, i, done);
    history_show(h, copy);
    tell_lines("tables", pw_buf_text(&h->state), pw_buf_text(&p->wanted));
    tell_lines("oracle", pw_buf_text(&p->wanted), pw_buf_text(&h->state));
    p->oracle = base;
    oracle_free(copy);
    (void)fflush(stdout); /* several write; each its own lines */
}
