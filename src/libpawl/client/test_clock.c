/* SPDX-License-Identifier: Apache-2.0 */
/* Moves the clock of a database for tests. */
#include "libpawl/client/client.h"
#include "libpawl/common/error.h"
#include "libpawl/common/statements.h"
#include "pawl/test.h"

static int
advance_clock(pawl_client *client, int64_t by_ms, struct pw_error *err)
{
    struct pw_params params;
    struct pw_ask ask = {
        .statement = PW_STMT_TEST_ADVANCE,
        .params = &params,
        .repeat = PW_REPEAT_NEVER,
        .deadline_us = pw_client_deadline(client),
    };
    struct pw_reply reply;
    bool moved = false;
    int status;

    pw_params_init(&params);
    pw_params_int8(&params, by_ms);
    status = pw_client_ask(client, &ask, &reply, err);
    if (status != PAWL_OK)
        return status;
    pw_client_clock_forget(client);
    if (!pw_rows_bool(&reply.rows, 0, 0, &moved) || !moved) {
        pw_error_set(err, PAWL_ESCHEMA, "the test clock runs by itself");
        pw_error_hint(err, "Stop it with select pawl.test_clock_set(clock_timestamp()).");
        status = PAWL_ESCHEMA;
    }
    pw_reply_done(&reply);
    return status;
}

pawl_status
pawl_test_advance(pawl_client *client, int64_t by_ms, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (pw_client_begin(client, &err) == PAWL_OK) {
        /*
         * 1. The first call moves the clock while a tick runs in another session. 2. That tick ends with the old time, and no other tick
         * is due for a moment. 3. The second call moves nothing, but makes a tick due at the new time. Without it, due timers could wait
         * for that moment. The status is in err.
         */
        if (advance_clock(client, by_ms, &err) == PAWL_OK)
            (void)advance_clock(client, 0, &err);
        pw_client_end(client);
    }
    return pw_error_export(&err, none, error);
}
