/* SPDX-License-Identifier: Apache-2.0 */
/* pawl run-script: executes a durable script. It needs no workflow and no worker that were set up before. */
#include "base/sha256.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/exec/exec.h"
#include "cli/exec/job.h"
#include "cli/exec/run_asker.h"
#include "cli/exec/script_input.h"
#include "cli/report/exit.h"
#include "cli/script/frame.h"
#include "cli/show/term.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_SIZE = 200,
    HOST_MAX = 40,    /* characters of the host in the name of the workflow */
    FILE_PART = 40,   /* and of the file */
    LOOK_US = 500000, /* from one check whether the run has ended to the next */
    BRIEFLY_US = 200000,
    LAST_LOOK_US = 30000000,
    KEY_SIZE = 300,
    KEY_WORDS = 160, /* bytes of the command line in a key */
};

/* A script and its run. */
struct script {
    char path[PATH_MAX];
    /* One for each host, file and arguments, so that no process for another script claims the run. */
    char workflow[NAME_SIZE];
    char key[KEY_SIZE];
    struct pw_buf input;
    char **words;
    char run_id[PAWL_ID_SIZE];
    char worker_name[NAME_SIZE]; /* of this process */
    uint32_t flags;
};

/* Adds a mark, and then a text with the characters that the name of a workflow cannot have replaced. */
static void
add_name(char *name, const char *text, size_t most, char mark)
{
    size_t size = strlen(name);

    if (mark != '\0')
        name[size++] = mark;
    for (size_t i = 0; text[i] != '\0' && i < most && size < NAME_SIZE - 1; i++) {
        char c = text[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        name[size++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ? c : '-';
    }
    name[size] = '\0';
}

/* The run's input identifies the script: {"file": …, "arguments": […]}. */
static void
make_input(struct script *script, const struct script_input *from)
{
    struct pw_json_writer writer;

    pw_buf_init(&script->input, (size_t)1024 * 1024);
    pw_json_writer_init(&writer, &script->input);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "file");
    pw_json_add_text(&writer, script->path);
    pw_json_key(&writer, "arguments");
    pw_json_open(&writer, '[');
    for (size_t i = 0; from->arguments[i] != NULL; i++)
        pw_json_add_text(&writer, from->arguments[i]);
    pw_json_close(&writer);
    pw_json_close(&writer);
}

/* A word of a command line as a shell reads it. */
static void
add_word(struct pw_buf *line, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";

    if (line->size > 0)
        pw_buf_addc(line, ' ');
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        pw_buf_adds(line, word);
        return;
    }
    pw_buf_addc(line, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            pw_buf_adds(line, "'\\'");
        pw_buf_addc(line, *word);
    }
    pw_buf_addc(line, '\'');
}

/*
 * The key is the command line, which shows more in a list than a digest does. If the command line is too long, or not UTF-8, the key has
 * its printable beginning and the digest. The digest is of the bytes themselves, because in JSON all bytes that are not UTF-8 look the
 * same.
 */
static void
make_key(struct script *script, size_t first, const char *digest)
{
    struct pw_buf line;
    size_t size;

    pw_buf_init(&line, KEY_WORDS);
    for (size_t i = first; script->words[i] != NULL; i++)
        add_word(&line, script->words[i]);
    size = line.size;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)line.data[i] < ' ' || line.data[i] == 0x7f)
            size = i;
    while (size > 0 && !pw_utf8_valid(line.data, size))
        size--;
    if (pw_buf_ok(&line) && size == line.size)
        (void)snprintf(script->key, sizeof(script->key), "%.*s", (int)size, line.data);
    else
        (void)snprintf(script->key, sizeof(script->key), "%.*s... sha256:%s", (int)size,
            size > 0 ? line.data : "", digest);
    pw_buf_done(&line);
}

