"""A survey kept as a run of a store, and read from it as it was reported originally: its shares over time form a
history like any other. It contains no file name. The place is checked before the walk, so that an error does not waste
hours of walking."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate, Experiment, Factor, Observation, Run
from iosonde.core.words import format_count
from iosonde.foreign.child import LIMIT_S
from iosonde.page.tables import DataTable
from iosonde.store import Store
from iosonde.survey.sampling.shares import PopulationEstimate
from iosonde.survey.tree import resolve_tree_path

from .answer import Survey, SurveyQuery, SurveySample
from .content import BlocksRead
from .for_page import SurveyPage, build_survey_page
from .reading import ReadSpeed
from .sample import SurveyEstimate
from .walk import Tail, WalkRow, WalkSummary
from .what_if import SurveyWhatIf, parse_change

EXPERIMENT = "survey"
SOURCE, FACT = "survey", "survey"  # source of such a run; key of its facts
_OF = {"files": "share of files", "capacity": "share of capacity"}
_NUMBERS = {"files": "files", "bytes": "bytes", "allocated_bytes": "bytes", "directories": "directories"}
_MIN_HEADLINE = 0.01  # of files or capacity: minimum share of a headline type
SEE_PAGE = "each survey has intervals of its own, and these are of how surveys differ: see iosonde report"
_TABLES = ("sizes", "modified", "accessed", "depths")
_NO_NUMBERS = ("capacity", "seconds", "owners", "largest_owner")
_ESTIMATES = ("saved", "touches", "cpu", "left", "pack", "unpack")
_TREE = ("tree", "capacity_is")
_MOST_KINDS = 8


@dataclass(frozen=True)
class SurveyStore:
    """Store that keeps surveys."""

    path: Path
    experiment: str = EXPERIMENT

    def check(self, tree: str, limit_s: float = LIMIT_S) -> None:
        """Check before the walk that the place may be a store, and is not in the tree. Raises InputError,
        NoAnswerError."""
        if resolve_tree_path(self.path, limit_s).is_relative_to(resolve_tree_path(Path(tree), limit_s)):
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
        repetition = sum(
            all(document["factors"].get(key) == value for key, value in trees.items())
            for document in store.runs(self.experiment)
        )
        run = survey_to_run(survey, options, self.experiment, {**trees, "repetition": repetition})
        factors = [Factor("tree"), Factor("capacity_is")]
        store.save_new_experiment(Experiment(self.experiment, "surveys", factors, {}, [], options.seed, run.started_at))
        store.append(run)
        return run.id


def survey_to_run(survey: Survey, options: SurveyQuery, experiment: str, factors: dict[str, str | int]) -> Run:
    """Convert a survey to a run with rows of results; its intervals, and all else that ``--json`` has, are in the
    facts."""
    began = datetime.now(UTC) - timedelta(seconds=survey.seconds)
    rows = list(_build_observations(survey))
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


def _build_observations(survey: Survey) -> Iterator[Observation]:
    """Yield the counts of the walk, and each estimate: the operation names its subject, the metric the quantity."""
    numbers = survey.walked.numbers
    yield from (
        Observation("tree", name, float(numbers[name]), unit)
        for name, unit in (
            ("files", "files"),
            ("bytes", "bytes"),
            ("allocated_bytes", "bytes"),
            ("directories", "directories"),
        )
        if name in numbers
    )
    for estimate in survey.estimates:
        value = estimate.inference.estimate.value
        if value is not None:
            operation = _OF[estimate.of] if estimate.what == "type" else f"{estimate.what} of {estimate.of}"
            yield Observation(operation, estimate.name, value, estimate.unit, count=estimate.inference.estimate.n)


def are_surveys(runs: Sequence[StoredRun]) -> bool:
    """Return whether all runs are surveys, and there is at least one."""
    return bool(runs) and all(run.source == SOURCE and FACT in run.facts for run in runs)


def build_surveys_page(runs: Sequence[StoredRun], store: str) -> SurveyPage:
    """Build the page of the last survey, with the history of its tree."""
    runs = sorted(runs, key=lambda run: (run.started_at, run.factors.get("repetition", 0)))  # several in one second
    last = runs[-1]
    same = [run for run in runs if all(run.factors.get(factor) == last.factors.get(factor) for factor in _TREE)]
    page, history = build_survey_page(read_stored_survey(last)), _build_history(same) if len(same) > 1 else None
    note = Message(
        "one-of-several",
        "The last of {surveys} in {store}, of {started_at}. Another one: {spell.where:run=ID}.",
        surveys=format_count(len(runs), "survey"),
        store=store,
        started_at=last.started_at,
    )
    return replace(page, note=note, history=history, tables=(*page.tables, *([history] if history else [])))


def _build_history(runs: Sequence[StoredRun]) -> DataTable:
    """Return the history: files, bytes, and the largest types by capacity of each survey."""
    surveys = [read_stored_survey(run) for run in runs]
    kinds = [estimate.name for estimate in surveys[-1].of("type", "capacity")][:_MOST_KINDS]
    heads = [f"{kind}{end}" for kind in kinds for end in ("", ", low", ", high")]
    rows = []
    for run, survey in zip(runs, surveys, strict=True):
        estimates = {this.name: this.inference.estimate for this in survey.of("type", "capacity")}
        cells = [
            getattr(estimates[kind], end) if kind in estimates else None
            for kind in kinds
            for end in ("value", "low", "high")
        ]
        rows.append((run.id, run.started_at, survey.walked.files, survey.walked.numbers["bytes"], *cells))
    return DataTable("Types over time, of the capacity", ("run", "started", "files", "bytes", *heads), tuple(rows))


def read_stored_survey(run: StoredRun) -> Survey:
    """Return the survey of a run; its parts are not stored."""
    document: Mapping[str, Any] = run.facts[FACT]
    blocks = document["blocks"]
    return Survey(
        document["path"],
        document["seed"],
        _parse_walk(document["walk"]),
        tuple(
            SurveySample(
                sample["by"], sample["drawn"], sample["certain"], _parse_population_estimate(sample["missing"])
            )
            for sample in document["samples"]
        ),
        tuple(map(_parse_survey_estimate, document["estimates"])),
        document["files_read"],
        document["bytes_read"],
        dict(document["no_answer"]),
        document["access_times_changed"],
        document["seconds"],
        document["stopped"],
        (),
        None if blocks is None else BlocksRead(**blocks),
        tuple(document["codecs_not_beaten"]),
        tuple(map(_parse_what_if, document["what_if"])),
        tuple(map(_parse_survey_estimate, document["quantiles"])),
        run.factors.get("capacity_is") == "allocated",
        document.get("bytes_covered"),
        tuple(
            ReadSpeed(speed["type"], speed["state"], _parse_estimate(speed["rate"]), speed["bytes"])
            for speed in document.get("reading", ())
        ),
    )


def _parse_walk(document: Mapping[str, Any]) -> WalkSummary:
    """Parse the walk; surveys stored before tails and old files were added lack these."""
    return WalkSummary(
        {name: value for name, value in document.items() if isinstance(value, int) and name not in _NO_NUMBERS},
        **{name: tuple(WalkRow(**row) for row in document[name]) for name in _TABLES},
        owners=document["owners"],
        largest_owner=document["largest_owner"],
        tails=tuple(Tail(**tail) for tail in document.get("tails", ())),
        old=None if document.get("year_old") is None else tuple(document["year_old"]),
        notes=tuple(document["notes"]),
        capacity=document["capacity"],
        seconds=document["seconds"],
    )


def _parse_estimate(document: Mapping[str, Any]) -> Estimate:
    return Estimate(
        document["value"],
        document["low"],
        document["high"],
        document["level"],
        document["n"],
        tuple(document["warnings"]),
    )


def _parse_population_estimate(document: Mapping[str, Any]) -> PopulationEstimate:
    return PopulationEstimate(_parse_estimate(document), None, 0.0, 0.0)


def _parse_survey_estimate(document: Mapping[str, Any]) -> SurveyEstimate:
    share = PopulationEstimate(
        _parse_estimate(document),
        document["design_effect"],
        document["if_missing_none"] or 0.0,
        document["if_missing_all"] or 0.0,
    )
    return SurveyEstimate(document["what"], document["name"], document["of"], document["unit"], share)


def _parse_what_if(document: Mapping[str, Any]) -> SurveyWhatIf:
    return SurveyWhatIf(
        parse_change(document["what_if"]),
        **{name: None if document[name] is None else _parse_estimate(document[name]) for name in _ESTIMATES},
        files=document["files"],
        archives=document["archives"],
        warnings=tuple(document["warnings"]),
    )
