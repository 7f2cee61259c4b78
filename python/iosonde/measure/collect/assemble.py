"""Trial → Run: the ranks' spooled files become phases, observations and operations, with what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core import truth
from iosonde.core.contradiction import CONTRADICTIONS
from iosonde.core.headlines import merge_headlines
from iosonde.core.message import Message
from iosonde.core.shared_reads import WRITER_NODE
from iosonde.core.types import FactorValue, Observation
from iosonde.core.wire import SERVED_BY_CACHE
from iosonde.measure import spool
from iosonde.measure.items import COMMAND, NATIVE, STEP, Part
from iosonde.measure.rank import cache
from iosonde.measure.spec import MPI, ONCE
from iosonde.measure.spool import RankPhase
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.ranks import clocks

from . import commands, one_job, phase_entry, rates, wire
from .commands import Parse

_UNKNOWN_NS = 2**62


@dataclass
class Collected:
    """Results of a trial, before the parent adds what it knows itself (id, factors, facts).

    ``client_cache`` is empty if no cache was checked; ``factors`` are settings read from a tool's output; ``raw`` is
    what commands printed, ``headlines`` what users of the tools read first.
    """

    observations: list[Observation] = field(default_factory=list)
    phases: list[dict[str, Any]] = field(default_factory=list)
    operations: Any = None
    missing: list[str] = field(default_factory=list)
    client_cache: str = ""
    factors: dict[str, FactorValue] = field(default_factory=dict)
    raw: dict[str, bytes | Path] = field(default_factory=dict)
    headlines: dict[str, list[str]] = field(default_factory=dict)
    row_settings: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class SpooledTrial:
    """Location of a trial's parts, and what is known about the ranks.

    Rank 0 wrote ``places``, empty if the trial died early. Its keys: ``nodes`` (node of each rank), ``hosts``,
    ``error_ns``, ``offset_ns`` (rank's clock − rank 0's before the phases, as text keys), ``drift_ns`` (its change
    until after them), ``at_ns`` (when both were measured). ``target`` is the measured directory ('' if there is none),
    ``copies`` how often a client sends each byte written there.
    """

    folder: Path
    ranks: int
    places: dict[str, Any]
    repetition: int
    parse: Parse | None = None
    target: str = ""
    copies: float = 1.0

    @property
    def nodes(self) -> list[int]:
        """The node of each rank; empty if the trial died early."""
        return list(self.places.get("nodes", []))


def collect_trial(source: SpooledTrial, parts: Sequence[Part]) -> Collected:
    """Read every item in the spool of one trial, in order."""
    gathered, tables, cache_states, unfinished = Collected(), [], [], []
    frames, counted = spool.index_frames(source.folder, source.ranks), spool.read_wire(source.folder)
    prefixes = _build_prefixes(parts)
    for place, part in enumerate(parts):
        if part.item["kind"] == COMMAND:
            unfinished += _collect_command(source, part, prefixes[place], frames, gathered, counted.get(part.first, {}))
            continue
        for index, plan in enumerate(part.plans, part.first):
            rank_phases = [
                spool.read_phase(source.folder, rank, at[index]) for rank, at in enumerate(frames) if index in at
            ]
            absent = [rank for rank, at in enumerate(frames) if index not in at] if plan.timed else []
            gathered.missing += _describe_failures(plan, rank_phases, list_operation_kinds())
            unfinished += [(plan.operation, absent)] if absent else []
            tables += [rank_phase.operations for rank_phase in rank_phases if rank_phase.operations is not None]
            active = [rank_phase for rank_phase in rank_phases if rank_phase.started_ns]
            if not plan.timed or not active:
                continue
            entry, rows = _summarize_phase(
                index, plan, active, source.places, source.repetition, list_operation_kinds()
            )
            entry["network"] = phase_entry.build_network_entry(
                plan, active, counted.get(index, {}), source.nodes, source.copies, list_operation_kinds()
            )
            rows += wire.observe_traffic(plan.operation, entry["network"], source.repetition)
            if entry["cache"]:
                entry["cache"]["state"] = wire.update_cache_state(entry["cache"]["state"], entry["network"])
                cache_states.append(entry["cache"]["state"])
            if (calls := phase_entry.count_calls(source.folder, index)) is not None:
                entry["server_calls"] = calls
                rows += phase_entry.observe_server_calls(entry, source.repetition)
            entry |= {name: prefixes[place] + entry[name] for name in ("name", "operation")}
            gathered.phases.append(entry)
            gathered.raw |= _collect_truth(index, active)
            if not absent and not any(rank_phase.stopped == "error" for rank_phase in rank_phases):
                gathered.observations += [replace(row, operation=prefixes[place] + row.operation) for row in rows]
    gathered.missing += _describe_unfinished(unfinished)
    if tables:
        gathered.operations = np.concatenate(tables)
    cache_states += [SERVED_BY_CACHE for entry in gathered.phases if _is_served(entry)]
    gathered.client_cache = cache.find_warmest_state(cache_states) if cache_states else ""
    return gathered


def _collect_truth(index: int, parts: list[RankPhase]) -> dict[str, bytes]:
    """Return the true classes of the phase's operations, as a scripted machine recorded them."""
    from iosonde.engine import _native

    truth_by_rank = {part.rank: part.truth for part in parts if part.truth and part.recorded_all}
    return (
        {truth.get_raw_name(index): truth.encode_raw_file(_native.MACHINE_CLASSES, truth_by_rank)}
        if truth_by_rank
        else {}
    )


