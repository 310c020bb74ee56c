/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that a storm's journal holds, admitted by the oracle family by family, and what it amounts to. */
#include "journal.h"

#include <stdio.h>
#include <string.h>

enum {
    told_max = 5,
    tampers = 5
};

/* Kinds of entries, as they are counted. */
static const char *const kinds[] = {"trigger", "claim", "step", "begin", "step_error", "retry",
    "confirm", "sleep", "event", "signal", "approval", "child", "complete", "fail", "suspend",
    "release", "drift", "start", "note", "record", "due", "promote", "take_back", "limit", "cancel",
    "signal sent", "retry asked", NULL};

static void
count_entry(const struct journal_entry *entry, struct admitted *admitted)
{
    char kind[40];
    struct pw_json name = pw_json_member(entry->args, "kind");

    (void)snprintf(kind, sizeof(kind), "%s", entry->what);
    if (strcmp(entry->what, "item") == 0 && name.size > 2)
        (void)snprintf(kind, sizeof(kind), "%.*s", (int)name.size - 2, name.data + 1);
    else if (strcmp(entry->what, "signal") == 0)
        (void)snprintf(kind, sizeof(kind), "signal sent");
    else if (strcmp(entry->what, "retry") == 0)
        (void)snprintf(kind, sizeof(kind), "retry asked");
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (strcmp(kinds[i], kind) == 0)
            admitted->by_kind[i]++;
    admitted->entries++;
}

void
admit_tell(const struct admitted *admitted)
{
    char line[1000] = "";
    int length = 0;

    race_note(
        "traces of %ld storms: %ld runs in %ld families, %ld events admitted in %ld calls, %ld "
        "refused",
        admitted->storms, admitted->runs, admitted->families, admitted->entries, admitted->calls,
        admitted->refused);
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (admitted->by_kind[i] > 0)
            length += snprintf(line + length, sizeof(line) - (size_t)length, "%s%s %ld",
                length > 0 ? ", " : "", kinds[i], admitted->by_kind[i]);
    race_note("events: %s", line);
    race_note(
        "%ld items were told busy, %ld calls stand before one that has a lower number and that "
        "they did not see, %ld times were rounded to a millisecond",
        admitted->busy, admitted->moved, admitted->rounded);
    race_note("%ld calls did not see a cancel that was being passed on", admitted->unseen);
    race_note("%ld journals that were tampered with, %ld of them refused", admitted->tampered,
        admitted->noticed);
    race_note("left out: %ld runs of flows", admitted->left_out);
}

/* Each way in which a journal can be untrue, in the first families that have something to change so. */
static void
tamper_all(struct race *race, const struct journal *journal, struct admitted *admitted)
{
    struct pw_buf problem;

    pw_buf_init(&problem, (size_t)1 << 20);
    for (int way = 0; way < tamper_ways; way++) {
        long tried = 0, noticed = 0;

        for (size_t at = 0; tried < tampers && at < journal->entries_count;) {
            struct admitted ignored = {0};
            struct family family;
            struct pw_arena arena;

            pw_arena_init(&arena, (size_t)1 << 20);
            family_open(&family, journal, &at);
            if (tamper(&family, way, &arena)) {
                tried++;
                if (!family_admit(&family, &problem, &ignored) && noticed++ == 0)
                    race_note("%s: %s", tamper_name(way), pw_buf_text(&problem));
            }
            family_done(&family);
            pw_arena_done(&arena);
        }
        race_ok(race, noticed == tried, "%s: refused %ld of %ld times", tamper_name(way), noticed,
            tried);
        admitted->tampered += tried;
        admitted->noticed += noticed;
    }
    pw_buf_done(&problem);
}

static void
admit_family(
    struct family *family, const char *path, struct pw_buf *problem, struct admitted *admitted)
{
    if (!family_admit(family, problem, admitted)) {
        if (admitted->refused++ < told_max) {
            race_note("refused: %s", pw_buf_text(problem));
            family_list(family, pw_buf_text(problem), path);
        }
        return;
    }
    admitted->families++;
    admitted->runs += (long)family->runs_count;
    admitted->calls += (long)family->calls_count;
    for (size_t i = 0; i < family->entries_count; i++)
        if (family->entries[i].run != NULL)
            count_entry(&family->entries[i], admitted);
}

void
admit_storm(struct race *race, PGconn *conn, const char *path, struct admitted *admitted)
{
    struct journal journal;
    struct pw_buf problem;
    long refused = admitted->refused, runs = admitted->runs;
    double started_s = bench_now_s();

    journal_load(&journal, conn);
    pw_buf_init(&problem, (size_t)1 << 20);
    for (size_t at = 0; at < journal.entries_count;) {
        struct family family;

        family_open(&family, &journal, &at);
        admit_family(&family, path, &problem, admitted);
        family_done(&family);
    }
    if (admitted->refused > refused)
        race_note("the journal of what was refused is in %s", path);
    admitted->storms++;
    admitted->left_out += journal.left_out;
    race_ok(race, admitted->refused == refused && admitted->runs - runs == (long)journal.runs_count,
        "seed %llu: the oracle admits %ld of %zu coded runs, event by event",
        (unsigned long long)race->seed, admitted->runs - runs, journal.runs_count);
    race_note("the journal was read and replayed in %.1f s", bench_now_s() - started_s);
    if (admitted->refused == refused)
        tamper_all(race, &journal, admitted);
    pw_buf_done(&problem);
    journal_done(&journal);
}
