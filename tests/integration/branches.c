/* SPDX-License-Identifier: Apache-2.0 */
/* Branches of one run: executed at the same time, each with its own record, its own waits and its own due time. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    HOUR = 3600 * 1000,
    MANY = 100
};

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
    atomic_int left_tries;
    atomic_int at_once; /* branches that are executing */
    atomic_int most_at_once;
    pawl_status joined[8];
    pawl_status refused[4];
    char error[300];
};

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

/* Adds two branches and joins them. */
static pawl_status
join_two(pawl_run *run, pawl_branch_fn left, pawl_branch_fn right, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_bytes outputs[2] = {{0}};
    int at = atomic_fetch_add(&tale->executed, 1);
    pawl_status status;

    if ((status = pawl_branch(run, "left", left, NULL, &outputs[0])) != PAWL_OK ||
        (status = pawl_branch(run, "right", right, NULL, &outputs[1])) != PAWL_OK)
        return status;
    tale->joined[at] = status = pawl_branches_join(run);
    (void)snprintf(tale->error, sizeof(tale->error), "%s", pawl_run_error_message(run));
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s]", outputs[0].data, outputs[1].data);
}

/* A step that ends only when another branch is in its own. */
static pawl_status
meet(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    *output = pawl_text("1");
    return gate_pass(&tale->gate) ? PAWL_OK : PAWL_EPERMANENT;
}

static pawl_status
meeting_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_step(branch, "meet", meet, NULL, output);
}

static pawl_status
meeting(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return join_two(run, meeting_branch, meeting_branch, output);
}

static void
branches_are_executed_at_the_same_time(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_handle(scene, "branches.meeting", meeting, &tale);
    scene_work(scene);
    scene_trigger(scene, "branches.meeting", "{}");
    gate_await(&tale.gate, 2);
    gate_open(&tale.gate);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1, 1]");
    assert_int_equal(tale.executed, 1);
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

/* Fails at its first try, and wants an hour before the next. */
static pawl_status
fail_first(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    *output = pawl_text("\"late\"");
    if (atomic_fetch_add(&tale->left_tries, 1) > 0)
        return PAWL_OK;
    pawl_run_retry_after(run, HOUR);
    return PAWL_EFAILED;
}

static pawl_status
backing_off(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_step(branch, "work", fail_first, NULL, output);
}

/* Three steps, with a wait in between that others must wake it from. */
static pawl_status
moving_on(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status;

    (void)userdata;
    if ((status = pawl_step(branch, "work", count, NULL, NULL)) != PAWL_OK ||
        (status = pawl_wait_signal(branch, "go", -1, NULL)) != PAWL_OK ||
        (status = pawl_step(branch, "work", count, NULL, NULL)) != PAWL_OK)
        return status;
    return pawl_step(branch, "work", count, NULL, output);
}

static pawl_status
uneven(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return join_two(run, backing_off, moving_on, output);
}

static void
the_backoff_of_one_branch_does_not_delay_another(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.uneven", uneven, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.uneven", "{}");
    scene_go_on(scene);
    assert_int_equal(tale.steps, 1);
    scene_has(scene_state(scene, scene->run_id), "PAUSED");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    /* The right one is through, the left one has still to wait. */
    assert_int_equal(tale.steps, 3);
    assert_int_equal(tale.left_tries, 1);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[\"late\", 3]");
    assert_int_equal(tale.left_tries, 2);
    assert_int_equal(tale.steps, 3);
    assert_int_equal(tale.executed, 3);
}

static pawl_status
sleeping(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status = pawl_sleep(branch, "nap", HOUR);

    (void)userdata;
    return status == PAWL_OK ? pawl_step(branch, "work", count, NULL, output) : status;
}

static pawl_status
two_waits(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return join_two(run, sleeping, moving_on, output);
}

static void
a_run_waits_only_when_none_of_its_branches_can_move(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.waits", two_waits, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.waits", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_steps(scene, scene->run_id),
        strstr(scene_steps(scene, scene->run_id), "left/nap#1 PAUSED, right/work#1") != NULL
            ? "left/nap#1 PAUSED, right/work#1 SUCCESS 1, right/go#1 PAUSED"
            : "right/work#1 SUCCESS 1, left/nap#1 PAUSED, right/go#1 PAUSED");
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    assert_int_equal(tale.steps, 2);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED signal");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[2, 4]");
}

