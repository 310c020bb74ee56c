/* SPDX-License-Identifier: Apache-2.0 */
/* How many programs pawl worker --exec executes at the same time: a number that does not grow by itself. */
#include "cli/command/command.h"
#include "cli/command/invocation.h"
#include "cli/exec/exec.h"
#include "cli/report/exit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Checks the number with this option; without one if name is NULL. */
static void
expect(const char *name, const char *value, const char *wanted)
{
    struct option option = {.name = name};
    struct given given = {.option = &option, .value = value};
    struct invocation invocation = {.given = &given, .given_count = name != NULL};
    pawl_config *config = pawl_config_new();

    assert_int_equal(exec_settings(&invocation, config), EXIT_OK);
    assert_string_equal(pawl_config_get(config, "concurrency"), wanted);
    pawl_config_free(config);
}

static void
a_worker_of_programs_has_a_fixed_width(void **state)
{
    (void)state;
    expect(NULL, NULL, "16");
    expect("concurrency", "auto", "16");
    expect("set", "concurrency=auto", "16");
    expect("concurrency", "4", "4");
    expect("set", "concurrency=40", "40");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_of_programs_has_a_fixed_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