def _is_served(entry: dict[str, Any]) -> bool:
    """Return whether a cache served a command's reads."""
    return "command" in entry and (entry["network"] or {}).get("reads") == SERVED_BY_CACHE


def list_operation_kinds() -> list[str]:
    """Return the engine's operation names, by number."""
    from iosonde.engine import _native

    return _native.KINDS


def _build_prefixes(parts: Sequence[Part]) -> list[str]:
    """Return the prefix of each item's operation names: its label if several items have results."""
    telling = [part for part in parts if part.item["kind"] == NATIVE or part.item["parse"]]
    native = [part for part in telling if part.item["kind"] == NATIVE]
    return [
        f"{part.item['label']}."
        if part in telling and len(native if part.item["kind"] == NATIVE else telling) > 1
        else ""
        for part in parts
    ]


def _collect_command(
    source: SpooledTrial,
    part: Part,
    prefix: str,
    frames: list[dict[int, int]],
    gathered: Collected,
    counted: dict[int, dict[str, Any]],
) -> list[tuple[str, list[int]]]:
    """Add one command step to ``gathered``. Return the ranks that did not finish it."""
    item, index = part.item, part.first
    expected = [0] if item["on"] in ONCE else list(range(source.ranks))
    rank_phases = [
        spool.read_phase(source.folder, rank, frames[rank][index]) for rank in expected if index in frames[rank]
    ]
    absent = [rank for rank in expected if index not in frames[rank]]
    gathered.raw |= commands.list_raw_outputs(source.folder, item, index, expected)
    if not rank_phases:
        return [(item["label"], absent)]
    wrong = commands.describe_failed_commands(source.folder, item, index, rank_phases)
    gathered.missing += wrong
    offsets = _compute_offsets(rank_phases, source.places)
    error_ns = int(source.places.get("error_ns", 0 if len(rank_phases) == 1 else _UNKNOWN_NS))
    times = rates.align_phase_times(rank_phases, offsets, 0 if len(rank_phases) == 1 else error_ns)
    entry = commands.build_command_entry(index, item, rank_phases, times, offsets, source.places)
    gathered.phases.append(entry)
    if not absent and not wrong:
        gathered.observations += commands.observe_command_times(item, rank_phases, times)
    tool_headlines: dict[str, list[str]] = {}
    executions: dict[int, list[Any]] = {}
    if item["parse"] and source.parse is not None:
        well = [rank_phase for rank_phase in rank_phases if rank_phase.stopped == "count"]
        executions, unread, nobody = commands.parse_outputs(source.folder, item, index, well, source.parse)
        entry["mpi"] = one_job.count_tasks(item, executions, source.ranks)
        apart = one_job.describe_broken_job(item, entry["mpi"])
        gathered.missing += unread + apart
        lost = [why for why in unread if not isinstance(why, Message) or why.code != commands.INVALID]
        totals = commands.aggregate_results(
            item, executions, prefix, times, not (lost or wrong or absent or nobody or apart)
        )
        gathered.observations += totals.observations
        gathered.row_settings |= totals.row_settings
        entry["unread"] = nobody or None
        entry["tools"] = sorted(
            {execution.tool for several in executions.values() for execution in several if execution.tool}
        )
        entry["settings"] = totals.factors
        if contradictions := commands.list_contradictions(executions, prefix):
            entry[CONTRADICTIONS] = contradictions
        if totals.rank_only_keys:
            entry["of_ranks_alone"] = totals.rank_only_keys
        entry["versions"] = sorted(
            {execution.version for several in executions.values() for execution in several if execution.version}
        )
        tool_headlines = totals.headlines
        if not prefix:
            gathered.factors |= totals.factors
    target_counts = counted if commands.is_target_named(item, source.target) else {}
    if item["on"] in ONCE and item["on"] != MPI:
        target_counts = {rank: count for rank, count in target_counts.items() if rank == 0}
    entry["network"] = wire.describe_command(
        target_counts, commands.sum_bytes_moved(executions), source.nodes, source.copies
    )
    gathered.observations += wire.observe_traffic(item["label"], entry["network"]) if item["stage"] == STEP else []
    # If the tool prints results, the command's time, which includes its start, is not a headline.
    own = {item["label"]: [] if any(tool_headlines.values()) else ["seconds"]} if item["stage"] == STEP else {}
    gathered.headlines = merge_headlines([gathered.headlines, tool_headlines, own])
    return [(item["label"], absent)] if absent else []


