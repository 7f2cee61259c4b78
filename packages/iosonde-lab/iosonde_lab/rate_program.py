"""Stand-alone program run on a host: sends or receives, or writes and reads a file past the page cache.
It imports nothing of ours, so that a host needs only Python to be measured.
"""

import json
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable
from statistics import median

_PIECE = 1 << 20
_CONNECT_S = 5.0
_PINGS = 25
_MOST_BYTES = 128 << 20


def send(address: str, port: int, seconds: float) -> dict[str, float]:
    """Return the median round trip in seconds, and the rate in bytes/s that the receiver reports.
    The rate excludes the first fifth of the time.
    """
    piece = bytes(_PIECE)
    with _connected(address, port) as other:
        other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rtt_s = median(_round_trip(other) for _ in range(_PINGS))
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            other.sendall(piece)
        other.shutdown(socket.SHUT_WR)
        return {"bytes_per_s": float(other.makefile().readline()), "rtt_s": rtt_s}


def _round_trip(other: socket.socket) -> float:
    begin = time.monotonic()
    other.sendall(b"?")
    other.recv(1)
    return time.monotonic() - begin


def receive(port: int) -> None:
    """Serve one sender: answer its pings, receive its data, and report the rate."""
    with socket.create_server(("", port)) as server:
        server.settimeout(_CONNECT_S)
        other, _ = server.accept()
        with other:
            other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(_PINGS):
                other.sendall(other.recv(1))
            buffer, marks = bytearray(_PIECE), []
            total = 0
            while n_bytes := other.recv_into(buffer):
                total += n_bytes
                marks.append((time.monotonic(), total))
            begin = marks[0][0] + 0.2 * (marks[-1][0] - marks[0][0])
            first = next(mark for mark in marks if mark[0] >= begin)
            spent = marks[-1][0] - first[0]
            other.sendall(f"{(marks[-1][1] - first[1]) / spent if spent > 0 else 0.0}\n".encode())


def disk(path: str, seconds: float) -> dict[str, float]:
    """Return the rates in bytes/s of writing, then reading, a file with O_DIRECT, each for ``seconds`` or 128 MiB."""
    buffer = mmap.mmap(-1, _PIECE)
    buffer.write(os.urandom(_PIECE))
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    try:
        written, write_rate = _timed(lambda at: os.pwrite(file, buffer, at), seconds, _MOST_BYTES)
        _, read_rate = _timed(lambda at: os.preadv(file, [buffer], at), seconds, written)
    finally:
        os.close(file)
        os.unlink(path)
    return {"write_bytes_per_s": write_rate, "read_bytes_per_s": read_rate}


def _timed(operation: Callable[[int], int], seconds: float, most: int) -> tuple[int, float]:
    begin, done = time.monotonic(), 0
    while done < most and time.monotonic() - begin < seconds:
        done += operation(done)
    return done, done / (time.monotonic() - begin)


def _connected(address: str, port: int) -> socket.socket:
    deadline = time.monotonic() + _CONNECT_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=_CONNECT_S)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def main(words: list[str]) -> None:
    """Run ``send ADDRESS PORT SECONDS``, ``receive PORT`` or ``disk FILE SECONDS``; print the result as JSON."""
    if words[0] == "send":
        _tell(send(words[1], int(words[2]), float(words[3])))
    elif words[0] == "receive":
        receive(int(words[1]))
    else:
        _tell(disk(words[1], float(words[2])))


def _tell(result: dict[str, float]) -> None:
    os.write(1, f"{json.dumps(result)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1:])
