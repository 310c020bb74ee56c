# SPDX-License-Identifier: Apache-2.0
"""A unix socket that passes bytes on to the one of the database, until it is told to refuse, to cut or to swallow; and counts transactions."""

import os
import pathlib
import shutil
import socket
import tempfile
import threading


class Requests:
    """Counts what ends a request in the bytes that a client sends: Sync, and simple queries."""

    def __init__(self):
        self.rest = b""
        self.begun = False
        self.count = 0

    def take(self, piece):
        self.rest += piece
        while True:
            # The first message has no letter.
            size = int.from_bytes(self.rest[self.begun : self.begun + 4], "big") + self.begun
            if len(self.rest) < self.begun + 4 or len(self.rest) < size:
                return
            self.count += self.begun and self.rest[:1] in (b"S", b"Q")
            self.rest = self.rest[size:]
            self.begun = True


class Relay:
    def __init__(self, target=None):
        self.target = target or f"{os.environ['PGHOST']}/.s.PGSQL.{os.environ['PGPORT']}"
        target = self.target
        self.requests = []
        self.folder = tempfile.mkdtemp(prefix="pawl-relay-")
        self.path = str(pathlib.Path(self.folder, pathlib.Path(target).name))
        self.mode = "accept"
        self.pairs = set()
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(200)
        threading.Thread(target=self.serve, daemon=True).start()

    def accept(self):
        self.mode = "accept"

    def refuse(self):
        """Ends every connection, and each new one."""
        self.mode = "refuse"
        self.cut()

    def swallow(self):
        """Takes everything and passes nothing on, as a network does that drops what is sent."""
        self.mode = "swallow"

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for sock in pair:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            if self.mode == "refuse":
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            pair = (client, server)
            with self.lock:
                self.pairs.add(pair)
            self.requests.append(Requests())
            for one, other, counter in ((*pair, self.requests[-1]), (*pair[::-1], None)):
                threading.Thread(target=self.pass_on, args=(one, other, counter), daemon=True).start()

    def count(self):
        """How many requests were sent to the database: transactions, for a client that has none of several requests."""
        return sum(requests.count for requests in self.requests)

    def pass_on(self, one, other, counter):
        try:
            while True:
                piece = one.recv(65536)
                if not piece:
                    break
                if counter:
                    counter.take(piece)
                if self.mode != "swallow":
                    other.sendall(piece)
        except OSError:
            pass
        for sock in (one, other):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        self.cut()
        shutil.rmtree(self.folder, ignore_errors=True)
