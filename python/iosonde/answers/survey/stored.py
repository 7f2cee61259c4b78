"""A survey that a store holds, as it was said when it was made, and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from iosonde.answers.page.content.tables import DataTable
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.words import counted
from iosonde.stats.sampling.shares import OfWhole

from .answer import Survey, SurveySample
from .content import BlocksRead
from .estimate import SurveyEstimate
from .page import SurveyPage, survey_page
from .reading import ReadSpeed
from .run import FACT, SOURCE
from .walk import Tail, WalkRow, WalkSummary
from .what_if import SurveyWhatIf, parse_change

SEE_PAGE = "each survey has intervals of its own, and these are of how surveys differ: see iosonde report"
_TABLES = ("sizes", "modified", "accessed", "depths")
_NO_NUMBERS = ("capacity", "seconds", "owners", "largest_owner")
_ESTIMATES = ("saved", "touches", "cpu", "left", "pack", "unpack")
_TREE = ("tree", "capacity_is")
_MOST_KINDS = 8


def are_surveys(runs: Sequence[StoredRun]) -> bool:
    """Whether all of them are, and there is one."""
    return bool(runs) and all(run.source == SOURCE and FACT in run.facts for run in runs)


def page_of_surveys(runs: Sequence[StoredRun], store: str) -> SurveyPage:
    """The page of the last of some surveys, with what all of them found of its tree."""
    runs = sorted(runs, key=lambda run: (run.started_at, run.factors.get("repetition", 0)))  # some begin in one second
    last = runs[-1]
    same = [run for run in runs if all(run.factors.get(one) == last.factors.get(one) for one in _TREE)]
    page, history = survey_page(stored_survey(last)), _history(same) if len(same) > 1 else None
    note = Message(
        "one-of-several",
        "The last of {surveys} in {store}, of {started_at}. Of another one: {spell.where:run=ID}.",
        surveys=counted(len(runs), "survey"),
        store=store,
        started_at=last.started_at,
    )
    return replace(page, note=note, history=history, tables=(*page.tables, *([history] if history else [])))


def _history(runs: Sequence[StoredRun]) -> DataTable:
    """What each found: files, bytes, and the largest types, of the capacity."""
    made = [stored_survey(run) for run in runs]
    kinds = [one.name for one in made[-1].of("type", "capacity")][:_MOST_KINDS]
    heads = [f"{kind}{end}" for kind in kinds for end in ("", ", low", ", high")]
    rows = []
    for run, one in zip(runs, made, strict=True):
        found = {this.name: this.found.estimate for this in one.of("type", "capacity")}
        cells = [getattr(found[kind], end) if kind in found else None for kind in kinds
                 for end in ("value", "low", "high")]  # fmt: skip
        rows.append((run.id, run.started_at, one.walked.files, one.walked.numbers["bytes"], *cells))
    return DataTable("Types over time, of the capacity", ("run", "started", "files", "bytes", *heads), tuple(rows))


def stored_survey(run: StoredRun) -> Survey:
    """The survey that a run is of; its parts are not kept."""
    told: Mapping[str, Any] = run.facts[FACT]
    blocks = told["blocks"]
    return Survey(
        told["path"], told["seed"], _walked(told["walk"]),
        tuple(SurveySample(one["by"], one["drawn"], one["certain"], _alone(one["missing"])) for one in told["samples"]),
        tuple(map(_estimate, told["estimates"])), told["files_read"], told["bytes_read"], dict(told["no_answer"]),
        told["access_times_changed"], told["seconds"], told["stopped"], (), None if blocks is None
        else BlocksRead(**blocks), tuple(told["codecs_not_beaten"]), tuple(map(_what_if, told["what_if"])),
        tuple(map(_estimate, told["quantiles"])), run.factors.get("capacity_is") == "allocated",
        told.get("bytes_covered"),
        tuple(ReadSpeed(one["type"], one["state"], _number(one["rate"]), one["bytes"])
              for one in told.get("reading", ())),
    )  # fmt: skip


def _walked(told: Mapping[str, Any]) -> WalkSummary:
    """Of surveys that were kept before tails and what is old were, these are absent."""
    numbers = {name: value for name, value in told.items() if isinstance(value, int) and name not in _NO_NUMBERS}
    tables = {name: tuple(WalkRow(**row) for row in told[name]) for name in _TABLES}
    return WalkSummary(numbers, **tables, owners=told["owners"], largest_owner=told["largest_owner"],
                       tails=tuple(Tail(**one) for one in told.get("tails", ())),
                       old=None if told.get("year_old") is None else tuple(told["year_old"]),
                       notes=tuple(told["notes"]), capacity=told["capacity"], seconds=told["seconds"])  # fmt: skip


def _number(told: Mapping[str, Any]) -> Estimate:
    return Estimate(told["value"], told["low"], told["high"], told["level"], told["n"], tuple(told["warnings"]))


def _alone(told: Mapping[str, Any]) -> OfWhole:
    return OfWhole(_number(told), None, 0.0, 0.0)


def _estimate(told: Mapping[str, Any]) -> SurveyEstimate:
    found = OfWhole(_number(told), told["design_effect"], told["if_missing_none"] or 0.0, told["if_missing_all"] or 0.0)
    return SurveyEstimate(told["what"], told["name"], told["of"], told["unit"], found)


def _what_if(told: Mapping[str, Any]) -> SurveyWhatIf:
    values = {name: None if told[name] is None else _number(told[name]) for name in _ESTIMATES}
    return SurveyWhatIf(parse_change(told["what_if"]), **values, files=told["files"], archives=told["archives"],
                        warnings=tuple(told["warnings"]))  # fmt: skip
