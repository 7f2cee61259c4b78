"""First screen of a store's page: the headline, what was measured (trials, tools, factors, place and order), the
result, its certainty, what looks wrong."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.clock_words import ToolClock, describe_clocks
from iosonde.core.estimate_text import format_estimate
from iosonde.core.headlines import SCORE_TOTAL, format_metric
from iosonde.core.level_text import format_level
from iosonde.core.stored import StoredRun, describe_incomplete_treatment
from iosonde.core.table import Cell
from iosonde.core.types import Experiment, Finding, level_to_count
from iosonde.core.units import format_seconds, format_size, parse_suffixed_size
from iosonde.core.words import format_count, join_names, pluralize
from iosonde.page.tables import FirstScreen
from iosonde.stats.overview import wire
from iosonde.stats.overview.story import describe_stories
from iosonde.stats.overview.types import Overview, drop_constant_levels

from .axis import Axis
from .experiment import Chosen
from .findings import describe_assumptions, format_finding_counts
from .headline import format_headline, shorten_command
from .machine import get_nested

ToolClocks = Sequence[ToolClock]
_MOST_LEVELS = 4  # numbers listed one by one
_MOST_TOOLS = 3
_MOST_SWEPT = 6  # factors
_SIZES = ("nodes", "ranks_per_node", "ranks")


def build_first_screen(
    target: str,
    runs: Sequence[StoredRun],
    overview: Overview,
    findings: Sequence[Finding],
    axis: Axis,
    chosen: Chosen,
    clock: str,
) -> FirstScreen:
    """Build the first screen; ``clock`` describes the clock of the rates."""
    return FirstScreen(
        headline=format_headline(target, format_tools(runs), runs, overview, axis),
        what=(
            *describe_measurement(runs, overview, axis, chosen.seed),
            *([chosen.note] if chosen.note else []),
            *describe_assumptions(overview.warnings),
        ),
        fast=" ".join(filter(None, (_describe_sizes(runs, clock), wire.describe_network_traffic(runs))))
        if overview.rows
        else "",
        sure=(describe_interval(overview),) if overview.rows else (),
        wrong=format_finding_counts(findings, bool(runs)),
        sentence=overview.sentence,
        closing=overview.closing,
    )


def describe_metrics(overview: Overview, metrics: Collection[str]) -> str:
    """Return the sentences on the ``metrics`` of an experiment's questions; on all if none of these varies."""
    selected = [
        story
        for story in overview.stories
        if {story.operation, story.response, story.title, f"{story.operation} {format_metric(story.metric)}"}
        & set(metrics)
    ]
    if not selected:
        return " ".join(filter(None, (_describe_score(overview), overview.sentence)))
    return " ".join(filter(None, (*describe_stories(selected, overview.units), overview.closing)))


def describe_clock(clock: str, tool_clocks: ToolClocks) -> str:
    """Describe the clock of the rates, as a sentence without its full stop."""
    text = "; ".join(describe_clocks(clock, tool_clocks))
    return text[:1].upper() + text[1:]


def describe_interval(overview: Overview) -> str:
    """Describe the level of the intervals and the number of trials."""
    counts = sorted({row.n for row in overview.rows}) or [0]
    trials = format_count(counts[0], "trial") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} trials"
    if counts == [1] and any(row.mean.within_run for row in overview.rows):
        trials = "the iterations within 1 trial"
    return f"{100 * overview.level:g} % intervals of the mean over {trials} a setting."


def _describe_sizes(runs: Sequence[StoredRun], clock: str) -> str:
    sizes = runs[-1].facts.get("envelope") or {}
    if "large_file_size" not in sizes:
        return f"{clock}." if clock else ""
    return (
        f"{clock}; large files {format_size(sizes['large_file_size'])} in {format_size(sizes['transfer_size'])} "
        f"transfers, small files {format_size(sizes['small_file_size'])}; cache before reads: "
        f"{' or '.join(sorted({str(run.factors.get('client_cache') or 'unknown') for run in runs}))}."
    )


def _describe_score(overview: Overview) -> str:
    """Return the score of a benchmark that has one, per setting, as its users read it first."""
    rows = [row for row in overview.rows if row.metric == SCORE_TOTAL and row.mean.value is not None]
    rows = drop_constant_levels(rows, rows) if rows else []
    if len(rows) > _MOST_LEVELS:
        rows = sorted(rows, key=lambda row: row.mean.value or 0.0)[:: len(rows) - 1]
    texts = [
        f"{format_estimate(row.mean, row.unit)}{' at ' + row.setting(overview.units) if row.by else ''}" for row in rows
    ]
    return f"The score is {join_names(texts)}." if texts else ""


def get_target(runs: Sequence[StoredRun], otherwise: str) -> str:
    """Return the measured directory, or the store for imported runs. The directory of a lab is gone with it: its file
    system stands for it."""
    return ", ".join(dict.fromkeys(_get_place(run) for run in runs if run.target is not None)) or otherwise


def _get_place(run: StoredRun) -> str:
    lab = get_nested(run.facts, "machine", "lab")
    file_system = lab.get("file_system") if isinstance(lab, Mapping) else None
    return f"{file_system} in a lab" if file_system else str(run.target)


def find_experiment_name(experiments: Sequence[Experiment]) -> str:
    """Return the name of the only experiment, if a file described it; else ''."""
    names = {experiment.name if "file" in experiment.settings else "" for experiment in experiments}
    return names.pop() if len(names) == 1 else ""


