/* SPDX-License-Identifier: Apache-2.0 */
/* Options of steps, waits and children, a line each, NAME=VALUE: whatever is found good is written as JSON, and a mistake is told. */
#include "libpawl/run/option.h"
#include "base/arena.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
write_all(const struct pw_options *options)
{
    struct pw_json_writer writer;
    struct pw_buf buf;

    pw_buf_init(&buf, 4 * 1024 * 1024);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    for (size_t i = 0; i < PW_OPTIONS; i++) {
        const char name[] = {(char)('a' + i), '\0'};

        pw_options_write(options, (enum pw_option)i, name, &writer);
    }
    pw_options_write_policy(options, &writer);
    if (options->values[PW_OPTION_UNDO] != NULL)
        pw_options_write_undo(options, &writer);
    pw_json_close(&writer);
    fuzz_check(!pw_buf_ok(&buf) || pw_json_ok(&writer), "the writer was misused");
    fuzz_check(!pw_buf_ok(&buf) || pw_json_valid((struct pw_json){buf.data, buf.size}),
        "options that are no JSON");
    pw_buf_done(&buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct pw_options options = {0};
    struct pw_arena arena;
    unsigned call = 1u << (fuzz_byte(&input) % 3);
    char *line;
    bool fit;

    pw_arena_init(&arena, (size_t)16 * 1024 * 1024);
    while ((line = fuzz_line(&input)) != NULL) {
        char *equals = strchr(line, '=');

        if (equals != NULL)
            *equals = '\0';
        pw_options_set(&options, &arena, line, equals != NULL ? equals + 1 : NULL);
        free(line);
    }
    /* What has the right form is kept, so it can be written also beside a mistake. */
    write_all(&options);
    fit = pw_options_fit(&options, call);
    fuzz_check(fit == (options.mistake == NULL), "a mistake that nobody is told of");
    fuzz_check(fit || (options.about != NULL && strlen(options.about) <= 40), "about what?");
    pw_arena_done(&arena);
    return 0;
}
