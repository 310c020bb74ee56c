# SPDX-License-Identifier: Apache-2.0
"""The engine below the server: statements, tokens, a worker in SQL, and what the database counted."""

import base64
import hashlib
import secrets
import subprocess
import threading

from tap import PATIENCE

LIMIT = 120 * PATIENCE
# What the workflows of these tests do, by the last word of their names. Others are not handled: their runs stay in the queue.
HANDLERS = """do $$
declare
    t record;
    s bigint := %d;
begin
    for t in select c.* from pawl.claim(s, 200) c loop
        case regexp_replace(t.workflow, '^.*[.]', '')
            when 'echo' then perform pawl.complete(s, t.run_id, t.fence, t.input);
            when 'fail' then perform pawl.fail(s, t.run_id, t.fence, '{"code": "no_stock", "message": "none of 7 left"}', final => true);
            when 'notes' then
                perform pawl.commit(s, array[t.run_id, t.run_id, t.run_id, t.run_id], array[t.fence, t.fence, t.fence, t.fence],
                    array['note', 'note', 'step', 'complete'], array['pack#1', 'pack#1', 'pack#1', null], array['one', 'two', '{"box": 1}', '"sent"'],
                    options => array['{"kind": "log"}', '{"kind": "log"}', null, null]);
            when 'approve' then
                if json_array_length(t.record -> 'steps') > 0 then
                    perform pawl.complete(s, t.run_id, t.fence, t.record -> 'steps' -> 0 -> 'output');
                else
                    perform pawl.commit(s, array[t.run_id, t.run_id], array[t.fence, t.fence], array['approval', 'suspend'], array['manager#1', null],
                        options => array['{"form": {"amount": 7}}', null]);
                end if;
            when 'signal' then
                if (select a.value ->> 'state' from pawl.wait_signal(s, t.run_id, t.fence, 'paid') a) = 'SUCCESS' then
                    perform pawl.complete(s, t.run_id, t.fence, '"paid"');
                end if;
            else null;
        end case;
    end loop;
end
$$;"""


def psql(text, *arguments):
    command = ["psql", "-XqAtv", "ON_ERROR_STOP=1", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=LIMIT, check=False)


def sql(text, *arguments):
    """What statements print; an error ends the test."""
    done = psql(text, *arguments)
    if done.returncode != 0:
        raise AssertionError(f"{text}\n{done.stderr}")
    return done.stdout.strip()


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def token_text():
    middle = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    return f"pawl_{middle}_{hashlib.sha256(middle.encode()).hexdigest()[:6]}"


def create_token(name, rights, tenant=None, expires=None):
    """Makes a token as its owner would, and returns its text."""
    text = token_text()
    digest = hashlib.sha256(text.encode()).hexdigest()
    sql(
        f"select pawl.create_token({quoted(name)}, '\\x{digest}'::bytea, array[{','.join(quoted(each) for each in rights)}]::text[],"
        f" tenant => {quoted(tenant) if tenant else 'null'}, expires => {quoted(expires) if expires else 'null'})"
    )
    return text


def functions_of(privilege_set):
    return set(sql(f"select unnest(pawl._functions_of({quoted(privilege_set)}))").split("\n"))


class Worker:
    """One session that claims and does what HANDLERS says, until it is stopped."""

    def __init__(self, handles, pause=0.02):
        patterns = ",".join(quoted(each) for each in handles)
        session = int(sql(f"select session from pawl.register('test', array[{patterns}], lease => '1 hour')"))
        self.text = HANDLERS % session
        self.pause = pause
        self.stopping = threading.Event()
        self.error = None
        self.psql = subprocess.Popen(["psql", "-XqAtv", "ON_ERROR_STOP=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while not self.stopping.wait(self.pause):
            try:
                self.psql.stdin.write(self.text + "\ncall pawl.tick();\n\\echo done\n")
                self.psql.stdin.flush()
            except OSError:
                break
            if self.psql.stdout.readline() != "done\n":
                break
        if not self.stopping.is_set():
            self.error = self.psql.stderr.read()
            raise AssertionError(f"the worker has ended: {self.error}")

    def stop(self):
        self.stopping.set()
        self.thread.join(LIMIT)
        self.psql.stdin.close()
        self.psql.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
