/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over scenarios and sites, and what scenarios say with. */
#include "torture.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* So many allocations more fail in the second trial of a site: what cleans up needs memory, too. */
    BURST = 12,
    /* A site that another thread's luck decides about may not come up again at once. */
    TRIES = 2,
    /* How often act may say that there is no memory when there is: never; the second call must succeed. */
    CALLS = 2,
    /* A lease and a bit; what lasts longer is told. */
    SLOW_S = 3,
    WATCHDOG_S = 90,
};

/* Of the leak checker, if the program has one. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static const struct scenario *scenario;
static PGconn *database;
static long trial;
static long trials;
static bool shows_missed;
static bool is_deep;
static long share = 1; /* one allocation site of so many fails, which the seed chooses */
static long seed;
static atomic_bool trial_is_bad;
static atomic_bool trial_is_unsure;

static enum failing {
    FAIL_MEMORY,
    FAIL_LIBPQ,
    FAIL_SYSTEM,
    FAIL_INTERRUPT,
    FAILINGS,
} failing;

static const char *const failing_names[FAILINGS] = {"memory", "libpq", "system", "interrupt"};

/* Says which trial it was when the program dies of it. Called in a signal handler, too, where it is as good as any other end. */
static void
tell_trial(void)
{
    printf("# died in scenario \"%s\", trial %ld\n", scenario == NULL ? "" : scenario->name, trial);
    sites_print_failed();
    (void)fflush(stdout);
}

static void
die_of_signal(int number)
{
    tell_trial();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

long
torture_trial(void)
{
    return trial;
}

const char *
torture_trial_text(void)
{
    static char text[24];

    (void)snprintf(text, sizeof(text), "%ld", trial);
    return text;
}

const char *
torture_scenario(void)
{
    return scenario->name;
}

bool
torture_check(bool good, const char *format, ...)
{
    va_list args;
    char text[2000];

    if (good)
        return true;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    printf("# scenario \"%s\", trial %ld: %s\n", scenario->name, trial, text);
    if (!atomic_exchange(&trial_is_bad, true))
        sites_print_failed();
    (void)fflush(stdout);
    return false;
}

/* What a call may come to when something fails. Who is told that must be able to go on: by words, or because trying again may help. */
static bool
is_excuse(pawl_status status, const pawl_error *error)
{
    if (status == PAWL_ENOMEM)
        return failing != FAIL_INTERRUPT;
    if (failing != FAIL_LIBPQ && failing != FAIL_SYSTEM)
        return false;
    return (status == PAWL_ECONN || status == PAWL_EUNKNOWN) &&
        pawl_error_message(error)[0] != '\0' &&
        (pawl_error_retryable(error) != 0 || pawl_error_hint(error)[0] != '\0');
}

bool
torture_is_sure(void)
{
    return !atomic_load(&trial_is_unsure);
}

bool
torture_is_cut_off(void)
{
    return (failing == FAIL_LIBPQ || failing == FAIL_SYSTEM) && sites_in_burst() && sites_failed();
}

bool
torture_is(pawl_status status, pawl_status right, pawl_error **error, const char *what)
{
    bool good = status == right;

    if (status == PAWL_EUNKNOWN)
        atomic_store(&trial_is_unsure, true);
    if (!good && is_excuse(status, *error))
        (void)torture_check(sites_failed(), "%s: %s, \"%s\", but nothing has failed", what,
            pawl_status_name(status), pawl_error_message(*error));
    else
        (void)torture_check(
            good, "%s: %s, \"%s\"", what, pawl_status_name(status), pawl_error_message(*error));
    pawl_error_free(*error);
    *error = NULL;
    return good;
}

bool
torture_ok(pawl_status status, pawl_error **error, const char *what)
{
    return torture_is(status, PAWL_OK, error, what);
}

PGconn *
torture_database(void)
{
    return database;
}

char *
torture_text(const char *sql, const char *param)
{
    PGresult *result = bench_exec_params(database, sql, param == NULL ? 0 : 1, &param);
    char *text = strdup(PQntuples(result) == 0 ? "" : PQgetvalue(result, 0, 0));

    if (text == NULL)
        bench_die("out of memory");
    PQclear(result);
    return text;
}

pawl_config *
torture_config(void)
{
    static const char *const settings[][2] = {
        {"lease", "1s"},
        {"poll", "50ms"},
        {"connect_timeout", "10s"},
        {"call_timeout", "10s"},
        {"wait_poll", "5ms"},
        {"concurrency", "4"},
        {"application_name", "torture"},
    };
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    if (config == NULL)
        (void)torture_check(sites_failed(), "pawl_config_new: NULL, but no allocation has failed");
    for (size_t i = 0; config != NULL && i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!torture_ok(pawl_config_set(config, settings[i][0], settings[i][1], &error), &error,
                "pawl_config_set")) {
            pawl_config_free(config);
            config = NULL;
        }
    }
    return config;
}

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

