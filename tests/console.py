"""Console sessions in Markdown that are run and compared: the golden texts and the examples in docs.

A fenced ``console`` block with ``$ iosonde …`` or ``$ python …`` in it is a session. Blocks of a page run in order
and share a scratch directory; stdout and stderr are shown together, as a terminal does. HTML comments just before
a block say more:

``<!-- measured -->``          numbers, times and ids are compared by shape, all other text exactly
``<!-- exit 2 -->``            the block's last command must exit with 2 (without it, all exit with 0)
``<!-- setup: COMMAND -->``    run before the block, not shown; it must succeed; $TESTS is this directory
``<!-- needs: PROGRAM -->``    run where PROGRAM is on PATH; elsewhere left as it is, and named as skipped
``<!-- not run: WHY -->``      an example that needs what a test machine lacks

In a session ``> `` continues a command that ends in a backslash, and an output line ``...`` stands for any
lines.
``python tests/console.py PATH…`` records: it writes what the commands say now into the pages.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 300
PYTHON_PATH = ("python", "packages/iosonde-lab", "packages/iosonde-lab/tests", "tests")  # pages count on the last
# What stands for the scratch directory and this machine's name in recorded text.
HOME_SHOWN, HOST_SHOWN = "/home/you", "node1"

_BLOCK = re.compile(r"(?P<marks>(?:^<!--(?:(?!-->).)*-->\n)*)^```console\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_OURS = re.compile(r"\$ (iosonde|python)\b")
_MARK = re.compile(r"<!--\s*(measured|exit (\d+)|setup: (.*?)|needs: (\S+)|not run: .*?)\s*-->", re.DOTALL)


@dataclass(frozen=True)
class Command:
    """One command of a session, as typed, and the output that the page shows."""

    lines: str
    output: str

    @property
    def shell(self) -> str:
        """What the shell gets: without prompts."""
        return re.sub(r"^[$>] ", "", self.lines, flags=re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One console block of a page: its commands, and where its text lies in the page."""

    commands: tuple[Command, ...]
    begin: int
    end: int
    line: int
    measured: bool = False
    exit_code: int = 0
    setup: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the programs that it needs are on this machine."""
        return all(map(shutil.which, self.needs))


@dataclass
class Session:
    """A scratch directory in which the blocks of one page run, one after the other."""

    directory: Path
    environment: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        programs = self.directory / ".programs"
        programs.mkdir()
        # Both shell and Python: the interpreter's path may hold spaces, which a first line cannot.
        iosonde = programs / "iosonde"
        start = f"#!/bin/sh\n'''exec' '{sys.executable}' \"$0\" \"$@\"\n' '''\n"
        iosonde.write_text(f"{start}from iosonde.cli.main import main\n\nmain()\n", encoding="utf-8")
        iosonde.chmod(0o755)
        kept = {key: os.environ[key] for key in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if key in os.environ}
        # Beside the interpreter lies what came with it: python, and mpiexec where its wheel is installed.
        path = f"{programs}:{Path(sys.executable).parent}:{kept.get('PATH', '/usr/bin:/bin')}"
        self.environment = {
            **kept,
            "PATH": path,
            "PYTHONPATH": ":".join(str(ROOT / place) for place in PYTHON_PATH),
            "TESTS": str(ROOT / "tests"),
            "HOME": str(self.directory),
            "IOSONDE_LOCK_DIR": str(programs),  # pages that run at once do not wait for each other
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }

    def run(self, command: str) -> tuple[str, int]:
        """What the command wrote, with this machine's names taken out, and its exit code."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env=self.environment,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        text = done.stdout.decode("utf-8", "backslashreplace").replace(str(self.directory), HOME_SHOWN)
        text = re.sub(rf"\b{re.escape(socket.gethostname())}\b", HOST_SHOWN, text)
        lines = [line.rstrip() for line in text.split("\n")]
        return "\n".join(lines).rstrip("\n") + "\n" if text.strip() else "", done.returncode


def blocks_of(page: str) -> list[Block]:
    """The sessions of a page that are to be run."""
    blocks = []
    for found in _BLOCK.finditer(page):
        marks = list(_MARK.finditer(found["marks"]))
        names = [mark[1] for mark in marks]
        if not _OURS.search(found["text"]) or any(name.startswith("not run") for name in names):
            continue
        codes = [int(mark[2]) for mark in marks if mark[2]]
        blocks.append(
            Block(
                commands=_commands_of(found["text"]),
                begin=found.start("text"),
                end=found.end("text"),
                line=page.count("\n", 0, found.start("text")) + 1,
                measured="measured" in names,
                exit_code=codes[0] if codes else 0,
                setup=tuple(mark[3] for mark in marks if mark[3]),
                needs=tuple(mark[4] for mark in marks if mark[4]),
            )
        )
    return blocks


