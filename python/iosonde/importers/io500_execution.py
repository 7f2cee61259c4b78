"""An execution of IO500: a directory with its list of results and the output of IOR, mdtest and find for each phase.

They cover one measurement and become one run. The list gives the rates and the score (``result.txt`` before
``result_summary.txt`` before a log). Values that only the tools' own files have are added: ``ior_easy_write
open_time``, ``mdtest_easy_write_tree_creation rate_last_done``, single ranks. Duplicates are left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from iosonde.core.message import Message, prepend_place
from iosonde.core.types import FactorValue
from iosonde.core.vocabulary import IOR

from .io500_score import BANDWIDTH, NAMES, RATE, put_score_first
from .parsed import Claim, Parsed, Row
from .reading import parse_option_size, split_command

_PHASE_FILE = re.compile(
    r"((?:ior|mdtest)[-_](?:easy|hard|rnd\w*)[-_](?:[a-z]+[-_])?(?:write|read|stat|delete)|find)"
    r"\.(txt|csv)$"
)
_LIST_FILE = re.compile(r"result\.txt$|result_summary.*\.txt$|io-?500-summary.*\.txt$")
_OF_MDTEST = {"write": "file_creation", "stat": "file_stat", "read": "file_read", "delete": "file_removal"}
INFORMATION = "system-information.txt"
_INFORMATION_LINE = re.compile(r'^[ \t]*+io500_info_(\w++)[ \t]*+=[ \t]*+"([^"\n]*)"', re.MULTILINE)
# Tolerances between files of one run: rounded numbers, and clocks around different parts.
SAME_LIST, SAME_PHASE = 0.001, 0.05
_CLOCKED = ("bandwidth_last_done", "rate_last_done")


@dataclass
class FilePart:
    """An execution in one file of the directory, with the file's name there."""

    name: str
    parsed: Parsed
    claim: Claim


@dataclass
class Execution:
    """A joined run. ``used``: the parts that contributed; ``doubles``: those without anything new; ``unused``: those of
    another execution. ``results``: the results by the clock of each phase, for comparison with other parts; ``there``:
    (operation, metric, rank) of each row.
    """

    parsed: Parsed
    base: FilePart
    used: list[FilePart] = field(default_factory=list)
    doubles: list[FilePart] = field(default_factory=list)
    unused: list[FilePart] = field(default_factory=list)
    results: dict[tuple[str, str], float] = field(default_factory=dict)
    there: set[tuple[str, str, int | None]] = field(default_factory=set)

    def is_same(self, other: Parsed) -> bool:
        """Return whether this list belongs to this execution: each phase in both has the same result."""
        return _is_same(self.results, _collect_results(other))


def is_execution(names: Sequence[str]) -> bool:
    """Return whether files of these names in one directory belong to one execution: two of lists and phases."""
    phases = {match.group(1) for name in names if (match := _PHASE_FILE.match(name))} - {"find"}
    return len(phases) + sum(map(bool, map(_LIST_FILE.match, names))) >= 2


def has_list(names: Sequence[str]) -> bool:
    """Return whether any of these names is that of a list of results."""
    return any(map(_LIST_FILE.match, names))


def is_list(parsed: Parsed) -> bool:
    """Return whether this is IO500's list of several phases."""
    return len({row.operation for row in parsed.rows if row.operation in (*BANDWIDTH, *RATE)}) > 1


def join_directory(parts: Sequence[FilePart], information: str = "") -> Execution | None:
    """Join a directory to one run; None if nothing in it is a result. ``information`` is the content of
    ``system-information.txt``."""
    lists = sorted((part for part in parts if is_list(part.parsed)), key=_build_part_sort_key)
    phases = [
        part for part in parts if _phase_from_file_name(part.name) and part.parsed.rows and not is_list(part.parsed)
    ]
    if not lists and not phases:
        return None
    base = lists[0] if lists else phases[0]
    run = replace(base.parsed) if lists else Parsed(headline=("bandwidth", "rate", "total"))
    run.rows, run.factors, run.facts = list(run.rows), dict(run.factors), dict(run.facts)
    run.warnings, run.missing, run.invalid = list(run.warnings), list(run.missing), list(run.invalid)
    run.tool = "io500"
    if not lists:
        run.lacks(
            0,
            Message("no-results", "no list of results: neither result.txt nor result_summary.txt is complete"),
        )
    execution = Execution(
        run, base, [base], results=_collect_results(run), there={_build_row_key(row) for row in run.rows}
    )
    for part in lists[1:]:
        _add_list(execution, part)
    for part in sorted(phases, key=lambda candidate: candidate.name.endswith(".csv")):
        _add_phase(execution, part, bool(lists))
    others = {id(part) for part in (*execution.used, *execution.doubles, *execution.unused)}
    execution.unused += [part for part in parts if id(part) not in others and (part.parsed.rows or part.parsed.missing)]
    _set_factors(execution, information)
    put_score_first(run)
    return execution


