"""Functions and commands of iosonde in forks of process process that has everything imported: a tenth of the CPU time.

Each fork has limits of CPU time and of the clock, and is killed with all that it started when these are over.

    warm().command(["store", "check", "st"], folder)    as a user types it in this folder
    warm().call("faults.breaks.texts:examine", ...)     a function of ours, whose answer is JSON
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
CPU_S = 20
WALL_S = 90.0
# What a command may need, so that no fork imports it anew.
_IMPORTED = (
    "iosonde.cli.group",
    "pyarrow.parquet",
    "pyarrow.compute",
    "pyarrow.csv",
    "iosonde.store",
    "scipy.stats",
    "iosonde.importers.registry",
    "sqlite3",
    "jinja2",
    "jsonschema",
    "yaml",
)
_COMMANDS = ("check", "compare", "import", "parse", "report", "show", "store", "summary", "survey", "verify", "watch")


@dataclass(frozen=True)
class Ended:
    """How a command ended; ``seconds`` is None where it had to be ended."""

    command: str
    code: int
    out: str
    err: str
    seconds: float | None
    limit_s: float
    answer: Any = None
    cpu_s: int = 0


class Warm:
    """One process that forks; process request at a time."""

    def __init__(self) -> None:
        paths = os.pathsep.join(str(ROOT / part) for part in ("python", "tests", "tests/unit", "tests/golden"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.breaks.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1", "COLUMNS": "80", "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )

    def call(
        self,
        function: str,
        folder: Path,
        *,
        cpu_s: int = CPU_S,
        wall_s: float = WALL_S,
        env: dict[str, str] | None = None,
        kill: tuple[int, int] | None = None,
        **arguments: Any,
    ) -> Ended:
        """``module:function(**arguments)``; ``kill`` is (signal, before which change of the file system)."""
        request = {
            "function": function,
            "folder": str(folder),
            "cpu_s": cpu_s,
            "wall_s": wall_s,
            "env": env or {},
            "kill": kill,
            "arguments": arguments,
        }
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        command = " ".join(["iosonde", *arguments["words"]]) if "words" in arguments else function
        return Ended(command.replace(str(folder), "."), limit_s=wall_s, cpu_s=cpu_s, **reply)

    def cpu_s(self) -> float:
        """Of it and of the forks that ended."""
        words = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


class Pool:
    """As many of them as threads ask at once; they last until the end, since to start process takes seconds of CPU."""

    def __init__(self) -> None:
        self._idle: list[Warm] = []
        self._all: list[Warm] = []

    def command(self, words: list[Any], folder: Path, **how: Any) -> Ended:
        """``iosonde WORDS`` with a HOME and a TMPDIR in ``folder``, which is its working directory."""
        return self.call("faults.breaks.warm:run_command", folder, words=[str(word) for word in words], **how)

    def call(self, function: str, folder: Path, **how: Any) -> Ended:
        """``module:function(**arguments)`` in a fork."""
        try:
            process = self._idle.pop()
        except IndexError:
            process = Warm()
            self._all.append(process)
        try:
            return process.call(function, folder, **how)
        finally:
            self._idle.append(process)

    def cpu_s(self) -> float:
        """What they and their forks took so far."""
        return sum(process.cpu_s() for process in self._all)

    def close(self) -> None:
        """End all of them."""
        for process in self._all:
            process.close()


@cache
def warm() -> Pool:
    """The process of this process."""
    pool = Pool()
    atexit.register(pool.close)
    return pool


def run_command(words: list[str]) -> None:
    """``iosonde WORDS``, to be called in a fork."""
    from iosonde.cli import main

    sys.argv = ["iosonde", *words]
    main.main()


def _serve() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    cli = sys.modules["iosonde.cli.group"].cli
    for name in _COMMANDS:
        cli.get_command(None, name)
    importlib.import_module("iosonde.importers.registry").importers()
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        replies.write(json.dumps(_answer(json.loads(line))) + "\n")
        replies.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as answer:
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            _in_fork(request, out.fileno(), err.fileno(), answer.fileno())
        code = _wait(pid, began + request["wall_s"])
        seconds = None if code is None or code == -signal.SIGXCPU else time.monotonic() - began
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        for file in (out, err, answer):
            file.seek(0)
        report = json.loads(answer.read() or b"{}")
        for name in report.get("modules", []):
            with suppress(Exception):
                importlib.import_module(name)  # the next fork has it
        return {
            "code": -signal.SIGKILL if code is None else code,
            "seconds": seconds,
            "out": out.read(1 << 24).decode(errors="replace"),
            "err": err.read(1 << 24).decode(errors="replace"),
            "answer": report.get("answer"),
        }


def _wait(pid: int, deadline: float) -> int | None:
    """The exit code, or None of process that had to be killed."""
    step = 0.001
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(step)
        step = min(2 * step, 0.02)


def _in_fork(request: dict[str, Any], out: int, err: int, answer: int) -> None:
    os.setsid()
    code, result, known = 1, None, set(sys.modules)
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        folder = Path(request["folder"])
        os.chdir(folder)
        for name, place in (("HOME", "home"), ("TMPDIR", "tmp")):
            (folder / place).mkdir(exist_ok=True)
            os.environ[name] = str(folder / place)
        os.environ["IOSONDE_LOCK_DIR"] = str(folder / "home")
        os.environ["XDG_CACHE_HOME"] = str(folder / "home" / "cache")
        os.environ.update(request["env"])
        tempfile.tempdir = None
        resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_s"], request["cpu_s"] + 1))
        if request["kill"]:
            kill_before(*request["kill"])
        module, _, name = request["function"].partition(":")
        result = getattr(importlib.import_module(module), name)(**request["arguments"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
            modules = [name for name in sys.modules if name not in known]
            os.write(answer, json.dumps({"answer": result, "modules": modules}).encode())
        os._exit(code)


_CHANGES = {
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.utime",
    "sqlite3.connect",
    "shutil.rmtree",
}
changes_seen = 0


def kill_before(number: int, change: int) -> None:
    """Send this process a signal before its n-th change of the file system (0: never, they are only counted).

    So a kill falls between any two changes, and the same number is the same moment.
    """
    main = os.getpid()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        global changes_seen
        if os.getpid() == main and (event in _CHANGES or (event == "open" and _writes(arguments))):
            changes_seen += 1
            if changes_seen == change:
                os.kill(main, number)

    sys.addaudithook(hook)


def _writes(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    wanted = any(letter in mode for letter in "wax+") if isinstance(mode, str) else False
    return wanted or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def count_changes(words: list[str]) -> int:
    """How many changes a command makes, to be called in a fork with ``kill=(0, 0)``."""
    with suppress(SystemExit):
        run_command(words)
    return changes_seen


if __name__ == "__main__":
    # The module that functions of other modules are to see, not the process that is called __main__.
    from faults.breaks import warm as this

    this._serve()
