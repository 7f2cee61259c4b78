"""The page's sentences: the headline, what, how sure, what looks wrong; the machine; how to do it again."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_rate, format_seconds, format_size
from iosonde.report.content import Answers, Bars, Facts, Reproduce, Section, counted, plural
from iosonde.report.table import Table
from iosonde.report.text import estimate_text

from ._page_figures import Axis, metric_title

if TYPE_CHECKING:
    from iosonde.stats.overview.types import Overview

_NOTHING = "No trial is complete: nothing can be said about the speed"
_NO_RATE = "The trials hold no rate: nothing can be said about the speed"
_VERBS = (("write_large", "writes"), ("read_1to1_large", "reads"))
_MACHINE_TITLES = {
    "host": "Host",
    "cpu": "Processor",
    "memory": "Memory",
    "vm": "Write-back of the kernel",
    "network": "Network",
    "infiniband": "InfiniBand",
    "job": "Batch job",
    "mount": "Mount",
    "filesystem": "File system",
    "quota": "Quota",
    "devices": "Devices",
    "scheduler": "Batch system",
}


def target_of(runs: Sequence[Mapping[str, Any]], otherwise: str) -> str:
    """The directory that was measured; for imported runs what they came from."""
    named = [str(run["facts"].get("target") or run["source"]) for run in runs]
    return ", ".join(dict.fromkeys(named)) or otherwise


def answers_of(
    target: str,
    runs: Sequence[Mapping[str, Any]],
    bars: Sequence[Bars],
    overview: Overview,
    findings: Sequence[Finding],
    axis: Axis,
    seed: int | None,
    store_note: str,
) -> Answers:
    """The first screen."""
    what = [*_measured(runs, axis, seed), *([store_note] if store_note else [])]
    sure = [f"{100 * overview.level:g} % intervals of the mean over {_trials(bars)}.", overview.sentence]
    return Answers(
        headline=_headline(target, bars, axis, runs),
        what=tuple(what),
        fast=_fast(runs, bars),
        sure=tuple(sentence for sentence in (sure if bars else [overview.sentence]) if sentence),
        wrong=wrong(findings, bool(runs)),
    )


def _headline(target: str, bars: Sequence[Bars], axis: Axis, runs: Sequence[Mapping[str, Any]]) -> str:
    known = [one for one in bars if not one.empty]
    if not known:
        return _NOTHING if all(run["missing"] for run in runs) else _NO_RATE
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


def _measured(runs: Sequence[Mapping[str, Any]], axis: Axis, seed: int | None) -> Iterator[str]:
    if not runs:
        yield "The store holds no runs."
        return
    complete = sum(not run["missing"] for run in runs)
    sizes = sorted({axis.size(run["factors"]) for run in runs})
    each = sorted({run["factors"].get("ranks_per_node") for run in runs} - {None})
    series = f"{', '.join(map(str, sizes))} {axis.noun if sizes == [1] else plural(axis.noun)}"
    per_node = f", {counted(each[0], 'rank')} on each" if len(each) == 1 and axis.factor == "nodes" else ""
    mount = _deep(runs[-1], "facts", "machine", "mount") or {}
    on = f" on {mount['type']} ({mount.get('source')})" if mount.get("type") else ""
    yield f"{', '.join(sorted({run['source'] for run in runs}))}{on}: {series}{per_node}."
    seconds = sum(run["seconds"] or 0.0 for run in runs)
    lost = f", {len(runs) - complete} of them incomplete and left out" if complete < len(runs) else ""
    drawn = f"in a random order (seed {seed})" if seed is not None else "in the order given"
    yield f"{counted(len(runs), 'trial')}{lost}, {drawn}: {format_seconds(seconds)} of measuring."
    if runs[-1]["facts"].get("launcher") == "local" and sizes[-1] > 1 and axis.factor == "nodes":
        yield "All ranks ran on one machine and stood in for nodes: they share its cache, cores and network link."


def _fast(runs: Sequence[Mapping[str, Any]], bars: Sequence[Bars]) -> str:
    if not bars:
        return ""
    stopped = "Until the last rank is done" if all(one.metric.endswith("_last_done") for one in bars) else "Rates"
    sizes = _deep(runs[-1], "facts", "envelope") or {}
    if "large_file_size" not in sizes:
        return f"{stopped}."
    return (
        f"{stopped}; large files {format_size(sizes['large_file_size'])} in {format_size(sizes['transfer_size'])} "
        f"transfers, small files {format_size(sizes['small_file_size'])}; cache before reads: {_cache(runs)}."
    )


def _cache(runs: Sequence[Mapping[str, Any]]) -> str:
    states = sorted({str(run["factors"].get("client_cache") or "unknown") for run in runs})
    return " or ".join(states)


def wrong(findings: Sequence[Finding], measured: bool) -> str:
    """How many findings of which severity."""
    if not findings:
        return "None of the checks found anything." if measured else ""
    counts = Counter(str(finding.severity) for finding in findings)
    nouns = {"error": "error", "warning": "warning", "info": "note"}
    said = [counted(counts[severity], noun) for severity, noun in nouns.items() if counts[severity]]
    return f"{' and '.join([', '.join(said[:-1]), said[-1]] if len(said) > 1 else said)}."


def findings_of(
    overview: Overview,
    runs: Sequence[Mapping[str, Any]],
    problems: Sequence[Finding],
    of_models: Sequence[Finding] = (),
) -> tuple[Finding, ...]:
    """Of the checks, the runs themselves, the store and the regressions; each sentence once, the worst first."""
    of_runs = [
        Finding(f["code"], Severity(f["severity"]), f["sentence"], f.get("evidence") or {}, f.get("action") or "")
        for run in runs
        for f in run.get("findings") or []
    ]
    every = {(one.code, one.sentence): one for one in (*overview.findings, *of_runs, *problems, *of_models)}
    order = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    return tuple(sorted([*every.values(), *said(overview.warnings)], key=lambda one: order.index(one.severity)))


def said(warnings: Sequence[str]) -> list[Finding]:
    """Warnings without a code of their own, as findings."""
    return [Finding("", Severity.WARNING, f"{warning[:1].upper()}{warning[1:]}.") for warning in warnings]


def trials_of(runs: Sequence[Mapping[str, Any]], axis: Axis) -> Table:
    """Every trial in the order of time, complete or not."""
    rows = tuple(
        (
            run["id"],
            axis.size(run["factors"]),
            run["factors"].get("repetition"),
            run["started_at"],
            run["seconds"],
            "; ".join(run["missing"]) or "complete",
        )
        for run in runs
    )
    columns = ("run", axis.factor, "repetition", "started", "length (s)", "state")
    return Table("In the order in which they were made." if rows else "The store holds no trials.", columns, rows)


def facts_of(runs: Sequence[Mapping[str, Any]]) -> Section[Facts]:
    """What the machine was like in the last trial."""
    machine = _deep(runs[-1], "facts", "machine") if runs else None
    if not isinstance(machine, dict):
        return Section(missing=("No facts of the machine are stored with these runs.",))
    groups = [
        Facts(_MACHINE_TITLES.get(name, str(name)), tuple(_flat(value)))
        for name, value in sorted(machine.items(), key=lambda item: _order(item[0]))
        if value
    ]
    differing = sum(
        _deep(run, "facts", "machine", "host", "boot_id") != _deep(machine, "host", "boot_id") for run in runs
    )
    why = (f"Of the last trial; {counted(differing, 'trial')} ran after another boot or on another machine.",)
    return Section(tuple(group for group in groups if group.rows), why if differing else ())


def _order(name: str) -> int:
    return list(_MACHINE_TITLES).index(name) if name in _MACHINE_TITLES else len(_MACHINE_TITLES)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Nested facts as (name, text), sizes with units; what is unknown is left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{name} {key}".strip())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            label = str(item.get("name", number)) if isinstance(item, dict) else str(number)
            rest = {key: one for key, one in item.items() if key != "name"} if isinstance(item, dict) else item
            yield from _flat(rest, f"{name} {label}".strip())
    elif value not in (None, "", []):
        yield _fact(name, value)


def _fact(name: str, value: Any) -> tuple[str, str]:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and name.endswith("_bytes") and not name.endswith("mtu_bytes"):
        name, value = name.removesuffix("_bytes"), format_size(value)
    elif number and name.endswith("_s") and not name.endswith("_per_s"):
        name, value = name.removesuffix("_s"), format_seconds(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return name.replace("_", " "), str(value)


def reproduce_of(runs: Sequence[Mapping[str, Any]], seed: int | None, store: str, command: Sequence[str]) -> Reproduce:
    """The command lines, the seed, the versions."""
    last = runs[-1] if runs else {}
    measured = [str(word) for word in _deep(last, "facts", "command") or []][1:]
    if measured and seed is not None and "--seed" not in measured:
        measured += ["--seed", str(seed)]
    commands = [("Measure the same again, in the same order", shlex.join(["iosonde", *measured]))] if measured else []
    commands.append(("Make this page", shlex.join(command)))
    versions = dict(_flat(last.get("versions") or {})) | dict(_flat(_deep(last, "facts", "software") or {}))
    facts = [("seed of the order", str(seed))] if seed is not None else []
    facts += versions.items()
    ids = dict.fromkeys(str(run["experiment"]) for run in runs)
    return Reproduce(tuple(commands), (*facts, ("experiment", ", ".join(ids) or "none"), ("store", store)))


def _deep(value: Any, *keys: str) -> Any:
    """value[a][b]…, None where something on the way is absent."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
