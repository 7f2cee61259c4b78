"""What a page shows of a question that its experiment was measured for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.headlines import without_usual_clock


@dataclass(frozen=True)
class AnsweredQuestion:
    """``answer`` is that of ``command``, of this ``kind``; None with why it is ``missing``. ``published``: what its
    source says, in words. ``constant``: factors that it is about, too, of which these trials have one level.
    ``columns``: the factor whose levels are the columns of a summary."""

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
        """What the answer says in one sentence; nothing where it says none."""
        return without_usual_clock(str(getattr(self.answer, "sentence", "")))

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form; the answer as its command's ``--json``."""
        return {
            "question": self.question, "command": self.command, "missing": self.missing, "published": self.published,
            "constant": list(self.constant),
            "answer": None if self.answer is None else self.answer.to_dict(),
        }  # fmt: skip