def format_tools(runs: Sequence[StoredRun], versions: bool = False) -> str:
    """Return the tools whose output was read, each once, '' for our engine; with ``versions`` as ``ior 4.1.0`` if
    unique."""
    versions_by_tool: dict[str, dict[str, None]] = {}
    for run in runs:
        pairs = (
            [run.source.partition(" ")[::2]]
            if run.imported
            else [
                (tool, " ".join(phase.tool_versions) if len(phase.tools) == 1 else "")
                for phase in run.phases
                for tool in phase.tools
            ]
        )
        for tool, version in pairs:
            versions_by_tool.setdefault(tool, {})[version] = None
    texts = [
        f"{tool} {next(iter(of))}".strip() if versions and len(of) == 1 else tool
        for tool, of in versions_by_tool.items()
    ]
    more = len(texts) - _MOST_TOOLS
    return join_names([*texts[:_MOST_TOOLS], *([f"{more} more tools"] if more > 0 else [])]) if texts else ""


def describe_measurement(runs: Sequence[StoredRun], overview: Overview, axis: Axis, seed: int | None) -> Iterator[str]:
    """Yield two or three sentences."""
    if not runs:
        yield "The store holds no runs."
        return
    complete = sum(run.complete for run in runs)
    lost = (
        f", {len(runs) - complete} of them incomplete and {describe_incomplete_treatment(runs)}"
        if complete < len(runs)
        else ""
    )
    swept = _describe_factors(overview)
    if all(run.imported for run in runs):
        tools = format_tools(runs, True)
        yield f"{format_count(len(runs), 'run')} of {tools}{lost}, imported{': ' + swept if swept else ''}."
        return
    what = format_tools(runs, True) or _describe_timed_commands(runs) or ", ".join(sorted({run.source for run in runs}))
    mounts = [get_nested(run.facts, "machine", "mount") or {} for run in runs]
    places = dict.fromkeys(_format_mount(mount) for mount in mounts if mount.get("type"))
    on = f" on {' and '.join(places)}" if places else ""
    yield f"{what}{on}: {'; '.join([*([swept] if swept else []), *_describe_size(runs, axis)])}."
    drawn = f"in a random order (seed {seed})" if seed is not None else "in the order given"
    length = format_seconds(sum(run.seconds for run in runs))
    yield f"{format_count(len(runs), 'trial')}{lost}, {drawn}: {length} of measuring."
    if _has_ranks_as_nodes(runs, axis):
        yield "All ranks ran on one machine and stood in for nodes: they share its cache, cores and network link."


def _format_mount(mount: Mapping[str, Any]) -> str:
    """Format ``nfs4 (server:/export)``; a mount table may lack the source."""
    return f"{mount['type']} ({mount['source']})" if mount.get("source") else str(mount["type"])


def _describe_timed_commands(runs: Sequence[StoredRun]) -> str:
    """Return the timed commands, if the runs did nothing else."""
    phases = [phase for phase in runs[-1].phases if phase.is_step]
    if not phases or not all(phase.is_command for phase in phases):
        return ""
    commands = [f"'{shorten_command(phase.command)}'" for phase in phases]
    return join_names(
        [*commands[:_MOST_TOOLS], *([f"{len(commands) - _MOST_TOOLS} more"] if len(commands) > _MOST_TOOLS else [])]
    )


def _describe_size(runs: Sequence[StoredRun], axis: Axis) -> list[str]:
    sizes = sorted({axis.size(run.factors) for run in runs})
    levels = [run.factors.get("ranks_per_node") for run in runs]
    each = sorted({level_to_count(level) for level in levels if level is not None})
    on_each = "" if sizes == [1] else " on each"
    per_node = f", {format_count(each[0], 'rank')}{on_each}" if len(each) == 1 and axis.factor == "nodes" else ""
    return [f"{', '.join(map(str, sizes))} {axis.noun if sizes == [1] else pluralize(axis.noun)}" + per_node]


def _has_ranks_as_nodes(runs: Sequence[StoredRun], axis: Axis) -> bool:
    several = max(axis.size(run.factors) for run in runs) > 1
    return several and runs[-1].facts.get("launcher") == "local" and axis.factor == "nodes"


def _describe_factors(overview: Overview) -> str:
    """List the factors and their levels: ``t 64 KiB, 1 MiB and 4 MiB; transfer_size 4 KiB to 1 MiB``."""
    names = [name for name in overview.by if name not in _SIZES]
    more = [f"{len(names) - _MOST_SWEPT} factors more"] if len(names) > _MOST_SWEPT else []
    return "; ".join([*(f"{name} {_describe_factor_levels(name, overview)}" for name in names[:_MOST_SWEPT]), *more])


def _describe_factor_levels(name: str, overview: Overview) -> str:
    levels = list(dict.fromkeys(row.by.get(name) for row in overview.rows))
    return describe_levels([level for level in levels if level is not None], name, overview.units)


def describe_levels(levels: Sequence[Cell], name: str, units: Mapping[str, str]) -> str:
    """List a few levels; give the range of many numbers or sizes, and the count of many names."""
    texts = [format_level(level, units.get(name, "")) for level in levels]
    if len(texts) < _MOST_LEVELS:
        return join_names(texts) if texts else ""
    amounts = [level if isinstance(level, (int, float)) else parse_suffixed_size(str(level)) for level in levels]
    if all(amount is not None for amount in amounts):
        ordered = [text for _, text in sorted(zip(amounts, texts, strict=True))]
        return f"{ordered[0]} to {ordered[-1]} ({len(texts)} levels)"
    return f"{', '.join(texts[: _MOST_LEVELS - 1])} and {len(texts) - _MOST_LEVELS + 1} more"
