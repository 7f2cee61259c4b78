"""What a figure shows, as data: ``iosonde plot --json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.answers.answer import Answer


@dataclass(frozen=True)
class Drawn(Answer):
    """Figures by their kinds, each an answer or a dataclass of the page; ``notes`` say what to know of them."""

    figures: Sequence[tuple[str, Any]]
    notes: Sequence[str] = ()

    def content(self) -> dict[str, Any]:
        """Every figure with its data, in base units."""
        return {
            "figures": [
                {"kind": kind, **(one.content() if isinstance(one, Answer) else asdict(one))}
                for kind, one in self.figures
            ],
            "notes": list(self.notes),
        }
