"""``--fail-if 'slower>5%'``: what makes a comparison a problem, for a program that runs without a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import DataError, InputError
from .message import Message
from .metrics import changed
from .types import Estimate, Metric
from .units import percent
from .verdict import Verdict, VerdictState

DIFFERENT = "different"
WORDS = ("faster", "slower", "more", "less", DIFFERENT)
_EXAMPLE = "write it like 'slower>5%' or 'more>10%'"
_CONDITION = re.compile(rf"^\s*({'|'.join(WORDS)})\s*>\s*(\d+(?:\.\d+)?)\s*(%?)\s*$")


class GatedComparison(Protocol):
    """A comparison: of two sides, or of pairs."""

    @property
    def gated_ratio(self) -> Estimate | None:
        """B ÷ A, with the interval that passes; None where it has none."""
        ...

    def ratio_at(self, level: float) -> Estimate | None:
        """The same with the interval of another level."""
        ...


@dataclass(frozen=True)
class GateItem:
    """What a gate judges: a comparison with its name and sides. Those of one ``family`` share the error of ``level``;
    ``doubtful``: its interval tells nothing, as an assumption fails."""

    name: str
    comparison: GatedComparison
    metric: Metric
    level: float
    sides: tuple[str, str]
    family: str = ""
    doubtful: bool = False


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

    def ends(self, ratio: Estimate | None, metric: Metric) -> list[tuple[float, float]]:
        """The interval of the factor by which B is so, for each direction that counts; none where it has no ratio."""
        low, high = (None, None) if ratio is None else (ratio.low, ratio.high)
        if low is None or high is None or low <= 0:
            return []
        up, down = (low, high), (1 / high, 1 / low)
        if self.word == DIFFERENT:
            return [up, down]
        return [up if self.word in ("more", changed(metric, True)) else down]

    def holds(self, ratio: Estimate | None, metric: Metric) -> bool | None:
        """Whether it is so; None where that cannot be told."""
        ends = self.ends(ratio, metric)
        if not ends:
            return None
        if any(low > 1 + self.share for low, _ in ends):
            return True
        return None if any(high > 1 + self.share for _, high in ends) else False

    def passed(self, others: bool) -> str:
        """What is said where it holds of no metric, or of no other one."""
        share = f"{100 * self.share:.10g} %"
        no = "no other metric" if others else "no metric"
        if self.word == DIFFERENT:
            return f"{no} differs by more than {share}"
        if self.word in ("more", "less"):
            return f"{no} is over {share} {self.word}"
        return f"{no} is {self.word} than {share}"


@dataclass(frozen=True)
class GateRow:
    """What a condition came to for one comparison: ``holds`` is None where that cannot be told. ``family``: with so
    many comparisons and conditions it shares its error."""

    condition: Threshold
    item: GateItem
    holds: bool | None
    family: int

    @property
    def at_most(self) -> float:
        """The largest share by which B may be so, by the interval that passes."""
        return max((high for _, high in self._intervals), default=1.0) - 1

    @property
    def _intervals(self) -> list[tuple[float, float]]:
        return self.condition.ends(self.item.comparison.gated_ratio, self.item.metric)

    def verdict(self) -> Verdict:
        """DIFFERENT: it holds; EQUAL: it does not."""
        states = {True: VerdictState.DIFFERENT, False: VerdictState.EQUAL, None: VerdictState.INCONCLUSIVE}
        return Verdict(
            "gate",
            self.item.name,
            self.item.sides,
            states[self.holds],
            claim=str(self.condition),
            estimate=self.item.comparison.gated_ratio,
            family=self.family,
        )


@dataclass(frozen=True)
class Gate:
    """The ``conditions``, any of which is a problem; ``strict``: also where one cannot be told."""

    conditions: tuple[Threshold, ...]
    strict: bool = False

    def judge(
        self, items: Sequence[GateItem], sealed: bool = False, not_gated: Sequence[tuple[str, str]] = ()
    ) -> GateVerdict:
        """What it says of comparisons. ``not_gated``: (comparison, why) of those that it is not asked about. Raises
        DataError where a condition is of none of them, unless it was ``sealed`` before anybody could know: then it
        cannot be told."""
        tests: list[tuple[Threshold, GateItem]] = []
        untold: list[tuple[str, str]] = []
        for condition in self.conditions:
            concerned = [item for item in items if condition.concerns(item.metric)]
            if not concerned and sealed:
                why = Message("no-metric", "no number that decides can be so")
                untold.append((str(condition), why))
            elif not concerned:
                raise DataError(
                    "condition-not-applicable",
                    "'{condition}' is of none of the {n_comparisons} comparisons",
                    "only rates and times are faster or slower: take more or less",
                    condition=condition,
                    n_comparisons=len(items),
                )
            tests += [(condition, item) for item in concerned]
        gated = {item.name for _, item in tests}
        why = Message("no-better-direction", "neither a rate nor a time")
        others = [(item.name, why) for item in items if item.name not in gated]
        return GateVerdict(self, tuple(_build_rows(tests)), tuple(untold), (*others, *not_gated))

    def inconclusive(self, name: str) -> GateVerdict:
        """What it says where nothing can be compared, as one side never came to its end: that passes no gate."""
        return GateVerdict(self, (), tuple((str(condition), name) for condition in self.conditions), nothing=True)


Test = tuple[Threshold, GateItem]


def _build_rows(tests: Sequence[Test]) -> list[GateRow]:
    """A condition holds by an interval that Holm's correction widens for its family; it does not hold by the interval
    as it is, since a gate passes only where every condition fails to hold."""
    families: dict[str, list[int]] = {}
    for place, (_, item) in enumerate(tests):
        families.setdefault(item.family, []).append(place)
    met_places = {place for family in families.values() for place in _find_met(tests, family)}
    return [
        GateRow(*test, True if place in met_places else _fails_to_hold(test), len(families[test[1].family]))
        for place, test in enumerate(tests)
    ]


def _fails_to_hold(test: Test) -> bool | None:
    """False where the interval lies on this side of the limit, else None."""
    condition, item = test
    is_unmet = not item.doubtful and condition.holds(item.comparison.gated_ratio, item.metric) is False
    return False if is_unmet else None


def _find_met(tests: Sequence[Test], family: Sequence[int]) -> Iterator[int]:
    """Holm (1979): the clearest of m by an interval of 1 - alpha ÷ m, the next of 1 - alpha ÷ (m - 1), and so on."""
    remaining = [place for place in family if tests[place][1].comparison.gated_ratio and not tests[place][1].doubtful]
    while remaining:
        now = [place for place in remaining if _holds_among(len(remaining), *tests[place])]
        if not now:
            return
        yield from now
        remaining = [place for place in remaining if place not in now]


def _holds_among(many: int, condition: Threshold, item: GateItem) -> bool:
    """Whether it does by an interval that shares the error with so many."""
    return bool(condition.holds(item.comparison.ratio_at(1 - (1 - item.level) / many), item.metric))


@dataclass(frozen=True)
class GateVerdict:
    """``rows``: each condition of each comparison; ``none``: (condition, why) of those that are of none; ``not_gated``:
    (comparison, why); ``nothing``: there was nothing to compare."""

    gate: Gate
    rows: tuple[GateRow, ...] = ()
    none: tuple[tuple[str, str], ...] = ()
    not_gated: tuple[tuple[str, str], ...] = ()
    nothing: bool = False

    @property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """(condition, comparison) of those that hold."""
        return tuple((str(row.condition), row.item.name) for row in self.rows if row.holds)

    @property
    def untold(self) -> tuple[tuple[str, str], ...]:
        """(condition, comparison) of those that cannot be told."""
        return (*((str(row.condition), row.item.name) for row in self.rows if row.holds is None), *self.none)

    @property
    def problem(self) -> bool:
        """Whether that ends with exit code 1."""
        return bool(self.failed) or self.nothing or (self.gate.strict and bool(self.untold))

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The claim of each condition and comparison."""
        inapplicable = (
            Verdict("gate", why, (), VerdictState.INCONCLUSIVE, claim=condition) for condition, why in self.none
        )
        return (*(row.verdict() for row in self.rows), *inapplicable)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What it came to, one line each."""
        sentences: list[str] = [
            Message("gate-failed", "failed: {comparison}: {condition}", comparison=name, condition=condition)
            for condition, name in self.failed
        ]
        words = "inconclusive: {comparison}: {condition}"
        template = f"failed as {words}" if self.gate.strict or self.nothing else words
        sentences += [
            Message("gate-inconclusive", template, comparison=name, condition=condition)
            for condition, name in self.untold
        ]
        sentences += [
            self._describe_pass(condition, bool(sentences))
            for condition in self.gate.conditions
            if self._select_passing(condition)
        ]
        reasons: dict[str, list[str]] = {}
        for name, why in self.not_gated:
            reasons.setdefault(why, []).append(name)
        not_gated = (
            Message("not-gated", "not gated ({reason}): {comparisons}", reason=why, comparisons=", ".join(names))
            for why, names in reasons.items()
        )
        return (*sentences, *not_gated)

    def _select_passing(self, condition: Threshold) -> list[GateRow]:
        return [row for row in self.rows if row.condition == condition and row.holds is False]

    def _describe_pass(self, condition: Threshold, others: bool) -> str:
        """With how much it may be at most, of the metric of which that is most."""
        passing = self._select_passing(condition)
        row = max(passing, key=lambda row: row.at_most)
        which = f" ({row.item.name})" if len(passing) > 1 else ""
        most = f"; at most {percent(row.at_most)} {condition.word}{which}" if row.at_most > 0 else ""
        return Message(
            "gate-passed",
            "{conclusion}{limit}" if others else "passed: {conclusion}{limit}",
            conclusion=condition.passed(others),
            limit=most,
            condition=condition,
            at_most=row.at_most,
        )

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "conditions": [str(condition) for condition in self.gate.conditions],
            "strict": self.gate.strict,
            "failed": [{"condition": condition, "of": name} for condition, name in self.failed],
            "cannot_tell": [{"condition": condition, "of": name} for condition, name in self.untold],
            "passed": [
                {"condition": str(row.condition), "of": row.item.name, "at_most": row.at_most}
                for row in self.rows
                if row.holds is False
            ],
            "not_gated": [{"of": name, "why": why} for name, why in self.not_gated],
            "problem": self.problem,
        }


def gate_of(texts: Sequence[str], strict: bool) -> Gate | None:
    """The gate of conditions as they are written; None without any. Raises InputError."""
    if strict and not texts:
        raise InputError(
            "missing-condition",
            "{spell.strict} has no condition",
            "give one with {spell.fail_if}: {example}",
            example=_EXAMPLE,
        )
    conditions = []
    for text in texts:
        matched = _CONDITION.match(text)
        if not matched:
            raise InputError(
                "invalid-gate-condition",
                "'{condition}' is not a condition: WORD>SHARE, the word one of {allowed}",
                "{example}",
                condition=text,
                allowed=", ".join(WORDS),
                example=_EXAMPLE,
            )
        conditions.append(Threshold(matched[1], float(matched[2]) / (100 if matched[3] else 1)))
    return Gate(tuple(conditions), strict) if conditions else None
