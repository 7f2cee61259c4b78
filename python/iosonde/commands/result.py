"""What a command gives: an answer that shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from iosonde.core.errors import InputError, IosondeError
from iosonde.core.headlines import build_name_writer
from iosonde.layout.text import writing_names

if TYPE_CHECKING:
    import pandas as pd

    from iosonde.layout.figure import Figure


class TabularAnswer(Protocol):
    """An answer as data."""

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""

    def records(self) -> list[dict[str, Any]]:
        """Return one flat dict for each cell, factor or finding."""


# Keys of JSON whose values are for people.
_SENTENCES = frozenset(("sentence", "sentences", "warnings"))
AnswerT = TypeVar("AnswerT", bound=TabularAnswer)


@dataclass(frozen=True)
class Result(Generic[AnswerT]):
    """An answer that shows itself. ``answer`` holds its estimates, findings and sentence, with their types; ``lines``
    makes its text, ``figure`` its figure, where there is one; ``write`` writes the files that were asked for;
    ``error``: what a command ends with after it printed its answer. In Python it is raised, but an
    IncompleteError is only in the answer, and a PartialInputError is a warning."""

    answer: AnswerT
    lines: Callable[[AnswerT], Iterable[str]]
    figure: Callable[..., Figure] | None = None
    write: Callable[[], object] | None = None
    error: IosondeError | None = None

    def __str__(self) -> str:
        """Return what the terminal shows."""
        return "\n".join(self.text())

    __repr__ = __str__

    def text(self) -> Iterable[str]:
        """Return the lines that the terminal shows."""
        write = _choose_name_writer(self.answer)
        return self.lines(self.answer) if write is None else self._write_lines(write)

    def _write_lines(self, write: Callable[[str], str]) -> Iterator[str]:
        """Iterate over the lines with the names that people read; each is shown as soon as it is known."""
        lines = iter(self.lines(self.answer))
        while True:
            with writing_names(write):
                line = next(lines, None)
            if line is None:
                return
            yield write(line)

    @property
    def problem(self) -> bool:
        """Whether it is a problem that the command exists to find: exit code 1."""
        return bool(getattr(self.answer, "problem", False))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return build_document(self.answer)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each cell, factor or finding. Needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise InputError(
                "missing-package", "a frame needs pandas", "pip install pandas, or use .to_dict()"
            ) from error
        return pd.DataFrame(self.answer.records())

    def plot(self, **how: Any) -> Figure:
        """Return the figure, which shows itself in a notebook and has ``.save("name.pdf")``; ``how`` chooses where an
        answer has several. Raises InputError where it has none."""
        if self.figure is None:
            raise InputError("no-figure", "this answer has no figure", "iosonde.plot draws DATA itself")
        return self.figure(self.answer, **how)


def build_document(answer: TabularAnswer) -> dict[str, Any]:
    """Return the JSON of an answer, with the names that people read in its sentences."""
    document, write = answer.to_dict(), _choose_name_writer(answer)
    return document if write is None else _write_sentences(document, write)


def _choose_name_writer(answer: TabularAnswer) -> Callable[[str], str] | None:
    titles = [verdict.response for verdict in getattr(answer, "verdicts", ())]
    examples = getattr(answer, "examples", None)
    learned = [] if examples is None else [examples.response]
    return build_name_writer([*titles, *learned, *getattr(answer, "responses", ())])


def _write_sentences(value: Any, write: Callable[[str], str], is_sentence: bool = False) -> Any:
    """Return a JSON document whose sentences have the names that people read; other values are names for programs."""
    if isinstance(value, dict):
        return {key: _write_sentences(each, write, key in _SENTENCES) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_sentences(each, write, is_sentence) for each in value]
    return write(value) if is_sentence and isinstance(value, str) else value
