# SPDX-License-Identifier: Apache-2.0
"""Requests to the server: ordinary ones, and bytes as they are."""

import http.client
import json
import socket
import urllib.parse

from tap import PATIENCE

LIMIT = 60 * PATIENCE


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def value(self):
        """The value of an object with one member; None if it is not such an object."""
        try:
            found = list(self.json.values())
        except (ValueError, AttributeError):
            return None
        return found[0] if len(found) == 1 else None

    @property
    def code(self):
        """The code of a problem; None if this is no problem."""
        if self.headers.get("content-type", "").split(";")[0] != "application/problem+json":
            return None
        return self.json.get("code")

    def __repr__(self):
        return f"{self.status} {self.body[:600]!r}"


class Client:
    """One connection that is kept, with one token. Not for several threads."""

    def __init__(self, port, token=None, source=None, limit=LIMIT):
        self.port = port
        self.token = token
        self.source = source
        self.limit = limit
        self.connection = None

    def call(self, method, path, body=None, headers=None, query=None, retry=True):
        """One request. A kept connection that the server has closed is opened again, once, as clients do."""
        fresh = self.connection is None
        if fresh:
            source = (self.source, 0) if self.source else None
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.limit, source_address=source)
        sent = dict(headers or {})
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if query:
            path += "?" + urllib.parse.urlencode(query, doseq=True)
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        try:
            self.connection.request(method, path, body, sent)
            reply = self.connection.getresponse()
            answer = Answer(reply.status, reply.getheaders(), reply.read())
        except (OSError, http.client.HTTPException):
            self.close()
            if fresh or not retry:
                raise
            return self.call(method, path, body, sent, None, False)
        if reply.will_close:
            self.close()
        return answer

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.call("POST", path, body, **more)

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


def connect(port, source=None, limit=LIMIT):
    return socket.create_connection(("127.0.0.1", port), limit, (source, 0) if source else None)


def read_all(sock):
    """What comes until the other side closes; a reset ends it, too."""
    seen = b""
    try:
        while True:
            piece = sock.recv(65536)
            if not piece:
                return seen
            seen += piece
    except ConnectionError:
        return seen


def head_of(token, host, path="/v1/now", method="GET", more=""):
    """The beginning of a request, without the blank line that ends it."""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{more}"
