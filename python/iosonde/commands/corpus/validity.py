"""Score and validity of each run of a corpus: what its tool calls invalid, what is incomplete, what is not accepted."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iosonde.core.stored import StoredRun
from iosonde.core.table import Table
from iosonde.data.source import Source

_SCORES = (
    ("score", "total"),
    ("score", "bandwidth"),
    ("score", "rate"),
    ("train", "bandwidth_sum_of_ranks"),
    ("train", "accelerator_utilization"),
)
_ACCEPTED = "_meet_expectation"  # end of the facts of DLIO in which MLPerf Storage's rule is checked
_INVALID = re.compile(r"\binvalid\b", re.IGNORECASE)
_PLACE = re.compile(r"^(?:line \d+: |\S+\.\w+: )+")


class RunState(StrEnum):
    """The validity of a run."""

    VALID = "valid"
    NOT_ACCEPTED = "not accepted"  # complete, but against a rule of the benchmark that the run records
    INVALID = "invalid"  # the tool says so
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Submission:
    """A run: its ``settings`` that identify the system, ``scores`` by operation and metric (of runs that count), and
    the reasons ``why`` of its state."""

    run: str
    settings: tuple[str, ...]
    state: RunState
    why: tuple[str, ...]
    scores: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "run": self.run,
            "system": list(self.settings),
            "state": str(self.state),
            "why": list(self.why),
            "scores": dict(self.scores),
        }


@dataclass(frozen=True)
class Validity:
    """The ``submissions``, those with the best score first. ``units``: number of a score → its unit."""

    submissions: tuple[Submission, ...]
    units: Mapping[str, str]

    @property
    def counts(self) -> dict[RunState, int]:
        """Return the number of runs in each state."""
        counts = Counter(submission.state for submission in self.submissions)
        return {state: counts[state] for state in RunState}

    def count_excluded(self, runs: int) -> int:
        """Return how many invalid and incomplete runs are not among the ``runs`` in the numbers."""
        counts = self.counts
        return min(counts[RunState.INVALID] + counts[RunState.INCOMPLETE], len(self.submissions) - runs)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Return each reason, without its place in a file, and its number of runs; the most frequent first."""
        reasons = (dict.fromkeys(_PLACE.sub("", why) for why in submission.why) for submission in self.submissions)
        return Counter(reason for several in reasons for reason in several).most_common()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "counts": {str(state): count for state, count in self.counts.items()},
            "reasons": [{"why": why, "runs": runs} for why, runs in self.reasons],
            "units": dict(self.units),
            "submissions": [submission.to_json() for submission in self.submissions],
        }


def examine_validity(source: Source, clusters: Sequence[str], own: Source | None) -> Validity:
    """Return the state and the scores of each run of others."""
    mine = set() if own is None else {run.id for run in own.runs}
    scores, units = _collect_scores(source.run_rows)
    names = [*dict.fromkeys((*clusters, "submission"))]
    submissions = [
        Submission(
            run.id,
            tuple(str(run.level(name)) for name in names if run.level(name) is not None),
            state,
            why,
            scores.get(run.id, {}),
        )
        for run in source.runs
        if run.id not in mine
        for state, why in [_classify(run)]
    ]
    order = {name: -place for place, name in enumerate(units)}
    best = max(order, key=lambda name: order[name], default="")
    return Validity(tuple(sorted(submissions, key=lambda each: -each.scores.get(best, 0.0))), units)


def _classify(run: StoredRun) -> tuple[RunState, tuple[str, ...]]:
    refused = [f"{name}: {value}" for name, value in run.facts.items() if _is_refused(name, value)]
    if run.missing:
        is_invalid = any(_INVALID.search(why) for why in run.missing)
        return RunState.INVALID if is_invalid else RunState.INCOMPLETE, run.missing
    return (RunState.NOT_ACCEPTED, tuple(refused)) if refused else (RunState.VALID, ())


def _is_refused(name: str, value: object) -> bool:
    return name.endswith(_ACCEPTED) and value != "success"


def _collect_scores(rows: Table) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Return (run → number → value, number → unit) of the scores that the rows have, the most important first."""
    scores: dict[str, dict[str, float]] = {}
    units: dict[str, str] = {}
    columns = rows.columns
    for operation, metric in _SCORES:
        here = (columns["operation"].values == operation) & (columns["metric"].values == metric)
        name = f"{operation} {metric}"
        for at in here.nonzero()[0]:
            units[name] = str(columns["unit"].values[at])
            scores.setdefault(str(columns["run"].values[at]), {})[name] = float(columns["value"].values[at])
    return scores, units
