"""Accounts of one measurement in several files: by which evidence they are the same, and the run that they become.

A tool writes one execution in several forms (elbencho's JSON, CSV and text; IOzone's text and sheet; fio's text and
JSON; vdbench's ``*.html``), prints it twice (a job's log and its own files), or a log of it is printed in two ways
(Darshan). Equal numbers alone are no proof: the start, the command, or the name of the file must be the same too, and
no setting may differ.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import PurePath
from typing import Any

from iosonde.core.io_counters import IO_COUNTERS
from iosonde.importers.fio_logs import join_logs, read_log_name
from iosonde.importers.parsed import Parsed, Row
from iosonde.importers.plausibility import note_contradictions

# Words with which a file begins that a second file of its directory may repeat, by family.
_BEGINS = {
    "mpi": re.compile(rb"^(?:IOR-\d|-- started at |mdtest-\d)", re.MULTILINE),
    "darshan": re.compile(rb"^# darshan log version:", re.MULTILINE),
    "iozone": re.compile(rb"\A\x09\x00|^\s*Iozone: Performance Test", re.MULTILINE),
    "vdbench": re.compile(rb"Vdbench|vdbench"),
    "fio text": re.compile(rb": \(g=0\): rw=|^fio-\d", re.MULTILINE),
    "fio json": re.compile(rb'"fio version"'),
}
_ELBENCHO_CSV = b"ISO date,label,"
_VDBENCH_FILES = {"flatfile.html", "logfile.html", "summary.html", "totals.html"}
_EXACT = {".json": 0, ".csv": 1}
_BLANKS = re.compile(r"[\s,]+")
# Quantities that all forms of a tool print, and how far their rounded numbers may be apart: share, and base units.
# Every number of other tools is the same in both files.
_ROUNDED: dict[str, dict[str, tuple[float, float]]] = {
    "elbencho": {
        "time_last_done": (0.0, 0.0015),
        "bandwidth_last_done": (0.0, 1.01 * 1024.0**2),
        "rate_last_done": (0.0, 1.01),
        "access_rate_last_done": (0.0, 1.01),
    },
    "fio": {
        "time": (0.0, 0.0005),
        **dict.fromkeys(("bandwidth_last_done", "bandwidth_own"), (0.006, 1024.0)),
        **dict.fromkeys(("rate_last_done", "rate_own"), (0.006, 1.0)),
    },
    "vdbench": {"rate": (0.001, 0.06), "bandwidth": (0.001, 0.006 * 1024.0**2)},
}
_EQUAL = (1e-9, 0.0)
# Darshan's times in files are rounded before a reader adds them, those of --total and --perf after.
_ROUNDED_PARTS = {"darshan": dict.fromkeys(("time_sum_of_ranks", "time_by_slowest"), (1e-4, 1e-3))}
_FIO_DELAY_S = 2.0  # fio prints its text and its JSON one after the other, each with the time


def may_repeat(files: Sequence[tuple[str, bytes]]) -> bool:
    """Return whether one of these files of a directory (name, first bytes) may be another account of another one."""
    n_logs = sum(read_log_name(name) is not None for name, _ in files)
    counts = {family: sum(bool(begin.search(head)) for _, head in files) for family, begin in _BEGINS.items()}
    return (
        n_logs > 1
        or any(head.startswith(_ELBENCHO_CSV) for _, head in files)
        or any(counts[family] > 1 for family in ("mpi", "darshan", "vdbench"))
        or (counts["iozone"] > 1 and any(head[:2] == b"\x09\x00" for _, head in files))
        or (counts["fio json"] > 0 and counts["fio text"] + n_logs > 0)
        or (counts["fio text"] == n_logs == 1)
    )


@dataclass(frozen=True, eq=False)
class _Account:
    """What one file says of an execution; ``n_others``: further executions in that file."""

    file: str
    parsed: Parsed
    n_others: int

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Return a key that puts the account to keep first: the most exact, and the one of a file of its own."""
        parsed, form = self.parsed, _EXACT.get(PurePath(self.file).suffix.lower(), 2)
        is_trace = parsed.operations is not None
        return form, self.n_others, is_trace, not parsed.started_at, -len(parsed.rows), self.file

    @cached_property
    def family(self) -> str:
        return "darshan" if self.parsed.tool == "darshan-dxt" else self.parsed.tool

    @cached_property
    def command(self) -> str:
        """Return the command; elbencho's CSV writes its commas as blanks."""
        return _BLANKS.sub(" ", str(self.parsed.facts.get("command", ""))).strip()

    @cached_property
    def numbers(self) -> Mapping[tuple[Any, ...], float]:
        """Return the numbers that every account has, each by its cell; the last of those that repeat where the forms
        count repetitions in different ways."""
        rounded = _ROUNDED.get(self.family)
        return {
            (*build_row_key(row, self.family), None if rounded else row.iteration): row.value
            for row in self.parsed.rows
            if rounded is None or row.metric in rounded
        }