def _commands_of(text: str) -> tuple[Command, ...]:
    """Split a session into commands and their outputs; text before the first prompt is an error."""
    parts = re.split(r"^(\$ .*(?:(?<=\\)\n> .*)*\n)", text, flags=re.MULTILINE)
    if parts[0].strip():
        raise ValueError(f"output without a command: {parts[0]!r}")
    return tuple(Command(lines, output) for lines, output in zip(parts[1::2], parts[2::2], strict=True))


def shape(text: str) -> str:
    """``text`` with what varies between two measurements taken out: numbers, ids, times, units, widths."""
    text = re.sub(r"^the first block took .*\n", "", text, flags=re.MULTILINE)  # said where much is left to do
    text = re.sub(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", "TIME", text)
    text = re.sub(r"\b\d{8}-[0-9a-f]{8}\b", "ID", text)
    text = re.sub(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b", "ID", text)
    text = re.sub(r"(?<![A-Za-z_])[-+−]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?", "0", text)
    text = re.sub(r"0 h 0 min|0 min 0 s|\b0 ?(?:ns|[µum]?s|min|h)\b", "0 TIME", text)
    text = re.sub(r"~[ \t]+(?:ns|[µum]?s)$", "~ TIME", text, flags=re.MULTILINE)
    text = re.sub(r"\b(?:[KMGTP]i)?B/s\b", "B/s", text)
    text = re.sub(r"\b(?:[KMGTP]iB|B)\b(?!/s)", "B", text)
    text = re.sub(r"\b[kM]?op/s\b", "op/s", text)
    text = re.sub(r"[▁▂▃▄▅▆▇█▉▊▋▌▍▎▏─━]+", "─", text)
    # A number that is aligned to the right begins its line with a blank, or not: also a width.
    return re.sub(r"^ ", "", re.sub(r"[ \t]+", " ", text), flags=re.MULTILINE)


def matches(expected: str, actual: str, measured: bool) -> bool:
    """Whether the output is the one that the page shows."""
    if measured:
        expected, actual = shape(expected), shape(actual)
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in expected.splitlines()
    )
    return re.fullmatch(pattern, actual) is not None


@dataclass(frozen=True)
class Difference:
    """A command of a page that no longer says what the page shows."""

    line: int
    command: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"line {self.line}: $ {self.command}--- shown\n{self.expected}--- is\n{self.actual}"


def play(page: str, directory: Path) -> tuple[list[Difference], str]:
    """Run what can run of a page. Returns what differs, and the page as it would be if recorded now."""
    session, differences, recorded, at = Session(directory), [], [], 0
    for block in blocks_of(page):
        if not block.runs:
            continue
        for setup in block.setup:
            output, code = session.run(setup)
            if code:
                raise AssertionError(f"line {block.line}: setup failed: {setup}\n{output}")
        text = ""
        for command in block.commands:
            output, code = session.run(command.shell)
            wanted = block.exit_code if command is block.commands[-1] else 0
            if code != wanted:
                raise AssertionError(f"line {block.line}: $ {command.shell}exits {code}, not {wanted}\n{output}")
            same = matches(command.output, output, block.measured)
            if not same:
                differences.append(Difference(block.line, command.shell, command.output, output))
            text += command.lines + (command.output if same else output)
        recorded += [page[at : block.begin], text]
        at = block.end
    return differences, "".join([*recorded, page[at:]])


def pages_with_sessions(*paths: Path) -> list[Path]:
    """The Markdown files at and below ``paths`` that hold a session."""
    files = [file for path in paths for file in (sorted(path.rglob("*.md")) if path.is_dir() else [path])]
    return [file for file in files if file.exists() and blocks_of(file.read_text(encoding="utf-8"))]


def _subdirectory(directory: Path, name: str) -> Path:
    (made := directory / name).mkdir()
    return made


def check(page: Path, directory: Path) -> None:
    """Fail with both texts where a command does not say what the page shows.

    What a page shows of a measurement depends on what else the machine does: such a page is played again before it
    counts as wrong (a file that left the memory adds a column, a busy CPU a finding).
    """
    text = page.read_text(encoding="utf-8")
    differences, _ = play(text, _subdirectory(directory, "first"))
    if differences and any(block.measured for block in blocks_of(text)):
        differences, _ = play(text, _subdirectory(directory, "second"))
    assert not differences, "\n".join(map(str, differences)) + "\n`make golden` records it again; read the diff"


def record(page: Path) -> bool:
    """Write what the commands say now into the page. True if that changed it.

    Measured text that still has its shape stays as it is.
    """
    before = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        _, after = play(before, Path(directory))
    if after != before:
        page.write_text(after, encoding="utf-8")
    return after != before


if __name__ == "__main__":
    for found_page in pages_with_sessions(*map(Path, sys.argv[1:])):
        print(f"{'recorded ' if record(found_page) else 'unchanged'} {found_page}")
