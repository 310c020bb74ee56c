/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process.h"

#include "base/text.h"
#include "cli/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* In the new process. */
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

/* Whether a variable of ours is none of the program's business. */
static bool
is_withheld(const char *variable)
{
    static const char *const ours[] = {"PG", "PAWL_DATABASE_URL=", "PAWL_RUN_ID=", "PAWL_WORKFLOW=",
        "PAWL_TASK=", "PAWL_ATTEMPT=", "PAWL_TENANT=", "PAWL_SOCKET=", "PAWL_UNCERTAIN=",
        "PAWL_STEP_KEY=", "PAWL_STEP_ATTEMPT=", "PATH="};

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

/* NULL: out of memory. */
static char **
make_variables(const struct process_environment *environment, const struct sandbox *sandbox)
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
        if (!is_withheld(*variable) && sandbox_passes(sandbox, *variable))
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

/* A file that nobody else can find, so that the program can read at its leisure and nobody waits for it. */
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

/* What the new process is to be. */
struct role {
    char *const *words;
    char **variables;
    int in, out, err;
    pid_t parent;
    int64_t files;
    const struct sandbox *sandbox;
    int rules;
};

/* The new process, between fork and exec: only calls that are safe there. */
static void
become(const struct role *role)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    static const char not_kept[] = "pawl: the program cannot be kept in its sandbox\n";
    static const char cannot[] = "pawl: cannot execute ";
    const char *why;
    sigset_t none;
    int code;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != role->parent)
        _exit(127);
    (void)sigaction(SIGPIPE, &by_default, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(role->in, 0) < 0 || dup2(role->out, 1) < 0 || dup2(role->err, 2) < 0)
        _exit(127);
    /* guard:descriptors_withheld */
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    lower_files(role->files);
    /* guard:sandbox_or_nothing */
    if (!sandbox_enter(role->sandbox, role->rules)) {
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

static void
close_all(const int *fds, size_t count)
{
    int before = errno;

    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    errno = before;
}

bool
process_start(struct process *process, char *const *words, pawl_bytes input,
    const struct process_environment *environment, const struct sandbox *sandbox, int rules)
{
    char **variables = make_variables(environment, sandbox);
    int fds[5] = {-1, -1, -1, -1, -1}; /* input, then both ends of two pipes */
    pid_t parent = getpid();
    pid_t pid = -1;

    if (variables == NULL)
        errno = ENOMEM;
    else if ((fds[0] = make_input(input)) >= 0 && pipe2(&fds[1], O_CLOEXEC) == 0 &&
        pipe2(&fds[3], O_CLOEXEC) == 0 && fcntl(fds[1], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(fds[3], F_SETFL, O_NONBLOCK) == 0)
        pid = fork();
    if (pid == 0)
        become(&(struct role){
            words, variables, fds[0], fds[2], fds[4], parent, environment->files, sandbox, rules});
    free_variables(variables);
    if (pid < 0) {
        close_all(fds, 5);
        return false;
    }
    (void)setpgid(pid, pid); /* whoever comes first; it fails once the program is executed */
    *process = (struct process){.pid = pid, .out = fds[1], .err = fds[3]};
    close_all((const int[]){fds[0], fds[2], fds[4]}, 3);
    return true;
}

bool
process_is_child(pid_t child, pid_t parent)
{
    char path[40];
    char line[512] = "";
    char *field;
    int64_t found;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    (void)!fread(line, 1, sizeof(line) - 1, file);
    (void)fclose(file); /* It was only read. */
    /* "77 (name) S 76 ...": the name may have brackets and blanks of its own. */
    field = strrchr(line, ')');
    if (field == NULL || strlen(field) < 5)
        return false;
    field += 4;
    field[strcspn(field, " ")] = '\0';
    return pw_parse_i64(field, 1, INT_MAX, &found) && found == parent;
}

int
process_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
