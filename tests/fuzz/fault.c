/* SPDX-License-Identifier: Apache-2.0 */
/* What libpq said becomes one line, of whole characters where it was of such; and every state means something. */
#include "pg/fault.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "pawl/error.h"
#include "pg/sqlstate.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *text = fuzz_rest(&input);
    char five[6] = "";
    struct pw_error err = {0};
    bool retryable = false;
    bool again = false;
    int status = pw_sqlstate_status(text, &retryable);

    fuzz_check(strcmp(pawl_status_name(status), "") != 0 && status != PAWL_OK, "no such status");
    fuzz_check(strlen(text) == 5 || (status == PAWL_EDATABASE && !retryable),
        "what is no state means something");
    memcpy(five, text, strnlen(text, 5));
    fuzz_check(strlen(text) != 5 || pw_sqlstate_status(five, &again) == status, "another meaning");
    pw_fault_lost(&err, text);
    fuzz_check(err.code == PAWL_ECONN && err.retryable && err.message[0] != '\0', "no words");
    fuzz_check(strpbrk(err.message, "\n\t") == NULL, "more than one line");
    fuzz_check(
        !pw_utf8_valid(text, strlen(text)) || pw_utf8_valid(err.message, strlen(err.message)),
        "half a character");
    free(text);
    return 0;
}
