/* SPDX-License-Identifier: Apache-2.0 */
/* The hook that src/base/alloc.c asks before each allocation, and a table of those who ask. */
#include "sites.h"

#include "base/alloc.h"
#include "harness.h"
#include "libpawl/worker/worker.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FRAMES = 4, /* how many calls tell a site from another */
    DEEP_FRAMES = 8,
    LOOKED = 8,   /* with the hook itself and what is in alloc.c */
    DEEP = 24,    /* with what is in libpq */
    SITES = 8192, /* at most half of the table is used */
    PLACES = 2 * SITES,
};

struct site {
    void *frames[DEEP_FRAMES];
    int depth;
    long scene;      /* the last scenario that came here */
    size_t cause;    /* what was made to fail when it was seen first, + 1; 0: nothing */
    long cause_more; /* and so many behind that */
    bool armed;      /* it is to fail the next time */
    long armed_more;
    bool failed;
    bool elsewhere; /* in another thread than the I/O thread */
};

/* All of it is guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct site table[SITES];
static size_t places[PLACES]; /* number of a site + 1; 0 is free */
static size_t used;
static long scene;
static long count;
static long fail_from, fail_until; /* numbers of allocations; 0: not known yet, or none */
static long fail_more;
static size_t fail_site; /* + 1; 0: none */
static size_t failed_site;
static bool has_failed;
/* Longer chains of failures that lead to a site are cut. */
enum {
    CAUSES = 8
};

static enum sites_kind chosen;
static int call_frames = FRAMES;

/* Threads that pw_io_main() runs in say so themselves. */
static _Thread_local bool in_io_thread;

static size_t
find_site(void *const *frames, int depth)
{
    uint64_t hash = 14695981039346656037U;
    size_t at;

    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211U;
    for (at = (size_t)(hash >> 20) % PLACES; places[at] != 0; at = (at + 1) % PLACES) {
        const struct site *site = &table[places[at] - 1];

        if (site->depth == depth &&
            memcmp(site->frames, frames, (size_t)depth * sizeof(void *)) == 0)
            return places[at] - 1;
    }
    if (used == SITES)
        bench_die("more than %d sites", SITES);
    memcpy(table[used].frames, frames, (size_t)depth * sizeof(void *));
    table[used].depth = depth;
    table[used].cause = has_failed ? fail_site : 0;
    table[used].cause_more = fail_more;
    used++;
    places[at] = used;
    return used - 1;
}

/* Counts one more allocation; false if it is to fail. */
static bool
ask(void *const *frames, int depth)
{
    struct site *site;
    size_t number;
    bool fails;

    (void)pthread_mutex_lock(&lock);
    count++;
    number = find_site(frames, depth);
    site = &table[number];
    site->scene = scene;
    if (!has_failed)
        site->cause = 0;
    site->elsewhere = site->elsewhere || !in_io_thread;
    fails = site->armed;
    if (site->armed && count + site->armed_more > fail_until) {
        fail_from = count;
        fail_until = count + site->armed_more;
    }
    site->armed = false;
    fails = fails || (fail_from > 0 && count >= fail_from && count <= fail_until);
    if (fails) {
        failed_site = fail_site > 0 ? fail_site - 1 : number;
        has_failed = true;
        /* One that fails behind another, or to get there, has its own turn all the same. */
        site->failed = site->failed || fail_site == 0 || fail_site == number + 1;
    }
    (void)pthread_mutex_unlock(&lock);
    return !fails;
}

/* Whether an address is in alloc.c, behind its first function. */
static bool
is_alloc(const void *address)
{
    uintptr_t from = (uintptr_t)pw_alloc;
    uintptr_t to = (uintptr_t)pw_free;

    return (uintptr_t)address >= from && (uintptr_t)address <= to;
}

bool
pw_alloc_hook(void)
{
    void *frames[LOOKED];
    int depth = backtrace(frames, LOOKED);
    /* This function, and the one that every allocation passes. */
    int first = 2;

    if (chosen != SITES_MEMORY)
        return true;
    while (first < depth && is_alloc(frames[first]))
        first++;
    if (depth > first + FRAMES)
        depth = first + FRAMES;
    return ask(frames + first, depth < first ? 0 : depth - first);
}

void
sites_choose(enum sites_kind kind, bool deep)
{
    chosen = kind;
    call_frames = deep ? DEEP_FRAMES : FRAMES;
}

bool
sites_in_burst(void)
{
    bool burst;

    (void)pthread_mutex_lock(&lock);
    burst = fail_more > 0;
    (void)pthread_mutex_unlock(&lock);
    return burst;
}

/* Whether an address is in this program, not in a library. */
static bool
is_ours(const void *address)
{
    extern const char __executable_start[] __attribute__((visibility("hidden")));
    extern const char etext[] __attribute__((visibility("hidden")));

    return (uintptr_t)address >= (uintptr_t)__executable_start &&
        (uintptr_t)address < (uintptr_t)etext;
}