void
torture_thread(pthread_t *thread, void *(*start)(void *), void *arg)
{
    if (__real_pthread_create(thread, NULL, start, arg) != 0)
        bench_die("could not start a thread");
}

/* One trial, with what fails set before. True if all was well. */
static bool
try_once(void)
{
    double started_s = bench_now_s();
    int calls = 1;

    trial++;
    atomic_store(&trial_is_bad, false);
    atomic_store(&trial_is_unsure, false);
    (void)alarm(WATCHDOG_S);
    while (!scenario->act() && !atomic_load(&trial_is_bad)) {
        if (!torture_check(calls++ < CALLS, "it still fails, although nothing else does"))
            break;
        sites_fail_no_more();
    }
    (void)alarm(0);
    if (bench_now_s() - started_s > SLOW_S) {
        race_note("scenario \"%s\", trial %ld took %.1f s", scenario->name, trial,
            bench_now_s() - started_s);
        sites_print_failed();
    }
    if (__lsan_do_recoverable_leak_check != NULL)
        (void)torture_check(__lsan_do_recoverable_leak_check() == 0, "memory was lost");
    return !atomic_load(&trial_is_bad);
}

/* What is tried in a scenario, and how far it has come. */
struct plan {
    bool full;
    bool begun;
    bool bursts; /* each at a time is done; now several together */
    size_t site;
    int tries;
    long n;
    long most; /* allocations of a round */
    long failed;
    long missed;
};

/* Whether a site fails in this call of the program, and has not failed yet. */
static bool
is_due(size_t site)
{
    return ((long)site + seed) % share == 0 && !sites_was_failed(site) && sites_seen(site);
}

/*
 * Each site that this scenario comes to and that has not failed yet, alone and then with more; new ones come up on the way. Calls have one of
 * both, in turn, unless all is wanted: what they lead to takes longer, for it is connections that are made again.
 */
static bool
plan_site(struct plan *plan)
{
    bool both = failing == FAIL_MEMORY || is_deep;

    if (plan->tries > 0 && sites_was_failed(plan->site)) {
        plan->tries = 0;
        plan->failed++;
        if (both) {
            sites_fail_at(plan->site, BURST);
            return true;
        }
    }
    if (plan->tries == TRIES) {
        plan->missed++;
        if (shows_missed)
            sites_print(plan->site);
        plan->tries = 0;
        plan->site++;
    }
    while (plan->site < sites_count() && !is_due(plan->site))
        plan->site++;
    if (plan->site == sites_count())
        return false;
    plan->tries++;
    sites_fail_at(plan->site, both || plan->site % 2 == 0 ? 0 : BURST);
    return true;
}

/* Each allocation, until a round has fewer than n; then groups of them. */
static bool
plan_nth(struct plan *plan)
{
    if (!plan->bursts && plan->n > 0 && !sites_failed()) {
        plan->bursts = true;
        plan->failed = plan->n - 1;
        plan->most = plan->n;
        plan->n = 1 - BURST;
    }
    plan->n += plan->bursts ? BURST : 1;
    if (plan->bursts && plan->n >= plan->most)
        return false;
    sites_fail_nth(plan->n, plan->bursts ? BURST : 0);
    return true;
}