static pawl_status
failing(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    if (pawl_step(branch, "fine", count, NULL, NULL) != PAWL_OK)
        return PAWL_EINVAL;
    pawl_run_set_error(branch, "broken", "the branch broke");
    return PAWL_EPERMANENT;
}

static pawl_status
half_failing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return join_two(run, sleeping, failing, output);
}

static void
the_failure_of_a_branch_is_that_of_the_join_when_all_have_ended(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.failing", half_failing, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.failing", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    assert_int_equal(tale.joined[0], PAWL_SUSPENDED);
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_ERUN),
        "{\"code\":\"broken\",\"message\":\"the branch broke\"}");
    assert_int_equal(tale.joined[1], PAWL_EPERMANENT);
    assert_string_equal(tale.error, "the branch broke");
    scene_has(scene_steps(scene, scene->run_id), "right/fine#1 SUCCESS 1");
}

/* Fails when the other one has failed already, and is the first of the two. */
static pawl_status
failing_later(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_wait_signal(branch, "go", HOUR, output);
}

/* Handles what its branches came to, and waits. */
static pawl_status
handling(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = join_two(run, failing_later, failing, output);

    (void)input;
    if (status != PAWL_ETIMEOUT && status != PAWL_EPERMANENT)
        return status;
    status = pawl_step(run, status == PAWL_ETIMEOUT ? "late" : "broken", count, NULL, output);
    return status == PAWL_OK ? pawl_wait_signal(run, "more", -1, NULL) : status;
}

static void
what_a_join_comes_to_is_the_same_on_every_replay(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.handling", handling, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.handling", "{}");
    scene_go_on(scene);
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    scene_do(scene, "select pawl.signal($1, 'more')", scene->run_id);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    scene_has(scene_steps(scene, scene->run_id), "late#1 SUCCESS");
    assert_null(strstr(scene_steps(scene, scene->run_id), "broken#1"));
    assert_int_equal(tale.joined[tale.executed - 2], PAWL_ETIMEOUT);
    assert_int_equal(tale.joined[tale.executed - 1], PAWL_ETIMEOUT);
}

static pawl_status
leaf(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status = pawl_step(branch, "work", count, NULL, NULL);

    (void)userdata;
    if (status == PAWL_OK)
        status = pawl_step(branch, "work", count, NULL, output);
    return status;
}

static pawl_status
inner(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_bytes outputs[2] = {{0}};
    pawl_status status;

    (void)userdata;
    if ((status = pawl_branch(branch, "a", leaf, NULL, &outputs[0])) != PAWL_OK ||
        (status = pawl_branch(branch, "b", leaf, NULL, &outputs[1])) != PAWL_OK ||
        (status = pawl_branches_join(branch)) != PAWL_OK ||
        (status = pawl_step(branch, "work", count, NULL, NULL)) != PAWL_OK)
        return status;
    *output = pawl_text("1");
    return PAWL_OK;
}

static pawl_status
nested(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    status = join_two(run, inner, inner, output);
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, NULL);
    return status;
}

static void
branches_of_branches_have_names_of_their_own_and_are_replayed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.nested", nested, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.nested", "{}");
    scene_go_on(scene);
    assert_string_equal(
        scene_text(scene,
            "select string_agg(s ->> 'name', ' ' order by s ->> 'name' collate \"C\") from"
            " pawl.get_run($1) g, json_array_elements(g.steps) s where s ->> 'kind' = 'step'",
            scene->run_id),
        "left/a/work#1 left/a/work#2 left/b/work#1 left/b/work#2 left/work#1 "
        "right/a/work#1 right/a/work#2 right/b/work#1 right/b/work#2 right/work#1");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1, 1]");
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.steps, 10);
}

static pawl_status
count_at_once(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int now = atomic_fetch_add(&tale->at_once, 1) + 1;
    int most = tale->most_at_once;
    pawl_status status;

    while (now > most && !atomic_compare_exchange_weak(&tale->most_at_once, &most, now))
        ;
    status = gate_pass(&tale->gate) ? count(run, userdata, output) : PAWL_EPERMANENT;
    atomic_fetch_sub(&tale->at_once, 1);
    return status;
}

