"""Damaged input: no importer crashes, hangs, or gives a number without its line, whatever happened to the file.

Every capture on this machine is cut at each line, shuffled, merged with another, and put through everything that mail,
other systems and broken disks do to text. ``fuzz/`` keeps what once broke an importer. Where it is damaged follows from
a seed, which IOSONDE_FUZZ_SEED chooses and the name of each test shows: the same seed is the same damage.
"""

from __future__ import annotations

import math
import os
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from importer_fixtures import EXPECTED, TRACES, fixture, is_derived

from iosonde.importers import Text, importers
from iosonde.importers.registry import Understood, understand
from iosonde.importers.runs import build_runs

FOUND = {name: path for name in EXPECTED if (path := fixture(name))}
CASES = Path(__file__).parent / "fuzz"
UNITS = {"bytes/s", "operations/s", "s", "bytes", "operations", "samples", "segments", "datagrams", ""}
# Long captures repeat themselves: the cut is tried at so many of their lines.
CUTS = 40
SEED = int(os.environ.get("IOSONDE_FUZZ_SEED", "1"))


def read_by(form: str, raw: bytes, name: str) -> list:
    """What one importer makes of a text, checked: finite numbers in known units, each with its line."""
    text = Text(raw, name)
    lines = 10**9 if raw[:2] == b"\x09\x00" else len(text.lines)
    runs = importers()[form].parse(text)
    for run in runs:
        for row in run.rows:
            assert 0 <= row.value < math.inf and row.unit in UNITS, row
            assert 1 <= row.line <= lines, row
            assert row.operation and row.metric
        for note in [*run.warnings, *run.missing]:
            assert 0 <= note.line <= lines and note.sentence
    return runs


def understand_damaged(raw: bytes, name: str) -> None:
    """Every importer that claims a text reads it; what comes out can be stored."""
    text = Text(raw, name)
    for form, importer in importers().items():
        claim = importer.claims(text)
        if claim is not None:
            assert 1 <= claim.line <= len(text.lines)
            runs = read_by(form, raw, name)
            build_runs(Understood(form, claim, {}, runs, text.notes), text, "imported")


def numbers(runs: list) -> dict:
    return {
        (row.operation, row.metric, row.rank, row.iteration, str(row.factors)): row.value
        for run in runs
        for row in run.rows
    }


def seeded(name: str) -> str:
    """The name of a test with what makes its damage again."""
    return f"seed {SEED} {name}"


@pytest.mark.parametrize("name", FOUND)
def test_a_text_cut_at_any_line_is_read_up_to_there_and_never_otherwise(name):
    raw, form = FOUND[name].read_bytes(), EXPECTED[name]["format"]
    lines = raw.split(b"\n")
    whole = read_by(form, raw, name)
    known = {(row.operation, row.metric, row.value) for run in whole for row in run.rows}
    for length in sorted({round(i * len(lines) / CUTS) for i in range(CUTS)} | {len(lines) - 1}):
        runs = read_by(form, b"\n".join(lines[:length]), name)
        # What is derived from all of a log (a mean, a sum) differs where half of it is gone; what is printed does not.
        rows = [(run, row) for run in runs for row in run.rows]
        printed = [row for run, row in rows if form not in TRACES and not is_derived(form, row.metric, run)]
        strange = [row for row in printed if (row.operation, row.metric, row.value) not in known]
        assert not strange, (length, strange[:2])


MUST_NOT_MATTER = {
    "CRLF": lambda raw: raw.replace(b"\n", b"\r\n"),
    "colours": lambda raw: b"\n".join(b"\x1b[1;31m" + line + b"\x1b[0m" for line in raw.split(b"\n")),
    "a byte order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "UTF-16": lambda raw: raw.decode("utf-8").encode("utf-16"),
    "NUL bytes": lambda raw: raw.replace(b"\n", b"\0\n"),
    "srun -l": lambda raw: b"".join(b" 0: " + line for line in raw.splitlines(True)),
    "mpirun --tag-output": lambda raw: b"".join(b"[1,0]<stdout>: " + line for line in raw.splitlines(True)),
    "kubectl logs --timestamps": lambda raw: b"".join(
        b"2026-11-23T08:00:00.123456789Z " + line for line in raw.splitlines(True)
    ),
    "a quoting mail": lambda raw: b"".join(b"> " + line for line in raw.splitlines(True)),
    "bytes that are no UTF-8": lambda raw: raw + b"\n\xff\xfe\xfa\n",
}


