# SPDX-License-Identifier: Apache-2.0
"""Workers that claim and commit in random batches, each in a psql process, and somebody who kills them at random.

A killed worker is replaced by another with a session of its own, or its connection by another of the same session, which then
sends again what it does not know the outcome of: as after a crash, and as after a cut."""

import json
import random
import threading
import time

import handler
from psql import Lost, Psql, SqlError, array, text

LEASE = 1.0
# What a commit says of a batch that is to be sent item by item.
AGAIN = {"PW010", "22P02", "23505"}


class Task:
    def __init__(self, claim, started):
        self.run, self.number, self.fence, self.name = claim["run_id"], claim["task"], claim["fence"], claim.get("workflow")
        self.round, self.input, self.record = claim.get("round"), claim.get("input"), claim.get("record") or {}
        self.rolling_back = claim.get("rolling_back")
        self.started = started
        self.sent = False

    def items(self, rng):
        """What is to be committed for it: (kind, name, payload, seq, option), the last one lets go of it."""
        items = [] if self.started else [("start", None, None, None, None)]
        if self.rolling_back:
            return items + self.undos(rng)
        if rng.random() < 0.05:
            items.append(("step", "note#1", '"noted"', 1, None))
        left = handler.failures(self.name, self.input) if self.round == 1 or handler.is_soft(self.name) else 0
        so_far = self.record.get("retries", {}).get("", {}).get("n", 0)
        if left >= handler.FOR_EVER and handler.digest("how", self.input) % 2:
            option = "permanent" if handler.digest("so", self.input) % 2 else "final"
            return items + [("fail", None, '{"message": "never"}', None, json.dumps({option: True}))]
        if so_far < left:
            return items + [("fail", None, '{"message": "not yet"}', None, json.dumps({"failure": so_far + 1}))]
        return items + [("complete", None, json.dumps(handler.output(self.name, self.input)), None, None)]

    def undos(self, rng):
        """All of them and the end, or some, as a worker that is killed in between."""
        items = [("step", "rollback:" + u["name"], '"undone"', None, None) for u in self.record["undos"]]
        if items and rng.random() < 0.3:
            return items[:rng.randint(1, len(items))]
        return items + [("complete", None, None, None, None)]


