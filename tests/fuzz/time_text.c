/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations as people type them and as PostgreSQL prints them: a time that is read is the same when it is written and read again. */
#include "cli/show/time_text.h"
#include "base/pg_text/interval.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* As PostgreSQL has them, from year 1 to 9999, which is what four digits can say. */
static const int64_t first_us = INT64_C(-62135596800) * 1000000;
static const int64_t last_us = INT64_C(253402300799) * 1000000;

static void
check_time(int64_t us)
{
    char room[TIME_TEXT_SIZE];
    int64_t again = 0;

    time_text_write_local(room, us);
    fuzz_check(strlen(room) < TIME_TEXT_SIZE, "no room");
    time_text_write_stamp(room, us);
    if (us < first_us || us > last_us)
        return;
    fuzz_check(time_text_read_stamp(room, &again) && again == us, "a time reads back as another");
}

static void
check_span(int64_t us)
{
    char room[TIME_TEXT_SIZE];

    room[0] = '\0';
    time_text_write_span(room, us);
    fuzz_check(room[0] != '\0' && strlen(room) < TIME_TEXT_SIZE - 1, "a span without words");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *text = fuzz_rest(&input);
    int64_t ms = time_text_duration_ms(text);
    int64_t us = 0;

    fuzz_check(ms >= -1 && ms <= INT64_C(320000000000), "a duration beyond its bounds");
    if (ms >= 0)
        check_span(ms * 1000);
    if (time_text_read_stamp(text, &us))
        check_time(us);
    if (time_text_read(text, INT64_C(1772366400000000), size % 2 == 0, &us))
        check_time(us);
    if (pw_interval_read(text, &us)) {
        fuzz_check(us >= 0 || strchr(text, '-') != NULL, "less than nothing, and no minus");
        check_span(us);
        check_span(-us);
    }
    free(text);
    return 0;
}
