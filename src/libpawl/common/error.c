/* SPDX-License-Identifier: Apache-2.0 */
/* The error object that callers hold, and the names of all codes. */
#include "libpawl/common/error.h"

#include "base/alloc.h"
#include "base/size.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One allocation: the detail follows the object. */
struct pawl_error {
    struct pw_error error;
    pawl_bytes detail;
};

/* Returned when there is no memory for another object. Constant, so freeing it does nothing. */
static const pawl_error oom_error = {
    .error = {.code = PAWL_ENOMEM, .retryable = true, .message = "out of memory"},
};

struct status {
    const char *name;
    const char *text;
};

/* By code; the gap between the two halves is empty. */
static const struct status statuses[] = {
    [PAWL_OK] = {"PAWL_OK", "success"},
    [PAWL_EINVAL] = {"PAWL_EINVAL",
        "a bad argument, calls in a wrong order, or an object from before a fork"},
    [PAWL_ENOMEM] = {"PAWL_ENOMEM", "out of memory; nothing was sent or recorded"},
    [PAWL_ECONN] = {"PAWL_ECONN", "no connection to the database"},
    [PAWL_ETIMEOUT] = {"PAWL_ETIMEOUT", "timeout"},
    [PAWL_ENOTFOUND] = {"PAWL_ENOTFOUND", "no such run, workflow, queue or worker"},
    [PAWL_ECONFLICT] = {"PAWL_ECONFLICT", "the key was used with another input"},
    [PAWL_EREFUSED] = {"PAWL_EREFUSED",
        "the run is not in a state that allows this, or a person rejected it"},
    [PAWL_ELEASE_LOST] = {"PAWL_ELEASE_LOST", "the run belongs to another worker now"},
    [PAWL_ECANCELLED] = {"PAWL_ECANCELLED", "the run was cancelled"},
    [PAWL_ETOOLARGE] = {"PAWL_ETOOLARGE", "a payload, name or list is over its limit"},
    [PAWL_EBUSY] = {"PAWL_EBUSY", "another transaction holds it; call again"},
    [PAWL_EFORBIDDEN] = {"PAWL_EFORBIDDEN", "the database role may not do this"},
    [PAWL_ESCHEMA] = {"PAWL_ESCHEMA", "pawl is not installed there, or speaks another protocol"},
    [PAWL_EUNKNOWN] = {"PAWL_EUNKNOWN", "it may have happened, or may still be lost"},
    [PAWL_EDATABASE] = {"PAWL_EDATABASE", "another error of the database"},
    [PAWL_ERUN] = {"PAWL_ERUN", "the run, or the child, ended with an error of its own"},
    [PAWL_EFAILED] = {"PAWL_EFAILED",
        "the step, or the run, failed; the retry policy decides whether it is tried again"},
    [PAWL_EPERMANENT] = {"PAWL_EPERMANENT", "it failed, and is not to be tried again"},
    [PAWL_SUSPENDED] = {"PAWL_SUSPENDED", "the run waits for something"},
    [PAWL_EXECUTE] = {"PAWL_EXECUTE", "the step has no record yet"},
    [PAWL_PENDING] = {"PAWL_PENDING", "not durable yet"},
    [PAWL_DRAINED] = {"PAWL_DRAINED", "the worker is drained: there will be no more runs"},
};

static const struct status *
find_status(pawl_status status)
{
    if (status < 0 || (size_t)status >= sizeof(statuses) / sizeof(statuses[0]) ||
        statuses[status].name == NULL)
        return NULL;
    return &statuses[status];
}

pawl_status
pw_error_export(const struct pw_error *err, pawl_bytes detail, pawl_error **out)
{
    pawl_error *error;
    size_t size;
    char *copy;

    if (out == NULL)
        return err->code;
    if (err->code == PAWL_OK) {
        *out = NULL;
        return PAWL_OK;
    }
    error = NULL;
    if (pw_size_add(sizeof(*error) + 1, detail.data != NULL ? detail.size : 0, &size))
        error = pw_alloc(size);
    if (error == NULL) {
        /* No code writes to it; only the type that callers see is not const. */
        *out = (pawl_error *)(uintptr_t)&oom_error;
        return err->code;
    }
    error->error = *err;
    error->detail.data = NULL;
    error->detail.size = 0;
    if (detail.data != NULL) {
        copy = (char *)(error + 1);
        memcpy(copy, detail.data, detail.size);
        copy[detail.size] = '\0';
        error->detail.data = copy;
        error->detail.size = detail.size;
    }
    *out = error;
    return err->code;
}

pawl_status
pawl_error_code(const pawl_error *error)
{
    return error != NULL ? error->error.code : PAWL_OK;
}

const char *
pawl_error_message(const pawl_error *error)
{
    return error != NULL ? error->error.message : "";
}

const char *
pawl_error_hint(const pawl_error *error)
{
    return error != NULL ? error->error.hint : "";
}

const char *
pawl_error_sqlstate(const pawl_error *error)
{
    return error != NULL ? error->error.sqlstate : "";
}

pawl_bytes
pawl_error_detail(const pawl_error *error)
{
    const pawl_bytes none = {NULL, 0};

    return error != NULL ? error->detail : none;
}

int
pawl_error_retryable(const pawl_error *error)
{
    return error != NULL && error->error.retryable ? 1 : 0;
}

void
pawl_error_free(pawl_error *error)
{
    if (error != &oom_error)
        pw_free(error);
}

const char *
pawl_status_name(pawl_status status)
{
    const struct status *found = find_status(status);

    return found != NULL ? found->name : "unknown";
}

const char *
pawl_status_text(pawl_status status)
{
    const struct status *found = find_status(status);

    return found != NULL ? found->text : "a status that this release does not know";
}
