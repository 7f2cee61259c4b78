"""The study of paths in a store, of which the package of extras makes tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.answers.answer import Answer
from iosonde.core.plugins import find_entry_points, load_plugin

if TYPE_CHECKING:
    from iosonde.data.source import Source
    from iosonde.layout.figure import Figure
    from iosonde.layout.vocabulary import Spec

_GROUP, _NAME = "iosonde.studies", "path-study"


class PathStudy(Answer):
    """Studies of a store, which show themselves."""

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Return the tables as text."""

    @abstractmethod
    def short_lines(self) -> Iterator[str]:
        """Return the largest losses as text."""

    @abstractmethod
    def figure(self) -> Figure:
        """Draw time against size, with the line of each condition."""

    @abstractmethod
    def panels(self) -> Spec:
        """Return the panels of the figure."""


def is_path_study_request(source: Source | None, response: object, parts: object) -> bool:
    """Return whether ``time-model`` concerns a study of paths: a store without a response or parts."""
    return source is not None and source.knows_factors and not response and not parts


def analyse_path_study(source: Source, level: float) -> PathStudy:
    """Return the tables of every study in the store. Raises DataError if there is none, InputError without the
    package."""
    study: PathStudy = load_plugin(_GROUP, _NAME, "a study of paths").path_study(source, level)
    return study


def find_path_study(source: Source, level: float, names: Sequence[str]) -> PathStudy | None:
    """Return the tables of a store's studies, if they have operations in ``names`` (none: all); None if no study has
    sizes enough for a line, or without the package."""
    if _NAME not in find_entry_points(_GROUP):
        return None
    study: PathStudy | None = load_plugin(_GROUP, _NAME).build_path_study(source, level, names)
    return study
