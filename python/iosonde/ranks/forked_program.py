"""The process that ranks are forked from: ``python -m iosonde.ranks.forked_program MODULE FD``.

It imports the module, has a single thread, and accesses no target. For each request on the socket it forks twice: the
rank is orphaned, and becomes a child of the requesting process (``forked``).
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from typing import Any

from iosonde.core.parent_death import signal_on_parent_death
from iosonde.ranks.forked import FORK_S, GO
from iosonde.ranks.processes import WATCHDOG_VARIABLE


def main() -> None:
    """Serve requests until the socket closes."""
    module, line = importlib.import_module(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    written = _find_environment_entry(WATCHDOG_VARIABLE)
    signal.pthread_sigmask(signal.SIG_BLOCK, [GO])  # the signal may arrive before a rank waits for it
    gc.freeze()  # all ranks share the imported objects
    alone = len(os.listdir("/proc/self/task")) == 1
    line.sendall(json.dumps({"ready": alone and written is not None}).encode() + b"\n")
    with line.makefile("rb") as requests:
        for text in requests:
            request = json.loads(text)
            reading, writing = os.pipe()
            between = os.fork()
            if not between:
                if os.fork():
                    os._exit(0)
                os.setsid()
                os.write(writing, str(os.getpid()).encode())  # the receiver may signal its group
                os.close(reading)
                os.close(writing)
                line.detach()
                _run_as_rank(module, request, written)
            os.close(writing)
            os.waitpid(between, 0)  # by now the rank has its new parent
            line.sendall(json.dumps({"pid": int(os.read(reading, 64))}).encode() + b"\n")
            os.close(reading)


def _run_as_rank(module: Any, request: dict[str, Any], written: int | None) -> None:
    """Run the module's ``main`` as if it had been started; end the process."""
    code = 1
    try:
        _follow_parent(request["parent"])
        _take_over(request, written)
        if signal.sigtimedwait([GO], FORK_S) is None:
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [GO])
        module.main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _follow_parent(parent: int) -> None:
    """End with the requesting process, also after kill -9."""
    give_up = time.monotonic() + FORK_S
    while os.getppid() != parent and time.monotonic() < give_up:
        time.sleep(0.0002)
    signal_on_parent_death(signal.SIGKILL)()
    if os.getppid() != parent:
        os._exit(1)


def _take_over(request: dict[str, Any], written: int | None) -> None:
    """Set files, arguments and environment, including the watchdog's variable in /proc/PID/environ."""
    for number, path in zip((1, 2), request["files"], strict=True):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(file, number)
        os.close(file)
    sys.argv = [sys.argv[0], *request["arguments"]]
    os.environ.clear()
    os.environ.update(request["environment"])
    token = request["environment"][WATCHDOG_VARIABLE].encode()
    assert written is not None
    ctypes.memmove(written, token, len(token))


def _find_environment_entry(variable: str) -> int | None:
    """Return the address of the value in this process's initial environment, which the kernel shows to others."""
    entries = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    place = 0
    while entries[place]:
        address = int(entries[place])
        if ctypes.string_at(address).startswith(variable.encode() + b"="):
            return address + len(variable) + 1
        place += 1
    return None


if __name__ == "__main__":
    main()
