/* SPDX-License-Identifier: Apache-2.0 */
/* Settings. One table parses, checks and describes them; docs/config.md is made from it. */
#include "libpawl/common/config.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/utf8.h"
#include "libpawl/common/error.h"
#include "pg/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Fields of struct pw_settings: char * for the first three, int64_t for durations and numbers, size_t for sizes, bool. */
enum type {
    TYPE_TEXT,
    TYPE_CONNINFO,
    TYPE_LIST,
    TYPE_DURATION,
    TYPE_NUMBER,
    TYPE_NUMBER_OR_AUTO, /* auto, which is 0, besides the numbers from min to max */
    TYPE_SIZE,
    TYPE_SIZE_OR_0, /* 0 besides the sizes from min to max */
    TYPE_SWITCH,    /* on, off */
    TYPE_AUTO,      /* auto, off */
};

struct setting {
    const char *name;
    enum type type;
    const char *default_value;
    int64_t min; /* for texts: of their bytes */
    int64_t max;
    size_t offset;
    const char *text;
};

enum {
    SECOND = 1000,
    HOUR = 3600 * SECOND,
    DAY = 24 * HOUR,
    KB = 1024,
    MB = 1024 * KB,
    GB = 1024 * MB
};

#define FIELD(field) offsetof(struct pw_settings, field)

static const struct setting settings[] = {
    {"database", TYPE_CONNINFO, "", 0, 8192, FIELD(database),
        "Where the database is: its name, a URI or keyword=value pairs, as libpq takes them, with "
        "several hosts if there are. Empty: what libpq finds in its own variables and files."},
    {"application_name", TYPE_TEXT, "pawl", 0, 63, FIELD(application_name),
        "The name under which connections show in pg_stat_activity, unless database names "
        "another."},
    {"connect_timeout", TYPE_DURATION, "10s", 10, HOUR, FIELD(connect_timeout_ms),
        "How long one attempt to connect may last."},
    {"call_timeout", TYPE_DURATION, "30s", 10, HOUR, FIELD(call_timeout_ms),
        "How long one call of a client may last, connecting and sending again included."},
    {"wait_poll", TYPE_DURATION, "500ms", 2, HOUR, FIELD(wait_poll_ms),
        "How often, at the least, a client that waits for a run asks whether it has ended."},
    {"prepared", TYPE_AUTO, "auto", 0, 0, FIELD(prepared),
        "Whether statements are prepared. auto: unless a pooler is found between here and the "
        "server."},
    {"listen", TYPE_AUTO, "auto", 0, 0, FIELD(listen),
        "Whether an idle worker waits for notifications. auto: where that works; elsewhere it "
        "polls."},
    {"listen_database", TYPE_CONNINFO, "", 0, 8192, FIELD(listen_database),
        "A direct way to the server for notifications, where database is a pooler. Empty: none."},
    {"worker_name", TYPE_TEXT, "", 0, 200, FIELD(worker_name),
        "The name of this worker in lists. Empty: host name and process id."},
    {"runtimes", TYPE_LIST, "c", 0, 1000, FIELD(runtimes),
        "What this worker offers to workflows that ask for a runtime; names separated by commas."},
    {"client", TYPE_TEXT, "", 0, 200, FIELD(client),
        "What this worker is, in lists: a library or program with its version. Empty: libpawl and "
        "its version."},
    {"code_version", TYPE_TEXT, "", 0, 100, FIELD(code_version),
        "The version of the workflows' code, in lists. When another version executes a run again, "
        "its history shows it. Empty: not given."},
    {"lease", TYPE_DURATION, "30s", 500, HOUR, FIELD(lease_ms),
        "How long a worker that sends no heartbeat keeps its runs. A third of it passes between "
        "heartbeats."},
    {"concurrency", TYPE_NUMBER_OR_AUTO, "auto", 1, 4096, FIELD(concurrency),
        "How many runs this worker executes at the same time. auto: 16, and by and by up to 256 "
        "while handlers take little time between their records."},
    {"connections", TYPE_NUMBER, "2", 1, 2, FIELD(connections),
        "Connections for claims and records; one more is for heartbeats and notifications."},
    {"batch_max", TYPE_NUMBER, "1000", 1, 5000, FIELD(batch_max),
        "How many records are committed together at most."},
    {"batch_window_us", TYPE_NUMBER, "1000", 0, 100000, FIELD(batch_window_us),
        "How long a record waits, at most, for others to be committed with, in microseconds. One "
        "that has "
        "nothing to wait for does not wait."},
    {"poll", TYPE_DURATION, "2s", 20, HOUR, FIELD(poll_ms),
        "How long an idle worker waits, unless it is notified, before it asks for work again."},
    {"drain_timeout", TYPE_DURATION, "30s", 0, DAY, FIELD(drain_timeout_ms),
        "How long pawl_worker_run() lets handlers continue while it drains."},
    {"start_timeout", TYPE_DURATION, "2s", 0, HOUR, FIELD(start_timeout_ms),
        "How long a claimed run waits until the program takes it with pawl_worker_next(). Then the "
        "worker releases it, and claims nothing until the next call. 0: no limit."},
    {"payload_max", TYPE_SIZE, "1MB", 1, MB, FIELD(payload_max),
        "The largest payload that is sent. The database allows 1 MB."},
    {"memory_max", TYPE_SIZE, "64MB", 64 * KB, INT64_C(16) * GB, FIELD(memory_max),
        "How much memory one run may use in the library: records, outputs and pawl_run_alloc()."},
    {"thread_stack", TYPE_SIZE_OR_0, "256kB", 64 * KB, GB, FIELD(thread_stack),
        "The stack of each thread that executes handlers. 0: as large as the system makes it."},
    {"create_workflows", TYPE_SWITCH, "on", 0, 0, FIELD(create_workflows),
        "Whether a worker creates the workflows that it handles by whole name and that do not "
        "exist."},
};

