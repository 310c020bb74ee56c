/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays scenarios in C and prints a line for each: whether libpawl does what the scenario expects. README.md has the format.
 *
 *   play [--name LANGUAGE] [--only SCENARIO] FILE.json...
 *
 * The database is the one that libpq's variables name, with the test clock installed.
 */
#include "player/play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The arguments, and what all scenarios share. */
struct program {
    const char *language;
    const char *only; /* plays this scenario alone, or NULL */
    pawl_client *client;
    struct ledger *ledger;
    int code; /* the exit code: 0, 1 if a scenario failed, 2 for an unreadable file */
};

/* Reads a whole file into the pool; empty if it cannot be read. */
static pawl_bytes
read_file(struct pool *pool, const char *path)
{
    struct text text = {0};
    char part[4096];
    size_t size;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return (pawl_bytes){0};
    while ((size = fread(part, 1, sizeof(part), file)) > 0)
        text_add(&text, part, size);
    (void)fclose(file); /* it was only read */
    return text_take(&text, pool);
}

/* Prints the line of a scenario; its reason is one line. */
static void
print_line(struct program *program, const char *scenario)
{
    const char *problem = ledger_failed(program->ledger);

    (void)printf("%s\t%s\t%s\t", program->language, scenario, problem[0] == '\0' ? "ok" : "FAIL");
    for (const char *at = problem; *at != '\0'; at++)
        (void)putchar(strchr("\t\r\n", *at) != NULL ? ' ' : *at);
    (void)putchar('\n');
    (void)fflush(stdout);
    if (problem[0] != '\0' && program->code == 0)
        program->code = 1;
}

static void
play_one(struct program *program, const char *name, const struct value *scenario)
{
    struct play play = {.scenario = name,
        .file = scenario,
        .pool = pool_new(),
        .ledger = program->ledger,
        .client = program->client,
        .version = "",
        .lock = PTHREAD_MUTEX_INITIALIZER};

    ledger_clear(program->ledger);
    play_scenario(&play);
    print_line(program, name);
    pool_free(play.pool);
}

static void
play_file(struct program *program, const char *path)
{
    struct pool *pool = pool_new();
    const char *problem = NULL;
    const struct value *file = value_read(pool, read_file(pool, path), &problem);

    if (file == NULL || file->kind != VALUE_OBJECT) {
        (void)fprintf(stderr, "play: %s: %s\n", path, problem != NULL ? problem : "not an object");
        program->code = 2;
    } else {
        for (size_t i = 0; i < file->count; i++)
            if (program->only == NULL || strcmp(program->only, file->names[i].data) == 0)
                play_one(program, file->names[i].data, file->items[i]);
    }
    pool_free(pool);
}

/* Connects, and creates the table that transactional steps write to. */
static bool
open_program(struct program *program)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_admin_script(NULL,
        "create table if not exists play_effect (scenario text not null, step text not null)",
        &error);

    if (status == PAWL_OK)
        status = pawl_client_open(NULL, &program->client, &error);
    if (status != PAWL_OK)
        (void)fprintf(stderr, "play: %s\n", pawl_error_message(error));
    pawl_error_free(error);
    program->ledger = ledger_new();
    return status == PAWL_OK;
}

int
main(int argc, char **argv)
{
    struct program program = {.language = "c"};
    int first = 1;

    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2)
        if (strcmp(argv[first], "--name") == 0)
            program.language = argv[first + 1];
        else if (strcmp(argv[first], "--only") == 0)
            program.only = argv[first + 1];
        else
            break;
    if (first >= argc || strncmp(argv[first], "--", 2) == 0) {
        (void)fprintf(stderr, "usage: play [--name LANGUAGE] [--only SCENARIO] FILE.json...\n");
        return 2;
    }
    if (!open_program(&program))
        return 2;
    for (int i = first; i < argc; i++)
        play_file(&program, argv[i]);
    ledger_free(program.ledger);
    pawl_client_close(program.client);
    return program.code;
}
