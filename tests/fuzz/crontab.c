/* SPDX-License-Identifier: Apache-2.0 */
/* A line of a crontab, behind a line that is empty or tells that lines name a user: what it asks for is within the line. */
#include "cli/verbs/crontab.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *system = fuzz_line(&input);
    char *text = fuzz_rest(&input);
    size_t length = strlen(text);
    struct crontab_line line;
    char name[CRONTAB_WORD_SIZE];

    if (system != NULL && strchr(text, '\n') == NULL) {
        crontab_read(&line, text, system[0] != '\0');
        fuzz_check((line.kind == CRONTAB_REFUSED) == (line.problem != NULL),
            "a problem of a line that was read");
        if (line.kind == CRONTAB_JOB) {
            fuzz_check(line.command > text && line.command < text + length,
                "a command that is not in the line");
            fuzz_check(line.cron[0] != '\0' && memchr(line.cron, '\0', sizeof(line.cron)) != NULL,
                "no fields");
            fuzz_check((line.user != NULL) == (system[0] != '\0'), "a user where none is named");
            fuzz_check(line.input == NULL || line.input <= text + length,
                "an input that is not in the line");
            crontab_name(&line, NULL, name);
            fuzz_check(strlen(name) >= 9 &&
                    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '\0',
                "a name that no schedule can have");
        }
        if (line.kind == CRONTAB_SETTING)
            fuzz_check(
                line.name[0] != '\0' && line.command <= text + length, "a setting without a name");
    }
    free(system);
    free(text);
    return 0;
}