enum {
    SETTINGS = sizeof(settings) / sizeof(settings[0])
};

struct pawl_config {
    char *values[SETTINGS]; /* NULL: the default */
    struct pw_logger logger;
    int keep_log; /* the least important level that is kept, plus 1; 0: none */
};

static size_t
find_setting(const char *name)
{
    size_t i = 0;

    while (i < SETTINGS && (name == NULL || strcmp(settings[i].name, name) != 0))
        i++;
    return i;
}

/* Names of 1 to 100 characters of a-z, 0-9, '_', '.', '-', separated by commas; or nothing. */
static bool
is_list(const char *text)
{
    size_t length = 0;

    if (text[0] == '\0')
        return true;
    for (;; text++) {
        if (*text == ',' || *text == '\0') {
            if (length == 0 || length > 100)
                return false;
            if (*text == '\0')
                return true;
            length = 0;
        } else if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_.-", *text) != NULL) {
            length++;
        } else {
            return false;
        }
    }
}

/* Checks a value. Sets number for all types except texts, connection strings and lists. */
static bool
parse_value(const struct setting *setting, const char *text, int64_t *number)
{
    size_t size = strnlen(text, (size_t)setting->max + 1);
    bool on = false;

    switch (setting->type) {
    case TYPE_TEXT:
    case TYPE_CONNINFO:
        return size <= (size_t)setting->max && pw_utf8_valid(text, size);
    case TYPE_LIST:
        return size <= (size_t)setting->max && is_list(text);
    case TYPE_DURATION:
        return pw_parse_i64(text, setting->min, setting->max, number) ||
            pw_parse_duration_ms(text, setting->min, setting->max, number);
    case TYPE_NUMBER:
        return pw_parse_i64(text, setting->min, setting->max, number);
    case TYPE_NUMBER_OR_AUTO:
        *number = 0;
        return strcmp(text, "auto") == 0 || pw_parse_i64(text, setting->min, setting->max, number);
    case TYPE_SIZE:
        return pw_parse_size(text, setting->min, setting->max, number);
    case TYPE_SIZE_OR_0:
        return pw_parse_size(text, 0, 0, number) ||
            pw_parse_size(text, setting->min, setting->max, number);
    case TYPE_SWITCH:
        if (!pw_parse_bool(text, &on))
            return false;
        *number = on ? 1 : 0;
        return true;
    case TYPE_AUTO:
    default:
        *number = strcmp(text, "auto") == 0 ? 1 : 0;
        return *number == 1 || strcmp(text, "off") == 0;
    }
}

