"""``show STORE --as TOOL``: recorded operations of a store through another tool's definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import DataError
from iosonde.core.schema import OBSERVED_FACTORS

if TYPE_CHECKING:
    from iosonde.report.as_tool import Block
    from iosonde.stats.definitions.clock import Work
    from iosonde.store import Store

SCHEMA = 1
TOOLS = ("ior", "mdtest", "iozone", "fio", "elbencho")
INCOMPARABLE = "the clocks of its nodes cannot be compared"
_COUNTED = ("repetition", "block", "order", *OBSERVED_FACTORS)


@dataclass
class Recomputed:
    """The runs of one setting through one tool's eyes: ``blocks`` in the order of runs, for mdtest the ``summary``;
    ``left_out``: phase → why it is not there."""

    runs: list[str]
    blocks: list[Block] = field(default_factory=list)
    summary: list[Any] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def recompute(store: Store, tool: str, runs: list[dict[str, Any]]) -> list[Recomputed]:
    """``runs`` (content of run.json) by setting. Raises DataError where none recorded its operations."""
    settings: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        if run["operations"] and not run["missing"]:
            setting = {name: value for name, value in run["factors"].items() if name not in _COUNTED}
            settings.setdefault((run["experiment"], *sorted(map(str, setting.items()))), []).append(run)
    if not settings:
        raise DataError(
            f"no complete run here has recorded operations, from which {tool}'s numbers could be recomputed",
            "results of other tools and samples keep only totals; measure with 'iosonde run'",
        )
    return [_of_setting(store, tool, chosen) for chosen in settings.values()]


def _of_setting(store: Store, tool: str, runs: list[dict[str, Any]]) -> Recomputed:
    from iosonde.report.as_tool import Block
    from iosonde.stats.definitions import mdtest

    found = Recomputed([run["id"] for run in runs])
    rates: dict[tuple[str, str], list[float]] = {}
    for iteration, run in enumerate(runs):
        for phase, work, why in works(store, run):
            name = str(phase["name"])
            if work is not None and tool == "mdtest":
                operation = mdtest.operation_of(name, work)
                value = mdtest.iteration(work, operation[1]) if operation else None
                if operation and value is not None:
                    rates.setdefault((operation[0], name), []).append(value)
                why = "" if value is not None else INCOMPARABLE if operation else "nothing that mdtest does"
            elif work is not None:
                made, why = rows_of(tool, phase, work, flags_of(run))
                found.blocks += [Block(name, iteration, made)] if made else []
            if why:
                found.left_out[name] = why
    order = [title for title, _, _ in mdtest.OPERATIONS]
    for title, name in sorted(rates, key=lambda key: order.index(key[0])):
        found.summary.append(mdtest.summary(title, name, rates[title, name]))
    return found


def works(store: Store, run: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Work | None, str]]:
    """(phase, its operations or None, why not) for each phase of a run."""
    from iosonde import _native
    from iosonde.stats.definitions.clock import why_not, work_of

    operations = store.operations(run["id"])
    for phase in run["phases"]:
        why = why_not(phase)
        work = None if why else work_of(phase, operations, _native.KINDS)
        yield phase, work if work is not None and work.ranks else None, why


def rows_of(tool: str, phase: Mapping[str, Any], work: Work, inside: frozenset[str]) -> tuple[list[Any], str]:
    """(rows of this tool, why there are none). ``inside``: what IOzone's -e and -c put inside its clock."""
    from iosonde.stats.definitions import elbencho, fio, ior, iozone

    if not work.directions():
        return [], "no data moved: not a phase of this tool"
    if tool in ("ior", "iozone") and phase.get("measures") == "rate":
        return [], f"small files: not a workload of {tool}"
    if tool == "elbencho" and phase.get("shared") and work.most_files() > 1:
        return [], "every rank works on all files: not a workload of elbencho"
    if not work.comparable and tool in ("iozone", "elbencho"):
        return [], INCOMPARABLE
    if tool == "ior":
        return list(ior.rows(work)), ""
    if tool == "iozone":
        return list(iozone.rows(work, inside)), ""
    return list(fio.rows(work) if tool == "fio" else elbencho.rows(work, bool(phase.get("shared")))), ""


def settings_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run's native workload; empty where it has none, or several."""
    steps = run["facts"].get("steps") or ()
    native = [step for step in steps if isinstance(step, dict) and "workload" in step]
    return native[0] if len(native) == 1 else {}


def flags_of(run: Mapping[str, Any]) -> frozenset[str]:
    """What -e and -c of the IOzone command that a run was made of put inside the clock."""
    return frozenset(settings_of(run).get("inside") or ())


def lines(tool: str, found: list[Recomputed]) -> Iterator[str]:
    """The text: for each setting its runs, the tool's columns, and what was left out."""
    import textwrap

    from iosonde.report import as_tool
    from iosonde.report.text import escape

    for number, one in enumerate(found):
        if number:
            yield ""
        of = f"run {one.runs[0]}" if len(one.runs) == 1 else f"{len(one.runs)} runs, {one.runs[0]} first"
        yield from textwrap.wrap(as_tool.title(tool, of), 79, break_on_hyphens=False)
        if tool == "mdtest":
            yield from as_tool.mdtest(one.summary)
        else:
            yield from as_tool.LAYOUTS[tool](one.blocks)
        reasons = {why: [name for name, said in one.left_out.items() if said == why] for why in one.left_out.values()}
        if reasons:
            yield ""
        for why, names in reasons.items():
            text = f"left out ({why}): {', '.join(map(escape, names))}"
            yield from textwrap.wrap(text, 79, subsequent_indent="  ", break_on_hyphens=False)


def document(tool: str, found: list[Recomputed]) -> dict[str, Any]:
    """The stable JSON of ``show --as TOOL --json``; base units."""
    return {
        "schema": SCHEMA,
        "tool": tool,
        "recomputed_by": "iosonde",
        "settings": [
            {
                "runs": one.runs,
                "phases": [
                    {"phase": block.operation, "iteration": block.iteration, "run": one.runs[block.iteration]}
                    | {"rows": [asdict(row) for row in block.rows]}
                    for block in one.blocks
                ],
                "summary": [asdict(row) for row in one.summary],
                "left_out": [{"phase": name, "why": why} for name, why in one.left_out.items()],
            }
            for one in found
        ],
    }
