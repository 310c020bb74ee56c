/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a trigger, a line each, NAME=VALUE: what is read is within its bounds, what is not is told. */
#include "libpawl/client/trigger.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    bool many = fuzz_byte(&input) % 2 != 0;
    pawl_trigger *trigger = pawl_trigger_new("fuzz");
    struct pw_trigger_values values;
    struct pw_error err = {0};
    size_t added = 0;
    int status;
    char *line;

    fuzz_check(trigger != NULL, "out of memory");
    while ((line = fuzz_line(&input)) != NULL) {
        char *equals = strchr(line, '=');

        if (equals != NULL)
            *equals = '\0';
        if (line[0] == '+') {
            pawl_trigger_add(trigger, pawl_text(line + 1), equals != NULL ? equals + 1 : NULL);
            added++;
        } else {
            pawl_trigger_set(trigger, line, equals != NULL ? equals + 1 : NULL);
        }
        free(line);
    }
    status = pw_trigger_read(trigger, many, &values, &err);
    if (status == PAWL_OK)
        fuzz_check(values.priority >= 0 && values.priority <= 32767 && values.delay_ms >= 0 &&
                values.key_ttl_ms >= 0 && !(many && values.has_id),
            "an option beyond its bounds");
    else
        fuzz_check(status == PAWL_EINVAL && err.message[0] != '\0', "a refusal without words");
    fuzz_check(trigger->item_count == added, "a run too many, or too few");
    pawl_trigger_free(trigger);
    return 0;
}
