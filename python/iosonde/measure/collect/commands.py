"""The frames of a command step → its entry in the run, its times, its parsed output, and what is missing."""

import re
import signal
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError, UnknownFormatError
from iosonde.core.headlines import list_headline_kinds
from iosonde.core.message import Message, restore_message
from iosonde.core.types import Observation
from iosonde.core.units import format_seconds, format_size
from iosonde.foreign.reading import read_tail
from iosonde.measure import placeholders, spool
from iosonde.measure.items import STEP, Item
from iosonde.measure.rank import command, output
from iosonde.measure.spec import ONCE, SERVERS
from iosonde.measure.spool import RankPhase

from . import aggregate, phase_entry, rates, tool_bytes

# (importer or AUTO, name, content) → an importer's result; raises IosondeError, UnknownFormatError for AUTO.
Parse = Callable[[str, str, bytes], list[Any]]

# Name of the importer that recognises the output, if any.
AUTO = "auto"
# Code of an output that is whole, but that its tool calls invalid: the numbers of all ranks are known.
INVALID = "invalid-output"

# Longer outputs are kept but not read: no tool prints that much about itself.
PARSED_BYTES = 256 * 2**20
# Outputs up to this size stay in memory while a run is made; larger ones go from file to file.
RAW_BYTES = 64 * 2**10
_TAIL = 4000
_CAUSE = re.compile(
    r"\b(errors?|failed|failure|fatal|cannot|can't|denied|refused|invalid|not found|no such|no space)\b", re.I
)
_BANNER = re.compile(r"MPI_ABORT|Abort\(-?\d+\)|mpi(run|exec)|Primary job", re.I)  # characters of the launcher's text


def name_raw_output(item: Item, rank: int) -> str:
    """Return the file in ``raw/`` of a run that holds a command's output on one rank."""
    return f"{item['stage'].replace('_', '-')}-{item['number']:02d}-rank-{rank:04d}.out"


def list_raw_outputs(folder: Path, item: Item, frame: int, ranks: list[int]) -> dict[str, bytes | Path]:
    """Return the outputs by name, also those of unfinished commands; no entry for a rank that printed nothing."""
    raw_outputs: dict[str, bytes | Path] = {}
    limit = output.limit_of(item["keep_output"], len(ranks))
    for rank in ranks:
        path = spool.build_output_path(folder, rank, frame)
        output.cut_middle(path, limit)  # a server of the set-up goes on printing after its command has ended
        if path.exists() and (size := path.stat().st_size):
            raw_outputs[name_raw_output(item, rank)] = path.read_bytes() if size <= RAW_BYTES else path
    return raw_outputs


def describe_failed_commands(folder: Path, item: Item, frame: int, parts: list[RankPhase]) -> list[str]:
    """Return a message for each rank whose command failed."""
    messages: list[str] = []
    for part in parts:
        why = _explain_failure(item, part.command)
        if why:
            tail = _read_tail(spool.build_output_path(folder, part.rank, frame)) if not part.command["fault"] else ""
            values = {**why.values, "step": item["label"], "rank": part.rank, "output": tail}
            text = f"{item['label']}: rank {part.rank}: {why}" + (f": {tail}" if tail else "")
            messages.append(restore_message(why.code, text, values))
    return messages


def _explain_failure(item: Item, ended: dict[str, Any]) -> Message | None:
    if ended["ended_by"] == "timeout":
        limit = format_seconds(item["timeout_s"] or command.DEFAULT_TIMEOUT_S)
        return Message("timeout", "the command ran longer than {limit} and was ended", limit=limit)
    if ended["ended_by"] == "output":
        limit = format_size(max(command.OUTPUT_BYTES, item["keep_output"] or 0))
        return Message("too-much-output", "the command printed more than {limit} and was ended", limit=limit)
    if ended["fault"]:
        return Message("command-fault", "{fault}", fault=ended["fault"])
    if ended["signal"]:
        return Message(
            "killed-by-signal",
            "the command was ended by signal {signal} ({name})",
            signal=ended["signal"],
            name=_name_signal(ended["signal"]),
        )
    if ended["exit_code"] in item["expect"]:
        return None
    return Message("exit-code", "the command ended with exit code {exit_code}", exit_code=ended["exit_code"])


