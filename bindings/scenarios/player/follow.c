/* SPDX-License-Identifier: Apache-2.0 */
/* The action follow: reads the notes of a run as they are stored, with a cursor. */
#include "play.h"

#include <inttypes.h>
#include <string.h>

enum {
    FOLLOW_MS = 30000 /* for the next note */
};

/* A reader: where it is, and the notes that it has got. */
struct reader {
    struct play *play;
    const char *run_id;
    int64_t after; /* the last note that it has seen */
    int64_t first; /* the first one, 0 if there was none */
    struct value *texts;
    size_t count;
    bool ended;
};

/* A number that came from the database. */
static int64_t
read_number(struct play *play, const char *text)
{
    return value_to_int(play_read(play, pawl_text(text)), 0);
}

static const char *
say_piece(struct play *play, const pawl_rows *rows, size_t row)
{
    const char *name = pawl_rows_text(rows, row, "name");
    const char *begins = pawl_rows_text(rows, row, "begins");

    return pool_printf(play->pool, "%s%s%s%s %s", pawl_rows_text(rows, row, "kind"),
        name != NULL && name[0] != '\0' ? " " : "", name != NULL ? name : "",
        begins != NULL && strcmp(begins, "t") == 0 ? " begins" : "",
        pawl_rows_text(rows, row, "body"));
}

static void
take_rows(struct reader *reader, const pawl_rows *rows)
{
    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        const char *number = pawl_rows_text(rows, i, "note_no");
        const char *status = pawl_rows_text(rows, i, "status");

        if (number == NULL) {
            reader->ended = strstr("SUCCESS ERROR CANCELLED", status) != NULL;
            continue;
        }
        reader->after = read_number(reader->play, number);
        if (reader->first == 0)
            reader->first = reader->after;
        if (reader->count < reader->texts->count)
            reader->texts->items[reader->count] =
                value_string(reader->play->pool, say_piece(reader->play, rows, i));
        reader->count++;
    }
}

/* Reads until there are so many notes, or until the run has ended. */
static void
read_notes(struct reader *reader, size_t count, bool ends)
{
    pawl_error *error = NULL;
    pawl_rows *rows;

    reader->texts = value_list(reader->play->pool, VALUE_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        reader->texts->items[i] = &value_null;
    while (ends ? !reader->ended : reader->count < count && !reader->ended) {
        if (!play_good(reader->play, "follow",
                pawl_client_follow(reader->play->client, reader->run_id, reader->after, 0,
                    FOLLOW_MS, &rows, &error),
                error))
            return;
        take_rows(reader, rows);
        pawl_rows_free(rows);
    }
}

/* Reads notes after a number, and compares them with those that are wanted, without the first so many of them. Returns the number of the first note. */
static int64_t
compare_notes(struct play *play, const struct value *action, int64_t after, size_t without)
{
    const struct value *wanted = play_fill(play, NULL, value_member(action, "notes"));
    size_t count = wanted->count - without;
    struct value *rest = value_list(play->pool, VALUE_ARRAY, count);
    struct reader reader = {.play = play,
        .run_id = play_run_id(play, value_text(action, "follow", "run")),
        .after = after};

    for (size_t i = 0; i < count; i++)
        rest->items[i] = wanted->items[without + i];
    read_notes(&reader, count, value_is_true(action, "ends"));
    if (reader.count != count || !value_equal(play->pool, reader.texts, rest))
        play_problem(play, "follow after note %" PRId64 ": %zu notes, %s instead of %s", after,
            reader.count, value_write(play->pool, reader.texts).data,
            value_write(play->pool, rest).data);
    return reader.first;
}

void
follow_check(struct play *play, const struct value *action)
{
    const struct value *wanted = value_member(action, "notes");
    int64_t first;

    if (wanted == NULL || wanted->kind != VALUE_ARRAY) {
        play_problem(play, "follow has no list of notes");
        return;
    }
    first = compare_notes(play, action, 0, 0);
    if (first != 0 && wanted->count > 1)
        (void)compare_notes(play, action, first, 1);
}
