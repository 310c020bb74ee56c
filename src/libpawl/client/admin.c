/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of administrators. */
#include "pawl/admin.h"

#include "base/time.h"
#include "libpawl/common/config.h"
#include "libpawl/common/error.h"
#include "pg/script.h"

/* Sends the script once, or repeatedly if measure is not NULL. */
static pawl_status
send(const pawl_config *config, const char *script, pawl_measure_fn measure, void *userdata,
    pawl_error **error)
{
    const pawl_bytes none = {0};
    struct pw_settings settings = {0};
    struct pw_error err = {0};
    int status;

    status = pw_config_settings(config, &settings, &err);
    if (status == PAWL_OK) {
        struct pw_conn_spec spec = pw_settings_spec(&settings);
        int64_t deadline_us = pw_add_us(pw_now_us(), pw_ms_to_us(settings.connect_timeout_ms));

        status = measure != NULL
            ? pw_script_measure(&spec, script, deadline_us, measure, userdata, &err)
            : pw_script_run(&spec, script, deadline_us, &err);
    }
    pw_settings_done(&settings);
    if (status == PAWL_OK)
        pw_error_clear(&err);
    return pw_error_export(&err, none, error);
}

static pawl_status
refuse(const char *what, pawl_error **error)
{
    const pawl_bytes none = {0};
    struct pw_error err = {0};

    pw_error_set(&err, PAWL_EINVAL, "%s", what);
    return pw_error_export(&err, none, error);
}

pawl_status
pawl_admin_script(const pawl_config *config, const char *script, pawl_error **error)
{
    if (script == NULL)
        return refuse("no script was given", error);
    return send(config, script, NULL, NULL, error);
}

pawl_status
pawl_admin_measure(const pawl_config *config, const char *script, pawl_measure_fn measure,
    void *userdata, pawl_error **error)
{
    if (script == NULL || measure == NULL)
        return refuse("no script, or no function that ends it, was given", error);
    return send(config, script, measure, userdata, error);
}