def _build_part_sort_key(part: FilePart) -> tuple[bool, int]:
    """Return a sort key: complete parts before cut ones, ``result.txt`` before the summary before a log."""
    name = PurePath(part.name).name
    places = ("result.txt", "result_summary.txt")
    is_cut = any(note not in part.parsed.invalid for note in part.parsed.missing)
    return is_cut, places.index(name) if name in places else 2 if _LIST_FILE.match(name) else 3


def _phase_from_file_name(name: str) -> str:
    """Return ``ior-rnd4K-easy-read.txt`` → ``ior_rnd4k_easy_read``; '' for a file of no phase."""
    match = _PHASE_FILE.match(PurePath(name).name)
    return match.group(1).lower().replace("-", "_") if match else ""


def _add_list(execution: Execution, part: FilePart) -> None:
    """Add another list: of the same execution, of one that an earlier list covers, or of another one."""
    if execution.is_same(part.parsed):
        execution.parsed.adopt_invalid(PurePath(part.name).name, part.parsed)
        _add_rows(execution, part, part.parsed.rows, {})
    elif enclosing := next(
        (
            candidate
            for candidate in execution.unused
            if _is_within(_collect_results(part.parsed), _collect_results(candidate.parsed))
        ),
        None,
    ):
        enclosing.parsed.adopt_invalid(PurePath(part.name).name, part.parsed)
        execution.doubles.append(part)
    else:
        # A resumed attempt repeats everything of the one before.
        repeated = [
            candidate
            for candidate in execution.unused
            if _is_within(_collect_results(candidate.parsed), _collect_results(part.parsed))
        ]
        execution.unused = [
            candidate for candidate in execution.unused if all(candidate is not other for other in repeated)
        ]
        for duplicate in repeated:
            part.parsed.adopt_invalid(PurePath(duplicate.name).name, duplicate.parsed)
        execution.doubles += repeated
        execution.unused.append(part)


def _add_phase(execution: Execution, part: FilePart, listed: bool) -> None:
    """Add a tool's own output, under the phase's name. Output that contradicts the list belongs to another
    execution."""
    phase = NAMES.get(_phase_from_file_name(part.name), _phase_from_file_name(part.name))
    rows = part.parsed.rows
    names = {name: _rename_operation(phase, name) for name in {row.operation for row in rows}}
    for row in (candidate for candidate in rows if candidate.rank is None and names[candidate.operation] == phase):
        key = (phase, row.metric)
        if key in execution.results and not _is_near(
            execution.results[key], row.value, SAME_PHASE, _compute_half_step(key)
        ):
            execution.parsed.warn(
                0,
                Message(
                    "other-execution",
                    "{file} has {value:.4g} {unit} for {phase}, and the list {listed:.4g}: it belongs to "
                    "another execution, and is left out",
                    file=PurePath(part.name).name,
                    value=row.value,
                    unit=row.unit,
                    phase=phase,
                    listed=execution.results[key],
                ),
            )
            execution.doubles.append(part)
            return
    if len({row.iteration for row in rows if row.iteration is not None}) > 1:
        execution.unused.append(part)
        return
    _add_rows(execution, part, rows, names)
    for note in part.parsed.missing:
        execution.parsed.lacks(0, prepend_place(note.sentence, PurePath(part.name).name))
    if not listed and not execution.parsed.started_at:
        execution.parsed.started_at = part.parsed.started_at


def _rename_operation(phase: str, operation: str) -> str:
    tool, what = phase.split("_")[0], phase.split("_")[-1]
    own = {"ior": (what, "access"), "mdtest": (_OF_MDTEST.get(what, ""),), "find": ("find",)}.get(tool, ())
    return phase if operation in own else f"{phase}_{operation}"


def _add_rows(execution: Execution, part: FilePart, rows: Sequence[Row], names: Mapping[str, str]) -> None:
    """Add the rows that are new; their operations get these ``names``. Some directories have millions of rows, so none
    is copied."""
    new = []
    for row in rows:
        place = (names.get(row.operation, row.operation), row.metric, row.rank)
        if place not in execution.there:
            row.operation = place[0]
            new.append(row)
    # With a single iteration, maximum, minimum and mean repeat its value.
    execution.there |= set(map(_build_row_key, new))
    execution.results |= {
        (row.operation, row.metric): row.value for row in new if row.rank is None and row.metric in _CLOCKED
    }
    new = [row for row in new if row.rank is not None or not _is_single_value(row, execution)]
    for row in new:
        row.line = 0
    execution.parsed.rows += new
    (execution.used if new else execution.doubles).append(part)


def _build_row_key(row: Row) -> tuple[str, str, int | None]:
    return row.operation, row.metric, row.rank


def _is_single_value(row: Row, execution: Execution) -> bool:
    """Return whether this statistic only repeats a single value; those of mdtest 3.3 are over ranks, and differ."""
    kind, _, form = row.metric.rpartition("_")
    if form not in ("max", "min", "mean", "sd") or row.iteration is not None:
        return False
    key = (row.operation, f"{kind}_last_done")
    if key in execution.results and (
        form == "sd" or not _is_near(execution.results[key], row.value, SAME_LIST, _compute_half_step(key))
    ):
        return form == "sd" and not row.value
    names = (kind, key[1]) + (("rate_last_done",) if kind == "transfers" else ())
    return any((row.operation, name, None) in execution.there for name in names)


