/* SPDX-License-Identifier: Apache-2.0 */
/* pawl flow: workflows whose steps are declared in a file; applies, shows and draws them. */
#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/command/rows.h"
#include "cli/flow/flow.h"
#include "cli/flow/flow_diff.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAME_SIZE = 256,
    COLUMNS_LEAST = 20,
    COLUMNS_MOST = 1000,
    COLUMNS_DEFAULT = 80, /* where there is no terminal */
};

static const size_t definition_max = (size_t)64 * 1024 * 1024;

/* Sets frozen to whether the flow in the database has been triggered. A flow that is not in the database has not. */
static int
is_frozen(struct invocation *invocation, const char *name, bool *frozen)
{
    pawl_rows *rows = NULL;
    int code = invocation_verb(
        invocation, &rows, "list_workflows", "only_workflow", name, "only_flows", "true", NULL);
    bool known = code == EXIT_OK && pawl_rows_count(rows) > 0;
    const char *text;

    pawl_rows_free(rows);
    rows = NULL;
    *frozen = false;
    if (!known)
        return code;
    code = invocation_verb(invocation, &rows, "list_steps", "flow", name, NULL);
    text = code == EXIT_OK ? pawl_rows_text(rows, 0, "frozen") : NULL;
    *frozen = text != NULL && text[0] == 't';
    pawl_rows_free(rows);
    return code;
}

static int
show_changes(const struct invocation *invocation, const char *name, const pawl_rows *changes)
{
    if (invocation->output != OUTPUT_TABLE)
        return rows_show(invocation, changes);
    flow_diff_print(name, changes);
    return EXIT_OK;
}

/* Shows the changes before it makes them, so that the user understands a refusal. */
static int
apply_definition(struct invocation *invocation, const char *name, const char *definition)
{
    pawl_rows *changes = NULL;
    bool frozen = false;
    int code = invocation_verb(
        invocation, &changes, "apply_flow", "definition", definition, "only_check", "true", NULL);

    if (code == EXIT_OK)
        code = show_changes(invocation, name, changes);
    if (code == EXIT_OK && flow_diff_has_steps(changes))
        code = is_frozen(invocation, name, &frozen);
    (void)fflush(stdout);
    if (frozen)
        code = exit_saying(EXIT_REFUSED,
            "Use a new name, such as one that ends in .v2; runs of this one go on as they are.",
            "flow \"%s\" has been triggered, so its steps do not change", name);
    else if (code == EXIT_OK && invocation_has(invocation, "check"))
        code = pawl_rows_count(changes) > 0 ? EXIT_DIFFERS : EXIT_OK;
    else if (code == EXIT_OK)
        code = invocation_verb(invocation, NULL, "apply_flow", "definition", definition, NULL);
    pawl_rows_free(changes);
    return code;
}

static int
apply(struct invocation *invocation)
{
    const char *path = invocation_operand(invocation, 0);
    char name[NAME_SIZE];
    int code = EXIT_OK;
    char *definition = invocation_file(path, &code);

    if (definition == NULL)
        return code;
    if (pawl_json_text(pawl_text(definition), "/flow", name, sizeof(name)) != PAWL_OK)
        name[0] = '\0';
    if (!pw_json_valid((struct pw_json){definition, strlen(definition)}))
        code = exit_saying(EXIT_USAGE,
            "Flow files are JSON. YAML is made into it by: yq -o json FILE | pawl flow apply -",
            "\"%s\" is not JSON", path);
    else
        code = apply_definition(invocation, name, definition);
    free(definition);
    return code;
}

/* Writes the options of a flow in the form of its file. */
static void
write_options(struct pw_json_writer *json, const pawl_rows *flow)
{
    static const struct {
        const char *name;
        bool raw; /* is JSON already */
    } options[] = {
        {"description", false},
        {"runtime", false},
        {"priority", true},
        {"max_attempts", true},
        {"base", false},
        {"factor", true},
        {"cap", false},
        {"jitter", true},
        {"run_timeout", false},
        {"step_timeout", false},
        {"input_schema", true},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const char *text = pawl_rows_text(flow, 0, options[i].name);

        if (text == NULL)
            continue;
        pw_json_key(json, options[i].name);
        if (options[i].raw)
            pw_json_add_raw(json, text, strlen(text));
        else
            pw_json_add_text(json, text);
    }
}

static void
write_step(struct pw_json_writer *json, const struct flow *flow, const struct flow_step *step,
    const char *options)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    char name[120];

    pw_json_open(json, '{');
    pw_json_key(json, "step");
    pw_json_add_text(json, step->name);
    if (step->dep_count > 0) {
        pw_json_key(json, "deps");
        pw_json_open(json, '[');
        for (size_t i = 0; i < step->dep_count; i++)
            pw_json_add_text(json, flow->steps[step->deps[i]].name);
        pw_json_close(json);
    }
    pw_json_walk(&walk, (struct pw_json){options, strlen(options)});
    while (pw_json_walk_next(&walk, &key, &value)) {
        (void)snprintf(name, sizeof(name), "%.*s", (int)key.size, key.data);
        pw_json_key(json, name);
        pw_json_add_raw(json, value.data, value.size);
    }
    pw_json_close(json);
}

