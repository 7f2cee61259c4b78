"""Outputs of other tools that mail, disks and people damaged: read rightly, marked, or refused; and in time.

The captures are those of the importers' golden tests. Of most damages only crashes, hangs and numbers that are none are
breaks. A text that was cut short, or lost a line, may give no number that the whole one does not give, unless the run
is marked as incomplete.
"""

from __future__ import annotations

import base64
import gzip
import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from .case import Case, dice, last_line
from .warm import ROOT, warm

FIXTURES = ROOT / "tests" / "golden" / "fixtures"
CPU_S = 5
LONG = 60_000


def _place(raw: bytes, rng: random.Random) -> int:
    return rng.randrange(len(raw))


def _flip(raw: bytes, rng: random.Random) -> bytes:
    at = _place(raw, rng)
    return raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]


def _cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: _place(raw, rng)]


def _drop_line(raw: bytes, rng: random.Random) -> bytes:
    lines = raw.splitlines(True)
    at = rng.randrange(len(lines))
    return b"".join(lines[:at] + lines[at + 1 :])


def _glue(raw: bytes, rng: random.Random) -> bytes:
    lines = raw.splitlines(True)
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], lines[at].rstrip(b"\r\n"), *lines[at + 1 :]])


def _nul(raw: bytes, rng: random.Random) -> bytes:
    at, many = _place(raw, rng), rng.choice((1, 3, 64, 4096))
    return raw[:at] + bytes(many) + raw[at + rng.choice((0, many)) :]


def _long_line(raw: bytes, rng: random.Random) -> bytes:
    piece = rng.choice((b"7", b" ", b"a ", b"1,", b"[", b'{"a":', b"\\", b"0.1 "))
    lines = raw.splitlines(True)
    lines.insert(rng.randrange(len(lines) + 1), piece * (LONG // len(piece)) + rng.choice((b"\n", b"")))
    return b"".join(lines)


def _long_line_and_nul(raw: bytes, rng: random.Random) -> bytes:
    return _long_line(_nul(raw, rng), rng)


def _no_utf8(raw: bytes, rng: random.Random) -> bytes:
    at = _place(raw, rng)
    return raw[:at] + rng.choice((b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x80" * 9)) + raw[at:]


def _number(raw: bytes, rng: random.Random) -> bytes:
    """One digit becomes another kind of number."""
    digits = [place for place, byte in enumerate(raw) if 48 <= byte <= 57]
    at = rng.choice(digits) if digits else 0
    return raw[:at] + rng.choice((b"nan", b"inf", b"1e999", b"9" * 400, b"-", b"\xd9\xa3")) + raw[at + 1 :]


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": _flip,
    "cut": _cut,
    "drop line": _drop_line,
    "glue": _glue,
    "NUL": _nul,
    "long line": _long_line,
    "long line and NUL": _long_line_and_nul,
    "not UTF-8": _no_utf8,
    "number": _number,
}


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Each mutation of each capture; a few of them with ``quick``."""
    names = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.rglob("*") if path.parent != FIXTURES)
    for kind in MUTATIONS:
        for place, name in enumerate(names):
            if quick and (place + len(kind)) % 9:
                continue
            for number in range(1 if quick else 4):
                yield _make_case(seed, kind, name, number)


def _make_case(seed: int, kind: str, name: str, number: int) -> Case:
    title = f"{name} #{number}"

    def attack(folder: Path) -> list[str]:
        mutant = MUTATIONS[kind](_read_sample(name), dice(seed, f"{kind} {title}"))
        (folder / "mutant").write_bytes(mutant)  # what a break leaves to look at, with --only and a debugger
        ended = warm().call(
            "faults.breaks.texts:examine",
            folder,
            cpu_s=CPU_S,
            name=name,
            kind=kind,
            mutant=base64.b64encode(mutant).decode(),
        )
        if ended.seconds is None:
            return [f"{name}: not read within {CPU_S} s of CPU ({len(mutant)} bytes)"]
        return ended.answer if ended.answer is not None else [f"{name}: {last_line(ended.err)}"]

    return Case(f"import: text, {kind}", title, attack)


@cache
def _read_sample(name: str) -> bytes:
    raw = (FIXTURES / name).read_bytes()
    return gzip.decompress(raw) if name.endswith(".gz") else raw


def examine(name: str, kind: str, mutant: str) -> list[str]:
    """Read it as an import does, in a fork; what is wrong with what comes out."""
    from importer_fixtures import TRACES, is_derived

    from iosonde.core.errors import IosondeError
    from iosonde.importers import Text
    from iosonde.importers.registry import understand
    from iosonde.importers.runs import build_runs

    form = understand(Text(_read_sample(name), name)).format
    breaches = []
    for wanted in (None, form):
        text = Text(base64.b64decode(mutant), name)
        try:
            read = understand(text, wanted)
            build_runs(read, text, "imported")
        except IosondeError:
            continue
        rows = [(run, row) for run in read.runs for row in run.rows]
        breaches += [f"{name}: {row.metric} = {row.value}" for _, row in rows if not 0 <= row.value < math.inf]
        if kind in ("cut", "drop line") and form not in TRACES and read.format == form:
            known = {(row.operation, row.metric, row.value) for run in _read_whole(name) for row in run.rows}
            breaches += [
                f"{name}: {row.operation} {row.metric} = {row.value} is not in the whole text, and nothing is marked"
                for run, row in rows
                if (row.operation, row.metric, row.value) not in known
                and not (run.missing or is_derived(form, row.metric, run) or row.metric.endswith("_sd"))
            ][:2]
    return list(dict.fromkeys(breaches))


def _read_whole(name: str) -> list:  # type: ignore[type-arg]
    from iosonde.importers import Text
    from iosonde.importers.registry import understand

    return understand(Text(_read_sample(name), name)).runs
