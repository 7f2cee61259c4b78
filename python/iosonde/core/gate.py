"""``--fail-if 'slower>5%'``: conditions that make a comparison fail an unattended program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .errors import DataError, InputError
from .message import Message
from .metrics import describe_change
from .types import Estimate, Metric
from .units import format_percent, format_ratio
from .verdict import UncheckedClaim, VerdictState

DIFFERENT = "different"
WORDS = ("faster", "slower", "more", "less", DIFFERENT)
_EXAMPLE = "write it like 'slower>5%' or 'more>10%'"
_CONDITION = re.compile(rf"^\s*({'|'.join(WORDS)})\s*>\s*(\d+(?:\.\d+)?)\s*(%?)\s*$")


class GatedComparison(Protocol):
    """A comparison of two sides, or of pairs."""

    @property
    def gated_ratio(self) -> Estimate | None:
        """Ratio B ÷ A, with the interval that passes; None if there is none."""
        ...

    def ratio_at(self, level: float) -> Estimate | None:
        """Return the ratio with an interval at another level."""
        ...


@dataclass(frozen=True)
class GateItem:
    """A comparison to be gated, with its name and sides. Comparisons of one ``family`` share the error of ``level``.
    ``doubtful``: its interval is unreliable because an assumption fails. ``same_as`` names another comparison of the
    same evidence, such as the bandwidth of a rate: the two count once in their family."""

    name: str
    comparison: GatedComparison
    metric: Metric
    level: float
    sides: tuple[str, str]
    family: str = ""
    doubtful: bool = False
    same_as: str = ""


@dataclass(frozen=True)
class Threshold:
    """A condition such as ``slower>5%``: B is slower than the baseline by a factor above 1.05 over the
    whole interval."""

    word: str
    share: float

    def __str__(self) -> str:
        """Return the condition as written by the user."""
        return f"{self.word}>{100 * self.share:.10g}%"

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
        no = "no other metric" if others else "no metric"
        if self.word == DIFFERENT:
            return f"{no} differs by more than {share}"
        if self.word in ("more", "less"):
            return f"{no} is over {share} {self.word}"
        return f"{no} is {self.word} than {share}"


@dataclass(frozen=True)
class GateRow:
    """The result of one condition for one comparison. ``holds`` is None if inconclusive. ``family`` counts the tests
    that share its error."""

    condition: Threshold
    item: GateItem
    holds: bool | None
    family: int

    @property
    def at_most(self) -> float:
        """Largest share that the interval allows in the tested direction."""
        ends = self.condition.ends(self.item.comparison.gated_ratio, self.item.metric)
        return max((high for _, high in ends), default=1.0) - 1

    def describe_factor(self, relation: str, share: float) -> str:
        """Describe the change factor 1 + ``share`` in brackets where it is not the ratio B ÷ A, else ''."""
        if not self.condition.is_inverted(self.item.metric):
            return ""
        a, b = self.item.sides
        return f" ({a} ÷ {b} {relation} {format_ratio(1 + share)})"

    def describe(self, code: str, words: str) -> str:
        """Return the message ``code``: the result in ``words``, the comparison and its condition."""
        return Message(
            code,
            f"{words}: {{comparison}}: {{condition}}{{factor}}",
            comparison=self.item.name,
            condition=str(self.condition),
            factor=self.describe_factor("over", self.condition.share),
        )

    def claim(self) -> UncheckedClaim:
        """Return the claim: DIFFERENT if the condition holds, EQUAL if it does not."""
        states = {True: VerdictState.DIFFERENT, False: VerdictState.EQUAL, None: VerdictState.INCONCLUSIVE}
        return UncheckedClaim(
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
    """The ``conditions``, each of which is a problem if it holds; with ``strict``, also if it is inconclusive."""

    conditions: tuple[Threshold, ...]
    strict: bool = False

    def judge(
        self, items: Sequence[GateItem], sealed: bool = False, not_gated: Sequence[tuple[str, str]] = ()
    ) -> GateVerdict:
        """Judge comparisons. ``not_gated`` has (comparison, reason) of those that are exempt. Raises DataError if a
        condition applies to no comparison, unless the gate was ``sealed`` before the data existed: then it is
        inconclusive."""
        tests: list[tuple[Threshold, GateItem]] = []
        untold: list[tuple[str, str]] = []
        for condition in self.conditions:
            concerned = [item for item in items if condition.concerns(item.metric)]
            if not concerned and sealed:
                untold.append((str(condition), Message("no-metric", "it applies to no deciding metric")))
            elif not concerned:
                raise DataError(
                    "condition-not-applicable",
                    "'{condition}' applies to none of the {n_comparisons} comparisons",
                    "only rates and times are faster or slower: use more or less",
                    condition=condition,
                    n_comparisons=len(items),
                )
            tests += [(condition, item) for item in concerned]
        gated = {item.name for _, item in tests}
        why = Message("no-better-direction", "neither a rate nor a time")
        others = [(item.name, why) for item in items if item.name not in gated]
        return GateVerdict(self, tuple(_build_rows(tests)), tuple(untold), (*others, *not_gated))

    def inconclusive(self, name: str) -> GateVerdict:
        """Return the verdict without a comparison, because one side never finished: no gate passes."""
        return GateVerdict(self, (), tuple((str(condition), name) for condition in self.conditions), nothing=True)


Test = tuple[Threshold, GateItem]


def _build_rows(tests: Sequence[Test]) -> list[GateRow]:
    """Test every condition. It holds by an interval widened by Holm's correction for its family. It fails to hold by
    the uncorrected interval, since a gate passes only if every condition fails to hold."""
    families: dict[str, list[int]] = {}
    for place, (_, item) in enumerate(tests):
        families.setdefault(item.family, []).append(place)
    repeated = {family: _find_repeated_tests(tests, places) for family, places in families.items()}
    met_places = {place for family, places in families.items() for place in _iter_met(tests, places, repeated[family])}
    counts = {family: len(places) - len(repeated[family]) for family, places in families.items()}
    return [
        GateRow(*test, True if place in met_places else _fails_to_hold(test), counts[test[1].family])
        for place, test in enumerate(tests)
    ]


def _find_repeated_tests(tests: Sequence[Test], family: Sequence[int]) -> dict[int, int]:
    """Return place → place of a test of the family with the same evidence."""
    places = {(str(tests[place][0]), tests[place][1].name): place for place in family}
    keys = {place: (str(tests[place][0]), tests[place][1].same_as) for place in family}
    repeated = {place: places[key] for place, key in keys.items() if key in places}
    return {place: other for place, other in repeated.items() if other not in repeated}


def _iter_met(tests: Sequence[Test], family: Sequence[int], repeated: Mapping[int, int]) -> Iterator[int]:
    """Yield the tests of a family that hold. A repeated one is tested in the place of the other."""
    distinct = [place for place in family if place not in repeated]
    yield from _iter_significant_by_holm(tests, distinct)
    for place, other in repeated.items():
        substituted = [place if unique == other else unique for unique in distinct]
        if place in _iter_significant_by_holm(tests, substituted):
            yield place


def _fails_to_hold(test: Test) -> bool | None:
    """Return False if the interval lies within the limit, else None."""
    condition, item = test
    is_unmet = not item.doubtful and condition.holds(item.comparison.gated_ratio, item.metric) is False
    return False if is_unmet else None


def _iter_significant_by_holm(tests: Sequence[Test], family: Sequence[int]) -> Iterator[int]:
    """Apply Holm's step-down procedure (1979). The clearest of m tests has level 1 - alpha ÷ m, the next one
    1 - alpha ÷ (m - 1)."""
    remaining = [place for place in family if tests[place][1].comparison.gated_ratio and not tests[place][1].doubtful]
    while remaining:
        now = [place for place in remaining if _is_significant_among(len(remaining), *tests[place])]
        if not now:
            return
        yield from now
        remaining = [place for place in remaining if place not in now]


def _is_significant_among(many: int, condition: Threshold, item: GateItem) -> bool:
    """Return whether the condition holds by an interval that shares its error among ``many`` tests."""
    return bool(condition.holds(item.comparison.ratio_at(1 - (1 - item.level) / many), item.metric))


@dataclass(frozen=True)
class GateVerdict:
    """The verdict of a gate. ``rows``: each condition of each comparison; ``none``: (condition, reason) of conditions
    without a comparison; ``not_gated``: (comparison, reason); ``nothing``: there was nothing to compare."""

    gate: Gate
    rows: tuple[GateRow, ...] = ()
    none: tuple[tuple[str, str], ...] = ()
    not_gated: tuple[tuple[str, str], ...] = ()
    nothing: bool = False

    @property
    def failed(self) -> tuple[tuple[str, str], ...]:
        """Pairs (condition, comparison) of conditions that hold."""
        return tuple((str(row.condition), row.item.name) for row in self.rows if row.holds)

    @property
    def untold(self) -> tuple[tuple[str, str], ...]:
        """Pairs (condition, comparison) of inconclusive conditions."""
        return (*((str(row.condition), row.item.name) for row in self.rows if row.holds is None), *self.none)

    @property
    def problem(self) -> bool:
        """Return whether the exit code is 1."""
        return bool(self.failed) or self.nothing or (self.gate.strict and bool(self.untold))

    @property
    def claims(self) -> tuple[UncheckedClaim, ...]:
        """A claim for each condition and comparison."""
        inapplicable = (
            UncheckedClaim("gate", why, (), VerdictState.INCONCLUSIVE, claim=condition) for condition, why in self.none
        )
        return (*(row.claim() for row in self.rows), *inapplicable)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result, one line each."""
        sentences = [row.describe("gate-failed", "failed") for row in self.rows if row.holds]
        words = "failed as inconclusive" if self.gate.strict or self.nothing else "inconclusive"
        sentences += [row.describe("gate-inconclusive", words) for row in self.rows if row.holds is None]
        template = f"{words}: {{comparison}}: {{condition}}{{factor}}"
        sentences += [
            Message("gate-inconclusive", template, comparison=name, condition=condition, factor="")
            for condition, name in self.none
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
        """Describe the largest possible change, with its metric."""
        passing = self._select_passing(condition)
        row = max(passing, key=lambda row: row.at_most)
        which = f" ({row.item.name})" if len(passing) > 1 else ""
        factor = row.describe_factor("up to", row.at_most)
        most = f"; at most {format_percent(row.at_most)} {condition.word}{factor}{which}" if row.at_most > 0 else ""
        sides = {row.item.sides for row in passing}
        is_of_two = len(sides) == 1 and not others
        metrics = "any gated metric" if len(passing) > 1 else row.item.name
        where = (metrics,) if self.not_gated else ()
        return Message(
            "gate-passed",
            "{conclusion}{limit}" if others else "passed: {conclusion}{limit}",
            conclusion=condition.passed_by(*sides.pop(), *where) if is_of_two else condition.passed(others),
            limit=most,
            condition=condition,
            at_most=row.at_most,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
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


def parse_gate(texts: Sequence[str], strict: bool) -> Gate | None:
    """Parse the conditions of a gate; None without any. Raises InputError."""
    if strict and not texts:
        raise InputError(
            "missing-condition",
            "{spell.strict} has no condition",
            "give one with {spell.fail_if}: {example}",
            example=_EXAMPLE,
        )
    conditions = []
    for text in texts:
        if not (matched := _CONDITION.match(text)):
            raise InputError(
                "invalid-gate-condition",
                "'{condition}' is not a condition: WORD>SHARE, with WORD one of {allowed}",
                "{example}; {spell.metric} selects the metrics that it judges",
                condition=text,
                allowed=", ".join(WORDS),
                example=_EXAMPLE,
            )
        conditions.append(Threshold(matched[1], float(matched[2]) / (100 if matched[3] else 1)))
    return Gate(tuple(conditions), strict) if conditions else None
