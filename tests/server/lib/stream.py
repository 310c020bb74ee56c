# SPDX-License-Identifier: Apache-2.0
"""Reads a stream of server-sent events, in a thread of its own."""

import json
import threading

from call import connect, head_of


class Event:
    def __init__(self, name, text, mark):
        self.name, self.text, self.mark = name, text, mark

    @property
    def json(self):
        return json.loads(self.text)

    def __repr__(self):
        return f"{self.name} {self.text[:200]} id={self.mark}"


class Stream:
    """`events` and `comments` grow while the stream is open; `ended` is set when the server has closed it."""

    def __init__(self, server, token, path, source=None, last=None):
        self.events, self.comments, self.head = [], [], b""
        self.ended = threading.Event()
        self.sock = connect(server.port, source)
        self.sock.settimeout(None)
        more = "Accept: text/event-stream\r\n" + (f"Last-Event-ID: {last}\r\n" if last else "")
        self.sock.sendall((head_of(token, server.host, path, more=more) + "\r\n").encode())
        threading.Thread(target=self.read, daemon=True).start()

    @property
    def status(self):
        return int(self.head.split(b" ", 2)[1]) if self.head else 0

    def named(self, name):
        return [event for event in self.events if event.name == name]

    def read(self):
        try:
            with self.sock.makefile("rb") as file:
                lines = iter(file.readline, b"")
                head = []
                for line in lines:
                    if line == b"\r\n":
                        break
                    head.append(line)
                self.head = b"".join(head)
                chunked = b"transfer-encoding: chunked" in self.head.lower()
                self.parse(self.chunks(file) if chunked else lines)
        except OSError:
            pass
        self.ended.set()

    def chunks(self, file):
        """The lines of a chunked body."""
        rest = b""
        while True:
            size = int(file.readline().split(b";")[0] or b"0", 16)
            if not size:
                return
            rest += file.read(size)
            file.readline()
            *lines, rest = rest.split(b"\n")
            yield from (line + b"\n" for line in lines)

    def parse(self, lines):
        name, data, mark = "message", [], None
        for line in lines:
            text = line.decode().rstrip("\r\n")
            if not text:
                if data:
                    self.events.append(Event(name, "\n".join(data), mark))
                name, data = "message", []
            elif text.startswith(":"):
                self.comments.append(text)
            else:
                field, _, value = text.partition(":")
                value = value.removeprefix(" ")
                if field == "event":
                    name = value
                elif field == "data":
                    data.append(value)
                elif field == "id":
                    mark = value

    def close(self):
        try:
            self.sock.shutdown(2)
        except OSError:
            pass
        self.sock.close()