@pytest.mark.parametrize("what", MUST_NOT_MATTER)
@pytest.mark.parametrize("name", [name for name in FOUND if not name.endswith(".xls")])
def test_what_systems_do_to_text_changes_no_number(name, what):
    raw, form = FOUND[name].read_bytes(), EXPECTED[name]["format"]
    damaged = MUST_NOT_MATTER[what](raw)
    if "no UTF-8" in what and form in ("fio-log", "md-workbench"):
        return  # one more line of a log is one more line
    assert numbers(through(form, damaged, name)) == numbers(through(form, raw, name))


TEXTS = [name for name in FOUND if not name.endswith((".xls", ".log")) and EXPECTED[name]["format"] != "fio-log"]


@pytest.mark.parametrize("name", TEXTS, ids=seeded)
def test_a_hole_or_a_cut_gives_no_other_number_that_is_not_marked(name):
    """Blocks of NUL bytes, an end in the middle of a line: what is left is what was printed, or the run is marked."""
    raw, form, rng = FOUND[name].read_bytes(), EXPECTED[name]["format"], random.Random(f"{SEED} {name}")
    known = {(row.operation, row.metric, row.value) for run in through(form, raw, name) for row in run.rows}
    for _ in range(10):
        begin = rng.randrange(len(raw))
        for damaged in (raw[:begin], raw[:begin] + bytes(64) + raw[begin + 64 :]):
            if form in TRACES and damaged[-1:] in (b"", b"\n"):
                continue
            for run in through(form, damaged, name):
                strange = [
                    row
                    for row in run.rows
                    if (row.operation, row.metric, row.value) not in known and not is_derived(form, row.metric, run)
                ]
                assert run.missing or not strange, (begin, len(damaged) == begin, strange[:2])


@pytest.mark.parametrize("name", TEXTS, ids=seeded)
def test_two_lines_in_one_give_no_other_number_that_is_not_marked(name):
    """A line's end is lost, or became a blank."""
    raw, form, rng = FOUND[name].read_bytes(), EXPECTED[name]["format"], random.Random(f"{SEED} {name}")
    known = {(row.operation, row.metric, row.value) for run in through(form, raw, name) for row in run.rows}
    ends = [place for place, byte in enumerate(raw) if byte == ord("\n")]
    for at in rng.sample(ends, min(20, len(ends))):
        for damaged in (raw[:at] + raw[at + 1 :], raw[:at] + b" " + raw[at + 1 :]):
            for run in through(form, damaged, name):
                strange = [
                    row
                    for row in run.rows
                    if (row.operation, row.metric, row.value) not in known
                    and not is_derived(form, row.metric, run)
                    and not row.metric.endswith("_sd")
                ]
                assert run.missing or not strange, (raw.count(b"\n", 0, at) + 1, strange[:2])


def through(form: str, raw: bytes, name: str) -> list:
    """As an import reads it with ``--format``."""
    return understand(Text(raw, name), form).runs


# The square of their lengths would be seconds.
LONG = [
    line[:65_000]
    for line in (
        b" " * 65_000,
        b"a " * 33_000,
        b"1 " * 33_000,
        b"a" + b" " * 65_000,
        b"0:" * 33_000,
        b"[" * 65_000,
        b"1,2," * 16_500,
        b"a: " * 22_000,
    )
]


@pytest.mark.parametrize("name", {EXPECTED[name]["format"]: name for name in TEXTS}.values())
def test_a_line_takes_no_square_of_its_length(name):
    raw, form = FOUND[name].read_bytes()[:100_000], EXPECTED[name]["format"]
    lines = raw.split(b"\n")
    middle = len(lines) // 2
    for long in LONG:
        texts = [b"\n".join([*lines[:middle], long + end, *lines[middle:]]) for end in (b"x", b":", b"")]
        # The best of some: what else a machine does is in the first, the square of a length in all of them.
        assert any(_seconds(importers()[form], texts, name) < 2 for _ in range(5)), long[:20]


