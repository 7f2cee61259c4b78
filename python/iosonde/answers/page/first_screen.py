"""The first screen of a store's page: the headline, what was measured, how fast, how sure, what looks wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.core.estimate_text import estimate_text
from iosonde.core.stored import StoredRun
from iosonde.core.types import Finding, count_of
from iosonde.core.units import format_rate, format_seconds, format_size
from iosonde.core.words import counted, plural
from iosonde.stats.overview.types import Overview

from .axis import Axis, metric_title
from .content.bars import Bars
from .content.words import FirstScreen
from .experiment import Chosen
from .findings import wrong
from .machine import deep

_NOTHING = "No trial is complete: nothing can be said about the speed"
_NO_RATE = "The trials hold no rate: nothing can be said about the speed"
_VERBS = (("write_large", "writes"), ("read_1to1_large", "reads"))


def target_of(runs: Sequence[StoredRun], otherwise: str) -> str:
    """The directory that was measured; for imported runs what they came from."""
    named = [run.target or run.source for run in runs]
    return ", ".join(dict.fromkeys(named)) or otherwise


def first_screen(
    target: str,
    runs: Sequence[StoredRun],
    bars: Sequence[Bars],
    overview: Overview,
    findings: Sequence[Finding],
    axis: Axis,
    chosen: Chosen,
) -> FirstScreen:
    """The first screen."""
    what = [*_measured(runs, axis, chosen.seed), *([chosen.note] if chosen.note else [])]
    sure = [f"{100 * overview.level:g} % intervals of the mean over {_trials(bars)}.", overview.sentence]
    return FirstScreen(
        headline=_headline(target, bars, axis, runs),
        what=tuple(what),
        fast=_fast(runs, bars),
        sure=tuple(sentence for sentence in (sure if bars else [overview.sentence]) if sentence),
        wrong=wrong(findings, bool(runs)),
    )


def _headline(target: str, bars: Sequence[Bars], axis: Axis, runs: Sequence[StoredRun]) -> str:
    known = [one for one in bars if not one.empty]
    if not known:
        return _NOTHING if not any(run.complete for run in runs) else _NO_RATE
    size = max(cell.nodes for one in known for cell in one.cells)
    rates = {name: _rates_at([one for one in known if one.operation == name], size) for name, _ in _VERBS}
    said = [f"{verb} {rates[name]}" for name, verb in _VERBS if rates[name]]
    if not said:
        operations = dict.fromkeys((one.operation, one.metric, one.unit) for one in known)
        others = {
            metric_title(*key[:2]): _rates_at(
                [one for one in known if (one.operation, one.metric, one.unit) == key], size
            )
            for key in operations
        }
        said = [f"{title} {rate}" for title, rate in others.items() if rate][:2]
        return f"{target}: {'; '.join(said)} with {counted(size, axis.noun)}"
    return f"{target} {' and '.join(said)} {'from' if axis.factor == 'nodes' else 'with'} {counted(size, axis.noun)}"


def _rates_at(bars: Sequence[Bars], size: int) -> str:
    """The mean with its interval; the least and the greatest mean where settings besides the size vary."""
    found = [c.estimate for one in bars for c in one.cells if c.nodes == size and c.estimate.value is not None]
    if len(found) == 1:
        return estimate_text(found[0], bars[0].unit)
    values = [estimate.value for estimate in found if estimate.value is not None]
    ends = [format_rate(value, bars[0].unit) for value in dict.fromkeys((min(values), max(values)))] if values else []
    return " to ".join(ends)


def _trials(bars: Sequence[Bars]) -> str:
    counts = sorted({cell.estimate.n for one in bars for cell in one.cells})
    if not counts:
        return "no trial"
    return counted(counts[0], "trial") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} trials"


def _measured(runs: Sequence[StoredRun], axis: Axis, seed: int | None) -> Iterator[str]:
    if not runs:
        yield "The store holds no runs."
        return
    complete = sum(run.complete for run in runs)
    sizes = sorted({axis.size(run.factors) for run in runs})
    given = [run.factors.get("ranks_per_node") for run in runs]
    each = sorted({count_of(level) for level in given if level is not None})
    series = f"{', '.join(map(str, sizes))} {axis.noun if sizes == [1] else plural(axis.noun)}"
    per_node = f", {counted(each[0], 'rank')} on each" if len(each) == 1 and axis.factor == "nodes" else ""
    mount = deep(runs[-1].facts, "machine", "mount") or {}
    on = f" on {mount['type']} ({mount.get('source')})" if mount.get("type") else ""
    yield f"{', '.join(sorted({run.source for run in runs}))}{on}: {series}{per_node}."
    seconds = sum(run.seconds for run in runs)
    lost = f", {len(runs) - complete} of them incomplete and left out" if complete < len(runs) else ""
    drawn = f"in a random order (seed {seed})" if seed is not None else "in the order given"
    yield f"{counted(len(runs), 'trial')}{lost}, {drawn}: {format_seconds(seconds)} of measuring."
    if runs[-1].facts.get("launcher") == "local" and sizes[-1] > 1 and axis.factor == "nodes":
        yield "All ranks ran on one machine and stood in for nodes: they share its cache, cores and network link."


def _fast(runs: Sequence[StoredRun], bars: Sequence[Bars]) -> str:
    if not bars:
        return ""
    stopped = "Until the last rank is done" if all(one.metric.endswith("_last_done") for one in bars) else "Rates"
    sizes = runs[-1].facts.get("envelope") or {}
    if "large_file_size" not in sizes:
        return f"{stopped}."
    return (
        f"{stopped}; large files {format_size(sizes['large_file_size'])} in {format_size(sizes['transfer_size'])} "
        f"transfers, small files {format_size(sizes['small_file_size'])}; cache before reads: {_cache(runs)}."
    )


def _cache(runs: Sequence[StoredRun]) -> str:
    states = sorted({str(run.factors.get("client_cache") or "unknown") for run in runs})
    return " or ".join(states)