def _name_signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _read_tail(path: Path) -> str:
    """Return the line that names the cause, judged by its words; otherwise the last line with words."""
    lines = [line.strip() for line in read_tail(path, _TAIL).splitlines()]
    readable = [line for line in lines if line.isprintable() and any(map(str.isalpha, line))]
    causes = [line for line in readable if _CAUSE.search(line) and not _BANNER.search(line)]
    return (causes or readable)[-1][:200] if readable else ""


def build_command_entry(
    index: int,
    item: Item,
    parts: list[RankPhase],
    times: rates.PhaseTimes,
    offsets: dict[int, int],
    places: dict[str, Any],
) -> dict[str, Any]:
    """Return the step's entry in ``phases`` of run.json: as a phase of the engine, plus how the command ended on each
    rank."""
    step_entry = phase_entry.build_phase_entry(index, item["label"], parts, times, offsets, places) | {
        "stage": item["stage"],
        "command": item["command"],
        "on": item["on"],
        "parse": item["parse"],
        "launch": item.get("launch"),
        "measures": None,
        "shared": False,
        "distinct_bytes": None,
        "recorded_all": False,
        "cache": None,
        "histograms": {},
        "totals": {},
    }
    for rank, part in zip(step_entry["ranks"], parts, strict=True):
        rank |= {
            "operations": 0,
            "bytes": 0,
            "errors": 0 if part.stopped == "count" else 1,
            "output": name_raw_output(item, part.rank) if part.command["output_bytes"] else None,
            **{key: value for key, value in part.command.items() if key not in ("started_ns", "ended_ns")},
        }
    return step_entry


def observe_command_times(item: Item, parts: list[RankPhase], times: rates.PhaseTimes) -> list[Observation]:
    """Return the command's time on each rank and from the first start to the last end, and CPU times of each rank and
    of all."""
    if item["stage"] != STEP:
        return []
    own = (times.ended_ns - times.started_ns) / 1e9
    rows = [Observation(item["label"], "seconds", float(own[i]), "s", part.rank) for i, part in enumerate(parts)]
    if times.comparable:
        rows.append(Observation(item["label"], "seconds", times.span_ns / 1e9, "s"))
    for metric, key in (("user_seconds", "user_s"), ("system_seconds", "system_s")):
        used = [float(part.command[key]) for part in parts]
        rows += [Observation(item["label"], metric, used[i], "s", part.rank) for i, part in enumerate(parts)]
        rows.append(Observation(item["label"], metric, sum(used), "s"))
    return rows


def parse_outputs(
    folder: Path, item: Item, frame: int, parts: list[RankPhase], parse: Parse
) -> tuple[dict[int, list[Any]], list[str], str]:
    """Return (rank → its parsed output, unreadable outputs, reason for a missing result).

    With AUTO, unrecognised output on all ranks is valid: the command prints no results. If other ranks' outputs are
    recognised, it is a fault. Output that is whole, but that its tool calls invalid, has the code INVALID.
    """
    executions_by_rank: dict[int, list[Any]] = {}
    missing = []
    unknown: dict[int, str] = {}
    for part in parts:
        name = f"{item['label']}, rank {part.rank}"
        try:
            content = _read_content(spool.build_output_path(folder, part.rank, frame))
            if item["parse"] == AUTO and not content.strip():
                unknown[part.rank] = Message("no-output", "it prints nothing")
                continue
            executions = parse(item["parse"], name, content)
        except UnknownFormatError as error:
            unknown[part.rank] = error.message.without_prefix(f"{name}: ")
            continue
        except IosondeError as error:
            missing.append(_describe_unread(item, part.rank, error.message.without_prefix(f"{name}: ")))
            continue
        lacking = [note.sentence for execution in executions for note in execution.missing]
        code = "incomplete-output" if lacking else "no-results"
        if lacking and all(note in execution.invalid for execution in executions for note in execution.missing):
            code = INVALID
        if cut := part.command.get("cut_bytes"):
            code = "incomplete-output"
            lacking.insert(
                0,
                Message(
                    "cut-output",
                    "{size} of its output were cut, maybe results among them (keep_output: 1GiB keeps more)",
                    size=format_size(cut),
                ),
            )
        if lacking or not any(execution.rows for execution in executions):
            missing.append(
                Message(
                    code,
                    "{step}: rank {rank}: " + ("{notes}" if lacking else "its output holds no result"),
                    step=item["label"],
                    rank=part.rank,
                    notes="; ".join(lacking),
                )
            )
        executions_by_rank[part.rank] = executions
    if item["parse"] == AUTO and unknown and not executions_by_rank and not missing:
        return executions_by_rank, missing, next(iter(unknown.values()))
    return executions_by_rank, missing + [_describe_unread(item, rank, why) for rank, why in unknown.items()], ""


