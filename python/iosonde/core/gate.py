"""``--fail-if 'slower>5%'``: what makes a comparison a problem, for a program that runs without a reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import DataError, InputError
from .metrics import changed
from .types import Estimate, Metric

DIFFERENT = "different"
WORDS = ("faster", "slower", "more", "less", DIFFERENT)
_EXAMPLE = "write it like 'slower>5%' or 'more>10%'"
_CONDITION = re.compile(rf"^\s*({'|'.join(WORDS)})\s*>\s*(\d+(?:\.\d+)?)\s*(%?)\s*$")


class WithRatio(Protocol):
    """A comparison: of two sides, or of pairs."""

    @property
    def ratio(self) -> Estimate | None:
        """B ÷ A; None where it has none."""
        ...


@dataclass(frozen=True)
class Threshold:
    """``slower>5%``: B is slower than the base, and the whole interval says by more than a factor of 1.05."""

    word: str
    share: float

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.word}>{100 * self.share:.10g}%"

    def concerns(self, metric: Metric) -> bool:
        """Whether a value of this metric can be so: only rates and times are faster and slower."""
        return self.word in (DIFFERENT, "more", "less") or changed(metric, True) in ("faster", "slower")

    def ends(self, one: WithRatio, metric: Metric) -> list[tuple[float, float]]:
        """The interval of the factor by which B is so, for each direction that counts; none where it has no ratio."""
        low, high = (None, None) if one.ratio is None else (one.ratio.low, one.ratio.high)
        if low is None or high is None or low <= 0:
            return []
        up, down = (low, high), (1 / high, 1 / low)
        if self.word == DIFFERENT:
            return [up, down]
        return [up if self.word in ("more", changed(metric, True)) else down]

    def holds(self, one: WithRatio, metric: Metric) -> bool | None:
        """Whether it is so; None where that cannot be told."""
        ends = self.ends(one, metric)
        if not ends:
            return None
        if any(low > 1 + self.share for low, _ in ends):
            return True
        return None if any(high > 1 + self.share for _, high in ends) else False


@dataclass(frozen=True)
class Gate:
    """The ``conditions``, any of which is a problem; ``strict``: also where one cannot be told."""

    conditions: tuple[Threshold, ...]
    strict: bool = False

    def judged(self, items: Sequence[tuple[str, WithRatio, Metric]], sealed: bool = False) -> GateVerdict:
        """What it says of comparisons, which have a name. Raises DataError where a condition is of none of them, unless
        it was ``sealed`` before anybody could know: then it cannot be told."""
        failed: list[tuple[str, str]] = []
        untold: list[tuple[str, str]] = []
        for condition in self.conditions:
            concerned = [one for one in items if condition.concerns(one[2])]
            if not concerned and sealed:
                untold.append((str(condition), "no number that decides can be so"))
            elif not concerned:
                raise DataError(f"'{condition}' is of none of the {len(items)} comparisons",
                                "only rates and times are faster or slower: take more or less")  # fmt: skip
            for name, one, metric in concerned:
                holds = condition.holds(one, metric)
                if holds is not False:
                    (failed if holds else untold).append((str(condition), name))
        return GateVerdict(self, tuple(failed), tuple(untold))

    def untold(self, name: str) -> GateVerdict:
        """What it says where nothing can be compared, as one side never came to its end: that passes no gate."""
        return GateVerdict(self, (), tuple((str(one), name) for one in self.conditions), True)


@dataclass(frozen=True)
class GateVerdict:
    """(condition, comparison) of those that hold, and of those that cannot be told; ``nothing``: there was nothing to
    compare."""

    gate: Gate
    failed: tuple[tuple[str, str], ...]
    untold: tuple[tuple[str, str], ...]
    nothing: bool = False

    @property
    def problem(self) -> bool:
        """Whether that ends with exit code 1."""
        return bool(self.failed) or self.nothing or (self.gate.strict and bool(self.untold))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it came to, one line each."""
        said = [f"failed: {name}: {condition}" for condition, name in self.failed]
        word = "failed, as it cannot be told" if self.gate.strict or self.nothing else "cannot be told"
        said += [f"{word}: {name}: {condition}" for condition, name in self.untold]
        return tuple(said or [f"passed: {', '.join(map(str, self.gate.conditions))} of no comparison"])

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "conditions": [str(one) for one in self.gate.conditions], "strict": self.gate.strict,
            "failed": [{"condition": condition, "of": name} for condition, name in self.failed],
            "cannot_tell": [{"condition": condition, "of": name} for condition, name in self.untold],
            "problem": self.problem,
        }  # fmt: skip


def gate_of(texts: Sequence[str], strict: bool) -> Gate | None:
    """The gate of conditions as they are written; None without any. Raises InputError."""
    if strict and not texts:
        raise InputError("--strict has no condition", f"give one with --fail-if: {_EXAMPLE}")
    found = []
    for text in texts:
        matched = _CONDITION.match(text)
        if not matched:
            raise InputError(f"'{text}' is not a condition: WORD>SHARE, the word one of {', '.join(WORDS)}", _EXAMPLE)
        found.append(Threshold(matched[1], float(matched[2]) / (100 if matched[3] else 1)))
    return Gate(tuple(found), strict) if found else None
