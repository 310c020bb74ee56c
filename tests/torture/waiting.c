/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers wait for and leave to others, without memory: signals, events, people, children, branches; and notes. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char workflow[] = "torture.wait";
static const char child_workflow[] = "torture.child";

static void
prepare(void)
{
    crew_workflow(workflow);
    crew_workflow(child_workflow);
}

/* --- waiting --- */

static pawl_status
wait_for_signals(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes first, second;
    pawl_status status = pawl_wait_signal(run, "early", 60000, &first);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "late", -1, &second);
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "never", 1, NULL);
    if (status != PAWL_ETIMEOUT)
        return status;
    return pawl_run_printf(run, output, "[%s, %s]", first.data, second.data);
}

static bool
send_signals(struct crew *crew, const char *run_id)
{
    /* act may be called again; a signal that was not taken yet is enough. */
    free(torture_text(
        "select pawl.signal($1::uuid, 'early', '{\"n\": 1}') where not exists "
        "(select from pawl_data.signal where run_id = "
        "$1::uuid) and not exists (select from pawl_data.step where run_id = $1::uuid)",
        run_id));
    if (!crew_await(crew,
            "select status = 'PAUSED' and reason = 'signal' or status = 'SUCCESS' from "
            "pawl.get_run($1::uuid)",
            run_id))
        return false;
    free(
        torture_text("select pawl.signal($1::uuid, 'late', '{\"n\": 2}') from "
                     "pawl.get_run($1::uuid) where status <> 'SUCCESS' and not "
                     "exists (select from pawl_data.signal where run_id = $1::uuid) and not exists "
                     "(select from pawl_data.step where run_id = "
                     "$1::uuid and name = 'late#1')",
            run_id));
    return true;
}

static bool
execute_signals(void)
{
    const struct duty duty = {.workflow = workflow, .handler = wait_for_signals};

    return crew_execute(&duty, 1, NULL, send_signals);
}

static pawl_status
wait_for_event(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_run_set_option(run, "key", pawl_run_id(run));
    pawl_run_set_option(run, "match", "{\"/n\": 2, \"/who\": \"me\"}");
    (void)input;
    return pawl_wait_event(run, "news", "torture", 60000, output);
}

static bool
emit_events(struct crew *crew, const char *run_id)
{
    free(torture_text(
        "select pawl.emit('torture', '{\"n\": 1, \"who\": \"me\"}', key => $1::uuid::text)",
        run_id));
    if (!crew_await(crew,
            "select status = 'PAUSED' and reason = 'event' or status = 'SUCCESS' from "
            "pawl.get_run($1::uuid)",
            run_id))
        return false;
    free(torture_text(
        "select pawl.emit('torture', '{\"n\": 2, \"who\": \"me\"}', key => $1::uuid::text)",
        run_id));
    return true;
}

static bool
execute_event(void)
{
    const struct duty duty = {.workflow = workflow, .handler = wait_for_event};

    return crew_execute(&duty, 1, NULL, emit_events);
}

static pawl_status
wait_for_approval(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes yes, no;
    pawl_status status =
        pawl_wait_approval(run, "yes", pawl_text("{\"ask\": \"may I?\"}"), -1, &yes);

    (void)input;
    if (status != PAWL_OK)
        return status;
    status = pawl_wait_approval(run, "no", (pawl_bytes){NULL, 0}, 60000, &no);
    if (status != PAWL_EREFUSED)
        return status;
    return pawl_run_printf(run, output, "[%d, %d]", yes.size > 0, no.size > 0);
}

static bool
decide(struct crew *crew, const char *run_id)
{
    (void)crew;
    free(torture_text(
        "select pawl.approve($1::uuid, 'yes', why => 'fine', by => 'a person') from "
        "pawl.get_run($1::uuid) where status <> "
        "'SUCCESS' and not exists (select from pawl_data.step where run_id = $1::uuid) "
        "and not exists (select from pawl_data.signal "
        "where run_id = $1::uuid)",
        run_id));
    if (!crew_await(crew,
            "select exists (select from pawl_data.wait where run_id = $1::uuid and name = 'no#1') "
            "or "
            "g.status = 'SUCCESS' from pawl.get_run($1::uuid) g",
            run_id))
        return false;
    free(torture_text("select pawl.reject($1::uuid, 'no', why => 'no', by => 'a person') from "
                      "pawl.get_run($1::uuid) where status <> "
                      "'SUCCESS'",
        run_id));
    return true;
}