class Worker(threading.Thread):
    def __init__(self, crew, number):
        super().__init__(daemon=True)
        self.crew, self.number = crew, number
        self.random = random.Random(f"{crew.seed} {number}")
        self.psql = self.session = None
        self.held = {}
        self.request = self.beat = 0

    def run(self):
        while not self.crew.over.is_set():
            try:
                self.turn()
            except Lost:
                self.lost()
            except SqlError as e:
                if e.code == "PW005":
                    self.session = None
                else:
                    self.crew.error(str(e))
                    self.session = None
            except Exception as e:  # noqa: BLE001: a thread that dies silently would look like a stuck run
                self.crew.error(f"{type(e).__name__}: {e}")
                self.session = None
        if self.psql:
            self.psql.close()

    def lost(self):
        self.psql.close()
        self.psql = None
        if self.random.random() < 0.5:
            self.session = None
        self.crew.count("lost")

    def ask(self, sql):
        lines = self.psql.run(sql)
        return [json.loads(line) for line in lines if line.startswith("{")]

    def turn(self):
        if not self.psql:
            self.psql = Psql(f"worker {self.number}")
        if self.session is None:
            self.held.clear()
            self.session = int(self.psql.value(
                f"select session from pawl.register('worker-{self.number}', '{{*}}', lease => '{LEASE} s')"))
        if time.monotonic() > self.beat + LEASE / 4:
            self.psql.run(f"select from pawl.heartbeat({self.session})")
            self.beat = time.monotonic()
        if self.random.random() < 0.03:
            self.give_back()
        if len(self.held) < 60:
            self.claim()
        if self.held and self.random.random() < 0.005:
            # It hangs, and what it commits afterwards is late.
            time.sleep(LEASE * 1.5)
        if self.held:
            self.commit()
        else:
            time.sleep(self.random.random() * 0.03)

    def give_back(self):
        """What a call whose reply was lost has claimed, nobody here knows of."""
        for held in self.ask(f"select to_jsonb(h) from pawl.held({self.session}) h"):
            if (held["run_id"], held["task"]) not in self.held:
                self.send([(Task(held, True), [("release", None, None, None, None)])], True, "")

    def claim(self):
        started = self.random.random() < 0.85
        quiet = "true" if not self.held else "false"
        most = self.random.choice([1, 3, 10, 50])
        for claim in self.ask(f"select to_jsonb(c) from pawl.claim({self.session}, {most}, {self.request}, {str(started).lower()}, {quiet}) c"):
            task = Task(claim, started)
            self.crew.look(self, task)
            self.held[task.run, task.number] = task
        self.request += 1

    def commit(self):
        tasks = self.random.sample(list(self.held.values()), self.random.randint(1, len(self.held)))
        batch = []
        for task in tasks:
            items = task.items(self.random)
            if not task.sent and self.random.random() < 0.02:
                items = [("release", None, None, None, None)]
            batch.append((task, items))
        each = any(t.sent for t in tasks) or self.random.random() < 0.25
        how = self.random.choice(["", "", "", "", "commit", "rollback"])
        self.send(batch, each, how)

    def send(self, batch, each, how):
        runs, numbers, fences, items, owners = [], [], [], [], []
        for task, own in batch:
            for item in own:
                runs.append(task.run)
                numbers.append(task.number)
                fences.append(task.fence)
                items.append(item)
                owners.append((task, item))
        kinds, names, payloads, seqs, options = zip(*items)
        call = (f"select to_jsonb(c) from pawl.commit{'_each' if each else ''}({self.session}, {array(runs, 'uuid')}, "
                f"{array(fences, 'int')}, {array(kinds, 'text')}, {array(names, 'text')}, {array(payloads, 'text')}, "
                f"{array(seqs, 'int')}, {array(numbers, 'int')}, null, {array(options, 'text')}) c")
        again = {id(t): t.sent for t, _ in batch}
        for task, _ in batch:
            task.sent = True
        if how:
            call = f"begin; {call}; select pg_sleep({self.random.random() * 0.03}); {how}"
        try:
            answers = self.ask(call)
        except SqlError as e:
            if e.code not in AGAIN or each:
                raise
            self.crew.count("again")
            return
        if how == "rollback":
            # As if the reply was lost, and with it the transaction.
            return
        if len(answers) != len(owners):
            self.crew.error(f"{len(answers)} answers to {len(owners)} items")
        for answer in answers:
            self.answered(*owners[answer["item"] - 1], answer, again)

    def answered(self, task, item, answer, again):
        said = answer["answer"]
        self.crew.count(said)
        # What was done before the claim is in its record.
        given = item[0] == "start" or item[1] in [s["name"] for s in task.record.get("steps", [])]
        if said == "refused" or said == "already" and not given and not again[id(task)]:
            self.crew.error(f"{item[0]} of {task.name} task {task.number} of run {task.run}: {answer}")
        if said in ("lease_lost", "cancelled") or said in ("ok", "already") and item[0] not in ("step", "start"):
            self.held.pop((task.run, task.number), None)


class Crew:
    """look(task) is called with each claimed task and may return what is wrong with it."""

    def __init__(self, seed, workers=4, kills_every=0.5, look=None):
        self.seed, self.kills_every = seed, kills_every
        self.over = threading.Event()
        self.errors, self.counts = [], {}
        self.lock = threading.Lock()
        self.check = look
        self.workers = [Worker(self, n) for n in range(workers)]
        self.killer = threading.Thread(target=self.kill, daemon=True)

    def error(self, what):
        with self.lock:
            self.errors.append(what)

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def look(self, _worker, task):
        wrong = self.check and self.check(task)
        if wrong:
            self.error(wrong)

    def start(self):
        for thread in [*self.workers, self.killer]:
            thread.start()

    def kill(self):
        rng = random.Random(f"{self.seed} kills")
        own = Psql("killer")
        while not self.over.wait(rng.random() * 2 * self.kills_every):
            worker = rng.choice(self.workers)
            if rng.random() < 0.4:
                # The server's side dies in the middle of a statement.
                own.run("select pg_terminate_backend(pid) from pg_stat_activity "
                        f"where datname = current_database() and application_name = {text(f'worker {worker.number}')}")
            elif worker.psql:
                worker.psql.kill()
            self.count("kills")
        own.close()

    def stop(self):
        self.over.set()
        for thread in [*self.workers, self.killer]:
            thread.join()
