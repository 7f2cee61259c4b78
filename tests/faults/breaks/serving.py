"""A dashboard that strangers ask: under foreign names, for paths, without a token, with hostile words, all at once.

One server shows stores of unlike experiments and hostile names to everybody, another one asks for a token. No answer
may be an error of ours (500), hold another file, or come without the token; afterwards both still answer at once.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote

from . import samples
from .case import Case
from .warm import ROOT

SECRET, TOKEN = "not-for-you-4711", "a-token-that-nobody-guesses"
LIMIT_S = 60.0
INSIDE = (b"envelope-7f3a", b"is bytes a factor?")  # words that only who is let in may see
HOSTILE = "<script>alert(1)</script>'\"\x1b[31m\u202e{{ 7*7 }}%s\n"
PAGES = (
    "/",
    "/runs",
    "/live",
    "/compare",
    "/history",
    "/history?store=1",
    "/history?store=2",
    "/history?store=3",
    "/history?store=1&last=1",
    "/history?store=1&where=complete%3Dany",
    "/run?store=1&run=envelope-7f3a-0000",
    *(f"/history?store=2&experiment={name}" for name in ("plain", "bytes", "none", "truth")),
    *(f"/run?store=2&run={name}-0" for name in ("plain", "bytes", "words", "fraction", "truth", "none")),
    *(f"/runs?where={word}" for word in ("bs%3D4KiB", "bs%3E4096", "share%3D0.5", "direct%3Dtrue", "fs%3Dnfs")),
    "/report?store=2&experiment=bytes",
    "/report?store=2&experiment=none",
    "/report?store=3&experiment=empty",
    "/compare?a=2&where_a=bs%3D4KiB&b=2&where_b=bs%3D64KiB&response=write",
    "/compare?a=2&where_a=experiment%3Dplain&b=2&where_b=experiment%3Dbytes&response=write",
)
HOSTS = (
    "",
    "evil.example",
    "evil.example:PORT",
    "localhost.evil.example:PORT",
    "127.0.0.1.evil.example",
    "localhost:80",
    "127.0.0.1:PORT.evil",
    "evil@127.0.0.1:PORT:1",
    "[",
    "[evil.example]:PORT",
    "::1",
    "0x7f.1:PORT",
    "localhost\t.evil",
    "a" * 9000,
    "127.0.0.1:PORT, evil.example",
    "l\u043ecalhost:PORT",
    "%31%32%37.0.0.1",
    "localhost..:PORT",
    ".localhost",
)
TARGETS = (
    "/../secret",
    "/..%2fsecret",
    "/%2e%2e/secret",
    "//etc/passwd",
    "/page.css/../../secret",
    "/assets/base.html",
    "/run?store=1&run=../../secret",
    "/run?store=1&run=%2e%2e%2f%2e%2e%2fsecret",
    "/run?store=../secret&run=x",
    "/run?store=1&run=%00",
    "/report?store=1&run=../../secret",
    "/report?store=1&experiment=../../secret",
    "/history?store=../secret",
    "/compare?a=../secret&b=1",
    "/runs?page=-1",
    "/runs?page=1e9",
    "/runs?store=9",
    "/runs?page=%D9%A1",
    "/history?store=1&last=99999999999999999999",
    "/report?store=1",
    "/run?store=1",
    "http://[",
    "/runs?" + "a=1&" * 100,
    "*",
    "/%ff%fe",
    "/runs?where=" + "x" * 60_000,
    "/?token=x&token=y",
    "http://evil.example/",
    "/runs?where=" + quote("1;drop table runs--=1"),
    "/runs?where=" + quote("a'b=1"),
    "/runs?where=" + quote('"=1'),
    "/runs?where=nodes%3D1e999",
    "/runs?where=nodes%3Dnan",
    "/runs?where=%3D",
    "/compare?a=1&b=1&response=" + quote(HOSTILE),
    "/history?store=1&last=0",
    "/history?store=1&last=-1",
    "/run?store=1&run=" + quote(HOSTILE),
    "/runs?where=" + quote(HOSTILE) + "%3D1",
    "/history?store=1&metric=%27",
    "/runs?where=nodes%3D" + "9" * 5000,
    "/runs?page=" + "9" * 5000,
)
METHODS = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "NONSENSE", "get", "G" * 70_000)
TOKENS = (
    "",
    "Authorization: Bearer wrong",
    f"Authorization: {TOKEN}",
    "Authorization: Bearer ",
    "Cookie: iosonde-PORT=x",
    f"Cookie: iosonde-1={TOKEN}",
    "Cookie: ;;=\x01",
    "Authorization: Bearer \xff\xfe",
    f"X-Token: {TOKEN}",
    f'Cookie: iosonde-PORT="{TOKEN[:-1]}"',
    "Authorization: Bearer " + "x" * 60_000,
)
RAW: dict[str, bytes] = {
    "nothing at all": b"\r\n\r\n",
    "no version": b"GET /\r\n\r\n",
    "version 9": b"GET / HTTP/9.9\r\n\r\n",
    "a line of 200,000 characters": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "500 headers": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 500 + b"\r\n",
    "a header of 200,000 characters": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a length of -1": b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "chunks": b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "bytes": bytes(range(256)) * 40,
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 200,
    "a folded header": b"GET / HTTP/1.1\r\nHost: localhost\r\n evil.example\r\n\r\n",
}


@dataclass(frozen=True)
class Server:
    """One that runs, and what it says on stderr."""

    port: int
    stderr: Path


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """All of them; with ``quick`` every third, and fewer connections."""
    every = [
        *(Case("serve: page of unlike experiments", path, partial(_attack_page, path)) for path in PAGES),
        *(Case("serve: foreign name", host[:40] or "none", partial(_attack_by_host, host)) for host in HOSTS),
        *(Case("serve: address", target[:70], partial(_attack_by_address, target)) for target in TARGETS),
        *(Case("serve: method", method[:20], partial(_attack_by_method, method)) for method in METHODS),
        *(Case("serve: no token", head[:40] or "none", partial(_attack_without_token, head)) for head in TOKENS),
        *(Case("serve: no HTTP", name, partial(_attack_by_bytes, name)) for name in RAW),
    ]
    yield from every[:: 3 if quick else 1]
    many = 50 if quick else 400
    yield Case("serve: idle connections", f"{many}", partial(_attack_by_idling, many))


@cache
def _start_server(token: str) -> Server:
    folder = Path(tempfile.mkdtemp(prefix="iosonde-breaks-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "secret").write_text(SECRET)
    samples.copy(samples.store(), folder / "results")
    for name in ("a", "b"):
        samples.copy(samples.unlike_stores() / name, folder / name)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "IOSONDE_LOCK_DIR": str(folder),
    }
    if token:
        env["IOSONDE_SERVE_TOKEN"] = token
    with (folder / "stderr").open("wb") as errors:
        words = [sys.executable, "-m", "iosonde.cli.main", "serve", "results", "a", "b", "--port", "0", "--json"]
        process = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=errors)
    atexit.register(_end, process)
    assert process.stdout
    head = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
    while head.count(b"}") < 1:
        head += process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
    server = Server(json.loads(head)["port"], folder / "stderr")
    deadline = time.monotonic() + LIMIT_S
    while b"is being made" in _get(server, "/", token) and time.monotonic() < deadline:
        time.sleep(0.1)
    return server


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _get(server: Server, target: str, token: str = "", head: str = "", host: str = "127.0.0.1:PORT") -> bytes:
    lines = [
        f"GET {target} HTTP/1.0",
        f"Host: {host}",
        head or "X: y",
        f"Authorization: Bearer {token}" if token else "A: b",
    ]
    return send(server, "\r\n".join([*lines, "", ""]).replace("PORT", str(server.port)).encode("utf-8", "replace"))


def send(server: Server, request: bytes) -> bytes:
    """The whole answer to a request; the connection is closed by us where there is none."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as connection:
        parts = []
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                parts.append(part)
        except ConnectionError:  # it did not read all of what we send: its right
            pass
        return b"".join(parts)


