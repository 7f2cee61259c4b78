"""Nodes from the user's own script, which is called with the number of nodes and prints their names.

It may be called again when a campaign is resumed, and should then print the same nodes and reserve no others.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress

from iosonde.core.errors import InputError, LaunchError
from iosonde.core.units import format_size
from iosonde.ranks.launch.mpirun import HOST_NAME

MOST_BYTES = 4 << 20  # of names; a longer output is not a list of nodes
GRACE_S = 5.0
LOOK_S = 0.05  # interval of checks of time and output; the end is noticed at once
MAX_CHARACTERS = 60
_PRINTS = "it must print only the names of the nodes, one per line; print other messages to stderr"


def run_reservation_script(words: Sequence[str], nodes: int, limit_s: float) -> tuple[str, ...]:
    """Call the script with the number of nodes; return the first ``nodes`` names printed. Raises InputError,
    LaunchError."""
    description = f"the reserve script {words[0]} {nodes}" if len(words) == 1 else f"the reserve script {words[0]}"
    # Files instead of pipes: background processes of the script that hold the nodes may keep them open.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = _start_script(words, nodes, out.fileno(), err.fileno())
        try:
            code = _wait_for_end(process, (out.fileno(), err.fileno()), description, limit_s)
        finally:
            if process.returncode is None:  # also after Ctrl-C
                _end_script(process)
        if code:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            lines = _read_text(err.fileno()).strip().splitlines()
            raise LaunchError(
                "reserve-script-failed",
                "{script} {outcome}: {last_line}",
                "run it by hand to see why; nothing was measured",
                script=description,
                outcome=how,
                last_line=_shorten_text(lines[-1] if lines else "no message"),
            )
        return _parse_names(_read_text(out.fileno()), description, nodes)


def _start_script(words: Sequence[str], nodes: int, out: int, err: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*words, str(nodes)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    except OSError as error:
        raise InputError(
            "launch-failed",
            "cannot start the reserve script {script}: {reason}",
            "chmod +x {script}" if isinstance(error, PermissionError) else "check its path and its first line",
            script=words[0],
            reason=error.strerror,
        ) from error


def _wait_for_end(process: subprocess.Popen[bytes], outputs: Sequence[int], description: str, limit_s: float) -> int:
    """Return its exit code. Raises LaunchError if it takes too long, InputError if it prints too much."""
    give_up = time.monotonic() + limit_s
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK_S)
        if any(os.fstat(output).st_size > MOST_BYTES for output in outputs):
            raise InputError(
                "too-much-output",
                "{script} printed more than {limit} and was ended",
                _PRINTS,
                script=description,
                limit=format_size(MOST_BYTES),
            )
        if time.monotonic() > give_up:
            raise LaunchError(
                "timed-out",
                "{script} did not end within {limit_s:.0f} s",
                "run it by hand to see what it waits for",
                script=description,
                limit_s=limit_s,
            )


def _end_script(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
            return


def _parse_names(text: str, description: str, nodes: int) -> tuple[str, ...]:
    names: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        for word in line.split():
            if not HOST_NAME.fullmatch(word):
                raise InputError(
                    "invalid-host-name",
                    "{script} printed '{host}' in line {line}, which is not a node name",
                    _PRINTS,
                    script=description,
                    host=_shorten_text(word),
                    line=number,
                )
            if word in names:
                raise InputError(
                    "duplicate-node",
                    "{script} printed the node {node} twice, in lines {first_line} and {line}",
                    "print each node once: end it with: | sort -u",
                    script=description,
                    node=_shorten_text(word),
                    first_line=names[word],
                    line=number,
                )
            names[word] = number
    if len(names) < nodes:
        raise InputError(
            "too-few-nodes",
            "{script} printed {n_printed} nodes, but {nodes} are needed",
            "let it wait until it has all of them, or request fewer with {spell.nodes}",
            script=description,
            n_printed=len(names) or "no",
            nodes=nodes,
        )
    return tuple(names)[:nodes]


def _read_text(descriptor: int) -> str:
    return os.pread(descriptor, MOST_BYTES, 0).decode(errors="backslashreplace")


def _shorten_text(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 3] + "..."
