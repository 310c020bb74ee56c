/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/process.h"

#include "base/text.h"
#include "cli/process/reaper.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int64_t
process_raise_files(int64_t *before)
{
    struct rlimit files;

    *before = 0;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return INT64_MAX;
    *before = files.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        return *before;
    return files.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)files.rlim_cur;
}

/* Called in the new process. */
static void
lower_files(int64_t most)
{
    struct rlimit files;

    if (most == 0 || getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = (rlim_t)most;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

void
process_set(struct process_environment *environment, const char *name, const char *value)
{
    if (environment->count == PROCESS_NAMES_MAX)
        return;
    environment->names[environment->count] = name;
    environment->values[environment->count] = value;
    environment->count++;
}

/* Returns true if a variable of this process must not reach the program. */
static bool
is_withheld(const char *variable)
{
    static const char *const ours[] = {"PG", "PAWL_DATABASE_URL=", "PAWL_LISTEN_DATABASE=",
        "PAWL_RUN_ID=", "PAWL_WORKFLOW=", "PAWL_TASK=", "PAWL_EXECUTION=", "PAWL_TENANT=",
        "PAWL_SOCKET=", "PAWL_UNCERTAIN=", "PAWL_STEP_KEY=", "PAWL_STEP_ATTEMPT=", "PATH="};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strncmp(variable, ours[i], strlen(ours[i])) == 0)
            return true;
    return false;
}

static char *
make_variable(const char *name, const char *value)
{
    char *made = NULL;

    return asprintf(&made, "%s=%s", name, value) < 0 ? NULL : made;
}

char *
process_path(void)
{
    const char *path = getenv("PATH");
    char self[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;
    char *made = NULL;

    if (path == NULL)
        path = "/usr/local/bin:/usr/bin:/bin";
    self[size > 0 ? size : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash == NULL)
        return strdup(path);
    *slash = '\0';
    return asprintf(&made, "%s:%s", path, self) < 0 ? NULL : made;
}

static void
free_variables(char **variables)
{
    for (size_t i = 0; variables != NULL && variables[i] != NULL; i++)
        free(variables[i]);
    free(variables);
}

/* Returns NULL if out of memory. */
static char **
make_variables(const struct process_environment *environment)
{
    size_t count = 0;
    char *path = process_path();
    char **made;
    bool whole = true;

    while (environ[count] != NULL)
        count++;
    made = calloc(count + environment->count + 2, sizeof(*made));
    if (made == NULL) {
        free(path);
        return NULL;
    }
    count = 0;
    for (char **variable = environ; *variable != NULL && whole; variable++)
        /* guard:variables_withheld */
        if (!is_withheld(*variable) && sandbox_passes(environment->sandbox, *variable))
            whole = (made[count++] = strdup(*variable)) != NULL;
    for (size_t i = 0; i < environment->count && whole; i++)
        whole =
            (made[count++] = make_variable(environment->names[i], environment->values[i])) != NULL;
    if (whole && path != NULL && (made[count] = make_variable("PATH", path)) != NULL) {
        free(path);
        return made;
    }
    free(path);
    free_variables(made);
    return NULL;
}

/*
 * Makes an anonymous file with the input, so that the worker need not wait while the program reads. No other process can open it by name.
 */
static int
make_input(pawl_bytes input)
{
    size_t done = 0;
    int fd;

    if (input.data == NULL)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    fd = memfd_create("pawl-input", MFD_CLOEXEC);
    while (fd >= 0 && done < input.size) {
        ssize_t wrote = write(fd, input.data + done, input.size - done);

        if (wrote <= 0) {
            (void)close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    return fd;
}

/* The numbers of descriptors in a new process. */
enum {
    RULES = 3,
    READY = 4,
    OWN_FIRST = 10, /* above those */
};

/* The command line and the environment of the new process. */
struct role {
    char *const *words;
    char **variables;
    const struct process_environment *environment;
};

/* The process of the program, between fork and exec: only calls that are safe there. */
static void
become(const void *program, int supervisor)
{
    const struct role *role = program;
    const struct process_environment *environment = role->environment;
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    static const char not_kept[] = "pawl: the program cannot be kept in its sandbox\n";
    static const char cannot[] = "pawl: cannot execute ";
    const char *why;
    sigset_t none;
    int code;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != getpgrp()) /* its parent is the reaper, unless that has ended */
        _exit(127);
    (void)sigaction(SIGPIPE, &by_default, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    /* guard:descriptors_withheld */
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    lower_files(environment->files);
    /* guard:sandbox_or_nothing */
    if (!sandbox_enter(environment->sandbox, RULES, supervisor)) {
        (void)!write(2, not_kept, sizeof(not_kept) - 1);
        _exit(126);
    }
    (void)execvpe(role->words[0], role->words, role->variables);
    code = errno == ENOENT ? 127 : 126;
    why = strerrordesc_np(errno);
    (void)!write(2, cannot, sizeof(cannot) - 1);
    (void)!write(2, role->words[0], strlen(role->words[0]));
    (void)!write(2, ": ", 2);
    (void)!write(2, why, strlen(why));
    (void)!write(2, "\n", 1);
    _exit(code);
}

/*
 * In the new process: fds become descriptors 0, 1, 2, RULES and READY; -1 is left out. All other descriptors are closed, among them
 * connections to the database. Each is moved to a higher number first, because it may have the number of another.
 */
static bool
take_descriptors(const int *fds)
{
    int own[READY + 1];

    for (int i = 0; i <= READY; i++) {
        own[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, OWN_FIRST);
        if (own[i] < 0 && fds[i] >= 0)
            return false;
    }
    for (int i = 0; i <= READY; i++)
        if (own[i] >= 0 && dup2(own[i], i) < 0)
            return false;
    return close_range(READY + 1, ~0U, 0) == 0;
}

static void
close_all(const int *fds, size_t count)
{
    int before = errno;

    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    errno = before;
}

/* Both ends of three pipes: the program's output, its errors, and the status of its reaper. */
struct pipes {
    int out[2];
    int err[2];
    int ready[2];
};

static bool
open_pipes(struct pipes *pipes)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(pipes->out, O_CLOEXEC) == 0 && pipe2(pipes->err, O_CLOEXEC) == 0 &&
        pipe2(pipes->ready, O_CLOEXEC) == 0 && fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) == 0;
}

/* Makes the process of the reaper. Signals are blocked in it until it can handle them. Returns -1 with errno if there is no process. */
static pid_t
fork_reaper(const struct role *role, int input, const struct pipes *pipes)
{
    const int fds[] = {
        input, pipes->out[1], pipes->err[1], role->environment->rules, pipes->ready[1]};
    const struct reaper_task task = {.worker = getpid(),
        .ready = READY,
        .sandbox = role->environment->sandbox,
        .temporary = role->environment->temporary,
        .become = become,
        .program = role};
    sigset_t all;
    sigset_t before;
    pid_t pid;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0) {
        if (!take_descriptors(fds))
            _exit(127);
        reaper_run(&task);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* Waits until the reaper has started the program. Returns false with errno if there is no program; the reaper has then ended. */
static bool
has_begun(pid_t reaper, int ready)
{
    int why = ECHILD;
    ssize_t got;

    while ((got = read(ready, &why, sizeof(why))) < 0 && errno == EINTR)
        ;
    if (got == (ssize_t)sizeof(why) && why == 0)
        return true;
    (void)waitpid(reaper, NULL, 0);
    errno = got == (ssize_t)sizeof(why) ? why : ECHILD;
    return false;
}

bool
process_start(struct process *process, char *const *words, pawl_bytes input,
    const struct process_environment *environment)
{
    struct role role = {words, make_variables(environment), environment};
    struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
    int in = -1;
    pid_t pid = -1;
    bool begun;

    if (role.variables == NULL)
        errno = ENOMEM;
    else if ((in = make_input(input)) >= 0 && open_pipes(&pipes))
        pid = fork_reaper(&role, in, &pipes);
    free_variables(role.variables);
    close_all((const int[]){in, pipes.out[1], pipes.err[1], pipes.ready[1]}, 4);
    begun = pid > 0 && has_begun(pid, pipes.ready[0]);
    if (begun)
        *process = (struct process){
            .pid = pid, .out = pipes.out[0], .err = pipes.err[0], .ended = pipes.ready[0]};
    else
        close_all((const int[]){pipes.out[0], pipes.err[0], pipes.ready[0]}, 3);
    return begun;
}

bool
process_has_ended(const struct process *process)
{
    struct pollfd fd = {.fd = process->ended, .events = POLLIN};

    return process->ended >= 0 && poll(&fd, 1, 0) > 0;
}

void
process_done(struct process *process)
{
    close_all(&process->ended, 1);
    process->ended = -1;
}

void
process_signal(const struct process *process, int number)
{
    (void)kill(process->pid, number == SIGKILL ? REAPER_KILL : number);
}

void
process_take_name(const char *name)
{
    char words[4096];
    size_t room = 0;
    size_t size = strlen(name) + 1;
    ssize_t got;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (got = read(fd, words, sizeof(words))) > 0)
        room += (size_t)got;
    if (fd >= 0)
        (void)close(fd);
    (void)prctl(PR_SET_NAME, name);
    /* The words of the command line are contiguous, and begin here. This process has its own copy of them. */
    if (room < size)
        return;
    memset(program_invocation_name, 0, room);
    memcpy(program_invocation_name, name, size);
}

/* Returns the parent of a process; -1 if it is unknown. */
static pid_t
parent_of(pid_t child)
{
    char path[40];
    char line[512] = "";
    char *field;
    int64_t found;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
    file = fopen(path, "re");
    if (file == NULL)
        return -1;
    (void)!fread(line, 1, sizeof(line) - 1, file);
    (void)fclose(file); /* a file that was only read: errors do not matter */
    /* "77 (name) S 76 ...": the name itself may contain brackets and blanks. */
    field = strrchr(line, ')');
    if (field == NULL || strlen(field) < 5)
        return -1;
    field += 4;
    field[strcspn(field, " ")] = '\0';
    return pw_parse_i64(field, 1, INT_MAX, &found) ? (pid_t)found : -1;
}

bool
process_is_child(pid_t child, pid_t parent)
{
    return parent > 0 && parent_of(child) == parent;
}

bool
process_descends(pid_t child, pid_t ancestor)
{
    const int generations_max = 10000;

    for (int i = 0; i < generations_max && child > 1; i++) {
        child = parent_of(child);
        if (child == ancestor)
            return ancestor > 0;
    }
    return false;
}

int
process_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