def build_row_key(row: Row, family: str = "") -> tuple[Any, ...]:
    """Return what a number is of: operation, metric, rank, and the settings that distinguish its row."""
    factors = row.factors or {}
    cell = factors.get("job") if family == "fio" else tuple(sorted(factors.items(), key=str))
    return row.operation, row.metric, row.rank, cell or None


def join_accounts(parts: Sequence[tuple[str, Parsed]]) -> list[tuple[str, Parsed, list[str]]]:
    """Join the (file, Parsed) of a directory, so that each execution occurs once, whatever the order of its files.
    Return (the file to keep, its Parsed with the content of all, the other files)."""
    per_file = Counter(file for file, _ in parts)
    accounts = [_Account(file, parsed, per_file[file] - 1) for file, parsed in parts]
    measurements: dict[str, list[list[_Account]]] = {}
    for account in sorted(accounts, key=lambda account: account.sort_key):
        candidates = measurements.setdefault(account.family, [])
        same = next((members for members in candidates if _is_same(members, account)), None)
        if same is None:
            candidates.append([account])
        else:
            same.append(account)
            _merge_account(same[0], account)
    places = {id(account.parsed): place for place, account in enumerate(accounts)}
    return [
        (members[0].file, members[0].parsed, list(dict.fromkeys(member.file for member in members[1:])))
        for members in sorted(chain(*measurements.values()), key=lambda members: places[id(members[0].parsed)])
    ]


def _is_same(members: Sequence[_Account], other: _Account) -> bool:
    """Return whether ``other`` is another account of the measurement that the first of ``members`` describes."""
    first = members[0]
    if not _agrees_on_settings(first, other):
        return False
    if any(member.file == other.file for member in members):
        # What one file repeats was executed twice, unless it is the same to the last digit and second.
        return _has_same_start(first, other) and first.numbers == other.numbers
    agrees = _agrees_on_numbers(first, other)
    if agrees is None:
        return _names_other(first, other) or _has_same_job(first, other)
    return agrees and (_names_other(first, other) or _has_same_start(first, other) or _has_same_command(first, other))


def _agrees_on_settings(first: _Account, other: _Account) -> bool:
    """Return whether neither start, command, job, nor a setting of the two differs."""
    if first.command and other.command and not _has_same_words(first, other):
        return False
    if first.family == "elbencho":
        return True  # its CSV has the start of each phase, and counts in other words than its text
    mine, theirs = first.parsed, other.parsed
    if mine.started_at and theirs.started_at and not _has_same_start(first, other):
        return False
    if first.family == "darshan" and mine.facts.get("job") != theirs.facts.get("job"):
        return False
    return all(theirs.factors.get(name, value) == value for name, value in mine.factors.items())


def _has_same_words(first: _Account, other: _Account) -> bool:
    """Return whether the commands are the same; a cell of a sheet holds only the begin of a long one."""
    shorter, longer = sorted((first, other), key=lambda account: len(account.command))
    is_cut = shorter.parsed.form == "sheet" and bool(shorter.command) and longer.command.startswith(shorter.command)
    return is_cut or first.command == other.command


def _has_same_start(first: _Account, other: _Account) -> bool:
    starts = (first.parsed.started_at, other.parsed.started_at)
    if not all(starts) or first.family != "fio" or first.parsed.form == other.parsed.form:
        return bool(starts[0]) and starts[0] == starts[1]
    begin, end = map(datetime.fromisoformat, starts)
    return abs((end - begin).total_seconds()) <= _FIO_DELAY_S


