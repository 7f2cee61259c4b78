"""What the functions give: an answer that shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from iosonde.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from iosonde.report.figures.figure import Figure


class TabularAnswer(Protocol):
    """What was found, as data."""

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""

    def records(self) -> list[dict[str, Any]]:
        """One flat dict for each thing that was asked about."""


AnswerT = TypeVar("AnswerT", bound=TabularAnswer)


@dataclass(frozen=True)
class Result(Generic[AnswerT]):
    """An answer that shows itself. ``answer`` holds its estimates, findings and sentence, with their types; ``lines``
    makes its text, ``figure`` its figure, where there is one."""

    answer: AnswerT
    lines: Callable[[AnswerT], Iterable[str]]
    figure: Callable[..., Figure] | None = None

    def __str__(self) -> str:
        """What the terminal shows."""
        return "\n".join(self.lines(self.answer))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return self.answer.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """One row for each thing that was asked about: a cell, a factor, a finding. Needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise InputError(
                "missing-package", "a frame needs pandas", "pip install pandas, or use .to_dict()"
            ) from error
        return pd.DataFrame(self.answer.records())

    def plot(self, **how: Any) -> Figure:
        """The figure, which shows itself in a notebook and has ``.save("name.pdf")``; ``how`` chooses where an answer
        has several. Raises InputError where it has none."""
        if self.figure is None:
            raise InputError("no-figure", "this answer has no figure", "iosonde.plot draws DATA itself")
        return self.figure(self.answer, **how)