static void
write_duration(int64_t ms, char *out, size_t size)
{
    if (ms > 0 && ms % HOUR == 0)
        (void)snprintf(out, size, "%" PRId64 "h", ms / HOUR);
    else if (ms > 0 && ms % SECOND == 0)
        (void)snprintf(out, size, "%" PRId64 "s", ms / SECOND);
    else
        (void)snprintf(out, size, ms > 0 ? "%" PRId64 "ms" : "%" PRId64, ms);
}

static void
write_size(int64_t bytes, char *out, size_t size)
{
    if (bytes > 0 && bytes % GB == 0)
        (void)snprintf(out, size, "%" PRId64 "GB", bytes / GB);
    else if (bytes > 0 && bytes % MB == 0)
        (void)snprintf(out, size, "%" PRId64 "MB", bytes / MB);
    else if (bytes > 0 && bytes % KB == 0)
        (void)snprintf(out, size, "%" PRId64 "kB", bytes / KB);
    else
        (void)snprintf(out, size, "%" PRId64, bytes);
}

bool
pw_config_range(size_t index, char *out, size_t size)
{
    const struct setting *setting;
    char min[32];
    char max[32];

    if (index >= SETTINGS)
        return false;
    setting = &settings[index];
    switch (setting->type) {
    case TYPE_TEXT:
        (void)snprintf(out, size, "a text of at most %" PRId64 " bytes", setting->max);
        break;
    case TYPE_CONNINFO:
        (void)snprintf(out, size, "a connection string of at most %" PRId64 " bytes", setting->max);
        break;
    case TYPE_LIST:
        (void)snprintf(out, size, "names of a-z, 0-9, _, . and -, separated by commas");
        break;
    case TYPE_DURATION:
        write_duration(setting->min, min, sizeof(min));
        write_duration(setting->max, max, sizeof(max));
        (void)snprintf(out, size, "a duration from %s to %s", min, max);
        break;
    case TYPE_NUMBER:
    case TYPE_NUMBER_OR_AUTO:
        (void)snprintf(out, size, "%sa number from %" PRId64 " to %" PRId64,
            setting->type == TYPE_NUMBER ? "" : "auto, or ", setting->min, setting->max);
        break;
    case TYPE_SIZE:
    case TYPE_SIZE_OR_0:
        write_size(setting->min, min, sizeof(min));
        write_size(setting->max, max, sizeof(max));
        (void)snprintf(out, size, "%sa size from %s to %s",
            setting->type == TYPE_SIZE ? "" : "0, or ", min, max);
        break;
    case TYPE_SWITCH:
        (void)snprintf(out, size, "on or off");
        break;
    case TYPE_AUTO:
    default:
        (void)snprintf(out, size, "auto or off");
        break;
    }
    return true;
}

pawl_config *
pawl_config_new(void)
{
    return pw_calloc(1, sizeof(struct pawl_config));
}

void
pawl_config_free(pawl_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < SETTINGS; i++)
        pw_free(config->values[i]);
    pw_free(config);
}

