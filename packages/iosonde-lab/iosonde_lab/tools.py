"""Commands that a lab runs: each with a time limit; a failure is an error with the tool's own message."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from iosonde.core.errors import InputError, SystemFaultError

from . import patience

LIMIT_S = 60.0
_PLACE = "IOSONDE_LAB_ROOT"  # environment variable for the location of labs
OUR_NFS_CLIENT = "iosonde-nfs-mount"  # nfs-mount/
HADOOP_JARS = "hadoop-jars"
ORANGEFS = "orangefs"
_MAX_OUTPUT_CHARS = 200  # characters of a tool's output in an error
_WELL = "iosonde lab status shows the health; iosonde lab heal undoes faults"
# Software without a Debian package → how to install it.
UNPACKAGED = {
    OUR_NFS_CLIENT: "make lab-deps in a checkout",
    HADOOP_JARS: "make lab-hdfs in a checkout (or HADOOP_HOME=DIR, if you have Hadoop)",
    ORANGEFS: "its source, with --enable-fuse --enable-shared (ORANGEFS_HOME=DIR: its prefix)",
}
# Commands that every lab needs → Debian package.
ALWAYS = {
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "losetup": "util-linux",
    "ip": "iproute2",
    "tc": "iproute2",
}


_T = TypeVar("_T")


class LabError(SystemFaultError):
    """Failure of a lab, or of a host of it."""


def run(words: list[str], limit_s: float = LIMIT_S, stdin_text: str | None = None, label: str = "") -> str:
    """Run a command and return its stdout; ``label`` names it in errors.
    Raises LabError if it fails or exceeds ``limit_s``, or the remainder of ``patience``.
    """
    label = label or format_command(words)
    try:
        done = patience.completed(words, patience.shortened(limit_s), stdin_text, label)
    except subprocess.TimeoutExpired as error:
        raise LabError(
            "no-response",
            "{command}: no answer after {timeout_s} s",
            _WELL,
            command=label,
            timeout_s=_seconds(error.timeout),
        ) from error
    except patience.InterruptedAnswerError as error:
        raise LabError("interrupted", "{command}: interrupted", command=label) from error
    except OSError as error:
        raise LabError("lab-command-failed", "{command}: {reason}", command=label, reason=error.strerror) from error
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise LabError(
            "lab-command-failed",
            "{command}: {reason}",
            command=label,
            reason=lines[-1] if lines else f"exit code {done.returncode}",
        )
    return done.stdout


def _seconds(limit_s: float) -> str:
    return f"{limit_s:.0f}" if limit_s >= 1 else f"{limit_s:.1g}"


def read_answer(label: str, text: str, parse: Callable[[str], _T]) -> _T:
    """Parse the output of the command ``label``.
    Tools may report errors in free text and still exit with 0: output that ``parse`` does not know raises LabError with
    its first line.
    """
    try:
        return parse(text)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        words = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
        raise LabError(
            "unparsable-output", "{command}: {output}", _WELL, command=label, output=words[:_MAX_OUTPUT_CHARS]
        ) from error


def need_root() -> None:
    """Raises InputError unless run by root."""
    if os.geteuid():
        raise InputError(
            "root-required",
            "a lab requires root, for name spaces, mounts and loop devices",
            "run it as root: {sudo_command}",
            sudo_command=_with_sudo(),
        )


def _with_sudo() -> str:
    """Return the command line for root: sudo's PATH rarely includes a virtual environment."""
    executable, *rest = sys.argv
    if Path(executable).name not in ("iosonde", "main.py"):  # called from Python
        return "sudo"
    place = [f"{_PLACE}={os.environ[_PLACE]}"] if _PLACE in os.environ else []
    program = (
        [sys.executable, "-m", "iosonde.cli.main"]
        if executable.endswith(".py")
        else [shutil.which(executable) or executable]
    )
    return shlex.join(["sudo", *place, *program, *rest])


def need(commands: Mapping[str, str] | Iterable[str] = ()) -> None:
    """Check that these commands, and those of every lab, are installed. Raises InputError."""
    required = {**ALWAYS, **(dict(commands) if isinstance(commands, Mapping) else {})}
    missing = {command: package for command, package in required.items() if not has_command(command)}
    if missing:
        raise InputError(
            "tool-missing",
            "missing: {tools}",
            "install with: {install_commands}",
            tools=", ".join(missing),
            install_commands=installing(missing.values()),
        )


def installing(packages: Iterable[str]) -> str:
    """Return the commands that install these packages."""
    unique_packages = tuple(dict.fromkeys(packages))
    packaged = [package for package in unique_packages if package not in UNPACKAGED]
    words = [f"apt install {' '.join(packaged)}"] * bool(packaged)
    return " and ".join(words + [UNPACKAGED[package] for package in unique_packages if package in UNPACKAGED])


def has_command(command: str) -> bool:
    """Return whether a command, or a file by its path, exists.
    Administrators' commands may not be on PATH; ours are next to this Python.
    """
    search_path = f"{Path(sys.executable).parent}:/usr/sbin:/sbin:/usr/local/sbin"
    return os.path.exists(command) or bool(shutil.which(command) or shutil.which(command, path=search_path))


def format_command(words: Iterable[str]) -> str:
    """Format a command for people, truncated if long."""
    text = shlex.join(words)
    return text if len(text) <= 100 else text[:97] + "…"


def write(path: Path, text: str) -> None:
    """Write a kernel setting. Raises LabError."""
    try:
        path.write_text(text)
    except OSError as error:
        raise LabError("io-error", "{path}: {reason}", path=path, reason=error.strerror) from error
