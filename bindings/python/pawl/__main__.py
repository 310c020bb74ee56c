# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m pawl``: starts the worker of an application, or installs the engine."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

from . import App, PawlError, Worker, __version__, install

WATCH_S = 0.5


def load(target: str) -> App:
    """Imports MODULE:APP, from the current directory, too."""
    module, _, path = target.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as exc:
        if exc.name is None or not f"{module}.".startswith(f"{exc.name}."):
            raise  # the module is there, and imports another one that is not
        raise SystemExit(f"pawl: there is no module {module}, neither in {os.getcwd()} nor where Python looks for modules") from None
    except (ValueError, TypeError):
        raise SystemExit(f'pawl: "{target}" is not MODULE:APP, such as shop:app for the App app in shop.py') from None
    for name in (path or "app").split("."):
        if not hasattr(found, name):
            apps = [f"{module}:{key}" for key, value in vars(sys.modules[module]).items() if isinstance(value, App)]
            raise SystemExit(f"pawl: {target} does not exist" + (f"; did you mean {' or '.join(apps)}?" if apps else ""))
        found = getattr(found, name)
    if not isinstance(found, App):
        raise SystemExit(f"pawl: {target} is not a pawl.App")
    return found


def work(arguments: argparse.Namespace) -> int:
    """Executes runs until a signal."""
    settings = dict(pair.partition("=")[::2] for pair in arguments.set)
    if arguments.reload:
        settings.setdefault("drain_timeout", "2s")  # with 0 there is no time to release runs, and they would wait for their lease
    app = load(arguments.app)
    if not app.workflows:
        raise SystemExit(f"pawl: {arguments.app} has no workflows")
    worker = Worker(app, arguments.database, concurrency=arguments.concurrency, **settings)
    worker.start()
    print(f"pawl: worker registered, handles {' '.join(sorted(app.workflows))}", file=sys.stderr, flush=True)
    worker.run()
    return 0


def _stamps() -> dict[pathlib.Path, int]:
    """When each source below the current directory was changed."""
    found = {}
    for path in pathlib.Path.cwd().rglob("*.py"):
        if not any(part.startswith(".") or part in ("node_modules", "site-packages") for part in path.parts):
            try:
                found[path] = path.stat().st_mtime_ns
            except OSError:
                continue
    return found


def watch(command: list[str]) -> int:
    """Keeps a worker in a child process, and starts it again when a source changes."""
    stamps, child, ending = _stamps(), subprocess.Popen(command), False

    def end(number: int, frame: Any) -> None:
        nonlocal ending
        ending = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    while not ending:
        time.sleep(WATCH_S)
        now = _stamps()
        if now != stamps:
            changed = sorted(str(path.name) for path in {*now, *stamps} if now.get(path) != stamps.get(path))
            print(f"pawl: {', '.join(changed)} changed, starting again", file=sys.stderr, flush=True)
            stamps = now
            child.terminate()
            child.wait()
            child = subprocess.Popen(command)
    child.terminate()
    return child.wait()


def parse(argv: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m pawl", description="Durable workflows on PostgreSQL")
    parser.add_argument("--version", action="version", version=f"pawl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    worker = commands.add_parser("worker", help="execute runs of an application until SIGTERM or SIGINT")
    worker.add_argument("app", metavar="MODULE:APP", help="where the pawl.App is, such as shop:app")
    worker.add_argument("-d", "--database", help="connection string (PAWL_DATABASE_URL)")
    worker.add_argument("-c", "--concurrency", type=int, help="runs at the same time (async 256, threads 16)")
    worker.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another setting, such as lease=10s")
    worker.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"], help="(info)")
    worker.add_argument("--reload", action="store_true", help="start again when a source in this directory changes")
    installer = commands.add_parser("install", help="install or upgrade the engine in a database")
    installer.add_argument("-d", "--database", help="connection string (PAWL_DATABASE_URL)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    given = sys.argv[1:] if argv is None else argv
    arguments = parse(given)
    try:
        if arguments.command == "install":
            install(arguments.database)
            return 0
        if arguments.reload and "PAWL_RELOADED" not in os.environ:
            os.environ["PAWL_RELOADED"] = "1"
            return watch([sys.executable, "-m", "pawl", *given])
        level = getattr(logging, arguments.log_level.upper())
        logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        return work(arguments)
    except PawlError as exc:
        missing = exc.code == "PAWL_ESCHEMA" and not exc.hint
        print(f"pawl: {exc}" + (". Install the engine with python -m pawl install." if missing else ""), file=sys.stderr)
        return {"PAWL_ECONN": 7, "PAWL_ESCHEMA": 8, "PAWL_EFORBIDDEN": 9, "PAWL_EINVAL": 2}.get(exc.code, 1)


if __name__ == "__main__":
    sys.exit(main())
