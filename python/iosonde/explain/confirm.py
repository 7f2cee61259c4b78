"""Experiment to confirm a finding: the measured setting with one thing changed.

The change separates the interpretations of a finding. A unit in bytes keeps its bytes when requests get smaller, a
limit its bytes when more is written, a clock its seconds when the run gets longer. If the workload cannot be changed
like this, the same is measured again.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core import decision
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.units import format_rate, format_size, parse_size

from .causes.target import Suspect

REPETITIONS, AGAIN = 3, 6
_SIZES = ("transfer_size", "access_size")
_BYTES, _COUNTS = ("large_file_size", "size"), ("operations",)
_LIMITS = ("bytes", "time_limit")
_ORDERS = ("place", "offsets")
_EXCLUDED_KEYS = (decision.KEY, "file", "design", "until", "seed")
_ENVELOPE, _LARGE = "envelope", "large"  # its operations on large files have the transfer size
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_IN_BYTES, _MORE, _ORDER, _RANKS = ("S401", "S406", "S411"), ("S402", "S404"), ("S407",), ("S409",)


@dataclass(frozen=True)
class Confirmation:
    """``document``: an experiment as in a file; ``expected``: the results if the finding is right, in lines."""

    document: dict[str, Any]
    expected: tuple[str, ...]


def build_confirmation(
    settings: Mapping[str, Any], setting: Mapping[str, Any], what: str, kind: str, size: int, suspect: Suspect
) -> Confirmation:
    """Build the confirmation of a finding about the operations ``what`` (of this ``kind`` and ``size``, in bytes).

    ``settings`` are the experiment's, ``setting`` the levels of its factors where it was found. Raises DataError if the
    experiment cannot be changed."""
    if "steps" not in settings:
        raise DataError(
            "steps-not-recorded", "its experiment has no steps", "only measurements of iosonde run can be repeated"
        )
    if "against" in settings:
        raise DataError(
            "two-sided-experiment", "its experiment compares two sides", "measure each side in a file of its own"
        )
    experiment = {key: copy.deepcopy(value) for key, value in settings.items() if key not in _EXCLUDED_KEYS}
    _fix_levels(experiment, setting)
    experiment |= {"name": f"confirm {suspect.code} of {what}", "repetitions": REPETITIONS}
    changed = _apply_change(experiment, what, kind, size, suspect)
    if changed is None:
        experiment["repetitions"] = AGAIN
        expected = Message("same-again", "the same again: most of the trials have the finding, with the same numbers")
        return Confirmation(experiment, (expected, *_enable_server_counters(experiment, suspect)))
    return Confirmation(experiment, tuple(changed))


def _enable_server_counters(experiment: dict[str, Any], suspect: Suspect) -> tuple[str, ...]:
    """Enable server counters for files in a lab: they show which server it is, and whether it takes the time itself."""
    if "files" not in suspect.evidence or "lab" not in experiment:
        return ()
    experiment["lab"]["profile"] = True
    template = "profile: true, server counters: they show a slow disk or a slow link if one server has these files"
    return (Message("servers-count", template),)


def _fix_levels(experiment: dict[str, Any], setting: Mapping[str, Any]) -> None:
    factors = experiment.setdefault("factors", {})
    for name, level in setting.items():
        if name in ("nodes", "ranks_per_node"):
            experiment[name] = [level]
        elif name in factors:
            factors[name] = {**factors[name], "levels": [level]} if isinstance(factors[name], dict) else [level]


def _apply_change(experiment: dict[str, Any], what: str, kind: str, size: int, suspect: Suspect) -> list[str] | None:
    """Apply the change and return the expected results; None without one."""
    if suspect.code in _IN_BYTES and size > 1:
        return _request_size(experiment, what, kind, size, suspect)
    if suspect.code in _MORE:
        return _double_operations_or_bytes(experiment, suspect)
    if suspect.code in _ORDER and _replace_key_by_factor(experiment, _ORDERS, "order", kind, lambda old: [old, "seq"]):
        return [
            Message(
                "sequential-order", "order seq: no operation is far from the one before it, and none of these is slow"
            )
        ]
    if suspect.code in _RANKS:
        ranks = max(experiment.get("ranks_per_node") or [1])
        experiment["ranks_per_node"] = sorted({1, max(1, ranks // 2), ranks})
        expected = Message("fewer-ranks", "fewer ranks: stalls by a lock get fewer, those by a server stay")
        return [expected] if ranks > 1 else None
    return None


def _request_size(experiment: dict[str, Any], what: str, kind: str, size: int, suspect: Suspect) -> list[str] | None:
    levels = [size // 2, size, 2 * size]
    if not _replace_key_by_factor(
        experiment, _SIZES, "request_size", kind, lambda old: levels if old == size else None, "bytes"
    ):
        if _LARGE not in what or any(step.get("workload") != _ENVELOPE for step in experiment["steps"]):
            return None
        for step in experiment["steps"]:
            step["transfer_size"] = "${request_size}"
        experiment["factors"]["request_size"] = {"levels": levels, "unit": "bytes"}
    evidence = suspect.evidence
    period_bytes = evidence.get("period_bytes") or evidence.get("gap_bytes")
    if not period_bytes:
        if "unit_bytes" not in evidence:
            return [Message("other-request-size", "another request size: a unit in bytes keeps its bytes")]
        template = "every request size: the same places of every {unit_size}"
        return [Message("other-request-size", template, unit_size=format_size(evidence["unit_bytes"]))]
    about = "about every" if suspect.code == "S411" else "every"
    template = "request_size {size}: " + about + " {n_operations:.4g} operations if it is a unit in bytes"
    return [
        Message("request-size", template, size=format_size(size), n_operations=period_bytes / size) for size in levels
    ]


def _double_operations_or_bytes(experiment: dict[str, Any], suspect: Suspect) -> list[str] | None:
    """Double the work: more operations, or more bytes, of all kinds, as data must be written before it is read."""
    for node in _iter_nodes(experiment["steps"], None):
        for name in _LIMITS:  # limits that would end it earlier
            if isinstance(old := _read_level(experiment, node.get(name)), int | float):
                node[name] = 2 * old
    if not any(
        _replace_key_by_factor(
            experiment, keys, "amount", None, lambda old: [old, 2 * old] if isinstance(old, int) else None, unit
        )
        for keys, unit in ((_BYTES, "bytes"), (_COUNTS, ""))
    ):
        return None
    if suspect.code == "S402":
        period = format_rate(suspect.evidence["period_s"], "s")
        return [Message("twice-as-long", "twice as long: still every {period}", period=period)]
    evidence = suspect.evidence
    if not evidence["late"]:
        return [Message("twice-as-much", "twice as much: slow until the same moment")]
    return [
        Message(
            "twice-as-much",
            "twice as much: slow from {size} on if it is a limit in bytes, from {moment} on if it follows the clock",
            size=format_size(evidence["bytes_before"]),
            moment=format_rate(evidence["moment_s"], "s"),
        )
    ]


def _replace_key_by_factor(
    experiment: dict[str, Any],
    keys: tuple[str, ...],
    factor: str,
    kind: str | None,
    levels: Callable[[Any], list[Any] | None],
    unit: str = "",
) -> bool:
    """Replace the first of the keys of an operation of this kind (None: of any) by a factor, and return whether one was
    found.

    ``levels`` maps its value to levels, None to leave it."""
    factor_levels: list[Any] | None = None
    for node in _iter_nodes(experiment["steps"], kind):
        for key in keys:
            old = _read_level(experiment, node.get(key))
            chosen = None if old is None else levels(old)
            if chosen is None or (factor_levels is not None and chosen != factor_levels):
                continue
            node[key], factor_levels = f"${{{factor}}}", chosen
            break
    if factor_levels is None:
        return False
    experiment["factors"][factor] = {"levels": factor_levels, **({"unit": unit} if unit else {})}
    return True


def _iter_nodes(value: Any, kind: str | None) -> Iterator[dict[str, Any]]:
    """Yield every mapping in the steps that may be of this kind of operation, from the outside."""
    if isinstance(value, dict):
        node_kind = value.get("kind", value.get("direction", kind))
        if kind is None or node_kind == kind or _PLACEHOLDER.fullmatch(str(node_kind)):
            yield value
        for item in value.values():
            yield from _iter_nodes(item, kind)
    elif isinstance(value, list):
        for item in value:
            yield from _iter_nodes(item, kind)


def _read_level(experiment: Mapping[str, Any], value: Any) -> Any:
    """Return the value of a step at the one setting: a number if possible, else text; None if unknown."""
    if isinstance(value, str) and (match := _PLACEHOLDER.fullmatch(value)):
        factor = experiment["factors"].get(match[1])
        levels = factor.get("levels") if isinstance(factor, dict) else factor
        return levels[0] if levels and len(levels) == 1 else None
    if isinstance(value, str):
        try:
            return parse_size(value)
        except InputError:
            return value
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
