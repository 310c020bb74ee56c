/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts say to the worker that executes them, a line each, on as many connections as the digits before them name: no message harms the
 * worker, all answers are whole, and nobody is killed but the script itself: no command was started. Stands in for the worker's loop and for kill().
 */
#include "cli/exec/script_call.h"
#include "base/buf.h"
#include "cli/process/reaper.h"
#include "cli/sandbox/sandbox.h"
#include "fake_core.h"
#include "fuzz.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    CONNECTIONS = 4,
    MESSAGES_MAX = 40
};

static struct job *job;
static const pid_t job_reaper = INT_MAX;

/* A loop that nobody turns: the target calls what is ready. */
void
exec_watch(struct exec *exec, struct watch *watch, bool also_for_writing)
{
    (void)exec;
    (void)watch;
    (void)also_for_writing;
}

void
exec_unwatch(struct exec *exec, struct watch *watch)
{
    (void)exec;
    if (watch->fd >= 0)
        (void)close(watch->fd);
    watch->fd = -1;
}

void
exec_pause(struct exec *exec, struct watch *watch)
{
    (void)exec;
    (void)watch;
}

/* It has none, and no job is started here. */
bool
exec_has_directory(struct exec *exec)
{
    (void)exec;
    return false;
}

/* No program is started here, so none is kept in. */
bool
sandbox_passes(const struct sandbox *sandbox, const char *variable)
{
    (void)sandbox;
    (void)variable;
    return true;
}

int
sandbox_open(const struct sandbox *sandbox, const char *temporary)
{
    (void)sandbox;
    (void)temporary;
    return -1;
}

bool
sandbox_enter(const struct sandbox *sandbox, int rules, int supervisor)
{
    (void)sandbox;
    (void)rules;
    (void)supervisor;
    return true;
}

_Noreturn void
reaper_run(const struct reaper_task *task)
{
    (void)task;
    abort();
}

int
kill(pid_t pid, int number)
{
    fuzz_check(pid == job_reaper, "another process is killed");
    (void)number;
    return 0;
}

/* Where scripts knock. */
static int
open_door(struct sockaddr_un *address, socklen_t *size)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    *size = sizeof(sa_family_t); /* the system chooses a name */
    fuzz_check(
        fd >= 0 && bind(fd, (struct sockaddr *)address, *size) == 0 && listen(fd, CONNECTIONS) == 0,
        "no socket");
    *size = sizeof(*address);
    fuzz_check(getsockname(fd, (struct sockaddr *)address, size) == 0, "no name");
    return fd;
}

/* Lets every call that has something to read go on, as the loop would. */
static void
turn(void)
{
    struct pw_list *next;
    pawl_run *branch;

    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL; link = next) {
        struct script_call *call = PW_CONTAINER(link, struct script_call, link);
        char byte;

        next = pw_list_next(&job->calls, link);
        if (call->socket.fd >= 0 &&
            (recv(call->socket.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN))
            call->socket.ready(&call->socket);
    }
    while ((branch = fake_core_next()) != NULL) {
        struct waiter *waiter = pawl_run_context(branch);

        if (waiter != NULL)
            waiter->go_on(waiter);
    }
}

static void
say(int fd, const char *text)
{
    struct pw_buf buf;

    pw_buf_init(&buf, FRAME_MAX);
    pw_buf_add_be32(&buf, (uint32_t)strlen(text));
    pw_buf_adds(&buf, text);
    if (fd >= 0)
        (void)!send(fd, buf.data, buf.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    pw_buf_done(&buf);
}

/* All that came back is whole messages of JSON. */
static void
hear(int fd)
{
    struct frame_reader reader = {0};
    struct pw_json message;
    bool bad = false;

    (void)shutdown(fd, SHUT_WR);
    turn();
    while (frame_read(&reader, fd) > 0)
        while (frame_next(&reader, &message, &bad))
            fuzz_check(!bad, "an answer that is no JSON");
    fuzz_check(reader.size == reader.taken, "half an answer");
    frame_done(&reader);
    (void)close(fd);
}

static void
talk(struct fuzz_input *input, const struct sockaddr_un *address, socklen_t size)
{
    int fds[CONNECTIONS];
    char *line;

    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = -1;
    for (int n = 0; n < MESSAGES_MAX && (line = fuzz_line(input)) != NULL; n++) {
        int which = line[0] >= '0' && line[0] < '0' + CONNECTIONS ? line[0] - '0' : 0;

        if (fds[which] < 0) {
            fds[which] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
            fuzz_check(
                fds[which] >= 0 && connect(fds[which], (const struct sockaddr *)address, size) == 0,
                "no connection");
            script_call_accept(job);
        }
        say(fds[which], line[0] != '\0' ? line + 1 : line);
        turn();
        free(line);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        if (fds[i] >= 0)
            hear(fds[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct exec exec = {.payload_max = 4096, .guard.pipe = -1};
    struct sockaddr_un address;
    socklen_t address_size;
    struct pw_task *task;

    if (size > 8192)
        return 0;
    fake_core_reset();
    task = fake_core_task(NULL);
    job = calloc(1, sizeof(*job));
    fuzz_check(task != NULL && job != NULL, "out of memory");
    pw_list_init(&exec.jobs);
    pw_list_init(&job->calls);
    pw_list_add_tail(&exec.jobs, &job->link);
    job->exec = &exec;
    job->run = task->run;
    job->alive = true;
    job->kill_at_us = INT64_MAX;
    job->process.pid = job_reaper;
    job->process.ended = -1;
    job->out.fd = job->err.fd = -1;
    job->door.fd = open_door(&address, &address_size);
    pw_buf_init(&job->output, 4096);
    pawl_run_set_nonblocking(job->run);
    pawl_run_set_context(job->run, &job->waiter);
    talk(&input, &address, address_size);
    job_finish(job, PAWL_EFAILED);
    fake_core_end(task);
    fake_core_done();
    return 0;
}
