# SPDX-License-Identifier: Apache-2.0
"""Requests that two programs could read as different ones, and some that only look odd.

EXCEPTIONS are cases that libmicrohttpd has changed before the server sees them; from 1.0.1 on it refuses them itself. They must at least
execute nothing hidden.
"""

import re

from call import LIMIT
from tap import PATIENCE

EXCEPTIONS = {
    "a folded line": "0.9.75 joins it to the line before",
    "a bare line feed": "0.9.75 takes it for the end of a line",
    "a NUL in a value": "0.9.75 ends the value there",
    "two blanks": "0.9.75 skips them",
}


def corpus(host, token):
    """Malformed requests and odd ones by name, for a server that is addressed as HOST:PORT."""
    port = host.rpartition(":")[2]
    ours = f"Host: {host}\r\n"
    auth = f"Authorization: Bearer {token}\r\n"
    kind = "Content-Type: application/json\r\n"
    hidden = '{"workflow":"shop.order","key":"hidden"}'
    # A whole request that triggers a run, hidden in the body of another one.
    inner = f"POST /v1/runs HTTP/1.1\r\n{ours}{auth}{kind}Content-Length: {len(hidden)}\r\n\r\n{hidden}"
    small = '{"workflow":"shop.order","key":"small"}'

    def post(headers, body=small):
        return f"POST /v1/runs HTTP/1.1\r\n{ours}{auth}{kind}{headers}\r\n{body}"

    def get(target="/v1/now", headers="", host=ours, method="GET", version="HTTP/1.1"):
        return f"{method} {target} {version}\r\n{host}{auth}{headers}\r\n"

    length = f"Content-Length: {len(small)}\r\n"
    chunked = f"{len(small):x}\r\n{small}\r\n0\r\n\r\n"
    malformed = {
        # Where a body ends.
        "two different Content-Length": post(f"Content-Length: {len(inner)}\r\nContent-Length: 0\r\n", inner),
        "two equal Content-Length": post(length + length),
        "a list in Content-Length": post(f"Content-Length: {len(small)}, {len(small)}\r\n"),
        "Content-Length and chunked": post(f"Content-Length: {len(chunked) + len(inner)}\r\nTransfer-Encoding: chunked\r\n", chunked + inner),
        "chunked and Content-Length": post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", chunked + inner),
        "two Transfer-Encoding": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunked + inner),
        "chunked twice": post("Transfer-Encoding: chunked, chunked\r\n", chunked + inner),
        "identity and chunked": post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", chunked + inner),
        "an unknown coding": post("Transfer-Encoding: xchunked\r\n" + f"Content-Length: {len(inner)}\r\n", inner),
        "gzip, chunked": post("Transfer-Encoding: gzip, chunked\r\n", chunked + inner),
        "chunked in another case with a tab": post("Transfer-Encoding:\tChUnKeD\x0b\r\n", chunked + inner),
        "a signed Content-Length": post(f"Content-Length: +{len(small)}\r\n"),
        "a negative Content-Length": post("Content-Length: -1\r\n"),
        "a hexadecimal Content-Length": post("Content-Length: 0x27\r\n"),
        "an empty Content-Length": post("Content-Length: \r\n"),
        "a Content-Length beyond 64 bits": post("Content-Length: 184467440737095516170\r\n"),
        "a Content-Length with a blank inside": post("Content-Length: 3 9\r\n"),
        "a size of a chunk with a sign": post("Transfer-Encoding: chunked\r\n", f"+{len(small):x}\r\n{small}\r\n0\r\n\r\n"),
        "a size of a chunk that is no number": post("Transfer-Encoding: chunked\r\n", f"zz\r\n{small}\r\n0\r\n\r\n"),
        "a size of a chunk beyond 64 bits": post("Transfer-Encoding: chunked\r\n", f"10000000000000027\r\n{small}\r\n0\r\n\r\n"),
        "a chunk that is longer than its size": post("Transfer-Encoding: chunked\r\n", f"4\r\n{small}\r\n0\r\n\r\n"),
        # Names and values.
        "a blank before the colon": post(f"Content-Length : {len(small)}\r\n"),
        "a tab before the colon": post(f"Content-Length\t: {len(small)}\r\n"),
        "a blank in a name": get(headers="X Forwarded: 1\r\n"),
        "a blank before the first name": get(host=" " + ours),
        "an empty name": get(headers=": 1\r\n"),
        "a line without a colon": get(headers="Authorization\r\n"),
        "a control character in a name": get(headers="X\x01Y: 1\r\n"),
        "a letter beyond ASCII in a name": get(headers="X\u00e4: 1\r\n"),
        "a bracket in a name": get(headers="X(Y): 1\r\n"),
        "a control character in a value": get(headers="X-Y: a\x01b\r\n"),
        "a delete in a value": get(headers="X-Y: a\x7fb\r\n"),
        "a bare carriage return in a value": get(headers="X-Y: a\rX-Z: b\r\n"),
        "a NUL in a name": get(headers="X\0Y: 1\r\n"),
        "a NUL in a value": get(headers="X-Y: a\0b\r\n"),
        "a folded line": get(headers="X-Y: a\r\n b\r\n"),
        "a bare line feed": get(headers="X-Y: a\nX-Z: b\r\n"),
        "two tokens": get(headers=auth),
        "two Content-Type": post(length + "Content-Type: text/plain\r\n"),
        "two Idempotency-Key": post(length + "Idempotency-Key: a\r\nIdempotency-Key: b\r\n"),
        # Too much.
        "101 headers": get(headers="".join(f"X-{n}: 1\r\n" for n in range(101))),
        "17 kB of headers": get(headers="".join(f"X-{n}: {'y' * 1000}\r\n" for n in range(17))),
        "one header of 17 kB": get(headers=f"X-Y: {'y' * 17000}\r\n"),
        "a path of 9 kB": get("/v1/" + "x" * 9000),
        "a query of 9 kB": get("/v1/runs?key=" + "x" * 9000),
        "a body over its limit": post("Content-Length: 9000000\r\n", ""),
        # Paths.
        "%00 in a path": get("/v1/runs/%00"),
        "%00 in a query": get("/v1/runs?key=a%00b"),
        "..": get("/v1/../v1/now"),
        "%2e%2e": get("/v1/%2e%2e/v1/now"),
        "..%2f": get("/v1/..%2fme"),
        "an encoded slash": get("/v1/workflows/a%2fpause"),
        "%zz": get("/v1/%zz"),
        "half an escape": get("/v1/runs?key=%4"),
        "an overlong escape of a slash": get("/v1/workflows/%c0%af"),
        "a backslash": get("/v1\\me"),
        "a fragment": get("/v1/now#x"),
        "a path without a slash": get("v1/me"),
        "two slashes": get("//v1/now"),
        "a blank in a path": get("/v1/ me"),
        "a byte beyond ASCII in a path": get("/v1/\u00e4"),
        "another scheme and host": get("http://evil.example/v1/now"),
        "the form of CONNECT": get("evil.example:443", method="CONNECT"),
        # Host.
        "no Host": get(host=""),
        "two Host": get(host=ours + ours),
        "two different Host": get(host=ours + "Host: evil.example\r\n"),
        "a foreign Host": get(host="Host: evil.example\r\n"),
        "a Host that was rebound": get(host=f"Host: evil.example:{port}\r\n"),
        "a Host with a user": get(host=f"Host: x@{host}\r\n"),
        "a Host that begins like ours": get(host=f"Host: {host}.evil.example\r\n"),
        "a Host with another port": get(host="Host: 127.0.0.1:1\r\n"),
        "an empty Host": get(host="Host: \r\n"),
        "a Host with a path": get(host=f"Host: {host}/x\r\n"),
        "a Host of a name that means loopback": get(host=f"Host: 2130706433:{port}\r\n"),
        # Lines and methods.
        "no version": f"GET /v1/now\r\n{ours}{auth}\r\n",
        "HTTP/1.2": get(version="HTTP/1.2"),
        "HTTP/2.0": get(version="HTTP/2.0"),
        "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a greeting of TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00" * 64,
        "small letters": get(method="get"),
        "TRACE": get(method="TRACE"),
        "a method that is none": get(method="BREW"),
        "two blanks": f"GET  /v1/now HTTP/1.1\r\n{ours}{auth}\r\n",
        "a tab for a blank": f"GET\t/v1/now HTTP/1.1\r\n{ours}{auth}\r\n",
        "a body of GET": get(headers=f"Content-Length: {len(inner)}\r\n") + inner,
        "another Expect": post(length + "Expect: 200-maybe\r\n"),
    }
    last = "Connection: close\r\n"
    odd = {
        "an ordinary request": get(headers=last),
        "a chunked body": post(last + "Transfer-Encoding: chunked\r\n", chunked.replace("small", "chunk")),
        "Expect: 100-continue": post(last + length + "Expect: 100-continue\r\n"),
        "localhost": get(host=f"Host: localhost:{port}\r\n", headers=last),
        "names in another case": get(headers=last).replace("Host", "hOST").replace("Authorization", "AUTHORIZATION"),
        "93 headers": get(headers=last + "".join(f"X-{n}: 1\r\n" for n in range(90))),
        "no blank after the colon": get(headers=last).replace("Host: ", "Host:"),
    }
    return malformed, odd


def answers_of(sock, text):
    """The final statuses that a connection answers until it is closed, all that it answers, and whether it was open and quiet for a while."""
    reply, quiet = b"", False
    sock.settimeout(PATIENCE)
    try:
        sock.sendall(text.encode("latin-1"))
    except OSError:
        pass
    while True:
        try:
            piece = sock.recv(65536)
        except TimeoutError:
            if quiet:
                break
            # The server waits for more, and nothing more comes.
            quiet = True
            sock.settimeout(LIMIT)
            sock.shutdown(1)
            continue
        except OSError:
            break
        if not piece:
            break
        reply += piece
        sock.settimeout(0.2)
    statuses = [int(status) for status in re.findall(rb"^HTTP/1\.[01] (\d\d\d)", reply, re.MULTILINE)]
    return [status for status in statuses if status != 100], reply, quiet
