"""What every answer has in common: a stable form as data, rows for a table, and its sentence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from iosonde.core.verdict import Verdict


class Answer(ABC):
    """What a question came to. ``schema`` is the version of its JSON; it rises when a key changes its meaning."""

    schema: ClassVar[int] = 1

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Its numbers as dicts, lists, texts and numbers; Estimates as ``docs/schemas/`` says."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every claim that its sentences make, each in one of five states. An answer that claims nothing has none."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints: the content, with null where a number does not exist, and the verdicts."""
        claims = type(self).verdicts is not Answer.verdicts
        verdicts = {"verdicts": [verdict.to_json() for verdict in self.verdicts]} if claims else {}
        return {"schema": self.schema, **finite({**self.content(), **verdicts})}

    def records(self) -> list[dict[str, Any]]:
        """One flat dict for each thing that was asked about: the rows of ``to_frame``."""
        return []

    @property
    def problem(self) -> bool:
        """Whether it found what its command exists to find (exit code 1)."""
        return False


def level_columns(levels: Mapping[str, Any], row: Collection[str]) -> dict[str, Any]:
    """Factor → level, as columns beside the others of a ``row``: a factor that is called as one of these is
    ``n (factor)``, so that neither takes the place of the other."""
    return {f"{name} (factor)" if name in row else name: level for name, level in levels.items()}


def join_sentences(sentences: Sequence[tuple[str, str]]) -> str:
    """One sentence as it is; of several each with what it is about: (what, sentence)."""
    return sentences[0][1] if len(sentences) == 1 else " ".join(f"{what}: {sentence}" for what, sentence in sentences)


def finite(value: Any) -> Any:
    """Infinite numbers (an F where nothing is left over) and NaN have no JSON: None."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
