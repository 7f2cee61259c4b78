"""A background load during a benchmark: ``python -m iosonde.measure.load_program start|stop …``, as steps around it.

``start`` returns when the load runs; the load repeats its command until ``stop`` ends it by its id. It ends itself when
the trial's directory or its watching process is gone, or after ``--at-most``. A load that ended early is invalid:
``stop`` then fails, and the trial is incomplete.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError, SystemFaultError
from iosonde.core.message import Message
from iosonde.ranks import processes

from . import error_sentence
from .target.workspace import Workspace
from .user_commands import join_user_commands

OFF, ON, ALL = "off", "on", "all"
LEVELS = (OFF, ON, ALL)
COMMAND = "cp -R tree copy && rm -r copy"
IN_TRIAL = "target"  # the load works in the trial's own directory
START_S, END_S = 60.0, 10.0
_LOOK_S = 0.05
_STOPPED = "stopped"  # code of a requested end
_STATE, _ENDED, _OUTPUT = "load.json", "load-ended.json", "load.txt"


def start(place: Path, where: str, command: str, at_most_s: float) -> None:
    """Start the load of this rank, whose directory is ``place``. Raises SystemFaultError if it does not come up."""
    words = ["--place", str(place), "--where", where, "--at-most", str(at_most_s), "--command", command]
    with (place / _OUTPUT).open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "iosonde.measure.load_program", "run", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # it outlives this step, and is ended as a group
        )
    give_up = time.monotonic() + START_S
    while not (place / _STATE).exists():
        if process.poll() is not None:
            raise SystemFaultError(
                "load-not-started",
                "the load did not start: {output}",
                "try its command by hand",
                output=_read_last_output_line(place),
            )
        if time.monotonic() > give_up:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemFaultError(
                "load-not-started",
                "the load did not start within {limit_s:.0f} s",
                "take a smaller tree",
                limit_s=START_S,
            )
        time.sleep(_LOOK_S)


def stop(place: Path) -> dict[str, Any]:
    """End the load of this rank: {"passes", "seconds"}. Raises SystemFaultError if it had ended before."""
    try:
        state = json.loads((place / _STATE).read_text())
    except FileNotFoundError:
        raise SystemFaultError("load-not-running", "no load to stop", "start the load before") from None
    if not processes.is_gone(state["identity"]):
        os.kill(state["pid"], signal.SIGTERM)
        _wait_until_gone(state)
    if state["workspace"]:
        _open_workspace(Path(state["workspace"]), state["name"]).remove()
    try:
        ended: dict[str, Any] = json.loads((place / _ENDED).read_text())
    except FileNotFoundError:
        raise SystemFaultError(
            "load-died", "the load died: {output}", "find out what ended it", output=_read_last_output_line(place)
        ) from None
    if ended["code"] != _STOPPED:
        raise SystemFaultError(
            "load-ended-early",
            "the load ended early: {reason}",
            "the trial was not under load to its end",
            reason=ended["why"],
            cause=ended["code"],
        )
    return ended


def run(place: Path, where: str, command: str, at_most_s: float) -> None:
    """The load itself, in a process and session of its own."""
    stop_signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop_signals.append(number))
    name = f"load-{place.parent.parent.name}-{place.name}"
    workspace = _open_workspace(Path(where), name) if where != IN_TRIAL else None
    room = Workspace.create(Path(where), name).path if workspace else place / "load"
    room.mkdir(exist_ok=True)
    try:
        subprocess.run(["cp", "-R", *_list_needed(place), str(room)], check=True)
        state = {
            "pid": os.getpid(),
            "identity": processes.get_process_identity(),
            "workspace": where if workspace else "",
            "name": name,
        }
        _write_json(place / _STATE, state)
        started, passes, why = time.monotonic(), 0, None
        while why is None:
            why = _run_pass(command, room, lambda: _explain_end(stop_signals, place, started, at_most_s))
            passes += 0 if why else 1
        if place.exists():
            _write_json(
                place / _ENDED, {"why": why, "code": why.code, "passes": passes, "seconds": time.monotonic() - started}
            )
    finally:
        if workspace:
            workspace.remove()


def _list_needed(place: Path) -> list[str]:
    """List the tree and what benchmarks on it need: its description, and the host that has it."""
    return [str(place / "tree"), *(str(place / name) for name in ("known", "away") if (place / name).exists())]


def _run_pass(command: str, room: Path, end: Callable[[], Message | None]) -> Message | None:
    """Run the command once. Return why the load is over; None if the command succeeded."""
    process = subprocess.Popen(["/bin/sh", "-c", command], cwd=room, stdin=subprocess.DEVNULL)
    while True:
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(_LOOK_S)
            return Message("command-failed", "its command ended with {exit_code}", exit_code=code) if code else end()
        if why := end():
            _end_children(process)
            return why


def _end_children(process: subprocess.Popen[bytes]) -> None:
    """End all processes of this session except ourselves."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    try:
        process.wait(END_S / 2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    signal.signal(signal.SIGTERM, before)


def _explain_end(stop_signals: list[int], place: Path, started: float, at_most_s: float) -> Message | None:
    """Return why it is time to end; None if it is not."""
    if stop_signals:
        return Message(_STOPPED, "stopped")
    if not place.exists():
        return Message("trial-gone", "its trial is gone")
    if processes.is_gone(os.environ.get(processes.WATCHDOG_VARIABLE, "")):
        return Message("unwatched", "nobody watches it any more")
    is_late = time.monotonic() - started > at_most_s
    return Message("time-limit", "it ran for {limit_s:.0f} s", limit_s=at_most_s) if is_late else None


def _wait_until_gone(state: dict[str, Any]) -> None:
    give_up = time.monotonic() + END_S
    while not processes.is_gone(state["identity"]):
        if time.monotonic() > give_up:
            with suppress(ProcessLookupError):
                os.killpg(state["pid"], signal.SIGKILL)
            return
        time.sleep(_LOOK_S)


def _open_workspace(where: Path, name: str) -> Workspace:
    return Workspace(where / f"iosonde-{name}", name)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the file atomically."""
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(content))
    temporary.rename(path)


def _read_last_output_line(place: Path) -> str:
    with suppress(OSError):
        lines = (place / _OUTPUT).read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output"
    return "it left nothing"


def main(words: list[str] | None = None) -> None:
    """Run the program. A rank below ``--victims``, or the level ``off``, has no load. Raises IosondeError."""
    parser = argparse.ArgumentParser(prog="load_program")
    parser.add_argument("what", choices=("start", "stop", "run"))
    parser.add_argument("--place", type=Path, required=True)
    parser.add_argument("--level", default=ON)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--victims", type=int, default=0)
    parser.add_argument("--where", default=IN_TRIAL)
    parser.add_argument("--at-most", type=float, default=4 * 3600.0)
    parser.add_argument("--command", default="")
    parser.add_argument("--remote", default="")
    options = parser.parse_args(words)
    if options.level not in LEVELS:
        raise InputError(
            "unknown-load",
            "unknown load '{level}'",
            "use one of: {levels}",
            level=options.level,
            levels=", ".join(LEVELS),
        )
    if options.level == OFF or options.rank < options.victims:
        return
    if options.what == "stop":
        ended = stop(options.place)
        os.write(1, f"load: {ended['passes']} passes in {ended['seconds']:.1f} s\n".encode())
    else:
        command = options.command or (join_user_commands(options.remote) if options.level == ALL else COMMAND)
        {"start": start, "run": run}[options.what](options.place, options.where, command, options.at_most)


if __name__ == "__main__":
    error_sentence.for_errors()
    main()
