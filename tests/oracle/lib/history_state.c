/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables hold after a phase, as text: read line by line, and compared with what an oracle holds. */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines of a run, up to that of its notes; NULL: there is no such run. */
static const char *
find_run(const struct history *history, const char *run)
{
    char head[64];
    const char *found;

    (void)snprintf(head, sizeof(head), "run %.*s\n", (int)strcspn(run, "/"), run); /* it fits */
    found = strstr(pw_buf_text(&history->state), head);
    return found == NULL ? NULL : found + strlen(head);
}

/* The next line of the same run, or NULL. */
static const char *
next_line(const char *line)
{
    if (strncmp(line, "notes ", 6) == 0)
        return NULL;
    line += strcspn(line, "\n");
    return *line == '\0' || line[1] == '\0' ? NULL : line + 1;
}

/* The n-th word of a line, from 0. */
static const char *
word_at(const char *line, int n)
{
    for (; n > 0; n--)
        line += strcspn(line, " \n") + 1;
    return line;
}

/* The same as a number. */
static int
number_at(const char *line, int n)
{
    int number = 0;

    for (line = word_at(line, n); *line >= '0' && *line <= '9'; line++)
        number = number * 10 + (*line - '0');
    return number;
}

bool
history_has_line(const struct history *history, const char *run, const char *head)
{
    for (const char *line = find_run(history, run); line != NULL; line = next_line(line))
        if (strncmp(line, head, strlen(head)) == 0)
            return true;
    return false;
}

const char *
history_find_row(const struct history *history, const char *row)
{
    const char *slash = strchr(row, '/');
    char head[32];

    (void)snprintf(head, sizeof(head), "task%s ", slash == NULL ? "" : slash); /* it fits */
    for (const char *line = find_run(history, row); line != NULL; line = next_line(line))
        if (strncmp(line, head, strlen(head)) == 0)
            return line;
    return NULL;
}

/* What a task of a flow came to in a round, or NULL. Names of steps inside of it have a number. */
static const char *
find_outcome(const struct history *history, const char *row, int round)
{
    const char *slash = strchr(row, '/');
    char head[32];

    (void)snprintf(head, sizeof(head), "step%s ", slash == NULL ? "" : slash); /* it fits */
    for (const char *line = find_run(history, row); line != NULL; line = next_line(line))
        if (strncmp(line, head, strlen(head)) == 0) {
            const char *name = line + strlen(head);

            if (memchr(name, '#', strcspn(name, " ")) == NULL && number_at(line, 2) == round)
                return line;
        }
    return NULL;
}

/* The words of lines: task PLACE PRIORITY ROUND CRASHES FENCE; step NAME ROUND STATE KIND SEQ ATTEMPT FENCE; round ROUND STATUS PRIORITY
 * FENCE. */
enum {
    TASK_ROUND = 3,
    TASK_FENCE = 5,
    STEP_STATE = 3,
    STEP_FENCE = 7,
    ROUND_FENCE = 4,
};

enum {
    AUDITS_MAX = 1024, /* of one run */
};

void
history_read_progress(
    const struct history *history, const char *run, struct oracle_progressed *progressed)
{
    const char *line = find_run(history, run);

    *progressed = (struct oracle_progressed){.found = line != NULL};
    for (; line != NULL; line = next_line(line)) {
        bool task = strncmp(line, "task ", 5) == 0, round = strncmp(line, "round ", 6) == 0;
        int fence = task ? number_at(line, TASK_FENCE) : round ? number_at(line, ROUND_FENCE) : 0;

        progressed->audits += strncmp(line, "audit ", 6) == 0;
        progressed->records += strncmp(line, "step", 4) == 0 && *word_at(line, STEP_STATE) != 'r';
        progressed->rounds += round;
        if (fence > progressed->fence)
            progressed->fence = fence;
    }
}

bool
history_can_be_taken(const struct history *history, struct oracle *oracle, const char *row)
{
    struct oracle_progressed last;
    const char *line;
    int round, fence;

    if (!oracle_look_row(oracle, row, &round, &fence))
        return false;
    if (strchr(row, '/') == NULL) {
        history_read_progress(history, row, &last);
        return last.fence > fence;
    }
    line = history_find_row(history, row);
    if (line != NULL)
        return number_at(line, TASK_ROUND) > round || number_at(line, TASK_FENCE) > fence;
    /* If it left no record, nobody knows. */
    line = find_outcome(history, row, round);
    return line == NULL || number_at(line, STEP_FENCE) > fence;
}