/* Prints the definition, as a file for pawl flow apply. */
static int
print_definition(const struct flow *flow, const pawl_rows *row, const pawl_rows *steps)
{
    struct pw_json_writer json;
    struct pw_buf buf;
    int code = EXIT_OK;

    pw_buf_init(&buf, definition_max);
    pw_json_writer_init(&json, &buf);
    pw_json_open(&json, '{');
    pw_json_key(&json, "flow");
    pw_json_add_text(&json, flow->name);
    write_options(&json, row);
    pw_json_key(&json, "steps");
    pw_json_open(&json, '[');
    for (size_t i = 0; i < flow->count; i++)
        write_step(&json, flow, &flow->steps[i], pawl_rows_text(steps, i, "options"));
    pw_json_close(&json);
    pw_json_close(&json);
    if (pw_json_ok(&json))
        (void)puts(pw_buf_text(&buf));
    else
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    pw_buf_done(&buf);
    return code;
}

/* Prints the options of a flow, then its steps. */
static int
print_flow(const struct invocation *invocation, const struct flow *flow, const pawl_rows *row,
    const pawl_rows *steps)
{
    int code;

    if (invocation->output == OUTPUT_IDS)
        return rows_show(invocation, steps);
    if (invocation->output != OUTPUT_TABLE)
        return print_definition(flow, row, steps);
    code = rows_show_lines(invocation, row);
    if (code != EXIT_OK || flow->count == 0)
        return code;
    (void)printf("%s%-14s%s %s\n\n", term_style(TERM_OUT, TERM_DIM), "frozen",
        term_style(TERM_OUT, TERM_PLAIN),
        flow->frozen ? "yes: it has been triggered, its steps do not change" : "no");
    return rows_show(invocation, steps);
}

static int
list(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask_with(invocation, "only_flows", "true", &rows);

    return invocation_show(invocation, code, rows);
}