/* Sets what fails in the next trial; false if there is none. */
static bool
plan_next(struct plan *plan)
{
    if (!plan->begun) {
        plan->begun = true;
        sites_fail_none();
        return true;
    }
    if (scenario->known)
        return false;
    if (failing == FAIL_INTERRUPT) {
        plan->failed = calls_interrupted();
        calls_interrupt(plan->n++ == 0);
        return plan->n == 1;
    }
    return plan->full ? plan_nth(plan) : plan_site(plan);
}

static void
run_scenario(struct race *race, bool full)
{
    struct plan plan = {.full = full};
    double started_s = bench_now_s();
    long count = 0;
    long bad = 0;

    sites_fail_none();
    if (scenario->prepare != NULL)
        scenario->prepare();
    sites_begin(scenario->anew);
    /* All trials are called from here, so that the calls above a site are the same in all. */
    while ((count == 0 || bad < count) && plan_next(&plan)) {
        bad += !try_once();
        count++;
        if (scenario->known)
            sites_skip_seen();
    }
    sites_fail_none();
    if (scenario->finish != NULL)
        scenario->finish();
    trials += count;
    race_ok(race, bad == 0, "%s: %ld %s failed, %ld not seen again, %ld of %ld trials bad, %.1f s",
        scenario->name, plan.failed,
        failing == FAIL_INTERRUPT    ? "calls"
            : !full                  ? "new sites"
            : failing == FAIL_MEMORY ? "allocations"
                                     : "calls",
        plan.missed, bad, count, bench_now_s() - started_s);
    (void)fflush(stdout);
}

static bool
is_wanted(const char *name, int argc, char **argv)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            i += strcmp(argv[i], "--fail") == 0;
            continue;
        }
        any = true;
        if (strstr(name, argv[i]) != NULL)
            return true;
    }
    return !any;
}

static bool
has_option(const char *option, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], option) == 0)
            return true;
    return false;
}

/* Which kind is to fail. */
static enum failing
read_failing(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--fail") != 0)
            continue;
        for (int kind = 0; kind < FAILINGS; kind++)
            if (strcmp(argv[i + 1], failing_names[kind]) == 0)
                return (enum failing)kind;
        bench_die("--fail is memory, libpq, system or interrupt");
    }
    return FAIL_MEMORY;
}

static void
list_sites(void)
{
    for (size_t site = 0; site < sites_count(); site++)
        sites_print(site);
}

/* A number of the environment; without it the least. */
static long
read_number(const char *name, long min)
{
    const char *text = getenv(name);

    return text == NULL ? min : bench_number(text, name, min, LONG_MAX);
}

int
torture_main(int argc, char **argv, const struct scenario *scenarios, size_t count)
{
    struct race race = {0};
    size_t io = 0;

    race.started_s = bench_now_s();
    shows_missed = has_option("--missed", argc, argv);
    is_deep = has_option("--deep", argc, argv);
    failing = read_failing(argc, argv);
    if (failing == FAIL_MEMORY)
        share = read_number("PAWL_SITES", 1);
    seed = read_number("PAWL_SEED", 0);
    sites_choose(failing == FAIL_LIBPQ ? SITES_LIBPQ
            : failing == FAIL_MEMORY   ? SITES_MEMORY
                                       : SITES_SYSTEM,
        is_deep);
    (void)signal(SIGALRM, die_of_signal);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(tell_trial);
    } else {
        (void)signal(SIGSEGV, die_of_signal);
        (void)signal(SIGABRT, die_of_signal);
    }
    database = bench_connect();
    calls_spare(PQsocket(database));
    bench_do(database, "set client_min_messages to error");
    for (size_t i = 0; i < count; i++) {
        scenario = &scenarios[i];
        if (is_wanted(scenario->name, argc, argv))
            run_scenario(&race, has_option("--full", argc, argv));
    }
    for (size_t site = 0; site < sites_count(); site++)
        io += sites_only_io(site);
    race_note(
        "%zu sites, %zu of them in the I/O thread only, %ld trials", sites_count(), io, trials);
    if (has_option("--list", argc, argv))
        list_sites();
    PQfinish(database);
    return race_end(&race);
}