struct past {
    struct history *history;
    struct oracle *oracle;
    bool found;
};

/* A task whose fence is higher than in the tables, or that is done and lives there. */
static void
look_for_past_task(const char *row, void *userdata)
{
    struct past *past = userdata;
    int round, fence;
    bool living = oracle_look_row(past->oracle, row, &round, &fence);
    const char *line = history_find_row(past->history, row);

    if (line != NULL && number_at(line, TASK_ROUND) <= round)
        past->found = past->found || !living || number_at(line, TASK_ROUND) < round ||
            number_at(line, TASK_FENCE) < fence;
    else if (line == NULL && living) {
        line = find_outcome(past->history, row, round);
        past->found = past->found || (line != NULL && number_at(line, STEP_FENCE) < fence);
    }
}

static void
look_for_past(const char *run, void *userdata)
{
    struct past *past = userdata;
    struct oracle_progressed now, last;

    oracle_look_progress(past->oracle, run, &now);
    history_read_progress(past->history, run, &last);
    past->found = past->found || !last.found || now.fence > last.fence ||
        now.rounds > last.rounds || now.audits > last.audits || now.records > last.records;
    if (!past->found)
        oracle_each_task(past->oracle, run, look_for_past_task, past);
}

/* Whether something has gone further than it has in the tables, so that no order leads there. */
bool
history_is_past(struct history *history, struct oracle *oracle)
{
    struct past past = {history, oracle, false};

    oracle_each_run(oracle, look_for_past, &past);
    return past.found;
}

static void
show_run(const char *run, void *userdata)
{
    struct player *p = userdata;

    oracle_show_run(p->oracle, run, &p->wanted);
}

/* An audit row: audit WHAT AT WHO, and TASK if it is of one. */
struct audit_line {
    const char *text;
    size_t size;
    int64_t at;
    int task;
    bool late; /* and the task may be gone */
    size_t place;
};

static struct audit_line
read_audit(const char *line, size_t place)
{
    struct audit_line audit = {.text = line, .size = strcspn(line, "\n") + 1, .place = place};
    const char *words[5] = {line};

    for (int i = 1; i < 5; i++) {
        const char *next = words[i - 1] + strcspn(words[i - 1], " \n");

        words[i] = *next == ' ' ? next + 1 : next;
    }
    for (const char *c = words[2]; *c >= '0' && *c <= '9'; c++)
        audit.at = audit.at * 10 + (*c - '0');
    audit.task = number_at(words[4], 0);
    audit.late = audit.task > 0 && strncmp(words[1], "late_result ", 12) == 0;
    return audit;
}

static int
compare_audits(const void *a, const void *b)
{
    const struct audit_line *x = a;
    const struct audit_line *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->late != y->late)
        return x->late ? 1 : -1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

void
history_put_in_order(struct pw_buf *text)
{
    static struct audit_line audits[AUDITS_MAX];
    size_t count = 0;
    struct pw_buf out;

    pw_buf_init(&out, (size_t)1 << 26);
    for (const char *line = pw_buf_text(text); *line != '\0';) {
        size_t size = strcspn(line, "\n") + 1;

        if (strncmp(line, "notes ", 6) == 0) {
            if (count > 1)
                qsort(audits, count, sizeof(audits[0]), compare_audits);
            for (size_t i = 0; i < count; i++)
                pw_buf_add(&out, audits[i].text, audits[i].size);
            count = 0;
        }
        if (strncmp(line, "audit ", 6) == 0 && count < AUDITS_MAX) {
            audits[count] = read_audit(line, count);
            count++;
        } else {
            pw_buf_add(&out, line, size);
        }
        line += size;
    }
    pw_buf_clear(text);
    pw_buf_adds(text, pw_buf_text(&out));
    pw_buf_done(&out);
}

void
history_show(struct history *history, struct oracle *oracle)
{
    struct player *p = history->player;

    p->oracle = oracle;
    pw_buf_clear(&p->wanted);
    oracle_each_run(oracle, show_run, p);
    oracle_show_rest(oracle, &p->wanted);
    history_put_in_order(&p->wanted);
}

bool
history_is_state(struct history *history, struct oracle *oracle)
{
    if (oracle_tick_is_due(oracle) != history->tick_is_due)
        return false;
    history_show(history, oracle);
    return strcmp(pw_buf_text(&history->player->wanted), pw_buf_text(&history->state)) == 0;
}
