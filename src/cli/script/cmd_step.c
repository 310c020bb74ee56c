/* SPDX-License-Identifier: Apache-2.0 */
/* pawl step: executes a command of a script once, and records its output and exit code. */
#include "cli/command/commands.h"
#include "cli/process/process.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A command that is being executed. */
struct command_run {
    pid_t pid;
    int pid_fd;
    int out; /* its output; -1: the output is not recorded */
    struct pw_buf output;
};

/* The new process, in a separate group, so that the command and all that it starts can be ended together. */
static void
become(char **words, int out, pid_t parent)
{
    int code;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || (out >= 0 && dup2(out, STDOUT_FILENO) < 0))
        _exit(126);
    (void)execvp(words[0], words);
    (void)fprintf(stderr, "pawl: \"%s\" cannot be executed: %m\n", words[0]);
    code = errno == ENOENT ? 127 : 126;
    if (words[1] == NULL && strchr(words[0], ' ') != NULL)
        (void)fprintf(
            stderr, "      A command line is executed by a shell: -- sh -c '%s'\n", words[0]);
    _exit(code);
}

static int
start(struct command_run *run, char **words, bool keeps_output, size_t output_max)
{
    int ends[2] = {-1, -1};
    pid_t parent = getpid();

    *run = (struct command_run){.pid = -1, .pid_fd = -1, .out = -1};
    pw_buf_init(&run->output, output_max);
    if (!keeps_output || pipe2(ends, O_CLOEXEC) == 0)
        run->pid = fork();
    if (run->pid == 0)
        become(words, ends[1], parent);
    if (ends[1] >= 0)
        (void)close(ends[1]);
    run->out = ends[0];
    if (run->pid > 0)
        run->pid_fd = pidfd_open(run->pid, 0);
    if (run->pid_fd < 0)
        return exit_saying(EXIT_OTHER, NULL, "\"%s\" cannot be started: %m", words[0]);
    (void)setpgid(run->pid, run->pid);
    if (run->out >= 0)
        (void)fcntl(run->out, F_SETFL, O_NONBLOCK);
    return EXIT_OK;
}

/*
 * Reads once. Returns false if there is nothing to read now. Output over the limit is read and dropped, so that the command is not blocked.
 */
static bool
read_output(struct command_run *run)
{
    char data[65536];
    ssize_t got = run->out >= 0 ? read(run->out, data, sizeof(data)) : 0;

    if (got > 0)
        pw_buf_add(&run->output, data, (size_t)got);
    if (got == 0 && run->out >= 0) {
        (void)close(run->out);
        run->out = -1;
    }
    return got > 0;
}

/* Waits until the command has ended. If the worker ends first, kills the command. */
static int
wait_for(struct command_run *run, int worker)
{
    siginfo_t info;
    int status = 0;

    for (;;) {
        struct pollfd fds[] = {
            {run->pid_fd, POLLIN, 0}, {worker, POLLIN, 0}, {run->out, POLLIN, 0}};

        if (poll(fds, 3, -1) < 0)
            continue;
        if (fds[1].revents != 0) {
            (void)kill(-run->pid, SIGKILL);
            script_client_abandon();
        }
        if (fds[2].revents != 0)
            (void)read_output(run);
        if (fds[0].revents != 0)
            break;
    }
    while (read_output(run))
        ;
    /* Kills the processes that the command has left in its group. Until the command is waited for, no other group can have its number. */
    (void)waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT);
    (void)kill(-run->pid, SIGKILL);
    (void)waitpid(run->pid, &status, 0);
    return process_code(status);
}

static int
send_end(struct script_client *client, const struct command_run *run, int code, size_t output_max,
    bool keeps_output)
{
    bool too_large = run->output.failure != PW_BUF_NONE;

    script_client_begin_plain(client);
    pw_json_key(&client->writer, "exit");
    pw_json_add_int(&client->writer, code);
    if (!too_large && keeps_output) {
        pw_json_key(&client->writer, "output");
        frame_add_output(&client->writer, run->output.data, run->output.size);
        too_large = client->out.size > output_max + 64 || !pw_buf_ok(&client->out);
    }
    if (too_large) {
        script_client_begin_plain(client);
        pw_json_key(&client->writer, "exit");
        pw_json_add_int(&client->writer, code);
        pw_json_key(&client->writer, "too_large");
        pw_json_add_bool(&client->writer, true);
    }
    return script_client_send(client);
}