def _status(answer: bytes) -> int:
    words = answer[:40].split()
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else 0


def _judge(server: Server, answer: bytes, statuses: Callable[[int], bool], inside: bool = False) -> list[str]:
    status, breaches = _status(answer), []
    if not statuses(status):
        breaches.append(f"answered with {status}: {answer.partition(bytes([13, 10, 13, 10]))[2][:120]!r}")
    breaches += ["another file is shown"] * (SECRET.encode() in answer or b"root:x:0" in answer)
    breaches += ["what is inside is shown"] * (not inside and any(word in answer for word in INSIDE))
    breaches += ["a name is markup"] * (b"<script>alert" in answer or b"\x1b[31m" in answer)
    breaches += ["a traceback on stderr"] * (b"Traceback" in server.stderr.read_bytes())
    return breaches


def _is_refusal(status: int) -> bool:
    return 400 <= status < 500


def _is_served(status: int) -> bool:
    return 200 <= status < 500


def _attack_page(path: str, folder: Path) -> list[str]:
    server = _start_server("")
    return _judge(server, _get(server, path), lambda status: status in (200, 400, 404), inside=True)


def _attack_by_host(host: str, folder: Path) -> list[str]:
    server = _start_server("")
    return _judge(server, _get(server, "/", host=host), _is_refusal)


def _attack_by_address(target: str, folder: Path) -> list[str]:
    server = _start_server("")
    return _judge(server, _get(server, target), _is_served, inside=True)


def _attack_by_method(method: str, folder: Path) -> list[str]:
    server = _start_server("")
    request = f"{method} / HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    return _judge(server, send(server, request), lambda status: status in (400, 405, 414, 501))


def _attack_without_token(head: str, folder: Path) -> list[str]:
    server = _start_server(TOKEN)
    breaches = []
    for path in ("/", "/runs", "/report?store=1", "/nothing", "/?token=wrong"):
        answer = _get(server, path, head=head)
        breaches += _judge(server, answer, lambda status: status in (400, 401, 431))
        breaches += ["the token is told"] * (TOKEN.encode() in answer)
    return breaches


def _attack_by_bytes(name: str, folder: Path) -> list[str]:
    server = _start_server("")
    answer = send(server, RAW[name])
    return _judge(server, answer, lambda status: status < 500 or status in (501, 505), inside=True)


def _attack_by_idling(many: int, folder: Path) -> list[str]:
    """Connections on which nobody speaks, half of them in the middle of a line: others are answered all the same."""
    server, idle = _start_server(""), []
    try:
        for number in range(many):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S))
            if number % 2:
                idle[-1].sendall(b"GET / HT")
        began = time.monotonic()
        answer = _get(server, "/runs")
        seconds = time.monotonic() - began
    finally:
        for connection in idle:
            connection.close()
    breaches = _judge(server, answer, lambda status: status == 200, inside=True)
    return breaches + [f"answered after {seconds:.1f} s"] * (seconds > 10)
