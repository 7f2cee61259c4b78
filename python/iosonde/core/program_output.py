"""Run another program with a limit of time and output, so that it can neither fill the memory nor hang iosonde."""

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from .units import format_size

MAX_OUTPUT_BYTES = 64 * 2**20
LOOK_S = 0.2  # interval of calls to on_look
_PIECE_BYTES = 2**16
_KILL_S = 0.3  # time for SIGKILL to take effect


def run_program(
    words: Sequence[str],
    limit_s: float,
    *,
    stdin_text: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_bytes: int = MAX_OUTPUT_BYTES,
    in_child: Callable[[], object] | None = None,
    on_look: Callable[[float], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program and return its exit code, stdout and stderr.

    ``stdin_text`` is its standard input (None: empty). ``in_child`` is called in the child before the program starts,
    ``on_look`` periodically with the seconds waited. The program and all its children are killed if it exceeds a limit,
    or if an exception occurs. A program that hangs in the kernel is left behind. Raises TimeoutExpired; OSError if it
    cannot be started, or prints more than ``limit_bytes`` (EFBIG).
    """
    source = os.memfd_create("given")
    try:
        with open(source, "r+b", closefd=False) as file:
            file.write((stdin_text or "").encode())
            file.seek(0)
        process = subprocess.Popen(
            words,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            preexec_fn=in_child,
        )
    finally:
        os.close(source)
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        try:
            output, complaint = _read_both(process, limit_s, limit_bytes, on_look)
        except BaseException:
            _kill_group(process)
            raise
    return subprocess.CompletedProcess(words, process.returncode, output, complaint)


def _read_both(
    process: subprocess.Popen[bytes], limit_s: float, limit_bytes: int, on_look: Callable[[float], None] | None
) -> tuple[str, str]:
    began = time.monotonic()
    assert process.stdout is not None and process.stderr is not None
    printed = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    with selectors.DefaultSelector() as selector:
        for descriptor in printed:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            remaining_s = limit_s - (time.monotonic() - began)
            if remaining_s <= 0:
                raise subprocess.TimeoutExpired(process.args, limit_s)
            ready = selector.select(min(LOOK_S, remaining_s))
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE_BYTES)
                if not piece:
                    selector.unregister(key.fd)
                printed[key.fd] += piece
                if len(printed[key.fd]) > limit_bytes:
                    raise OSError(errno.EFBIG, f"it printed more than {format_size(limit_bytes)}")
            if on_look and not ready:
                on_look(time.monotonic() - began)
    process.wait(max(0.0, limit_s - (time.monotonic() - began)))
    output, complaint = (bytes(content).decode(errors="replace") for content in printed.values())
    return output, complaint


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_KILL_S)