static void
set_environment(struct pw_json todo)
{
    size_t size = 0;
    char *text = frame_output_of(pw_json_member(todo, "key"), &size);

    if (text != NULL)
        (void)setenv("PAWL_STEP_KEY", text, 1);
    free(text);
    text = frame_output_of(pw_json_member(todo, "attempt"), &size);
    if (text != NULL)
        (void)setenv("PAWL_STEP_ATTEMPT", text, 1);
    free(text);
}

/* Executes the command, because the worker has answered that the step is to be executed. */
static int
execute(const struct invocation *invocation, struct script_client *client, struct pw_json todo)
{
    bool keeps_output = !invocation_has(invocation, "no-output");
    struct command_run run;
    int64_t output_max = 0;
    int code;

    (void)pw_json_to_int(pw_json_member(todo, "output_max"), &output_max);
    set_environment(todo);
    code = start(&run, invocation->rest, keeps_output, (size_t)output_max);
    if (code != EXIT_OK)
        return code;
    script_client_begin_plain(client);
    pw_json_key(&client->writer, "started");
    pw_json_add_int(&client->writer, run.pid);
    code = script_client_send(client);
    if (code == EXIT_OK) {
        code = wait_for(&run, client->fd);
        code = send_end(client, &run, code, (size_t)output_max, keeps_output);
    }
    pw_buf_done(&run.output);
    if (code != EXIT_OK)
        return code;
    return script_client_end(client, script_client_receive(client), false);
}

static int
step(struct invocation *invocation)
{
    struct script_client client;
    struct pw_json answer;
    bool todo = false;
    int code;

    if (invocation->rest == NULL || invocation->rest[0] == NULL || invocation->operand_count != 1)
        return exit_saying(EXIT_USAGE, "Write: pawl step NAME -- COMMAND [ARGUMENT]...",
            "the command is missing, or no -- stands before it");
    code = script_client_open(&client);
    if (code == EXIT_OK) {
        script_client_begin(&client, "step", invocation_operand(invocation, 0));
        if (invocation_has(invocation, "undo")) {
            pw_json_key(&client.writer, "undo");
            pw_json_add_text(&client.writer, invocation_option(invocation, "undo"));
        }
        script_client_add_options(&client, invocation);
        code = script_client_send(&client);
    }
    if (code == EXIT_OK) {
        answer = script_client_receive(&client);
        (void)pw_json_to_bool(pw_json_member(answer, "todo"), &todo);
        code =
            todo ? execute(invocation, &client, answer) : script_client_end(&client, answer, false);
    }
    script_client_close(&client);
    return code;
}

const struct command cmd_step[] = {
    {.name = "step",
        .summary = "Run a command once; record its output and exit code",
        .text =
            "Next time the script is executed, after a crash or a wait, the command is not: what "
            "it "
            "wrote is printed again, and the exit code is the same.\n\n"
            "A command that fails is tried again later, as --max-attempts or the workflow says: "
            "then "
            "this call does not return, and the script is executed again from its start. After its "
            "last attempt, its exit code is returned.\n\n"
            "The command finds PAWL_STEP_KEY, the same each time this step is tried, and "
            "PAWL_STEP_ATTEMPT in its environment. Steps at the same time need different names; "
            "a name that comes up again later is another step.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "NAME",
                    .summary = "of a-z, 0-9, _, . and -, at most 100 of them"},
                {.kind = KIND_TEXT,
                    .value = "-- COMMAND",
                    .summary = "and its arguments",
                    .optional = true,
                    .many = true},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_NUMBER,
                    .name = "max-attempts",
                    .value = "N",
                    .argument = "max_attempts",
                    .summary = "how often it is tried; else as the workflow says, 5 by default"},
                {.kind = KIND_DURATION,
                    .name = "backoff",
                    .value = "TIME",
                    .argument = "base_ms",
                    .summary = "how long to wait after the first failure; twice as long each time"},
                {.kind = KIND_DURATION,
                    .name = "timeout",
                    .value = "TIME",
                    .argument = "timeout_ms",
                    .summary = "how long one try may take; then it is ended, with all it started"},
                {.kind = KIND_TEXT,
                    .name = "undo",
                    .value = "COMMAND",
                    .summary = "what a rollback executes with sh -c to undo the step; its standard "
                               "input is what the step wrote"},
                {.kind = KIND_FLAG,
                    .name = "no-output",
                    .summary = "keep no output: it goes where the script's goes, and is not there "
                               "next time"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl step dump -- pg_dump -Fc shop -f /backups/shop.dump",
                    "records that it is done"},
                {"id=$(pawl step reserve --undo 'curl -X DELETE api/seat' -- curl -sf -X POST "
                 "api/seat)",
                    "uses what the step wrote, also the next time"},
                {NULL, NULL},
            },
        .act = step,
        .no_database = true},
    {0},
};