def _seconds(importer, texts, name):
    began = time.process_time()
    for one in texts:
        text = Text(one, name)
        importer.claims(text)
        importer.parse(text)
    return time.process_time() - began


@pytest.mark.parametrize("name", FOUND, ids=seeded)
def test_shuffled_lines_and_merged_files_crash_nothing(name):
    raw, rng = FOUND[name].read_bytes(), random.Random(f"{SEED} {name}")
    lines = raw.split(b"\n")
    for _ in range(4):
        mixed = lines[:]
        rng.shuffle(mixed)
        understand_damaged(b"\n".join(mixed), name)
    for other in rng.sample(sorted(FOUND), 3):
        more = FOUND[other].read_bytes()
        understand_damaged(raw + more, name)
        pair = [line for two in zip(lines, more.split(b"\n"), strict=False) for line in two]
        understand_damaged(b"\n".join(pair), name)


@pytest.mark.parametrize("name", FOUND, ids=seeded)
def test_damaged_numbers_and_bytes_crash_nothing(name):
    raw, rng = FOUND[name].read_bytes(), random.Random(f"{SEED} {name}")
    for word in (b"", b"-1", b"nan", b"inf", b"1e400", b"9" * 400, b"1_000", b"0", b"\xd9\xa3", b"1,234,567", b"x"):
        damaged = re.sub(rb"\d+(?:\.\d+)?", lambda m, w=word: w if rng.random() < 0.1 else m.group(), raw)
        understand_damaged(damaged, name)
    for _ in range(6):
        damaged = bytearray(raw)
        for _ in range(max(1, len(raw) // 200)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        understand_damaged(bytes(damaged), name)


@pytest.mark.parametrize("name", FOUND)
def test_decimal_commas_of_another_locale_are_points_or_nothing(name):
    raw, form = FOUND[name].read_bytes(), EXPECTED[name]["format"]
    if name.endswith((".xls", ".csv", ".json", ".jsonl", ".log")):
        return
    printed = {(row.operation, row.metric): row.value for run in read_by(form, raw, name) for row in run.rows}
    damaged = re.sub(rb"(?<=\d)\.(?=\d)", b",", raw)
    for run in read_by(form, damaged, name):
        for row in run.rows:
            before = printed.get((row.operation, row.metric))
            # Never a thousand times more: `8543,928` is not 8543928.
            assert before is None or not 0.001 * row.value > before > 0, row


@pytest.mark.parametrize("form", importers())
def test_a_line_without_end_ends(form):
    for piece in (b"9", b" ", b"a", b"1 ", b"{", b'{"a":', b"[", b"(", b"=", b";", b"1,2", b"0.1 real ", b"| read : "):
        read_by(form, piece * (200_000 // len(piece)), "long")


@seed(SEED)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(raw=st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(raw):
    understand_damaged(raw, "any")
    for form in importers():
        read_by(form, raw, "any")


@seed(SEED)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_pieces_of_captures_in_any_order_are_read_or_refused(data):
    names = st.sampled_from(sorted(FOUND) or ["none"])
    pieces = []
    for _ in range(data.draw(st.integers(1, 5))):
        name = data.draw(names)
        if name not in FOUND:
            return
        lines = FOUND[name].read_bytes().split(b"\n")
        begin = data.draw(st.integers(0, len(lines) - 1))
        pieces += lines[begin : begin + data.draw(st.integers(1, 12))]
    understand_damaged(b"\n".join(pieces), "pieces")


@pytest.mark.parametrize("path", sorted(CASES.iterdir()) if CASES.is_dir() else [], ids=lambda path: path.name)
def test_what_once_broke_an_importer_does_so_no_more(path):
    understand_damaged(path.read_bytes(), path.name)
    for form in importers():
        read_by(form, path.read_bytes(), path.name)
