/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline of files: fetch a picture, make a small one of it, publish that. Each step runs a command and records a fact about its
 * file, not the file: records are small, and data stays where it is. The first download fails, and is tried again. Pictures go to
 * the current directory.
 *
 *     cd "$(mktemp -d)"
 *     image_pipeline &
 *     pawl trigger demo.picture.v1 --wait
 */
#include <pawl/pawl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* One command. $1 is the run's id and part of each file's name: a step that is done twice overwrites its own file. */
static pawl_status
run_command(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const char **stage = userdata, *id = pawl_run_id(run);
    sigset_t none;
    int code = -1;
    pid_t pid;

    sigemptyset(&none);
    if ((pid = fork()) == 0) {
        /* Not system(): handlers have all signals blocked, and so would the command, which nothing could end then. */
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl("/bin/sh", "sh", "-c", stage[1], "sh", id, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &code, 0) != pid || code != 0) {
        pawl_run_set_error(run, "command", "the command of %s failed", stage[0]);
        return PAWL_EFAILED; /* the retry policy decides whether and when it is tried again */
    }
    return pawl_run_printf(run, output, "{\"done\": \"%s\"}", stage[0]);
}

static pawl_status
process_picture(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *stages[][2] = {
        {"download", "test -e asked-$1 && seq 16 >original-$1 || ! touch asked-$1"},
        {"resize", "awk 'NR % 2 == 0' original-$1 >small-$1"},
        /* If the small picture is gone, an earlier attempt has moved it and died before that was recorded. */
        {"publish", "test ! -e small-$1 || mv small-$1 published-$1"},
    };
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++) {
        pawl_run_set_option(run, "max_attempts", "4");
        pawl_run_set_option(run, "base_ms", "100");
        status = pawl_step(run, stages[i][0], run_command, stages[i], output);
    }
    return status;
}
PAWL_WORKFLOW("demo.picture.v1", process_picture);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