bool
sites_ask_call(enum sites_kind kind)
{
    void *frames[DEEP];
    void *ours[DEEP_FRAMES];
    int depth;
    int count_ours = 0;

    if (kind != chosen)
        return true;
    depth = backtrace(frames, DEEP);
    /* Not this function, nor who called it; the one above is part of the site, for it says what was called. */
    for (int i = 2; i < depth && count_ours < call_frames; i++)
        if (is_ours(frames[i]))
            ours[count_ours++] = frames[i];
    return ask(ours, count_ours);
}

/* What the linker puts in the place of pthread_create(), and what that is called then. */
int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg);

static void *
start_io(void *worker)
{
    in_io_thread = true;
    return pw_io_main(worker);
}

int
__wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
    void *frames[1 + FRAMES];
    int depth = backtrace(frames, 1 + FRAMES) - 1;

    if (chosen != SITES_LIBPQ && !ask(frames + 1, depth < 0 ? 0 : depth))
        return EAGAIN;
    return __real_pthread_create(thread, attr, start == pw_io_main ? start_io : start, arg);
}

static void
begin(size_t site, long n, long more)
{
    size_t at = site;
    long behind = more;

    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < used; i++)
        table[i].armed = false;
    /* What is seen only after another failure needs that one. */
    for (int causes = 0; at > 0 && causes < CAUSES; causes++) {
        struct site *next = &table[at - 1];

        next->armed = true;
        next->armed_more = behind;
        behind = next->cause_more;
        at = next->cause;
    }
    count = 0;
    fail_site = site;
    fail_from = n;
    fail_until = n > 0 ? n + more : 0;
    fail_more = more;
    has_failed = false;
    (void)pthread_mutex_unlock(&lock);
}

void
sites_fail_none(void)
{
    begin(0, 0, 0);
}

void
sites_fail_at(size_t site, long more)
{
    begin(site + 1, 0, more);
}

void
sites_fail_nth(long n, long more)
{
    begin(0, n, more);
}

void
sites_fail_no_more(void)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < used; i++)
        table[i].armed = false;
    fail_from = 0;
    (void)pthread_mutex_unlock(&lock);
}

void
sites_begin(bool again)
{
    (void)pthread_mutex_lock(&lock);
    scene++;
    for (size_t i = 0; again && i < used; i++)
        table[i].failed = table[i].failed && !table[i].elsewhere;
    (void)pthread_mutex_unlock(&lock);
}

bool
sites_failed(void)
{
    bool failed;

    (void)pthread_mutex_lock(&lock);
    failed = has_failed;
    (void)pthread_mutex_unlock(&lock);
    return failed;
}

size_t
sites_count(void)
{
    size_t number;

    (void)pthread_mutex_lock(&lock);
    number = used;
    (void)pthread_mutex_unlock(&lock);
    return number;
}

/* A copy, which needs no lock to be read. */
static struct site
get_site(size_t site)
{
    struct site copy;

    (void)pthread_mutex_lock(&lock);
    copy = table[site];
    (void)pthread_mutex_unlock(&lock);
    return copy;
}

bool
sites_seen(size_t site)
{
    return get_site(site).scene == scene;
}

bool
sites_was_failed(size_t site)
{
    return get_site(site).failed;
}

void
sites_skip_seen(void)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < used; i++)
        table[i].failed = table[i].failed || table[i].scene == scene;
    (void)pthread_mutex_unlock(&lock);
}

bool
sites_only_io(size_t site)
{
    return !get_site(site).elsewhere;
}

/* Where the program stands in memory, so that an address can be found in its file. */
static uintptr_t
base_address(void)
{
    extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

    return (uintptr_t)__ehdr_start;
}

void
sites_print(size_t number)
{
    struct site site = get_site(number);
    char command[1024];
    char line[512];
    char path[256];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    FILE *names;
    int length;

    path[size < 0 ? 0 : size] = '\0';
    length = snprintf(command, sizeof(command), "addr2line -ifspe '%s'", path);
    for (int i = 0; i < site.depth && length < (int)sizeof(command) - 32; i++)
        /* Return addresses are those of the next instruction. */
        length += snprintf(command + length, sizeof(command) - (size_t)length, " %#lx",
            (unsigned long)((uintptr_t)site.frames[i] - base_address() - 1));
    printf("# site %zu%s:\n", number, site.elsewhere ? "" : " (I/O thread only)");
    (void)fflush(stdout);
    names = popen(command, "r");
    if (names == NULL)
        return;
    while (fgets(line, sizeof(line), names) != NULL)
        printf("#   %s", line);
    (void)pclose(names);
}

void
sites_print_failed(void)
{
    bool failed;
    size_t number;

    (void)pthread_mutex_lock(&lock);
    failed = has_failed;
    number = failed_site;
    (void)pthread_mutex_unlock(&lock);
    if (failed)
        sites_print(number);
}
