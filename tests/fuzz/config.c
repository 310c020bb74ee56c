/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, a line each, NAME=VALUE: what is taken is there, what is refused has changed nothing, and all that is taken can be read. */
#include "libpawl/common/config.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
set(pawl_config *config, const char *name, const char *value)
{
    const char *was = pawl_config_get(config, name);
    char *before = was == NULL ? NULL : strdup(was);
    pawl_error *error = NULL;
    pawl_status status = pawl_config_set(config, name, value, &error);
    const char *now = pawl_config_get(config, name);

    fuzz_check(status == PAWL_OK || status == PAWL_EINVAL, "neither taken nor refused");
    if (status == PAWL_OK)
        fuzz_check(now != NULL && strcmp(now, value) == 0, "another value than was set");
    else
        fuzz_check((now == NULL) == (before == NULL) && (now == NULL || strcmp(now, before) == 0) &&
                pawl_error_message(error)[0] != '\0',
            "a refusal that changes something, or says nothing");
    pawl_error_free(error);
    free(before);
}

static void
read_all(const pawl_config *config)
{
    struct pw_settings settings;
    struct pw_error err = {0};
    const char *at;
    const char *name;
    size_t size;

    fuzz_check(pw_config_settings(config, &settings, &err) == PAWL_OK, "what was taken is no good");
    fuzz_check(settings.lease_ms > 0 && settings.concurrency >= 0 && settings.connections > 0 &&
            settings.payload_max > 0 && settings.batch_max > 0,
        "a setting beyond its bounds");
    for (at = settings.runtimes; pw_settings_runtime(&at, &name, &size);)
        fuzz_check(size > 0 && name >= settings.runtimes &&
                name + size <= settings.runtimes + strlen(settings.runtimes),
            "a runtime outside of the list");
    pw_settings_done(&settings);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    pawl_config *config = pawl_config_new();
    char *line;

    fuzz_check(config != NULL, "out of memory");
    while ((line = fuzz_line(&input)) != NULL) {
        char *equals = strchr(line, '=');

        if (equals != NULL)
            *equals = '\0';
        set(config, line, equals != NULL ? equals + 1 : "");
        free(line);
    }
    read_all(config);
    pawl_config_free(config);
    return 0;
}
