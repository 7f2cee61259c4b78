"""Base of all answers: stable content as data, rows for a table, and a sentence."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from iosonde.core.verdict import Verdict


class Answer(ABC):
    """Result of a question. ``schema`` is the version of its JSON; it rises when a key changes its meaning."""

    schema: ClassVar[int] = 1

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return its numbers as dicts, lists, texts and numbers; Estimates as ``docs/schemas/`` defines."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return every claim of its sentences, each in one of five states; empty if it claims nothing."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return the content that ``--json`` prints, with null for missing numbers, and the verdicts."""
        claims = type(self).verdicts is not Answer.verdicts
        verdicts = {"verdicts": [verdict.to_json() for verdict in self.verdicts]} if claims else {}
        return {"schema": self.schema, **replace_nonfinite({**self.content(), **verdicts})}

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of ``to_frame``, one flat dict each."""
        return []

    @property
    def problem(self) -> bool:
        """Return whether the command found what it looks for (exit code 1)."""
        return False


def build_level_columns(levels: Mapping[str, Any], row: Collection[str]) -> dict[str, Any]:
    """Map factors to levels as extra columns of a ``row``. A factor whose name is taken becomes ``n (factor)``."""
    return {f"{name} (factor)" if name in row else name: level for name, level in levels.items()}


def join_sentences(sentences: Sequence[tuple[str, str]]) -> str:
    """Join (subject, sentence) pairs; a single sentence stands without its subject."""
    return sentences[0][1] if len(sentences) == 1 else " ".join(f"{what}: {sentence}" for what, sentence in sentences)


def replace_nonfinite(value: Any) -> Any:
    """Replace infinite numbers (an F without residual) and NaN, which JSON lacks, by None."""
    if isinstance(value, Mapping):
        return {key: replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
