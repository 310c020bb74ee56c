/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a call: which processes may make one, messages and replies, and its end. */
#include "base/time.h"
#include "cli/exec/script_call.h"
#include "cli/process/process.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CALLS_MAX = 500,    /* of one script at the same time */
    GRACE_US = 5000000, /* between TERM and KILL */
};

static const size_t memory_max = (size_t)8 * 1024 * 1024;

void
script_call_free(struct script_call *call)
{
    if (call->group > 0)
        guard_remove(&call->job->exec->guard, call->group);
    exec_unwatch(call->job->exec, &call->socket);
    frame_done(&call->reader);
    pw_buf_done(&call->reply);
    pw_arena_done(&call->arena);
    pw_list_remove(&call->link);
    free(call);
}

/* Sends the rest of the reply. A call that was answered ends with that. May free the call. */
void
script_call_send(struct script_call *call)
{
    while (call->socket.fd >= 0 && call->sent < call->reply.size) {
        ssize_t sent = send(call->socket.fd, call->reply.data + call->sent,
            call->reply.size - call->sent, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN) {
            exec_watch(call->job->exec, &call->socket, true);
            return;
        }
        if (sent < 0)
            break;
        call->sent += (size_t)sent;
    }
    call->job->quiet_since_us = pw_now_us();
    if (call->stage == SCRIPT_CALL_ANSWERED)
        script_call_free(call);
    else if (call->socket.fd >= 0)
        exec_watch(call->job->exec, &call->socket, false);
}

/* Returns the process at the other end; -1 if it is unknown. */
static pid_t
peer_of(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

/* Returns false if the call was freed, or may have been. */
static bool
take_message(struct script_call *call, struct pw_json message)
{
    int64_t group = 0;

    if (call->stage == SCRIPT_CALL_READING) {
        script_call_begin(call, message);
        return false;
    }
    if (call->stage != SCRIPT_CALL_EXECUTING)
        return true;
    /*
     * The process group of the command that the script has started, so that the worker can end it. The number 1 would mean all processes. A
     * number above INT_MAX must not be truncated to a small one. The command must be a child of the calling process. Otherwise a script in
     * a sandbox could make the worker signal a process that the script itself may not signal.
     */
    if (pw_json_to_int(pw_json_member(message, "started"), &group)) {
        /* guard:peer_group */
        if (group <= 1 || group > INT_MAX ||
            !process_is_child((pid_t)group, peer_of(call->socket.fd)))
            return true;
        call->group = (pid_t)group;
        guard_add(&call->job->exec->guard, call->group);
        return true;
    }
    script_call_finish_step(call, message);
    return false;
}

/* The other end is closed: the process of the call has ended. Its command is ended, too. */
static void
lose(struct script_call *call)
{
    exec_unwatch(call->job->exec, &call->socket);
    /*
     * 1. The script ends and leaves this call running. 2. The reaper of the script kills the call and its command. 3. The worker sees that
     * the connection is closed. The run fails for that (left_behind), but the step has not failed. Without the test, the worker would
     * record a failed attempt of the step.
     */
    /* guard:left_running */
    if (call->stage == SCRIPT_CALL_EXECUTING &&
        (!call->job->alive || process_has_ended(&call->job->process)))
        return;
    if (call->group > 0)
        (void)kill(-call->group, SIGKILL);
    if (call->stage == SCRIPT_CALL_EXECUTING && call->job->verdict == PAWL_OK)
        script_call_finish_step(call, (struct pw_json){"{}", 2});
    else if (call->stage == SCRIPT_CALL_READING || call->stage == SCRIPT_CALL_ANSWERED)
        script_call_free(call);
    /* In other stages the library has not answered, or the run waits here. No process listens any more, and the job handles the end. */
}

static void
socket_ready(struct watch *watch)
{
    struct script_call *call = PW_CONTAINER(watch, struct script_call, socket);
    struct pw_json message;
    ssize_t got;
    bool bad = false;

    if (call->sent < call->reply.size) {
        script_call_send(call);
        return;
    }
    got = frame_read(&call->reader, watch->fd);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        lose(call);
        return;
    }
    while (frame_next(&call->reader, &message, &bad)) {
        if (bad) {
            lose(call);
            return;
        }
        if (!take_message(call, message))
            return;
    }
}

/* Returns true if the process at the other end has the job's user and, if programs are in a sandbox, descends from the job's program. */
static bool
is_ours(const struct job *job, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    /* guard:peer_user */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        (peer.uid != geteuid() && peer.uid != 0))
        return false;
    /*
     * 1. A program of one tenant finds the sockets of all jobs in /proc/net/unix; Landlock lets it connect to them. 2. It calls `pawl step`
     * at the socket of another tenant's run. 3. The worker records a step there, unless it makes this test. The reaper adopts all that a
     * program starts, so every process of the job descends from it. Without a sandbox, programs of one user cannot be isolated from each
     * other anyway.
     */
    /* guard:peer_descends */
    return job->exec->sandbox == NULL || !job->exec->sandbox->on ||
        process_descends(peer.pid, job->process.pid);
}

bool
script_call_has_room(const struct job *job)
{
    size_t count = 0;

    for (struct pw_list *link = pw_list_first(&job->calls); link != NULL;
         link = pw_list_next(&job->calls, link))
        count++;
    /* guard:calls_max */
    return count < CALLS_MAX;
}

/* Accepts no calls for the moment. A process that calls now waits in connect(), or for its answer; job_tick() accepts calls again. */
static void
shut_door(struct job *job)
{
    job->door_shut = true;
    exec_pause(job->exec, &job->door);
}

void
script_call_accept(struct job *job)
{
    struct script_call *call;
    int fd;

    if (!script_call_has_room(job)) {
        shut_door(job);
        return;
    }
    fd = accept4(job->door.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            shut_door(job);
        return;
    }
    call = is_ours(job, fd) ? calloc(1, sizeof(*call)) : NULL;
    if (call == NULL) {
        (void)close(fd);
        return;
    }
    call->waiter.go_on = script_call_go_on;
    call->job = job;
    call->socket = (struct watch){fd, socket_ready};
    call->kill_at_us = INT64_MAX;
    call->retry_after_ms = -1;
    pw_arena_init(&call->arena, memory_max);
    pw_buf_init(&call->reply, FRAME_MAX);
    pw_list_add_tail(&job->calls, &call->link);
    exec_watch(job->exec, &call->socket, false);
}

void
script_call_tick(struct script_call *call, int64_t now_us)
{
    if (call->stage != SCRIPT_CALL_EXECUTING || call->group <= 0)
        return;
    if (!call->timed_out && pawl_run_check(call->branch) == PAWL_ETIMEOUT &&
        pawl_run_check(call->job->run) == PAWL_OK) {
        call->timed_out = true;
        call->kill_at_us = now_us + GRACE_US;
        (void)kill(-call->group, SIGTERM);
    }
    if (now_us >= call->kill_at_us)
        (void)kill(-call->group, SIGKILL);
}
