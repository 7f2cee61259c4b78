"""Shares of a variance: of one factor, and of one part of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from iosonde.core.types import Estimate


@dataclass(frozen=True)
class Shares:
    """Shares of a variance of one factor. ``s1_corrected`` and ``st_corrected`` exclude the noise's part;
    ``importance`` is S1 over the sum of all S1. ``st`` without a value was refused, with the reason in its warnings."""

    s1: Estimate
    s1_corrected: float | None
    st: Estimate
    st_corrected: float | None
    importance: float

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {
            **self.s1.flat("s1"),
            "s1_corrected": self.s1_corrected,
            **self.st.flat("st"),
            "st_corrected": self.st_corrected,
            "importance": self.importance,
        }


@dataclass(frozen=True)
class VariancePart:
    """A part of the variance. ``share`` excludes what noise adds to it (adjusted R², ω²), ``plain`` includes it; ``f``
    and ``p`` are against the noise, for ``df`` degrees of freedom; None: unknown."""

    share: Estimate
    plain: float
    df: int
    f: float | None
    p: float | None

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {**self.share.flat("share"), "share_plain": self.plain, "df": self.df, "f": self.f, "p": self.p}
