"""A stored survey, as it was reported originally, and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.words import counted
from iosonde.page.tables import DataTable
from iosonde.stats.sampling.shares import PopulationEstimate

from .answer import Survey, SurveySample
from .content import BlocksRead
from .for_page import SurveyPage, survey_page
from .reading import ReadSpeed
from .run import FACT, SOURCE
from .sample import SurveyEstimate
from .walk import Tail, WalkRow, WalkSummary
from .what_if import SurveyWhatIf, parse_change

SEE_PAGE = "each survey has intervals of its own, and these are of how surveys differ: see iosonde report"
_TABLES = ("sizes", "modified", "accessed", "depths")
_NO_NUMBERS = ("capacity", "seconds", "owners", "largest_owner")
_ESTIMATES = ("saved", "touches", "cpu", "left", "pack", "unpack")
_TREE = ("tree", "capacity_is")
_MOST_KINDS = 8


def are_surveys(runs: Sequence[StoredRun]) -> bool:
    """Return whether all runs are surveys, and there is at least one."""
    return bool(runs) and all(run.source == SOURCE and FACT in run.facts for run in runs)


def page_of_surveys(runs: Sequence[StoredRun], store: str) -> SurveyPage:
    """Build the page of the last survey, with the history of its tree."""
    runs = sorted(runs, key=lambda run: (run.started_at, run.factors.get("repetition", 0)))  # several in one second
    last = runs[-1]
    same = [run for run in runs if all(run.factors.get(factor) == last.factors.get(factor) for factor in _TREE)]
    page, history = survey_page(stored_survey(last)), _build_history(same) if len(same) > 1 else None
    note = Message(
        "one-of-several",
        "The last of {surveys} in {store}, of {started_at}. Another one: {spell.where:run=ID}.",
        surveys=counted(len(runs), "survey"),
        store=store,
        started_at=last.started_at,
    )
    return replace(page, note=note, history=history, tables=(*page.tables, *([history] if history else [])))


def _build_history(runs: Sequence[StoredRun]) -> DataTable:
    """Return the history: files, bytes, and the largest types by capacity of each survey."""
    surveys = [stored_survey(run) for run in runs]
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


def stored_survey(run: StoredRun) -> Survey:
    """Return the survey of a run; its parts are not stored."""
    document: Mapping[str, Any] = run.facts[FACT]
    blocks = document["blocks"]
    return Survey(
        document["path"],
        document["seed"],
        _parse_walk(document["walk"]),
        tuple(
            SurveySample(sample["by"], sample["drawn"], sample["certain"], _alone(sample["missing"]))
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
        tuple(map(_what_if, document["what_if"])),
        tuple(map(_parse_survey_estimate, document["quantiles"])),
        run.factors.get("capacity_is") == "allocated",
        document.get("bytes_covered"),
        tuple(
            ReadSpeed(speed["type"], speed["state"], _number(speed["rate"]), speed["bytes"])
            for speed in document.get("reading", ())
        ),
    )


def _parse_walk(document: Mapping[str, Any]) -> WalkSummary:
    """Parse the walk; surveys stored before tails and old files were added lack these."""
    numbers = {name: value for name, value in document.items() if isinstance(value, int) and name not in _NO_NUMBERS}
    tables = {name: tuple(WalkRow(**row) for row in document[name]) for name in _TABLES}
    return WalkSummary(
        numbers,
        **tables,
        owners=document["owners"],
        largest_owner=document["largest_owner"],
        tails=tuple(Tail(**tail) for tail in document.get("tails", ())),
        old=None if document.get("year_old") is None else tuple(document["year_old"]),
        notes=tuple(document["notes"]),
        capacity=document["capacity"],
        seconds=document["seconds"],
    )


def _number(document: Mapping[str, Any]) -> Estimate:
    return Estimate(
        document["value"],
        document["low"],
        document["high"],
        document["level"],
        document["n"],
        tuple(document["warnings"]),
    )


def _alone(document: Mapping[str, Any]) -> PopulationEstimate:
    return PopulationEstimate(_number(document), None, 0.0, 0.0)


def _parse_survey_estimate(document: Mapping[str, Any]) -> SurveyEstimate:
    share = PopulationEstimate(
        _number(document),
        document["design_effect"],
        document["if_missing_none"] or 0.0,
        document["if_missing_all"] or 0.0,
    )
    return SurveyEstimate(document["what"], document["name"], document["of"], document["unit"], share)


def _what_if(document: Mapping[str, Any]) -> SurveyWhatIf:
    values = {name: None if document[name] is None else _number(document[name]) for name in _ESTIMATES}
    return SurveyWhatIf(
        parse_change(document["what_if"]),
        **values,
        files=document["files"],
        archives=document["archives"],
        warnings=tuple(document["warnings"]),
    )
