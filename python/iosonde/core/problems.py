"""All mistakes in a user's file at once, each with its place (file, line, key), the problem and a hint."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore_message

MAX_LISTED = 10
UNKNOWN_KEY = Message("unknown-key", "unknown key")


@dataclass(frozen=True)
class Problem:
    """A mistake. ``place`` is a line of the file, or the option that it came from, or unknown; ``what`` is a Message if
    it was created here."""

    place: int | str | None
    key: str
    what: str
    hint: str = ""

    @property
    def code(self) -> str:
        """Stable code of the mistake."""
        return self.what.code if isinstance(self.what, Message) else "invalid-document"

    @property
    def values(self) -> dict[str, object]:
        """Values in the message, and its place."""
        values = self.what.values if isinstance(self.what, Message) else {}
        return {**values, "place": self.place, "key": self.key}


class SpecError(InputError):
    """A file that cannot be used as it is. ``problems`` are all its mistakes, in the order of the file.

    A single mistake is a message and a hint; several have a line each in ``details``.
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.problems = sorted(problems, key=lambda item: item.place if isinstance(item.place, int) else 0)
        if len(self.problems) == 1:
            (problem,) = self.problems
            self._set_texts(restore_message(problem.code, _format_problem(name, problem), problem.values), problem.hint)
            return
        super().__init__(
            "several-mistakes",
            "{name} has {mistakes} mistakes",
            "correct them; nothing was started",
            name=name or "the experiment",
            mistakes=len(problems),
        )
        lines = [
            _format_problem(name, item) + (f"; {item.hint}" if item.hint else "") for item in self.problems[:MAX_LISTED]
        ]
        more = len(self.problems) - MAX_LISTED
        self.details = (*lines, *([f"and {more} more"] if more > 0 else []))


def suggest_replacement(word: str, choices: Iterable[str]) -> str:
    """Suggest a replacement for an unknown word: the nearest known one, else all of them."""
    words = list(choices)
    near = find_closest_word(word, words)
    return f"did you mean {near}?" if near else f"known: {', '.join(words)}"


def find_closest_word(word: str, candidates: Iterable[str]) -> str:
    """Return the known word most similar to an unknown one; '' if none is similar."""
    return next(iter(difflib.get_close_matches(word, list(candidates), n=1, cutoff=0.6)), "")


def _format_problem(name: str, problem: Problem) -> str:
    if isinstance(problem.place, str):
        where = problem.place
    else:
        where = name + (f":{problem.place}" if name and problem.place else "")
        where += f"{': ' if where and problem.key else ''}{problem.key}"
    return f"{where}: {problem.what}" if where else problem.what
