# SPDX-License-Identifier: Apache-2.0
"""The fixtures of pytest: pawl_server, pawl_app and pawl_db. pawl.testing describes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ._app import App
from .testing import TestDatabase, TestServer, _named


@pytest.fixture(scope="session")
def pawl_server() -> Iterator[TestServer]:
    """A template database for all tests of this session."""
    server = TestServer()
    yield server
    server.close()


@pytest.fixture
def pawl_app() -> App:
    """The application under test: define a fixture of this name that returns it."""
    raise pytest.UsageError("define a fixture pawl_app that returns your pawl.App")


@pytest.fixture
def pawl_db(pawl_server: TestServer, pawl_app: App) -> Iterator[TestDatabase]:
    """A database with a moved clock and a worker for the application."""
    name = pawl_server.copy()
    database = TestDatabase(pawl_app, _named(pawl_server.database, name))
    try:
        yield database
    finally:
        database.close()
        pawl_server.drop(name)
