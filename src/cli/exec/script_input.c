/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec/script_input.h"

#include "base/json_read.h"
#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
out_of_memory(void)
{
    return exit_saying(EXIT_OTHER, NULL, "out of memory");
}

static int
read_line(struct script_input *input, const struct invocation *invocation)
{
    size_t count = 0;
    size_t rest = 0;

    if (invocation->operand_count == 0)
        return exit_saying(EXIT_USAGE, "Write: pawl run-script FILE, or pawl run-script --run RUN",
            "FILE is missing");
    while (invocation->rest != NULL && invocation->rest[rest] != NULL)
        rest++;
    input->file = strdup(invocation->operands[0]);
    input->arguments = calloc(invocation->operand_count + rest, sizeof(*input->arguments));
    if (input->file == NULL || input->arguments == NULL)
        return out_of_memory();
    for (size_t i = 1; i < invocation->operand_count + rest; i++) {
        input->arguments[count] =
            strdup(i < invocation->operand_count ? invocation->operands[i]
                                                 : invocation->rest[i - invocation->operand_count]);
        if (input->arguments[count++] == NULL)
            return out_of_memory();
    }
    return EXIT_OK;
}

/* Returns a text of the input of a run, malloced; NULL if there is none. */
static char *
text_of(pawl_bytes json, const char *pointer)
{
    char *text = malloc(json.size + 1);

    if (text != NULL && pawl_json_text(json, pointer, text, json.size + 1) == PAWL_OK)
        return text;
    free(text);
    return NULL;
}

/* Reads {"file": …, "arguments": […]}. Returns false if the input of the run is another one. */
static bool
read_json(struct script_input *input, const char *text)
{
    pawl_bytes json = pawl_text(text);
    pawl_bytes list = {NULL, 0};
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    size_t count = 0;

    input->file = text_of(json, "/file");
    if (input->file == NULL || pawl_json_find(json, "/arguments", &list) != PAWL_OK)
        return false;
    pw_json_walk(&walk, (struct pw_json){list.data, list.size});
    while (pw_json_walk_next(&walk, &key, &value))
        count++;
    input->arguments = calloc(count + 1, sizeof(*input->arguments));
    count = 0;
    pw_json_walk(&walk, (struct pw_json){list.data, list.size});
    while (input->arguments != NULL && pw_json_walk_next(&walk, &key, &value)) {
        input->arguments[count] = text_of((pawl_bytes){value.data, value.size}, "");
        if (input->arguments[count++] == NULL)
            return false;
    }
    return input->arguments != NULL;
}

static int
read_run(struct script_input *input, struct invocation *invocation, const char *run_id)
{
    pawl_rows *rows = NULL;
    int code = invocation_verb(invocation, &rows, "get_run", "run", run_id, NULL);
    const char *workflow = pawl_rows_text(rows, 0, "workflow");
    const char *json = pawl_rows_text(rows, 0, "input");
    const char *status = pawl_rows_text(rows, 0, "status");
    char hint[200];

    if (code == EXIT_OK && pawl_rows_text(rows, 0, "ended_at") != NULL) {
        (void)snprintf(hint, sizeof(hint),
            "To continue from the failed step: pawl run retry %s, then the same command.", run_id);
        code = exit_saying(EXIT_REFUSED, strcmp(status, "SUCCESS") == 0 ? NULL : hint,
            "run %s has ended %s", run_id, status);
    } else if (code == EXIT_OK &&
        (workflow == NULL || strncmp(workflow, "shell.", 6) != 0 || json == NULL ||
            !read_json(input, json))) {
        code = exit_saying(EXIT_REFUSED, "Its workers execute it: pawl why says what it waits for.",
            "run %s was not started by pawl run-script", run_id);
    }
    if (code == EXIT_OK) {
        input->workflow = strdup(workflow);
        if (input->workflow == NULL)
            code = out_of_memory();
    }
    pawl_rows_free(rows);
    return code;
}

int
script_input_read(struct script_input *input, struct invocation *invocation)
{
    const char *run_id = invocation_option(invocation, "run");

    *input = (struct script_input){0};
    if (run_id == NULL)
        return read_line(input, invocation);
    if (invocation->operand_count > 0 || invocation->rest != NULL)
        return exit_saying(
            EXIT_USAGE, "The run has the file and its arguments.", "--run goes without a FILE");
    return read_run(input, invocation, run_id);
}

void
script_input_free(struct script_input *input)
{
    for (size_t i = 0; input->arguments != NULL && input->arguments[i] != NULL; i++)
        free(input->arguments[i]);
    free(input->arguments);
    free(input->file);
    free(input->workflow);
}