/* Checks and stores one value. A value may contain a password, so no message ever shows it. */
static int
set_value(pawl_config *config, const char *name, const char *value, struct pw_error *err)
{
    size_t index = find_setting(name);
    struct pw_target target;
    int64_t number;
    char range[96];
    char *copy;

    if (index == SETTINGS) {
        pw_error_set(err, PAWL_EINVAL, "no setting \"%s\"", name != NULL ? name : "");
        pw_error_hint(err, "Settings are listed in docs/config.md.");
        return PAWL_EINVAL;
    }
    if (value == NULL || !parse_value(&settings[index], value, &number)) {
        (void)pw_config_range(index, range, sizeof(range));
        pw_error_set(err, PAWL_EINVAL, "setting \"%s\" cannot have this value", name);
        pw_error_hint(err, "It is %s.", range);
        return PAWL_EINVAL;
    }
    if (settings[index].type == TYPE_CONNINFO) {
        int status = pw_target_init(&target, value, "", err);

        if (status != PAWL_OK)
            return status;
    }
    copy = pw_strdup(value);
    if (copy == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    pw_free(config->values[index]);
    config->values[index] = copy;
    return PAWL_OK;
}

pawl_status
pawl_config_set(pawl_config *config, const char *name, const char *value, pawl_error **error)
{
    const pawl_bytes none = {NULL, 0};
    struct pw_error err = {0};

    if (config == NULL)
        pw_error_set(&err, PAWL_EINVAL, "no configuration");
    else
        (void)set_value(config, name, value, &err); /* its status is in err */
    return pw_error_export(&err, none, error);
}

static const char *
value_of(const pawl_config *config, size_t index)
{
    if (config != NULL && config->values[index] != NULL)
        return config->values[index];
    return settings[index].default_value;
}

const char *
pawl_config_get(const pawl_config *config, const char *name)
{
    size_t index = find_setting(name);

    return config != NULL && index < SETTINGS ? value_of(config, index) : NULL;
}

pawl_status
pawl_config_describe(size_t index, const char **name, const char **default_value, const char **text)
{
    if (index >= SETTINGS)
        return PAWL_ENOTFOUND;
    if (name != NULL)
        *name = settings[index].name;
    if (default_value != NULL)
        *default_value = settings[index].default_value;
    if (text != NULL)
        *text = settings[index].text;
    return PAWL_OK;
}

void
pawl_config_set_log(pawl_config *config, int level, pawl_log_fn function, void *userdata)
{
    if (config == NULL)
        return;
    config->logger.level = level;
    config->logger.function = function;
    config->logger.userdata = userdata;
}

void
pawl_config_keep_log(pawl_config *config, int level)
{
    if (config != NULL)
        config->keep_log = level < 0 ? 0 : (level > PAWL_LOG_DEBUG ? PAWL_LOG_DEBUG : level) + 1;
}

/* Writes one value into its field. The value was checked when it was set. */
static bool
fill_field(const struct setting *setting, const char *value, struct pw_settings *out)
{
    void *field = (char *)out + setting->offset;
    int64_t number = 0;

    (void)parse_value(setting, value, &number);
    switch (setting->type) {
    case TYPE_TEXT:
    case TYPE_CONNINFO:
    case TYPE_LIST:
        *(char **)field = pw_strdup(value);
        return *(char **)field != NULL;
    case TYPE_DURATION:
    case TYPE_NUMBER:
    case TYPE_NUMBER_OR_AUTO:
        *(int64_t *)field = number;
        return true;
    case TYPE_SIZE:
    case TYPE_SIZE_OR_0:
        *(size_t *)field = (size_t)number;
        return true;
    case TYPE_SWITCH:
    case TYPE_AUTO:
    default:
        *(bool *)field = number != 0;
        return true;
    }
}

int
pw_config_settings(const pawl_config *config, struct pw_settings *out, struct pw_error *err)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < SETTINGS; i++)
        if (!fill_field(&settings[i], value_of(config, i), out)) {
            pw_settings_done(out);
            pw_error_oom(err);
            return PAWL_ENOMEM;
        }
    if (config != NULL)
        out->logger = config->logger;
    out->log_kept = config != NULL ? config->keep_log - 1 : -1;
    return PAWL_OK;
}

void
pw_settings_done(struct pw_settings *held)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        enum type type = settings[i].type;

        if (type == TYPE_TEXT || type == TYPE_CONNINFO || type == TYPE_LIST)
            pw_free(*(char **)(void *)((char *)held + settings[i].offset));
    }
    memset(held, 0, sizeof(*held));
}

struct pw_conn_spec
pw_settings_spec(const struct pw_settings *held)
{
    struct pw_conn_spec spec = {
        .conninfo = held->database,
        .application_name = held->application_name,
        .never_prepare = !held->prepared,
    };

    return spec;
}

bool
pw_settings_runtime(const char **at, const char **name, size_t *size)
{
    if (**at == ',')
        (*at)++;
    if (**at == '\0')
        return false;
    *name = *at;
    *size = strcspn(*at, ",");
    *at += *size;
    return true;
}