/* Reads a flow from the database. */
static int
ask_flow(struct invocation *invocation, struct flow *flow, pawl_rows **steps)
{
    const char *name = invocation_operand(invocation, 0);
    int code = invocation_verb(invocation, steps, "list_steps", "flow", name, NULL);

    if (code == EXIT_OK && !flow_read(flow, name, *steps)) {
        flow_done(flow);
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    return code;
}

static int
show(struct invocation *invocation)
{
    pawl_rows *steps = NULL;
    pawl_rows *row = NULL;
    struct flow flow;
    int code = ask_flow(invocation, &flow, &steps);

    if (code == EXIT_OK) {
        code = invocation_verb(
            invocation, &row, "get_workflow", "name", invocation_operand(invocation, 0), NULL);
        if (code == EXIT_OK)
            code = print_flow(invocation, &flow, row, steps);
        flow_done(&flow);
    }
    pawl_rows_free(steps);
    pawl_rows_free(row);
    return code;
}

/* Adds the states of the run that --run names, and prints a line about that run if heading is true. */
static int
add_run(struct invocation *invocation, struct flow *flow, bool heading)
{
    const char *id = invocation_option(invocation, "run");
    pawl_rows *run = NULL;
    int code = id == NULL ? EXIT_OK : invocation_verb(invocation, &run, "get_run", "run", id, NULL);
    const char *workflow = pawl_rows_text(run, 0, "workflow");
    const char *status = pawl_rows_text(run, 0, "status");

    if (code == EXIT_OK && workflow != NULL && strcmp(workflow, flow->name) != 0)
        code = exit_saying(
            EXIT_USAGE, NULL, "run %s is one of \"%s\", not of \"%s\"", id, workflow, flow->name);
    else if (code == EXIT_OK && id != NULL && !flow_add_run(flow, run))
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (code == EXIT_OK && heading && status != NULL)
        (void)printf("%s%s%s  run %s\n\n", term_style(TERM_OUT, term_style_of(status)), status,
            term_style(TERM_OUT, TERM_PLAIN), id);
    pawl_rows_free(run);
    return code;
}

static size_t
columns_of(const struct invocation *invocation)
{
    const char *given = invocation_option(invocation, "width");
    int64_t columns;

    if (given != NULL && pw_parse_i64(given, COLUMNS_LEAST, COLUMNS_MOST, &columns))
        return (size_t)columns;
    return term_width() > 0 ? term_width() : COLUMNS_DEFAULT;
}

static int
graph(struct invocation *invocation)
{
    const char *output = invocation_option(invocation, "output");
    bool text = output == NULL || strcmp(output, "text") == 0;
    pawl_rows *steps = NULL;
    struct flow flow;
    int code = ask_flow(invocation, &flow, &steps);

    if (code == EXIT_OK) {
        code = add_run(invocation, &flow, text);
        if (code == EXIT_OK && text && !flow_print_text(stdout, &flow, columns_of(invocation)))
            code = exit_saying(EXIT_OTHER, NULL, "out of memory");
        else if (code == EXIT_OK && !text && strcmp(output, "dot") == 0)
            flow_print_dot(stdout, &flow);
        else if (code == EXIT_OK && !text)
            flow_print_mermaid(stdout, &flow);
        flow_done(&flow);
    }
    pawl_rows_free(steps);
    return code;
}

static int
delete_flow(struct invocation *invocation)
{
    const char *name = invocation_operand(invocation, 0);
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    const char *answer = code == EXIT_OK ? pawl_rows_text(rows, 0, "delete_flow") : NULL;

    if (answer != NULL && strcmp(answer, "refused") == 0)
        code = exit_saying(EXIT_REFUSED,
            "It stays, with its runs. So that no step of it starts: pawl workflow pause NAME",
            "flow \"%s\" has been triggered, or another flow has it as a step", name);
    else if (answer != NULL && strcmp(answer, "not_found") == 0)
        code = exit_saying(
            EXIT_NOT_FOUND, "pawl flow list shows all there are.", "unknown flow \"%s\"", name);
    else if (code == EXIT_OK)
        code = rows_show(invocation, rows);
    pawl_rows_free(rows);
    return code;
}

#define OPERAND_FLOW(sql)                                                                        \
    {                                                                                            \
        .kind = KIND_WORKFLOW, .value = "NAME", .argument = sql, .summary = "the name of a flow" \
    }

static const struct operand flow_operand[] = {
    OPERAND_FLOW(NULL),
    {.kind = KIND_END},
};

static const struct option graph_options[] = {
    {.kind = KIND_RUN,
        .name = "run",
        .value = "RUN",
        .summary = "with the states of this run; of a map step, how many of its tasks are done"},
    {.kind = KIND_CHOICE,
        .letter = 'o',
        .name = "output",
        .value = "FORMAT",
        .choices = "text dot mermaid",
        .summary = "how to draw it: for the terminal, for Graphviz, for Mermaid"},
    {.kind = KIND_NUMBER,
        .name = "width",
        .value = "N",
        .summary = "so many columns, 20 to 1000; else those of the terminal, or 80"},
    {.kind = KIND_END},
};

const struct command cmd_flow[] = {
    {.name = "flow list",
        .summary = "List flows: workflows with declared steps",
        .verb = "list_workflows",
        .columns =
            "workflow workers paused max_attempts base cap step_timeout run_timeout priority "
            "runtime description",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only those that a pattern such as billing.* names"},
                {.kind = KIND_WORKFLOW,
                    .name = "cursor",
                    .value = "NAME",
                    .argument = "cursor",
                    .summary = "list names after this one, to continue a list"},
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            },
        .act = list},
    {.name = "flow show",
        .summary = "Show a flow: its options and steps",
        .text = "With --output json it is the definition, as pawl flow apply reads it.",
        .columns = "step deps handler child options",
        .operands = flow_operand,
        .examples =
            (const struct example[]){
                {"pawl flow show web.analysis.v1 -o json >web.json", "make a file of it"},
                {NULL, NULL},
            },
        .act = show},
    {.name = "flow graph",
        .summary = "Draw a flow as text, for Graphviz or for Mermaid",
        .text = "In the terminal, a step stands below all that it depends on. What does not fit is "
                "made smaller:\n"
                "steps that stand alike between the same others become one box, names are cut, and "
                "a graph that is\n"
                "still too wide is a list.",
        .operands = flow_operand,
        .options = graph_options,
        .examples =
            (const struct example[]){
                {"pawl flow graph web.analysis.v1 --run 019c0000-0000-7000-8000-000000000000",
                    "where a run is"},
                {"pawl flow graph web.analysis.v1 -o dot | dot -Tsvg >web.svg", "a picture"},
                {NULL, NULL},
            },
        .act = graph},
    {.name = "flow apply",
        .summary = "Create or update a flow from a file",
        .text =
            "A flow file is JSON: {\"flow\": NAME, options, \"steps\": [{\"step\": NAME, "
            "\"deps\": [NAME, ...], options},\n"
            "...]}, in any order, with the options of create_flow and add_step. All of it is done "
            "in one transaction,\n"
            "or nothing is. Once is as good as twice. The steps of a flow that has been triggered "
            "do not change: a file\n"
            "that wants that is refused. With --check nothing is changed; the exit code is 0 if "
            "nothing would be, 11\n"
            "if something would, and 4 if it would be refused.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_FILE,
                    .value = "FILE",
                    .summary = "the file, or - for standard input"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "check", .summary = "only say what would change"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl flow apply examples/flow/web.json", "create it, or see that it is there"},
                {"yq -o json web.yaml | pawl flow apply --check -", "from YAML, and only look"},
                {NULL, NULL},
            },
        .act = apply},
    {.name = "flow delete",
        .summary = "Delete a flow that was never triggered",
        .verb = "delete_flow",
        .operands =
            (const struct operand[]){
                OPERAND_FLOW("name"),
                {.kind = KIND_END},
            },
        .act = delete_flow},
    {0},
};
