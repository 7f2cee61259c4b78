"""A measured experiment, which shows itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from iosonde.commands.files import announce_analysis
from iosonde.commands.page_file import write_experiment_page
from iosonde.commands.result import Result
from iosonde.core.errors import IncompleteError, UntriedError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import Message
from iosonde.data.options import RowOptions
from iosonde.data.query import ResponseQuery

if TYPE_CHECKING:
    import pandas as pd

    from iosonde.campaign.run import CampaignOutcome
    from iosonde.commands.compare.against import PairVerdicts
    from iosonde.commands.compare.answer import Comparisons
    from iosonde.commands.path_study import PathStudy
    from iosonde.commands.summary.answer import Summary
    from iosonde.data.source import Source

    from .race import RaceAnswer


@dataclass(frozen=True)
class Measurement:
    """A measured experiment: it shows itself as its summary, two sides as their comparison, a race as its best setting,
    a path study as its lines.

    ``outcome`` says how the campaign ended, and has its experiment; ``page`` is the file of its page, if any.
    ``is_incomplete``: trials of labs are missing.
    """

    outcome: CampaignOutcome
    level: float
    page: str | None = None
    is_incomplete: bool = False

    @property
    def store(self) -> str:
        """The path of the store that has the runs."""
        return self.outcome.store

    @cached_property
    def summary(self) -> Result[Summary]:
        """The summary of this experiment alone."""
        from iosonde.commands.summary.answer import summary
        from iosonde.commands.summary.text import lines

        source = self._open_source(self.outcome.shows_incomplete)
        announce_analysis("summary", len(source.table), len(source.table.columns))
        return Result(summary(source, self._query), lines)

    @cached_property
    def comparison(self) -> Result[Comparisons | PairVerdicts]:
        """The verdict of the pairs of ``against``."""
        from iosonde.commands.compare.answer import Sides, compare
        from iosonde.commands.compare.text import lines

        return Result(compare(self._open_source(), self._query, Sides()), lines)

    @cached_property
    def race(self) -> Result[RaceAnswer]:
        """The best setting of a race, or what remains."""
        from .figure_race import race_figure
        from .race import judge_stored_race
        from .text_race import lines

        assert self.outcome.experiment is not None
        answer = judge_stored_race(self._open_source(), self.outcome.experiment)
        assert answer is not None
        return Result(answer, lines, race_figure)

    @cached_property
    def path_study(self) -> Result[PathStudy]:
        """The lines and patterns of a path study."""
        from iosonde.commands.path_study import analyse_path_study

        return Result(analyse_path_study(self._open_source(), self.level), lambda study: study.lines())

    def text(self) -> Iterator[str]:
        """Return the lines that the terminal shows."""
        if self.outcome.experiment is None:
            yield f"job {self.outcome.job}: this command runs when Slurm has the nodes; the runs go to {self.store}"
        else:
            yield from self._result.text()

    def __str__(self) -> str:
        """Return what the terminal shows."""
        return "\n".join(self.text())

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        if self.outcome.experiment is None:
            return {"schema": 1, "job": self.outcome.job, "store": self.store}
        return self._result.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """Return one row a cell. Needs pandas."""
        return self._result.to_frame()

    @property
    def problem(self) -> bool:
        """Whether exit code 1 tells of a problem: a condition of ``fail_if`` holds, or trials are missing."""
        return self.is_incomplete or (self.outcome.experiment is not None and self._result.problem)

    def write(self) -> None:
        """Write the page, say what is to be known, and end with the fault of the campaign, if any. Raises
        IncompleteError; an UntriedError if ``fail_if`` then has no answer."""
        if self.outcome.experiment is None:
            return
        try:
            if self.page:
                write_experiment_page(self.store, self.outcome.experiment.id, self._final_level, self.page)
        finally:
            self._report_remarks()
            self._check()  # what was not measured is said, whatever the rest came to

    def _check(self) -> None:
        """Raise what the campaign lacks. A limit that is passed all the same stays an answer."""
        gate = self.comparison.answer.judged if self.outcome.pairs and self.outcome.pairs.fail_if else None
        try:
            self.outcome.check()
        except IncompleteError as error:
            if gate is None or gate.failed:
                raise
            raise _build_untried_error(error.message) from error
        if gate is not None and gate.nothing:
            raise _build_untried_error(Message("nothing-compared", "no pair can be compared"))

    def _report_remarks(self) -> None:
        from iosonde.campaign.turn import is_part_of_another

        where, *remarks = self.outcome.remarks()
        if not is_part_of_another():
            get_front_end().note(where)
        for remark in remarks:
            get_front_end().remark(remark)

    @property
    def _result(self) -> Result[Any]:
        if self.outcome.pairs:
            return self.comparison
        if self.outcome.race:
            return self.race
        return self.path_study if self.outcome.is_path_study else self.summary

    @property
    def _final_level(self) -> float:
        if self.outcome.race:
            return self.outcome.race.confidence
        return self.outcome.pairs.level if self.outcome.pairs else self.level

    @property
    def _query(self) -> ResponseQuery:
        return ResponseQuery(level=self._final_level)

    def _open_source(self, incomplete: bool = False) -> Source:
        experiment = self.outcome.experiment.id if self.outcome.experiment else None
        return RowOptions(experiment=experiment, incomplete=incomplete).open(self.store)


def _build_untried_error(reason: str) -> UntriedError:
    return UntriedError(
        "untried-gate",
        "the gate has no answer: {reason}",
        "fix the cause; the same command measures again",
        reason=reason,
    )
