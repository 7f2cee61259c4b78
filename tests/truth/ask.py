"""A command asked in this process, by the public functions: its answer as JSON has it."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import iosonde
from iosonde.commands.plot.ask import PlotQuery, collect_figures
from iosonde.commands.plot.figure import get_level_room
from iosonde.commands.python import PythonFrontEnd, PythonSpelling
from iosonde.commands.report.options import ReportOptions
from iosonde.core.errors import IosondeError
from iosonde.core.front_end import use_front_end
from iosonde.core.message import use_spelling

from .scores import Truth


@dataclass(frozen=True)
class Question:
    """One command with its words, and what is true of its answer."""

    command: str
    words: Mapping[str, Any]
    truths: tuple[Truth, ...]


def question(command: str, *truths: Truth, **words: Any) -> Question:
    """A Question, written short."""
    return Question(command, words, truths)


def answer_of(command: str, data: Any, words: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer's JSON; None where the command refuses the data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _asked(command, data, words)
        except IosondeError:
            return None


def _asked(command: str, data: Any, words: Mapping[str, Any]) -> dict[str, Any]:
    if command == "plot":
        return _drawn(data, **words)
    if command == "report":
        return _page(data, words)
    if command == "predict":
        return _predicted(data, **words)
    function = getattr(iosonde, "compare" if command == "gate" else command)
    return cast(dict[str, Any], function(data, **words).to_dict())


def _predicted(data: Any, at: Mapping[str, str], **words: Any) -> dict[str, Any]:
    """The prediction of a model that is fitted first, with the fit's verdicts."""
    model = iosonde.fit(data, **words)
    return {**iosonde.predict(model, at).to_dict(), "verdicts": model.to_dict()["verdicts"]}


def _drawn(
    data: Any, response: str | Sequence[str] = (), on: tuple[str, ...] | None = None, metric: str | Sequence[str] = ()
) -> dict[str, Any]:
    """As ``iosonde plot --json`` prints it: in Python a plot is a figure."""
    asked = PlotQuery(on=on, response=_as_names(response), metric=_as_names(metric))
    return collect_figures(iosonde.open(data), asked, get_level_room).to_dict()


def _as_names(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _page(data: Any, words: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows, as JSON; nothing is drawn."""
    with use_spelling(PythonSpelling(), is_default=True), use_front_end(PythonFrontEnd()):
        return ReportOptions(data, output="page.html", **words).build_report().to_dict()


def answer_and_text(csv: str, question: Question) -> tuple[dict[str, Any] | None, str]:
    """The answer's JSON and what the terminal shows; None and nothing where the command refuses the table."""
    with tempfile.TemporaryDirectory(prefix="iosonde-truth-") as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(directory) / "table.csv"
        path.write_text(csv, encoding="utf-8")
        try:
            result = getattr(iosonde, question.command)(path, **question.words)
        except IosondeError:
            return None, ""
        return result.to_dict(), str(result)
