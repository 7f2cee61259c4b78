"""A survey kept as a run of a store: its shares over time form a history like any other. It contains no file name. The
place is checked before the walk, so that an error does not waste hours of walking."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.foreign.child import LIMIT_S
from iosonde.store import Store
from iosonde.survey.tree import resolve

from .answer import Survey, SurveyQuery

EXPERIMENT = "survey"
SOURCE, FACT = "survey", "survey"  # source of such a run; key of its facts
_OF = {"files": "share of files", "capacity": "share of capacity"}
_NUMBERS = {"files": "files", "bytes": "bytes", "allocated_bytes": "bytes", "directories": "directories"}
_MIN_HEADLINE = 0.01  # of files or capacity: minimum share of a headline type


@dataclass(frozen=True)
class SurveyStore:
    """Store that keeps surveys."""

    path: Path
    experiment: str = EXPERIMENT

    def check(self, tree: str, limit_s: float = LIMIT_S) -> None:
        """Check before the walk that the place may be a store, and is not in the tree. Raises InputError,
        NoAnswerError."""
        if resolve(self.path, limit_s).is_relative_to(resolve(Path(tree), limit_s)):
            raise InputError(
                "store-inside-tree",
                "cannot write to {path}: it is in the surveyed tree",
                "name a store elsewhere",
                path=self.path,
            )
        Store.check_place(self.path)
        Store.check_name(self.experiment)

    def keep(self, survey: Survey, options: SurveyQuery) -> str:
        """Append the survey as a run; return its id."""
        store = Store.create(self.path)
        trees = {
            "tree": str(Path(survey.path).absolute()),
            "capacity_is": "allocated" if options.allocated else "sizes",
        }
        before = store.runs(self.experiment)
        repetition = sum(
            all(document["factors"].get(key) == value for key, value in trees.items()) for document in before
        )
        run = run_of(survey, options, self.experiment, {**trees, "repetition": repetition})
        factors = [Factor("tree"), Factor("capacity_is")]
        store.save_new_experiment(Experiment(self.experiment, "surveys", factors, {}, [], options.seed, run.started_at))
        store.append(run)
        return run.id


def run_of(survey: Survey, options: SurveyQuery, experiment: str, factors: dict[str, str | int]) -> Run:
    """Convert a survey to a run with rows of results; its intervals, and all else that ``--json`` has, are in the
    facts."""
    began = datetime.now(UTC) - timedelta(seconds=survey.seconds)
    rows = list(_rows(survey))
    headlines = {
        operation: [row.metric for row in rows if row.operation == operation and row.value >= _MIN_HEADLINE]
        for operation in dict.fromkeys(row.operation for row in rows)
    }
    return Run(
        f"survey-{began:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
        experiment,
        SOURCE,
        began.isoformat(timespec="seconds").replace("+00:00", "Z"),
        survey.seconds,
        dict(factors),
        rows,
        facts={FACT: {**survey.content(), "strata": []}, "target": survey.path},
        seed=survey.seed,
        headlines={operation: kinds for operation, kinds in headlines.items() if kinds},
    )


def _rows(survey: Survey) -> Iterator[Observation]:
    """Yield the counts of the walk, and each estimate: the operation names its subject, the metric the quantity."""
    numbers = survey.walked.numbers
    for name, unit in (
        ("files", "files"),
        ("bytes", "bytes"),
        ("allocated_bytes", "bytes"),
        ("directories", "directories"),
    ):
        if name in numbers:
            yield Observation("tree", name, float(numbers[name]), unit)
    for estimate in survey.estimates:
        value = estimate.inference.estimate.value
        if value is not None:
            operation = _OF[estimate.of] if estimate.what == "type" else f"{estimate.what} of {estimate.of}"
            yield Observation(operation, estimate.name, value, estimate.unit, count=estimate.inference.estimate.n)