def _set_factors(execution: Execution, information: str) -> None:
    """Set the factors of all files: those of the tools, from the first phase on, then those of the author."""
    run = execution.parsed
    by_phase = {
        _phase_from_file_name(part.name): part.parsed
        for part in execution.used + execution.doubles
        if _phase_from_file_name(part.name)
    }
    commands = {name: str(parsed.facts["command"]) for name, parsed in by_phase.items() if parsed.facts.get("command")}
    commands = {name.replace("-", "_"): command for name, command in run.facts.pop("commands", {}).items()} | commands
    first = [by_phase[name] for name in (*BANDWIDTH, *RATE) if name in by_phase]
    factors: dict[str, FactorValue] = {
        name: next((parsed.factors[name] for parsed in first if name in parsed.factors), run.factors.get(name))
        for name in ("nodes", "ranks", "ranks_per_node")
    }
    words = split_command(commands.get("ior_easy_write", "") or commands.get("ior_easy_read", ""))
    easy = [by_phase[name].factors for name in ("ior_easy_write", "ior_easy_read") if name in by_phase]
    factors["transfer_size"] = next(
        (entry["transfer_size"] for entry in easy if "transfer_size" in entry),
        parse_option_size(IOR.find_value(words, "transfer_size") or ""),
    )
    api = next((entry["api"] for entry in easy if "api" in entry), IOR.find_value(words, "api"))
    factors["api"] = str(api).split()[0].upper() if str(api or "").strip() else None  # not "MPIIO (version=3, …)"
    if words:
        factors["direct"] = int(any(word.endswith(".odirect") or word in ("-B", "useO_DIRECT=1") for word in words))
    author_info = {
        name.lower().replace("-", "_"): word.strip() for name, word in _INFORMATION_LINE.findall(information)
    }
    _add_author_info(factors, author_info)
    _complete_counts(factors)
    run.factors = {name: value for name, value in {**run.factors, **factors}.items() if value is not None}
    run.facts |= {"commands": {name: command[:2000] for name, command in sorted(commands.items())}} if commands else {}
    run.facts |= {"said_by_its_author": author_info} if author_info else {}
    run.facts |= {"date": run.started_at[:10]} if run.started_at else {}


def _add_author_info(factors: dict[str, FactorValue], author_info: dict[str, str]) -> None:
    names = {
        "file_system": ("filesystem_type", "filesystem_name"),
        "storage": ("ds_storage_type",),
        "network": ("client_interconnect", "ds_network", "client_network"),
    }
    factors |= {
        name: next((author_info[key] for key in keys if author_info.get(key)), None) for name, keys in names.items()
    }
    for name, key in (("nodes", "client_nodes"), ("ranks_per_node", "client_procs_per_node")):
        if factors.get(name) is None and author_info.get(key, "").isdigit():
            factors[name] = int(author_info[key])


def _complete_counts(factors: dict[str, FactorValue]) -> None:
    """Compute the third of nodes, ranks and ranks per node from the other two, if it is a whole number."""
    nodes, ranks, each = (factors.get(name) for name in ("nodes", "ranks", "ranks_per_node"))
    if isinstance(ranks, int) and isinstance(nodes, int) and nodes > 0 and each is None and ranks % nodes == 0:
        factors["ranks_per_node"] = ranks // nodes
    elif isinstance(ranks, int) and isinstance(each, int) and each > 0 and nodes is None and ranks % each == 0:
        factors["nodes"] = ranks // each
    elif isinstance(nodes, int) and isinstance(each, int) and ranks is None:
        factors["ranks"] = nodes * each


def _collect_results(run: Parsed) -> dict[tuple[str, str], float]:
    return {(row.operation, row.metric): row.value for row in run.rows if row.metric in _CLOCKED and row.rank is None}


def _is_same(mine: Mapping[tuple[str, str], float], theirs: Mapping[tuple[str, str], float]) -> bool:
    both = mine.keys() & theirs.keys()
    return bool(both) and all(_is_near(mine[key], theirs[key], SAME_LIST, _compute_half_step(key)) for key in both)


def _is_within(part: Mapping[tuple[str, str], float], other: Mapping[tuple[str, str], float]) -> bool:
    """Return whether the other list contains all results of this one."""
    return part.keys() <= other.keys() and _is_same(part, other)


def _compute_half_step(key: tuple[str, str]) -> float:
    """Return half of the last decimal of old lists, which print GiB/s or kIOPS with three."""
    return 0.00051 * (1024.0**3 if key[1].startswith("bandwidth") else 1e3)


def _is_near(value: float, other: float, share: float, least: float) -> bool:
    return abs(value - other) <= max(share * max(value, other), least)