static pawl_status
one_of_many(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status;

    if ((status = pawl_step(branch, "one", count_at_once, userdata, NULL)) != PAWL_OK ||
        (status = pawl_step(branch, "two", count_at_once, userdata, NULL)) != PAWL_OK)
        return status;
    return pawl_run_printf(branch, output, "%d", (int)(intptr_t)userdata);
}

static pawl_status
hundred(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes outputs[MANY] = {{0}};
    pawl_status status = PAWL_OK;
    char name[24];
    int sum = 0;

    (void)input;
    for (intptr_t i = 0; i < MANY && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "b%d", (int)i);
        status = pawl_branch(run, name, one_of_many, (void *)i, &outputs[i]);
    }
    if (status == PAWL_OK)
        status = pawl_branches_join(run);
    for (int i = 0; i < MANY && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        sum += strcmp(outputs[i].data, name) == 0;
    }
    return status == PAWL_OK ? pawl_run_printf(run, output, "%d", sum) : status;
}

static void
a_hundred_branches_are_executed_by_a_bounded_number_of_threads(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_handle(scene, "branches.hundred", hundred, &tale);
    scene_work(scene);
    scene_trigger(scene, "branches.hundred", "{}");
    gate_await(&tale.gate, 64);
    gate_open(&tale.gate);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "100");
    assert_int_equal(tale.steps, 2 * MANY);
    assert_int_equal(tale.most_at_once, 64);
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

static pawl_status
wrong(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_run *branch = NULL;
    pawl_status status = PAWL_OK;
    char name[24];
    int made = 0;

    (void)input;
    tale->refused[0] = pawl_run_branch(run, "Bad name", &branch);
    if (pawl_run_branch(run, "twice", &branch) == PAWL_OK)
        tale->refused[1] = pawl_run_branch(run, "twice", &branch);
    tale->refused[2] = pawl_branch(run, "none", NULL, NULL, NULL);
    for (int i = 1; i <= 1100 && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        status = pawl_run_branch(run, name, &branch);
        made += status == PAWL_OK;
    }
    tale->refused[3] = status;
    return pawl_run_printf(run, output, "%d", made);
}

static void
a_branch_has_a_good_name_once_and_there_are_at_most_a_thousand(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.wrong", wrong, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.wrong", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "999");
    for (int i = 0; i < 4; i++)
        assert_int_equal(tale.refused[i], PAWL_EINVAL);
}

/* Branches by hand, one behind the other on one thread. */
static pawl_status
by_hand(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_run *left, *right;
    pawl_bytes one, two;
    pawl_status status;

    (void)input;
    if ((status = pawl_run_branch(run, "left", &left)) != PAWL_OK ||
        (status = pawl_run_branch(run, "right", &right)) != PAWL_OK ||
        (status = pawl_step(left, "work", count, NULL, &one)) != PAWL_OK ||
        (status = pawl_step(right, "work", count, NULL, &two)) != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s]", one.data, two.data);
}

static void
branches_can_be_used_without_threads(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "branches.hand", by_hand, &tale);
    scene_start(scene);
    scene_trigger(scene, "branches.hand", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1, 2]");
    assert_string_equal(
        scene_steps(scene, scene->run_id), "left/work#1 SUCCESS 1, right/work#1 SUCCESS 2");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(branches_are_executed_at_the_same_time),
        TEST(the_backoff_of_one_branch_does_not_delay_another),
        TEST(a_run_waits_only_when_none_of_its_branches_can_move),
        TEST(the_failure_of_a_branch_is_that_of_the_join_when_all_have_ended),
        TEST(what_a_join_comes_to_is_the_same_on_every_replay),
        TEST(branches_of_branches_have_names_of_their_own_and_are_replayed),
        TEST(a_hundred_branches_are_executed_by_a_bounded_number_of_threads),
        TEST(a_branch_has_a_good_name_once_and_there_are_at_most_a_thousand),
        TEST(branches_can_be_used_without_threads),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