def _describe_failures(plan: PhasePlan, parts: list[RankPhase], kinds: list[str]) -> list[str]:
    """Return a message for each rank with a failed operation: its first failure."""
    return [
        Message(
            "operation-failed",
            "{phase}: rank {rank}: {error} ({kind} of {path} at byte {offset})",
            phase=plan.operation,
            rank=part.rank,
            error=first["text"],
            kind=kinds[first["kind"]] if isinstance(first["kind"], int) else first["kind"],
            path=first["path"],
            offset=first["offset"],
        )
        for part in parts
        for first in part.errors[:1]
    ]


def _describe_unfinished(phases: list[tuple[str, list[int]]]) -> list[str]:
    """Return a message about the first phase that ranks did not finish, with the names of later phases."""
    if not phases:
        return []
    operation, ranks = phases[0]
    who = ", ".join(map(str, ranks[:8])) + (f" and {len(ranks) - 8} more" if len(ranks) > 8 else "")
    after = [name for name, _ in phases[1:]]
    return [
        Message(
            "unfinished-phase",
            "{phase} was not finished by rank {ranks}" + ("; then missing: {missing_phases}" if after else ""),
            phase=operation,
            ranks=who,
            missing_phases=", ".join(after),
        )
    ]


def _summarize_phase(
    index: int,
    plan: PhasePlan,
    parts: list[RankPhase],
    places: dict[str, Any],
    repetition: int,
    kinds: list[str],
) -> tuple[dict[str, Any], list[Observation]]:
    offsets = _compute_offsets(parts, places)
    # Ranks that died early left no clock offsets.
    times = rates.align_phase_times(parts, offsets, int(places.get("error_ns", 0 if len(parts) == 1 else _UNKNOWN_NS)))
    entry = phase_entry.build_phase_entry(index, plan.operation, parts, times, offsets, places) | {
        "measures": plan.measures,
        "counted_kind": plan.counted_kind,
        "shared": plan.shared,
        "distinct_bytes": plan.distinct_bytes or None,
        "recorded_all": all(part.recorded_all for part in parts),
        "open_flags": list(getattr(plan.phase, "open_flags", ())),
        "cache": phase_entry.find_warmest_cache_state(parts),
        "histograms": phase_entry.merge_histograms(parts, kinds),
        "totals": phase_entry.sum_totals_by_kind(parts, kinds),
        "bytes_moved": rates.sum_bytes_moved(parts) if plan.counts_moved else None,
        "hints": next((part.hints for part in parts if part.hints), None),
    }
    for rank, part in zip(entry["ranks"], parts, strict=True):
        rank |= {
            "operations": sum(entry["count"] for entry in part.totals),
            "bytes": sum(entry["bytes"] for entry in part.totals),
            "errors": sum(entry["errors"] for entry in part.totals),
        }
    writer_facts, at_home = split_writer_node(plan, parts, places.get("nodes", []))
    return entry | writer_facts, _build_rows(plan, parts, times, kinds, repetition, at_home)


def _compute_offsets(parts: list[RankPhase], places: dict[str, Any]) -> dict[int, int]:
    """Return rank → its clock − rank 0's at the start of the phase, interpolated between the estimates before and after
    the trial."""
    if not places:
        return {}
    early = tuple(places["offset_ns"][str(rank)] for rank in range(len(places["offset_ns"])))
    late = tuple(offset + drift for offset, drift in zip(early, places["drift_ns"], strict=True))
    before, after = (
        clocks.Clocks(offsets, (), at_ns) for offsets, at_ns in zip((early, late), places["at_ns"], strict=True)
    )
    return {part.rank: part.started_ns - clocks.to_root_ns(part.started_ns, part.rank, before, after) for part in parts}


def _build_rows(
    plan: PhasePlan,
    parts: list[RankPhase],
    times: rates.PhaseTimes,
    kinds: list[str],
    repetition: int,
    at_home: list[int],
) -> list[Observation]:
    """Build the phase's rows; ``at_home`` are the indices of the parts that are reported separately."""
    if not at_home:
        return rates.observe_rates(plan.operation, plan, parts, times, kinds, repetition)
    away = [i for i in range(len(parts)) if i not in at_home]
    return [
        row
        for name, chosen in ((plan.operation, away), (f"{plan.operation}{WRITER_NODE}", at_home))
        for picked in [rates.PhaseTimes(times.started_ns[chosen], times.ended_ns[chosen], times.error_ns)]
        for row in rates.observe_rates(name, plan, [parts[i] for i in chosen], picked, kinds, repetition)
    ]


def split_writer_node(plan: PhasePlan, parts: list[RankPhase], nodes: list[int]) -> tuple[dict[str, Any], list[int]]:
    """Return (keys of the entry, indices of the parts to report separately). An N-to-1 read counts all nodes only if
    the node that wrote the file verifiably had none of it in its cache; otherwise only the other nodes."""
    away = [i for i, part in enumerate(parts) if part.rank < len(nodes) and nodes[part.rank] != nodes[0]]
    if not plan.shared or plan.counted_kind == "write" or not away:
        return {}, []
    at_home = [i for i in range(len(parts)) if i not in away]
    state = cache.find_warmest_state(parts[i].cache.get("state", cache.WARM) for i in at_home)
    verified = state == cache.COLD_VERIFIED
    return {"writer_counted": verified, "writer_cache": state}, [] if verified else at_home
