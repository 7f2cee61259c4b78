"""Conditions of a gate: ``slower>5%``, ``read: slower>3%`` of some metrics, or an absolute limit as ``p99>5ms``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .absolute_limit import AbsoluteLimit, parse_limit
from .deciding import Name, select_names_by_metric
from .errors import InputError
from .metrics import build_metric, describe_change
from .types import Estimate, Metric

DIFFERENT = "different"
WORDS = ("faster", "slower", "more", "less", DIFFERENT)
EXAMPLE = (
    "write it like 'slower>5%' or 'more>10%', for some metrics 'read: slower>3%', or with a metric and a unit, as "
    "'p99>5ms' or 'bandwidth<2GiB/s'"
)
_CONDITION = re.compile(rf"^\s*(?:([^:<>%]*[^:<>%\s])\s*:)?\s*({'|'.join(WORDS)})\s*>\s*(\d+(?:\.\d+)?)\s*(%?)\s*$")
_SCOPE = re.compile(r"^\s*([^:<>%]*[^:<>%\s])\s*:\s+")  # before a metric and its limit


@dataclass(frozen=True)
class Threshold:
    """A condition such as ``slower>5%``: B is slower than the baseline by a factor above 1.05 over the
    whole interval. ``metric``: the metrics that it is about, in the words of ``--metric``; '' if all."""

    word: str
    share: float
    metric: str = ""

    def __str__(self) -> str:
        """Return the condition as written by the user."""
        return f"{self.metric}: {self.bound_text}" if self.metric else self.bound_text

    @property
    def bound_text(self) -> str:
        """Return the limit without the metrics: ``slower>5%``."""
        return f"{self.word}>{100 * self.share:.10g}%"

    def select_names(self, names: Sequence[Name], conditions: Sequence[Condition]) -> list[Name]:
        """Return the names that the condition is about: a general one leaves those out for which one of the other
        ``conditions`` has a limit of the same word."""
        if self.metric:
            return select_names_by_metric(names, self.metric)
        own = [other for other in conditions if isinstance(other, Threshold) and other.metric]
        special = {name for c in own if c.word == self.word for name in select_names_by_metric(names, c.metric)}
        return [name for name in names if name not in special]

    def concerns(self, metric: Metric) -> bool:
        """Return whether the condition applies to this metric: only rates and times can be faster or slower."""
        return self.word in (DIFFERENT, "more", "less") or describe_change(metric, True) in ("faster", "slower")

    def ends(self, ratio: Estimate | None, metric: Metric) -> list[tuple[float, float]]:
        """Return the interval of the change factor for each direction that counts; empty without a ratio."""
        low, high = (None, None) if ratio is None else (ratio.low, ratio.high)
        if low is None or high is None or low <= 0:
            return []
        up, down = (low, high), (1 / high, 1 / low)
        if self.word == DIFFERENT:
            return [up, down]
        return [down if self.is_inverted(metric) else up]

    def is_inverted(self, metric: Metric) -> bool:
        """Return whether the change factor is A ÷ B: 1.25 for a rate that falls to 0.8, which sentences call 20 %
        slower."""
        return self.word not in (DIFFERENT, "more", describe_change(metric, True))

    def holds(self, ratio: Estimate | None, metric: Metric) -> bool | None:
        """Return whether the condition holds; None if inconclusive."""
        ends = self.ends(ratio, metric)
        if not ends:
            return None
        if any(low > 1 + self.share for low, _ in ends):
            return True
        return None if any(high > 1 + self.share for _, high in ends) else False

    def passed_by(self, a: str, b: str, metrics: str = "any metric") -> str:
        """Describe a condition that holds for none of the ``metrics`` of B, compared with those of A."""
        change = f"does not differ from {a}" if self.word == DIFFERENT else f"is not {self.word} than {a}"
        return f"{b} {change} by over {100 * self.share:.10g} % in {metrics}"

    def passed(self, others: bool) -> str:
        """Describe a condition that holds for no metric, or for no other one."""
        share = f"{100 * self.share:.10g} %"
        no = " ".join(filter(None, ("no other" if others else "no", self.metric or "metric")))
        if self.word == DIFFERENT:
            return f"{no} differs by more than {share}"
        if self.word in ("more", "less"):
            return f"{no} is over {share} {self.word}"
        return f"{no} is {self.word} than {share}"


Condition = Threshold | AbsoluteLimit


def has_applicable_limit(condition: Condition, name: Name, conditions: Sequence[Condition] = ()) -> bool:
    """Return whether a condition, one of the ``conditions``, can be tested with the numbers of this operation, metric
    and unit."""
    if isinstance(condition, Threshold):
        return bool(condition.select_names([name], conditions)) and condition.concerns(build_metric(*name[1:]))
    return bool(condition.select_names([name])) and condition.convert_bound(name[2]) is not None


def parse_condition(text: str) -> Condition:
    """Parse a condition, of all metrics or of some. Raises InputError."""
    if matched := _CONDITION.match(text):
        metric, word, number, percent = matched.groups()
        if not percent and float(number) > 1:
            raise InputError(
                "ambiguous-share",
                "'{condition}' is a share of {percent} %",
                "write '{word}>{number}%', or '{word}>{percent}%' if that is meant",
                condition=text,
                word=word,
                number=number,
                percent=f"{100 * float(number):g}",
            )
        return Threshold(word, float(number) / (100 if percent else 1), metric or "")
    limit = parse_limit(_SCOPE.sub(r"\1 ", text))
    if limit is None or limit.metric in WORDS:
        raise InputError(
            "invalid-gate-condition",
            "'{condition}' is not a condition: WORD>SHARE or METRIC: WORD>SHARE, with WORD one of {allowed}, or "
            "METRIC>LIMIT, METRIC<LIMIT",
            "{example}",
            condition=text,
            allowed=", ".join(WORDS),
            example=EXAMPLE,
        )
    return limit
