"""What a study of paths says, which is a time model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iosonde.commands.files import figure_writer
from iosonde.commands.result import Result

if TYPE_CHECKING:
    from iosonde.commands.diagnose.path_study import PathStudy
    from iosonde.data.source import Source
    from iosonde.layout.figure import Figure


def analyse_path_study(source: Source, level: float, plot: str | None = None) -> Result[PathStudy]:
    """Fit the conditions of a study of paths, and put its patterns to them; ``plot``: a file for its figure. Raises
    DataError."""
    from iosonde.commands.diagnose.path_study import path_study
    from iosonde.commands.diagnose.text_path_study import lines

    study = path_study(source, level)
    return Result(study, lines, draw_path_study, figure_writer(plot, lambda: draw_path_study(study)))


def draw_path_study(study: PathStudy) -> Figure:
    """Draw time against size, with the line of each condition."""
    from iosonde.commands.diagnose.figure_path_study import figure

    return figure([paths for tables in study.studies for paths in tables.drawn])
