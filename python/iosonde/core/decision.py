"""The preregistered decision: its metric, margin and stopping rule, hashed before the first trial.

Choosing the metric, the margin or the stopping time after seeing the values makes any verdict reachable. The hash shows
that they were not changed afterwards. It protects against self-deception, not against forgery.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from .message import Message

KEY = "decision"  # in Experiment.settings


@dataclass(frozen=True)
class Decision:
    """A preregistered decision. ``metric`` decides at confidence ``level``; differences below ``margin`` (a fraction)
    do not matter. ``stopping`` is the stopping rule, such as ``6 trials`` or ``ci<5%``. ``pairs`` is the ``PairRule``
    of a comparison that is tested after every pair, ``race`` the ``RacePlan`` of a race."""

    metric: str
    margin: float
    level: float
    stopping: str
    pairs: dict[str, Any] | None = None
    race: dict[str, Any] | None = None


def seal_decision(decision: Decision, experiment: str, now: datetime | None = None) -> dict[str, Any]:
    """Return the decision as stored in the settings of ``experiment``, with the time and a hash of it all."""
    moment = (now or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content = {key: value for key, value in asdict(decision).items() if value is not None}
    content |= {"experiment": experiment, "sealed_at": moment}
    return content | {"sha256": _hash_content(content)}


def explain_broken_seal(sealed: Mapping[str, Any], experiment: str, first_trial_at: str | None) -> str:
    """Return the reason why the seal is broken; empty if it holds."""
    content = {key: value for key, value in sealed.items() if key != "sha256"}
    if sealed.get("sha256") != _hash_content(content):
        return Message("decision-changed", "the decision was changed after it was sealed")
    if sealed.get("experiment") != experiment:
        other = sealed.get("experiment")
        return Message("other-experiment", "the decision was sealed for experiment {experiment}", experiment=other)
    if first_trial_at is not None and _parse_moment(str(sealed.get("sealed_at"))) > _parse_moment(first_trial_at):
        return Message("sealed-late", "the decision was sealed after the first trial")
    return ""


def _hash_content(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _parse_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
