"""Form that Lustre's obdfilter-survey and mds-survey share: a line for each setting, with all its tests.

    ost  2 sz 16777216K rsz 1024K obj    4 thr    8 write  512.50 [  64.25,  80.75] read  900.25            SHORT

A test has its speed, and the lowest and the highest speed of any single target in an interval of a second:
``bandwidth_own_interval_min``, ``…_max``. ``SHORT``: the test ended before the first interval. ``ERROR``: it failed.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import Parsed, Row
from .reading import date_output_to_iso, parse_number
from .text import Text

_NUMBER = r"(\d{1,15}\.\d\d)"
_TEST = re.compile(rf" *([a-z]\w{{0,39}}) +(?:{_NUMBER} +)?(?:\[ *{_NUMBER}, *{_NUMBER}\]|(SHORT|ERROR))(?= |$)")
_FAILED = ("not contiguous", "directories on", "Can't load obdecho", "Please specify", "Can't find any MDT")
_SKIPPED = "Too much buffer space"


class LustreSurvey(NamedTuple):
    """Words of one of the two tools. ``head`` begins the line of a setting, ``title`` that of a survey: behind
    the date, its group ``host``, and others that are settings. ``read_settings`` returns the settings of a head,
    ``bytes`` of each test among them; ``get_speed`` the metric of a test's speed at these settings."""

    head: re.Pattern[str]
    title: re.Pattern[str]
    read_settings: Callable[[re.Match[str]], dict[str, FactorValue]]
    get_speed: Callable[[dict[str, FactorValue]], str]
    unit: str
    factor: float


def read_survey(text: Text, survey: LustreSurvey) -> list[Parsed]:
    """Return one Parsed for each survey."""
    reader = _Reader(survey)
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line.strip())
    reader.end_survey(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self, survey: LustreSurvey) -> None:
        self._survey = survey
        self.runs: list[Parsed] = []
        self._begin_survey()

    def _begin_survey(self) -> None:
        self._run = Parsed()
        self._has_begun = False
        self._settings: list[dict[str, FactorValue]] = []
        self._tests: list[str] = []

    def read_line(self, at: int, line: str) -> None:
        if match := self._survey.title.search(line):
            self.end_survey(at)
            self._has_begun = True
            self._run.started_at = date_output_to_iso(line[: match.start()])
            self._run.factors |= {
                name: word[:40] for name, word in match.groupdict().items() if name != "host" and word
            }
            self._run.facts["host"] = match["host"][:200]
        elif match := self._survey.head.search(line):
            self._read_setting(at, match, line[match.end() :])
        elif self._has_begun and line.startswith(("ost ", "mdt ")):
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif self._has_begun and any(words in line for words in _FAILED):
            self._run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        elif self._has_begun:
            note_reported_failure(self._run, at, line)

    def _read_setting(self, at: int, match: re.Match[str], rest: str) -> None:
        settings = self._survey.read_settings(match)
        if settings in self._settings:
            self.end_survey(at)
        self._has_begun = True
        self._settings.append(settings)
        if match.start():  # a lost line end: the rest belongs to another setting
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif rest.strip() == _SKIPPED:
            self._run.warn(at, Message("not-executed", "the tool left out a setting: {quote}", quote=_SKIPPED))
        else:
            self._read_tests(at, settings, rest)

    def _read_tests(self, at: int, settings: dict[str, FactorValue], rest: str) -> None:
        run, place, tests = self._run, 0, list[str]()
        while match := _TEST.match(rest, place):
            place = match.end()
            tests.append(match.group(1))
            self._add_test(at, settings, match)
        run.has_complete_last_line = not rest[place:].strip()
        self._tests = self._tests or tests
        if failed := next((words for words in _FAILED if words in rest[place:]), ""):
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=rest[place:].strip()[:160] or failed))
        elif not run.has_complete_last_line or not tests:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: its rest is left out"))
        elif len(tests) < len(self._tests):
            lost = ", ".join(self._tests[len(tests) :])
            run.lacks(at, Message("ended-early", "the line ends before the tests {tests}", tests=lost[:160]))

    def _add_test(self, at: int, settings: dict[str, FactorValue], match: re.Match[str]) -> None:
        test, speed, lowest, highest, mark = match.groups()
        if mark == "ERROR":
            self._run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=f"{test} {mark}"))
            return
        factors = {name: value for name, value in settings.items() if name != "bytes"}
        metric = self._survey.get_speed(settings)
        kind = metric.partition("_")[0]
        cells = {metric: speed, f"{kind}_own_interval_min": lowest, f"{kind}_own_interval_max": highest}
        for name, cell in cells.items():
            if cell is not None and (value := parse_number(cell)) is not None:
                row = Row(test, name, value * self._survey.factor, self._survey.unit, at, factors=factors)
                self._run.rows.append(row)
        if isinstance(size := settings.get("bytes"), int):
            self._run.rows.append(Row(test, "bytes", size, "bytes", at, factors=factors))
        if mark == "SHORT":
            message = "a test ended within the first second: its speed has the start of the programs in it"
            self._run.warn(at, Message("short-test", message))

    def end_survey(self, at: int) -> None:
        """Close the survey; one without a result is incomplete."""
        run = self._run
        if self._has_begun:
            if not run.rows and not run.missing:
                run.lacks(at, Message("ended-early", "the output ends before the first result"))
            self.runs.append(run)
        self._begin_survey()