def _describe_unread(item: Item, rank: int, why: str) -> str:
    return Message(
        "unreadable-output",
        "{step}: rank {rank}: cannot read its output: {reason} (parse: none keeps only the command's time)",
        step=item["label"],
        rank=rank,
        reason=why,
    )


def _read_content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > PARSED_BYTES:
            raise IosondeError(
                "file-too-large",
                "it is {size}, over the limit of {max_size}",
                size=format_size(size),
                max_size=format_size(PARSED_BYTES),
            )
        return path.read_bytes()
    except OSError as error:
        raise IosondeError("unreadable-file", "it is gone: {reason}", reason=error.strerror) from error


def is_target_named(item: Item, target: str) -> bool:
    """Return whether a command names the target. Otherwise the traffic to the target's servers means nothing."""
    names = {"TARGET", "TARGET_ROOT"} & set(placeholders.list_placeholders(item["command"]))
    return item["stage"] == STEP and item["on"] != SERVERS and bool(names or (target and target in item["command"]))


def sum_bytes_moved(executions_by_rank: dict[int, list[Any]]) -> tool_bytes.Moved | None:
    """Return the bytes read and written according to the outputs of all ranks; None if one output does not say."""
    several = [tool_bytes.sum_output_bytes(executions) for executions in executions_by_rank.values()]
    amounts = [part for part in several if part]
    return reduce(tool_bytes.Moved.plus, amounts) if amounts and len(amounts) == len(several) else None


def list_contradictions(executions_by_rank: dict[int, list[Any]], prefix: str) -> list[dict[str, Any]]:
    """Return the numbers in the outputs of all ranks that break a rule, each once."""
    entries = [
        entry.to_json(prefix)
        for executions in executions_by_rank.values()
        for execution in executions
        for entry in getattr(execution, "contradictions", ())
    ]
    return list({(entry["code"], entry["operation"], *entry["metrics"]): entry for entry in reversed(entries)}.values())


def aggregate_results(
    item: Item, executions_by_rank: dict[int, list[Any]], prefix: str, times: rates.PhaseTimes, complete: bool
) -> aggregate.Totals:
    """Return the tool's numbers of every rank and, if no rank is missing, of the whole."""
    span_s = times.span_ns / 1e9 if times.comparable else None
    if item["on"] in ONCE and not complete:
        return aggregate.Totals()
    totals = aggregate.aggregate_tool_results(executions_by_rank, item["on"], prefix, span_s, complete)
    kinds = dict.fromkeys(
        kind for several in executions_by_rank.values() for execution in several for kind in execution.headline
    )
    rows = [(totals.strip_settings(row.operation), row.metric) for row in totals.observations if row.rank is None]
    totals.headlines = list_headline_kinds(rows, tuple(kinds))
    rank_keys = {
        (totals.strip_settings(row.operation), row.metric) for row in totals.observations if row.rank is not None
    }
    totals.rank_only_keys = sorted(
        (operation, metric) for operation, metric in rank_keys - set(rows) if metric in kinds
    )
    return totals
