"""A question of the experiment on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.headlines import without_usual_clock


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question with the ``answer`` of ``command``, of this ``kind``; None with the reason in ``missing``.
    ``published``: the result in its source, in words. ``constant``: factors of the question with only one level in
    these trials. ``columns``: the factor whose levels are the columns of a summary."""

    question: str
    kind: str
    command: str
    answer: Answer | None
    missing: str = ""
    published: str = ""
    constant: tuple[str, ...] = ()
    columns: str = ""

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence; empty if it has none."""
        return without_usual_clock(str(getattr(self.answer, "sentence", "")))

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form; the answer has its command's ``--json``."""
        return {
            "question": self.question,
            "command": self.command,
            "missing": self.missing,
            "published": self.published,
            "constant": list(self.constant),
            "answer": None if self.answer is None else self.answer.to_dict(),
        }
