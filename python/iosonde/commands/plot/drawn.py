"""Content of figures, as data: ``iosonde plot --json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.verdict import Verdict


@dataclass(frozen=True)
class Drawn(Answer):
    """Figures by kind, each an answer or a dataclass of the page. ``notes`` describe them, ``omissions`` explain what
    is not drawn. ``axis``: the noun of the x axis of bars and latencies; ``columns``: panels in a row."""

    figures: tuple[tuple[str, Any], ...]
    notes: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()
    axis: str = ""
    columns: int = 1

    def content(self) -> dict[str, Any]:
        """Return every figure with its data, in base units."""
        return {
            "figures": [
                {"kind": kind, **(figure.content() if isinstance(figure, Answer) else asdict(figure))}
                for kind, figure in self.figures
            ],
            "notes": [*self.notes, *self.omissions],
        }

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts of its figures."""
        return tuple(verdict for _, figure in self.figures if isinstance(figure, Answer) for verdict in figure.verdicts)
