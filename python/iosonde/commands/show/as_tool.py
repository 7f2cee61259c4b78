"""Recorded operations through another tool's definitions (``show STORE --as TOOL``), and totals by node count."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.derived_numbers import ALL_OPERATIONS
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.schema import BRING_UPS, OBSERVED_FACTORS
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.stats.definitions import elbencho, fio, ior, iozone, mdtest
from iosonde.stats.definitions.clock import Work, explain_not_recomputable, select_phase_work
from iosonde.stats.definitions.many_task import build_document
from iosonde.store import Store

from .answer import ChosenRuns

TOOLS = ("ior", "mdtest", "iozone", "fio", "elbencho")
_INCOMPARABLE = Message("incomparable-clocks", "the clocks of its nodes cannot be compared")
_NOT_OF_MDTEST = Message("not-of-tool", "nothing that mdtest does")
_COUNTED = ("repetition", "block", "order", *BRING_UPS, *OBSERVED_FACTORS)


@dataclass(frozen=True)
class ToolPhase:
    """Rows of one phase of one run; ``iteration`` counts the runs of one setting from 0."""

    operation: str
    iteration: int
    rows: Sequence[Any]


@dataclass
class Recomputed:
    """Runs of one setting by one tool's definitions: ``blocks`` in run order, for mdtest the ``summary``.
    ``exclusion_reasons``: phase → why it is missing."""

    runs: list[str]
    blocks: list[ToolPhase] = field(default_factory=list)
    summary: list[Any] = field(default_factory=list)
    exclusion_reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AsTool(Answer):
    """The settings of a store in one tool's numbers; base units."""

    tool: str
    settings: tuple[Recomputed, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde show STORE --as TOOL --json``."""
        return {
            "tool": self.tool,
            "recomputed_by": "iosonde",
            "settings": [
                {
                    "runs": setting.runs,
                    "phases": [
                        {"phase": block.operation, "iteration": block.iteration, "run": setting.runs[block.iteration]}
                        | {"rows": [asdict(row) for row in block.rows]}
                        for block in setting.blocks
                    ],
                    "summary": [asdict(row) for row in setting.summary],
                    "left_out": [{"phase": name, "why": why} for name, why in setting.exclusion_reasons.items()],
                }
                for setting in self.settings
            ],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per row of the tool."""
        return [
            {"run": setting.runs[block.iteration], "phase": block.operation, **asdict(row)}
            for setting in self.settings
            for block in setting.blocks
            for row in block.rows
        ]


def recompute_as_tool(chosen: ChosenRuns, tool: str) -> AsTool:
    """Recompute the chosen runs by ``tool``'s own definitions. Raises DataError if none recorded its operations."""
    return AsTool(tool, tuple(_recompute_settings(chosen.store, tool, chosen.runs)))


def _recompute_settings(store: Store, tool: str, runs: Sequence[StoredRun]) -> list[Recomputed]:
    settings: dict[tuple[Any, ...], list[StoredRun]] = {}
    for run in runs:
        if run.n_operations and run.complete:
            setting = {name: value for name, value in run.factors.items() if name not in _COUNTED}
            settings.setdefault((run.experiment, *sorted(map(str, setting.items()))), []).append(run)
    if not settings:
        raise DataError(
            "no-recorded-operations",
            "cannot recompute {tool}'s numbers: no complete run here has recorded operations",
            "results of other tools and samples keep only totals; measure with 'iosonde run'",
            tool=tool,
        )
    return [_recompute_setting(store, tool, chosen) for chosen in settings.values()]


def _recompute_setting(store: Store, tool: str, runs: Sequence[StoredRun]) -> Recomputed:
    recomputed = Recomputed([run.id for run in runs])
    rates: dict[tuple[str, str], list[float]] = {}
    for iteration, run in enumerate(runs):
        for phase, work, why in iterate_phase_work(store, run):
            name = phase.name
            if work is not None and tool == "mdtest":
                operation = mdtest.find_mdtest_operation(name, work)
                value = mdtest.compute_iteration_rate(work, operation[1]) if operation else None
                if operation and value is not None:
                    rates.setdefault((operation[0], name), []).append(value)
                why = "" if value is not None else _INCOMPARABLE if operation else _NOT_OF_MDTEST
            elif work is not None:
                rows, why = compute_tool_rows(tool, phase, work, get_iozone_clock_parts(run))
                recomputed.blocks += [ToolPhase(name, iteration, rows)] if rows else []
            if why:
                recomputed.exclusion_reasons[name] = why
    order = [title for title, _, _ in mdtest.OPERATIONS]
    by_title = sorted(rates.items(), key=lambda item: order.index(item[0][0]))
    recomputed.summary += [mdtest.summarise_rates(title, name, values) for (title, name), values in by_title]
    return recomputed


def iterate_phase_work(store: Store, run: StoredRun) -> Iterator[tuple[StoredPhase, Work | None, str]]:
    """Yield (phase, its operations or None, why not) for each phase of a run."""
    from iosonde.engine import _native

    operations = store.operations(run.id)
    for phase in run.phases:
        why = explain_not_recomputable(phase)
        work = None if why else select_phase_work(phase, operations, _native.KINDS)
        yield phase, work if work is not None and work.ranks else None, why


def compute_tool_rows(tool: str, phase: StoredPhase, work: Work, inside: frozenset[str]) -> tuple[list[Any], str]:
    """Return (rows of this tool, why there are none). ``inside``: parts that IOzone's -e and -c put inside its
    clock."""
    if not work.list_data_directions():
        return [], Message("not-of-tool", "no data moved: not a phase of this tool")
    if tool in ("ior", "iozone") and phase.measures == "rate":
        return [], Message("not-of-tool", "small files: not a workload of {tool}", tool=tool)
    if tool == "elbencho" and phase.shared and work.compute_most_files_per_rank() > 1:
        return [], Message("not-of-tool", "every rank works on all files: not a workload of elbencho")
    if not work.comparable and tool in ("iozone", "elbencho"):
        return [], _INCOMPARABLE
    if tool == "ior":
        return list(ior.build_ior_rows(work)), ""
    if tool == "iozone":
        return list(iozone.build_iozone_rows(work, inside)), ""
    return list(fio.build_fio_rows(work) if tool == "fio" else elbencho.build_elbencho_rows(work, phase.shared)), ""


def get_workload_settings(run: StoredRun) -> Mapping[str, Any]:
    """Return the settings of a run's native workload; empty if it has none, or several."""
    native = [step for step in run.facts.get("steps") or () if isinstance(step, dict) and "workload" in step]
    return native[0] if len(native) == 1 else {}


def get_iozone_clock_parts(run: StoredRun) -> frozenset[str]:
    """Return the parts that -e and -c of the run's IOzone command put inside the clock."""
    return frozenset(get_workload_settings(run).get("inside") or ())


def build_thesis_document(chosen: ChosenRuns) -> dict[str, Any]:
    """Convert the chosen runs of a store, by default of the newest experiment. Raises DataError if there are none."""
    store, runs = chosen.store, chosen.runs
    if not runs:
        raise DataError(
            "no-matching-runs", "{path} has no such runs", "'iosonde show {path}' lists its runs", path=store.path
        )
    experiment = chosen.experiment or runs[-1].experiment
    runs = [run for run in runs if run.experiment == experiment]
    results = store.results(experiment=experiment, where=chosen.conditions).to_pylist()
    iozone = [run.id for run in runs if any("iozone" in phase.tools for phase in run.phases)]
    result = build_document(_select_operations(results, runs), iozone, _find_varying_factors(runs))
    if not result:
        raise DataError(
            "no-rate",
            "experiment {experiment} of {path} has no rates by node count",
            "a step gives them with parse:, or a native workload; incomplete runs are left out",
            experiment=experiment,
            path=store.path,
        )
    return result


def _select_operations(rows: Sequence[Mapping[str, Any]], runs: Sequence[StoredRun]) -> list[Mapping[str, Any]]:
    """Drop rows of a whole step, which also has the tool's own operations."""
    steps = {(run.id, phase.operation) for run in runs for phase in run.phases if phase.read_from_each}
    return [
        row
        for row in rows
        if not row["operation"].endswith(ALL_OPERATIONS)
        and ((row["run"], row["operation"]) not in steps or not str(row["metric"]).endswith("_last_done"))
    ]


def _find_varying_factors(runs: Sequence[StoredRun]) -> list[str]:
    """Return the set factors besides the node count that have several levels."""
    never = {"nodes", "ranks", "repetition", "block", *BRING_UPS, *OBSERVED_FACTORS}
    names = dict.fromkeys(name for run in runs for name in run.factors if name not in never)
    return [name for name in names if len({str(run.factors.get(name)) for run in runs}) > 1]