static bool
execute_approval(void)
{
    const struct duty duty = {.workflow = workflow, .handler = wait_for_approval};

    return crew_execute(&duty, 1, NULL, decide);
}

/* --- children --- */

static pawl_status
be_a_child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    if (strcmp(input.data, "\"bad\"") == 0) {
        pawl_run_set_error_json(
            run, pawl_text("{\"code\": \"bad\", \"message\": \"a bad child\"}"));
        return PAWL_EPERMANENT;
    }
    *output = input;
    return PAWL_OK;
}

static pawl_status
have_children(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes good;
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "metadata", "{\"of\": \"torture\"}");
    pawl_run_set_option(run, "priority", "5");
    status = pawl_child(run, "good", child_workflow, pawl_text("\"good\""), &good);
    if (status == PAWL_OK)
        status = pawl_child_detached(run, "away", child_workflow, pawl_text("\"away\""), NULL);
    if (status == PAWL_OK)
        status = pawl_child(run, "bad", child_workflow, pawl_text("\"bad\""), NULL);
    if (status != PAWL_ERUN)
        return status;
    return pawl_run_printf(run, output, "[%s]", good.data);
}

static bool
execute_children(void)
{
    const struct duty duties[] = {
        {.workflow = workflow, .handler = have_children},
        {.workflow = child_workflow, .handler = be_a_child},
    };
    char run_id[PAWL_ID_SIZE];
    char *count;

    if (!crew_execute_without_words(duties, 2, "SUCCESS [\"good\"] away#1 s bad#1 e good#1 s"))
        return false;
    crew_trigger(workflow, NULL, run_id);
    count =
        torture_text("select count(*) from pawl.list_runs('torture.child', max_rows => 1000) where "
                     "parent_id = $1::uuid",
            run_id);
    (void)torture_check(strcmp(count, "3") == 0, "run %s has %s children", run_id, count);
    free(count);
    return true;
}

/* --- branches --- */

static pawl_status
be_a_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    static char name[] = "branch";
    pawl_run *twig;
    pawl_status status = PAWL_OK;

    if (strcmp(userdata, "b") == 0)
        status = pawl_sleep(branch, "nap", 1);
    if (status == PAWL_OK)
        status = pawl_step(branch, "step", crew_say_hello, name, output);
    if (status == PAWL_OK && strcmp(userdata, "c") == 0) {
        status = pawl_run_branch(branch, "twig", &twig);
        if (status == PAWL_OK)
            status = pawl_step(twig, "step", crew_say_hello, userdata, NULL);
    }
    return status;
}

static pawl_status
have_branches(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char names[][2] = {"a", "b", "c"};
    pawl_bytes made[3];
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++) {
        status = pawl_branch(run, names[i], be_a_branch, names[i], &made[i]);
        if (status != PAWL_OK)
            return status;
    }
    status = pawl_branches_join(run);
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s, %s]", made[0].data, made[1].data, made[2].data);
}

static bool
execute_branches(void)
{
    const struct duty duty = {.workflow = workflow, .handler = have_branches};

    return crew_execute(&duty, 1, NULL, NULL);
}

/* --- notes --- */

static pawl_status
take_notes(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char name[] = "notes";
    char *large = pawl_run_alloc(run, 3000);
    pawl_status status;

    (void)input;
    if (large == NULL)
        return PAWL_ENOMEM;
    memset(large, 'x', 2999);
    large[2999] = '\0';
    pawl_run_log(run, "begun with %s", large);
    pawl_run_progress(run, "share", "%d %%", 40);
    status = pawl_step(run, "step", crew_say_hello, name, output);
    pawl_run_log(run, "ended");
    return status;
}

static bool
execute_notes(void)
{
    const struct duty duty = {.workflow = workflow, .handler = take_notes};

    return crew_execute(&duty, 1, NULL, NULL);
}

int
main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {
        {.name = "a run of two steps",
            .prepare = crew_prepare_two_steps,
            .act = crew_two_steps,
            .known = true},
        {.name = "signals", .prepare = prepare, .act = execute_signals},
        {.name = "an event", .prepare = prepare, .act = execute_event},
        {.name = "approvals", .prepare = prepare, .act = execute_approval},
        {.name = "children", .prepare = prepare, .act = execute_children},
        {.name = "branches", .prepare = prepare, .act = execute_branches},
        {.name = "notes", .prepare = prepare, .act = execute_notes},
    };

    return torture_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
