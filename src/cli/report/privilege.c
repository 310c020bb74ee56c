/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/privilege.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * The privilege sets of pawl._functions_of(), the smallest first. A role that lacks a privilege may not call that function. Test suite cli
 * compares the two.
 */
static const struct {
    const char *name;
    const char *verbs;
} sets_of[] = {
    {"reader",
        " get_run result results list_runs history notes follow list_waits list_queues list_lanes "
        "list_pauses "
        "list_bulks "
        "list_workers "
        "list_workflows get_workflow "
        "list_steps list_children list_failures count_runs find list_states list_ended list_events "
        "list_schedules list_skips preview_schedule "
        "why_schedule metrics prometheus list_actions list_grants why doctor "},
    {"producer", " trigger trigger_many emit signal get_run result results cancel why "},
    {"worker",
        " register heartbeat rest pass_on leave claim held commit commit_each step complete fail "
        "sleep "
        "wait_event wait_signal release step_token record_step get_run result results tick "},
    {"operator",
        " create_workflow alter_workflow create_flow add_step apply_flow delete_flow cancel kill "
        "pause resume wake retry rollback_retry rollback_skip fork purge pause_workflow "
        "resume_workflow preview_bulk begin_bulk stop_bulk pause_all resume_all pause_queue "
        "resume_queue drain_worker raise_epoch "
        "set_retention "
        "set_session_limit set_notify set_lane pause_lane resume_lane create_schedule "
        "pause_schedule resume_schedule "
        "delete_schedule backfill_schedule "
        "create_subscription pause_subscription resume_subscription delete_subscription "
        "list_subscriptions create_token revoke_token list_tokens "
        "housekeep tick signal emit approve reject get_run result results list_runs history notes "
        "follow "
        "list_waits "
        "list_queues list_lanes list_pauses list_bulks list_workers list_workflows get_workflow "
        "list_steps "
        "list_children "
        "list_failures count_runs "
        "find list_states list_ended list_events "
        "list_schedules list_skips preview_schedule why_schedule metrics prometheus "
        "list_actions list_grants why doctor "},
    /* It has also what producers, operators and readers have, for the callers that it acts for. */
    {"gateway", " act_as_token "},
};

/* Every set has all of these. */
static const char common_verbs[] = " now errors make_id slot_of epoch ";

static bool
has_word(const char *words, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = words; size > 0 && (at = strstr(at, word)) != NULL; at += size)
        if (at[-1] == ' ' && at[size] == ' ')
            return true;
    return false;
}

bool
privilege_sets(
    const char *verb, char sets[static PRIVILEGE_SIZE], char smallest[static PRIVILEGE_SIZE])
{
    const char *found[sizeof(sets_of) / sizeof(sets_of[0])];
    size_t count = 0;
    size_t size = 0;

    for (size_t i = 0; i < sizeof(sets_of) / sizeof(sets_of[0]); i++)
        if (has_word(sets_of[i].verbs, verb) || has_word(common_verbs, verb))
            found[count++] = sets_of[i].name;
    for (size_t i = 0; i < count; i++)
        size += (size_t)snprintf(sets + size, PRIVILEGE_SIZE - size, "%s%s",
            i == 0              ? ""
                : i + 1 < count ? ", "
                                : " or ",
            found[i]);
    (void)snprintf(smallest, PRIVILEGE_SIZE, "%s", count > 0 ? found[0] : "");
    return count > 0;
}