def _has_same_command(first: _Account, other: _Account) -> bool:
    """Return whether these are two forms of one command, of which only one has a start."""
    if not first.command or not _has_same_words(first, other):
        return False
    is_without_start = not (first.parsed.started_at and other.parsed.started_at)
    return first.family == "elbencho" or (is_without_start and first.parsed.form != other.parsed.form)


def _has_same_job(first: _Account, other: _Account) -> bool:
    """Return whether a job system's number and the start are the same: two prints of a log may share no counter."""
    return first.family == "darshan" and bool(first.parsed.facts.get("job")) and _has_same_start(first, other)


def _names_other(first: _Account, other: _Account) -> bool:
    """Return whether one file says that it wrote the other one, or both have names that a directory has once."""
    names = [PurePath(account.file).name for account in (first, other)]
    if first.family == "vdbench" and len({*names} & _VDBENCH_FILES) == 2:
        return True
    return names[1] in first.parsed.written or names[0] in other.parsed.written


def _agrees_on_numbers(first: _Account, other: _Account) -> bool | None:
    """Return whether all numbers in both are the same, as far as their forms print them; None if they share none."""
    is_exact = first.family == "fio" and first.parsed.form == other.parsed.form
    rounded = {} if is_exact else _ROUNDED_PARTS.get(first.family) or _ROUNDED.get(first.family, {})
    both = first.numbers.keys() & other.numbers.keys()
    for key in both:
        mine, theirs, (share, units) = first.numbers[key], other.numbers[key], rounded.get(key[1], _EQUAL)
        if abs(mine - theirs) > max(units, share * max(mine, theirs)):
            return False
    return True if both else None


def _merge_account(base: _Account, other: _Account) -> None:
    """Give a run what another account of it adds; what lacks in one of them, lacks."""
    run, account = base.parsed, other.parsed
    if other.file != base.file:
        run.adopt_missing(PurePath(other.file).name, account)
    keys = {build_row_key(row, base.family) for row in run.rows}
    cells = {key[3] for key in keys} | {None}
    for row in account.rows:
        key = build_row_key(row, base.family)
        if key not in keys and key[3] in cells and (base.family != "fio" or key[3] is None):
            row.line = 0
            run.rows.append(row)
    of_rows = {name for row in run.rows for name in row.factors or ()}
    run.factors = {name: value for name, value in account.factors.items() if name not in of_rows} | run.factors
    run.facts = account.facts | run.facts | _choose_counters(account.facts, run.facts)
    run.version = run.version or account.version
    run.seconds = run.seconds or account.seconds
    run.started_at = min(filter(None, (run.started_at, account.started_at)), default="")
    if run.operations is None:
        run.operations, run.operation_names = account.operations, account.operation_names
        run.phase_facts, run.unplaced = account.phase_facts, account.unplaced


def _choose_counters(*facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return Darshan's counters of single files, of the last account that has them: others have their sums only."""
    of_accounts = [account[IO_COUNTERS] for account in facts if IO_COUNTERS in account]
    of_files = [
        counters
        for counters in of_accounts
        if any(file["name"] for file in (*counters["files"], *(counters.get("buffered") or {"files": ()})["files"]))
    ]
    return {IO_COUNTERS: of_files[-1]} if of_files else {}


def join_directory_accounts(parts: Sequence[tuple[str, Parsed]]) -> tuple[list[tuple[str, Parsed]], dict[str, str]]:
    """Return the (file, Parsed) of a directory with each measurement once, and the file whose run each of the other
    accounts became part of."""
    into: dict[str, str] = {}
    measurements: list[tuple[str, Parsed]] = []
    for file, parsed, others in join_accounts(parts):
        measurements.append((file, parsed))
        into |= dict.fromkeys(others, file)
    measurements, logs = join_logs(measurements)
    into |= logs
    for file, parsed in measurements:
        if names := sorted({PurePath(other).name for other, base in into.items() if base == file != other}):
            parsed.facts["joined_with"] = names
            note_contradictions(parsed)
    return measurements, into
