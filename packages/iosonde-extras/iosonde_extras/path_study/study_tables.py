"""A study of paths and its tables, as data."""

from dataclasses import dataclass, field

from .drawn import DrawnPaths
from .models import Confusion, PathCell, PathModels, PathPart, PatternRow


@dataclass(frozen=True)
class Study:
    """All cells of the study at one setting of everything else (``name``), with the fitted models. ``notes``: states
    that could not be established."""

    name: str
    cells: tuple[PathCell, ...] = field(repr=False)
    models: dict[str, PathModels]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class StudyTables:
    """Tables of one study: its pattern rows, the confusion of states, the parts of a read's time, and the figure."""

    study: Study
    rows: tuple[PatternRow, ...]
    confusion: tuple[Confusion, ...]
    parts: tuple[PathPart, ...]
    drawn: tuple[DrawnPaths, ...] = ()