/* Makes the key and the names. Requires that make_words() has been called. */
static void
make_names(struct script *script, const char *host)
{
    uint8_t digest[PW_SHA256_SIZE];
    char hex[2 * PW_SHA256_SIZE + 1];
    struct pw_sha256_state hash;
    const char *slash = strrchr(script->path, '/');
    size_t first = script->words[0] == script->path ? 0 : 1; /* skips "sh" */

    pw_sha256_init(&hash);
    pw_sha256_add(&hash, host, strlen(host) + 1);
    for (size_t i = first; script->words[i] != NULL; i++)
        pw_sha256_add(&hash, script->words[i], strlen(script->words[i]) + 1);
    pw_sha256_end(&hash, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    make_key(script, first, hex);
    add_name(script->workflow, "shell", HOST_MAX, '\0');
    add_name(script->workflow, host, HOST_MAX, '.');
    add_name(script->workflow, slash != NULL ? slash + 1 : script->path, FILE_PART, '.');
    add_name(script->workflow, hex, 16, '-');
}

/* Makes the command line: the file itself if it is executable, else sh with the file. */
static bool
make_words(struct script *script, const struct script_input *from)
{
    static char shell[] = "sh";
    size_t count = 0;

    while (from->arguments[count] != NULL)
        count++;
    script->words = calloc(count + 3, sizeof(*script->words));
    if (script->words == NULL)
        return false;
    count = 0;
    if (access(script->path, X_OK) != 0)
        script->words[count++] = shell;
    script->words[count++] = script->path;
    for (size_t i = 0; from->arguments[i] != NULL; i++)
        script->words[count++] = from->arguments[i];
    return true;
}

/* Reports a file that can never be executed, before a run of it is triggered. */
static int
check_file(const char *path)
{
    struct stat facts;
    char line[100] = "";
    FILE *file;

    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return exit_saying(EXIT_OTHER, NULL, "\"%s\" is no file", path);
    if (access(path, X_OK) == 0)
        return EXIT_OK;
    file = fopen(path, "re");
    if (file == NULL)
        return exit_saying(EXIT_OTHER, NULL, "cannot read \"%s\": %m", path);
    if (fgets(line, sizeof(line), file) == NULL)
        line[0] = '\0';
    (void)fclose(file);
    line[strcspn(line, "\r\n")] = '\0';
    if (strncmp(line, "#!", 2) == 0 && strstr(line, "sh") == NULL)
        return exit_saying(EXIT_OTHER, "Make it executable: chmod +x FILE",
            "\"%s\" is not executable, and sh is not what it says it is for (%s)", path, line);
    return EXIT_OK;
}

static int
make_script(struct script *script, const struct script_input *from)
{
    char host[HOST_NAME_MAX + 1] = "localhost";
    int code;

    if (realpath(from->file, script->path) == NULL)
        return exit_saying(EXIT_OTHER, NULL, "cannot find \"%s\": %m", from->file);
    code = check_file(script->path);
    if (code != EXIT_OK)
        return code;
    (void)gethostname(host, sizeof(host) - 1);
    make_input(script, from);
    if (!pw_buf_ok(&script->input) || !make_words(script, from))
        return exit_saying(EXIT_OTHER, NULL, "the arguments are too many, or memory is short");
    make_names(script, host);
    /* 1. A run was started on another machine, which has a file at the same place, too. 2. Its command is executed here. */
    /* guard:script_of_this_host */
    if (from->workflow != NULL && strcmp(from->workflow, script->workflow) != 0)
        return exit_saying(EXIT_REFUSED,
            "Resume it on the host that started it, which is a part of the name of its workflow.",
            "the run is of workflow %s, and here its script would be %s", from->workflow,
            script->workflow);
    return EXIT_OK;
}

static void
free_script(struct script *script)
{
    free(script->words);
    pw_buf_done(&script->input);
}

/* Returns true if the worker's name is that of a process of this host that has ended. */
static bool
is_gone(const char *worker, const struct script *script)
{
    const char *colon = strrchr(script->worker_name, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon + 1 - script->worker_name);
    int64_t pid = 0;

    return size > 0 && strncmp(worker, script->worker_name, size) == 0 &&
        pw_parse_i64(worker + size, 1, INT_MAX, &pid) && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/*
 * Prints which worker holds the run: the same command may be running already, and then this process only waits. Prints nothing about a
 * process that was killed, which holds the run until its lease has expired.
 */
static void
say_holder(struct invocation *invocation, const struct script *script)
{
    const char *names[] = {"run"};
    const char *values[] = {script->run_id};
    pawl_rows *rows = NULL;
    const char *status;
    const char *worker;

    if (pawl_client_call(invocation->client, "get_run", names, values, 1, &rows, NULL) != PAWL_OK)
        return;
    status = pawl_rows_text(rows, 0, "status");
    worker = pawl_rows_text(rows, 0, "worker");
    if (status != NULL && strcmp(status, "RUNNING") == 0 && worker != NULL &&
        strcmp(worker, script->worker_name) != 0 && !is_gone(worker, script)) {
        (void)fputs("pawl: worker ", stderr);
        term_print(stderr, worker);
        (void)fputs(" has it: waiting until the run ends or the worker loses it\n", stderr);
    }
    pawl_rows_free(rows);
}

static void
say_begin(struct invocation *invocation, const struct script *script)
{
    bool created = (script->flags & PAWL_CREATED) != 0;

    (void)fprintf(stderr, "pawl: %s run %s\n", created ? "started" : "resumes", script->run_id);
    if (!created)
        say_holder(invocation, script);
}

/* Triggers the run, or finds the run of an earlier call that has not ended. */
static int
trigger(struct invocation *invocation, struct script *script)
{
    pawl_trigger *made = pawl_trigger_new(script->workflow);
    pawl_error *error = NULL;
    pawl_status status;

    if (made == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    pawl_trigger_set_input(made, (pawl_bytes){script->input.data, script->input.size});
    pawl_trigger_set(made, "key", script->key);
    pawl_trigger_set(made, "key_while_active", "on");
    status = pawl_client_trigger(invocation->client, made, script->run_id, &script->flags, &error);
    pawl_trigger_free(made);
    if (status == PAWL_OK)
        say_begin(invocation, script);
    return exit_with_verb(status, error, "trigger");
}

/* Handles an answer of the database about the run. Returns true if the run has ended; then code is the exit code. */
static bool
take_answer(struct run_answer *answer, int *code)
{
    bool over = answer->status != PAWL_ETIMEOUT && answer->status != PAWL_ECONN;

    /* The user sees why nothing happens between two attempts. */
    if (answer->why != NULL) {
        (void)fputs("pawl: ", stderr);
        term_print(stderr, answer->why);
        (void)fputc('\n', stderr);
    }
    if (answer->output != NULL)
        (void)fwrite(answer->output, 1, answer->output_size, stdout);
    if (over) {
        *code = exit_with(answer->status, answer->error);
        answer->error = NULL;
    }
    run_answer_done(answer);
    return over;
}

/* The descriptor only wakes the loop up, which then takes the answer. */
static void
nothing_to_do(struct watch *watch)
{
    (void)watch;
}

/* Prints how to continue a run that has ended with a failure. A run whose undos were executed cannot be retried. */
static void
say_how_to_continue(const struct script *script, const struct exec *exec)
{
    if (exec->undoing)
        (void)fputs("      Its undos were executed. The same command starts a new run.\n", stderr);
    else
        (void)fprintf(stderr,
            "      To continue from the failed step: pawl run retry %s, then the same command. "
            "The same command alone starts a new run.\n",
            script->run_id);
}

/* Executes the script until the run has ended, or a signal asks the program to end. */
static int
execute(struct script *script, struct exec *exec, struct run_asker *asker)
{
    struct watch news = {run_asker_fd(asker), nothing_to_do};
    struct run_answer answer;
    int64_t look_at_us = 0;
    unsigned ended = 0;
    unsigned failed = 0;
    bool over = false;
    int code = EXIT_OK;

    exec_watch(exec, &news, false);
    while (exec_turn(exec, 200)) {
        /* Not in the turn in which a job ended: the database does not have its end yet. */
        bool also_why = exec->ended == ended && exec->failed != failed;

        if (!over && run_asker_take(asker, &answer) && take_answer(&answer, &code)) {
            over = true;
            exec_drain(exec);
        }
        if (over || exec->giving_back || (exec->ended == ended && pw_now_us() < look_at_us) ||
            !run_asker_ask(asker, also_why))
            continue;
        if (also_why)
            failed = exec->failed;
        ended = exec->ended;
        look_at_us = pw_now_us() + LOOK_US;
    }
    /* After a signal the program waits only briefly for a database that hangs. */
    if (!over &&
        run_asker_wait(
            asker, pw_now_us() + (exec->giving_back ? BRIEFLY_US : LAST_LOOK_US), &answer))
        over = take_answer(&answer, &code);
    if (over && code == EXIT_RUN_FAILED)
        say_how_to_continue(script, exec);
    if (over)
        return code;
    return exit_saying(EXIT_INTERRUPTED, "Repeat the same command to resume it.",
        "run %s has not ended", script->run_id);
}

static int
run(struct invocation *invocation, struct script *script, const pawl_config *config)
{
    struct exec exec = {.one_script = true};
    struct run_asker *asker = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code = exec_init(&exec, config);
    int left;

    if (code == EXIT_OK) {
        status = pawl_worker_handle(exec.worker, script->workflow, NULL, script->words, &error);
        code = exit_with(status, error);
    }
    if (code == EXIT_OK)
        code = exec_start(&exec);
    if (code == EXIT_OK)
        code = invocation_connect(invocation);
    if (code == EXIT_OK && script->run_id[0] != '\0')
        say_begin(invocation, script);
    else if (code == EXIT_OK)
        code = trigger(invocation, script);
    if (code == EXIT_OK) {
        asker = run_asker_start(invocation->client, script->run_id);
        if (asker == NULL)
            code = exit_saying(EXIT_OTHER, NULL, "cannot start a thread: %m");
        else
            invocation->client = NULL;
    }
    if (code == EXIT_OK)
        code = execute(script, &exec, asker);
    left = exec_done(&exec);
    if (code == EXIT_OK)
        code = left;
    /* A thread that hangs in a call must not run while the end of the program frees what the thread uses. */
    if (!run_asker_stop(asker)) {
        (void)fflush(stdout);
        _exit(code);
    }
    return code;
}

static int
set(pawl_config *config, const char *name, const char *value)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_config_set(config, name, value, &error);

    return exit_with(status, error);
}

/* Names the worker, unless a setting names it, so that its name differs from those of other workers. */
static int
name_worker(struct script *script, pawl_config *config)
{
    const char *given = pawl_config_get(config, "worker_name");
    char host[HOST_NAME_MAX + 1] = "localhost";

    (void)gethostname(host, sizeof(host) - 1);
    if (given != NULL && given[0] != '\0')
        (void)snprintf(script->worker_name, sizeof(script->worker_name), "%s", given);
    else
        (void)snprintf(script->worker_name, sizeof(script->worker_name), "%.*s:%ld", HOST_NAME_MAX,
            host, (long)getpid());
    return set(config, "worker_name", script->worker_name);
}

static int
run_script(struct invocation *invocation)
{
    struct script script = {0};
    struct script_input input;
    pawl_config *config = NULL;
    int code = script_input_read(&input, invocation);

    if (code == EXIT_OK)
        code = make_script(&script, &input);
    if (code == EXIT_OK && invocation_has(invocation, "run"))
        (void)snprintf(
            script.run_id, sizeof(script.run_id), "%s", invocation_option(invocation, "run"));
    if (code == EXIT_OK)
        code = invocation_config(invocation, &config);
    /* One run needs only one connection. The lease is short, so that the run of a killed process becomes claimable soon. */
    if (code == EXIT_OK)
        code = set(config, "connections", "1");
    if (code == EXIT_OK)
        code = set(config, "lease", "5s");
    if (code == EXIT_OK)
        code = exec_settings(invocation, config);
    if (code == EXIT_OK)
        code = name_worker(&script, config);
    if (code == EXIT_OK)
        code = run(invocation, &script, config);
    pawl_config_free(config);
    free_script(&script);
    script_input_free(&input);
    return code;
}

const struct command cmd_run_script[] = {
    {.name = "run-script",
        .summary = "Run a script durably, here and now",
        .text =
            "Nothing needs to be set up: this is the worker, for this one run. Inside, pawl step, "
            "sleep, wait, child, set and get are what makes the script durable.\n\n"
            "If it is ended in the middle, by Ctrl-C, kill -9 or a power cut, the same command "
            "resumes the unfinished run: same host, same file, same arguments; so does --run with "
            "its id, which needs the right to read runs. Both execute the script in the current "
            "directory. Once the run has ended, the same command "
            "begins a new one; after pawl run retry RUN it continues a run that failed.\n\n"
            "What the script writes to standard output is the run's output, and is printed when it "
            "has ended; standard error is shown at once.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_FILE,
                    .value = "FILE",
                    .summary = "the script; executed with sh unless it is executable",
                    .optional = true},
                {.kind = KIND_TEXT,
                    .value = "ARGUMENT",
                    .summary = "an argument of the script; after -- if it begins with a dash",
                    .optional = true,
                    .many = true},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_RUN,
                    .name = "run",
                    .value = "RUN",
                    .summary = "resume this run, instead of a FILE"},
                {.kind = KIND_TEXT,
                    .name = "set",
                    .value = "SETTING=VALUE",
                    .summary = "any setting of docs/config.md; lease is 5s here, unless set",
                    .many = true},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl run-script examples/shell/backup.sh /srv/data /backups",
                    "executes it to its end, however often it is interrupted"},
                {"pawl run-script --run 01a1eb22", "resumes an unfinished run by its id"},
                {NULL, NULL},
            },
        .act = run_script},
    {0},
};
