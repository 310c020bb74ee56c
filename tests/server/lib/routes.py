# SPDX-License-Identifier: Apache-2.0
"""Every route with the verb of SQL that it calls and a request that is valid for it.

{run} and {absent} stand for ids. What a token of another tenant must not find is named in `hidden`: a thing of tenant "victim"
(tests/sql/lib/tenants.sql) and what to put in its place that does not exist.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Route:
    method: str
    path: str
    verb: str
    at: dict = dataclasses.field(default_factory=dict)  # values of the path
    query: dict = dataclasses.field(default_factory=dict)
    body: object = None
    hidden: str = ""  # run, schedule, subscription
    stream: bool = False

    @property
    def name(self):
        return f"{self.method} {self.path}"


def get(path, verb, **more):
    return Route("GET", path, verb, **more)


def post(path, verb, **more):
    return Route("POST", path, verb, **{"body": {}, **more})


def of_run(method, word, verb, body=None, **more):
    body = {} if body is None and method == "POST" else body
    return Route(method, "/v1/runs/{run}" + (f"/{word}" if word else ""), verb, at={"run": "{run}", **more}, body=body, hidden="run")


ROUTES = [
    post("/v1/runs", "trigger", body={"workflow": "victim.coded", "input": {"n": 1}}),
    post("/v1/runs/batch", "trigger_many", body={"workflow": "victim.coded", "inputs": [{"n": 1}]}),
    get("/v1/runs", "list_runs"),
    of_run("GET", "", "get_run"),
    of_run("GET", "result", "result"),
    of_run("GET", "why", "why"),
    of_run("GET", "history", "history"),
    of_run("GET", "notes", "notes"),
    of_run("GET", "children", "list_children"),
    *(of_run("POST", word, word) for word in ("cancel", "kill", "pause", "resume", "wake", "retry", "fork", "purge")),
    of_run("POST", "rollback-retry", "rollback_retry"),
    of_run("POST", "rollback-skip", "rollback_skip", body={"step": "undone#1"}),
    of_run("POST", "signals/{name}", "signal", body={"sum": 7}, name="go"),
    get("/v1/results", "results", query={"runs": "{run}"}),
    get("/v1/states", "list_states", query={"runs": "{run}"}),
    get("/v1/counts", "count_runs"),
    get("/v1/find", "find", query={"word": "canary-key"}),
    get("/v1/failures", "list_failures"),
    get("/v1/ended", "list_ended", query={"since": "{now}"}),
    post("/v1/events", "emit", body={"topic": "made-topic", "payload": {"n": 1}}),
    get("/v1/events", "list_events"),
    get("/v1/waits", "list_waits"),
    Route("POST", "/v1/waits/{run}/{name}/approve", "approve", at={"run": "{run}", "name": "canary-approval"}, body={}, hidden="run"),
    Route("POST", "/v1/waits/{run}/{name}/reject", "reject", at={"run": "{run}", "name": "canary-approval"}, body={}, hidden="run"),
    get("/v1/queues", "list_queues"),
    post("/v1/queues/{name}/pause", "pause_queue", at={"name": "victim.coded"}),
    post("/v1/queues/{name}/resume", "resume_queue", at={"name": "victim.coded"}),
    get("/v1/lanes", "list_lanes", query={"workflow": "victim.coded"}),
    Route("PUT", "/v1/lanes", "set_lane", body={"workflow": "victim.coded", "limit_key": "x", "key_limit": 5}),
    post("/v1/lanes/pause", "pause_lane", body={"workflow": "victim.coded", "limit_key": "x"}),
    post("/v1/lanes/resume", "resume_lane", body={"workflow": "victim.coded", "limit_key": "x"}),
    get("/v1/workers", "list_workers", query={"ended": "true"}),
    post("/v1/workers/{session}/drain", "drain_worker", at={"session": "{session}"}),
    get("/v1/workflows", "list_workflows"),
    get("/v1/workflows/{name}", "get_workflow", at={"name": "victim.coded"}),
    post("/v1/workflows", "create_workflow", body={"name": "made.coded"}),
    Route("PATCH", "/v1/workflows/{name}", "alter_workflow", at={"name": "victim.coded"}, body={"max_attempts": 1}),
    post("/v1/workflows/{name}/pause", "pause_workflow", at={"name": "victim.coded"}),
    post("/v1/workflows/{name}/resume", "resume_workflow", at={"name": "victim.coded"}),
    post("/v1/flows", "create_flow", body={"name": "made.flow"}),
    Route("PUT", "/v1/flows", "apply_flow", body={"flow": "made.steps", "steps": [{"step": "one"}]}),
    Route("DELETE", "/v1/flows/{name}", "delete_flow", at={"name": "made.steps"}),
    get("/v1/flows/{flow}/steps", "list_steps", at={"flow": "victim.steps"}),
    post("/v1/flows/{flow}/steps", "add_step", at={"flow": "made.flow"}, body={"step": "one"}),
    get("/v1/schedules", "list_schedules"),
    post("/v1/schedules", "create_schedule", body={"name": "made-schedule", "workflow": "victim.coded", "every_ms": 86400000}),
    *(post("/v1/schedules/{name}/" + word, f"{word}_schedule", at={"name": "canary-schedule"}, hidden="schedule") for word in ("pause", "resume")),
    post("/v1/schedules/{name}/backfill", "backfill_schedule", at={"name": "canary-schedule"}, body={"since": "{now}", "until": "{now}"}, hidden="schedule"),
    Route("DELETE", "/v1/schedules/{name}", "delete_schedule", at={"name": "canary-schedule"}, hidden="schedule"),
    get("/v1/schedules/{name}/skips", "list_skips", at={"name": "canary-schedule"}, hidden="schedule"),
    get("/v1/schedules/{name}/why", "why_schedule", at={"name": "canary-schedule"}, hidden="schedule"),
    get("/v1/schedules-preview", "preview_schedule", query={"cron": "0 0 * * *"}),
    get("/v1/subscriptions", "list_subscriptions"),
    post("/v1/subscriptions", "create_subscription", body={"name": "made-subscription", "topic": "news", "workflow": "victim.coded"}),
    *(post("/v1/subscriptions/{name}/" + word, f"{word}_subscription", at={"name": "canary-subscription"}, hidden="subscription") for word in ("pause", "resume")),
    Route("DELETE", "/v1/subscriptions/{name}", "delete_subscription", at={"name": "canary-subscription"}, hidden="subscription"),
    get("/v1/bulks", "list_bulks"),
    post("/v1/bulks", "begin_bulk", body={"act": "retry", "filter": {"workflow": "no.such"}}),
    post("/v1/bulks/preview", "preview_bulk", body={"act": "retry", "filter": {}}),
    post("/v1/bulks/{bulk}/stop", "stop_bulk", at={"bulk": "1000"}),
    post("/v1/pause-all", "pause_all"),
    post("/v1/resume-all", "resume_all"),
    get("/v1/pauses", "list_pauses"),
    get("/v1/metrics", "metrics"),
    get("/v1/actions", "list_actions"),
    get("/v1/doctor", "doctor"),
    get("/v1/grants", "list_grants"),
    get("/v1/epoch", "epoch"),
    post("/v1/epoch/raise", "raise_epoch", body={"why": "a test"}),
    Route("PATCH", "/v1/retention", "set_retention", body={}),
    Route("PATCH", "/v1/session-limit", "set_session_limit", body={}),
    Route("PATCH", "/v1/notify", "set_notify", body={}),
    get("/v1/now", "now"),
    get("/v1/errors", "errors"),
    get("/v1/tokens", "list_tokens"),
    post("/v1/tokens", "create_token", body={"name": "made-token", "digest": "{digest}", "rights": []}),
    post("/v1/tokens/{name}/revoke", "revoke_token", at={"name": "no-such-token"}),
    get("/v1/me", "act_as_token"),
    get("/metrics", "prometheus"),
    Route("GET", "/v1/runs/{run}/live", "follow", at={"run": "{run}"}, hidden="run", stream=True),
    Route("GET", "/v1/live", "list_states", query={"runs": "{run}"}, stream=True),
]
# These answer without a token.
OPEN = [get("/alive", ""), get("/ready", ""), get("/v1/openapi.json", "")]
# Verbs that every token may call.
EVERYBODY = {"now", "errors", "epoch", "act_as_token"}


def filled(value, words):
    """A value with its {words} filled in."""
    if isinstance(value, str):
        for word, text in words.items():
            value = value.replace("{" + word + "}", text)
        return value
    if isinstance(value, dict):
        return {name: filled(each, words) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, words) for each in value]
    return value


def request(route, words):
    """Method, path, query and body of a route's request."""
    path = route.path
    for name, value in route.at.items():
        path = path.replace("{" + name + "}", filled(value, words))
    return route.method, path, filled(route.query, words), filled(route.body, words)


def send(client, route, words, **more):
    method, path, query, body = request(route, words)
    return client.call(method, path, body, query=query, **more)
