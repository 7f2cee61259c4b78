"""``--fail-if 'slower>5%'``, ``'p99>5ms'``: conditions that make a comparison fail an unattended program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .absolute_limit import AbsoluteLimit
from .deciding import Name
from .errors import DataError, InputError
from .gate_conditions import EXAMPLE, Condition, Threshold, parse_condition
from .message import Message
from .types import Estimate, Metric
from .units import format_percent, format_ratio
from .verdict import UncheckedClaim, VerdictState


class GatedComparison(Protocol):
    """A comparison of two sides, or of pairs."""

    @property
    def gated_ratio(self) -> Estimate | None:
        """Ratio B ÷ A, with the interval that passes; None if there is none."""
        ...

    def ratio_at(self, level: float) -> Estimate | None:
        """Return the ratio with an interval at another level."""
        ...

    def value_at(self, level: float | None) -> Estimate | None:
        """Return the mean of B with an interval at a level, by default that which passes."""
        ...


@dataclass(frozen=True)
class GateItem:
    """A comparison to be gated, with its name and sides. Comparisons of one ``family`` share the error of ``level``.
    ``doubtful``: its intervals are unreliable because an assumption fails; ``is_separable``: no other column explains
    the difference as well. ``same_as`` names another comparison of the same evidence, such as the bandwidth of a rate:
    the two count once in their family. ``operation``: that of the metric, '' in a table."""

    name: str
    comparison: GatedComparison
    metric: Metric
    level: float
    sides: tuple[str, str]
    family: str = ""
    doubtful: bool = False
    same_as: str = ""
    is_separable: bool = True
    operation: str = ""

    @property
    def full_name(self) -> Name:
        """Operation, metric and unit."""
        return self.operation, self.metric.name, self.metric.unit


def select_concerned(
    condition: Condition, items: Sequence[GateItem], conditions: Sequence[Condition] = ()
) -> list[GateItem]:
    """Return the comparisons that a condition, one of the ``conditions``, is about."""
    every = [item.full_name for item in items]
    if isinstance(condition, AbsoluteLimit):
        names = set(condition.select_names(every))
        return [item for item in items if item.full_name in names]
    names = set(condition.select_names(every, conditions))
    return [item for item in items if item.full_name in names and condition.concerns(item.metric)]


def _test(condition: Condition, item: GateItem, level: float | None = None) -> bool | None:
    """Return whether a condition holds by the interval of a level, or of the one that passes; None if inconclusive."""
    comparison = item.comparison
    if item.doubtful:
        return None
    if isinstance(condition, AbsoluteLimit):
        return condition.holds(comparison.value_at(level), item.metric.unit)
    ratio = comparison.gated_ratio if level is None else comparison.ratio_at(level)
    return condition.holds(ratio if item.is_separable else None, item.metric)


@dataclass(frozen=True)
class MissingPart:
    """Settings, or metrics (``is_metric``), that the baseline alone has, as text."""

    text: str
    is_metric: bool = False

    def concerns(self, condition: Condition) -> bool:
        """Return whether a condition of a change is inconclusive for what B lacks: one of some metrics knows only that
        settings lack them."""
        return isinstance(condition, Threshold) and not (condition.metric and self.is_metric)


@dataclass(frozen=True)
class GateRow:
    """The result of one condition for one comparison. ``holds`` is None if inconclusive. ``family`` counts the tests
    that share its error."""

    condition: Condition
    item: GateItem
    holds: bool | None
    family: int

    @property
    def estimate(self) -> Estimate | None:
        """The estimate that the condition tests: a ratio, or the mean of B."""
        comparison = self.item.comparison
        return comparison.value_at(None) if isinstance(self.condition, AbsoluteLimit) else comparison.gated_ratio

    @property
    def at_most(self) -> float:
        """Largest share that the interval allows in the tested direction; of a limit, beyond it: below 0 if it
        passes."""
        if not isinstance(self.condition, AbsoluteLimit):
            ends = self.condition.ends(self.item.comparison.gated_ratio, self.item.metric)
            return max((high for _, high in ends), default=1.0) - 1
        value, bound = self.estimate, self.condition.convert_bound(self.item.metric.unit)
        far = None if value is None else value.high if self.condition.is_upper else value.low
        share = 0.0 if far is None or not bound else far / bound - 1
        return share if self.condition.is_upper else -share

    @property
    def effect(self) -> str:
        """The tested ratio with its interval, as text: ``pr ÷ main = 0.810, 0.792 to 0.828``; '' without one."""
        ratio, (a, b) = self.item.comparison.gated_ratio, self.item.sides
        if isinstance(self.condition, AbsoluteLimit) or ratio is None or ratio.value is None:
            return ""
        interval = "" if ratio.low is None or ratio.high is None else _format_interval(ratio.low, ratio.high)
        return f"{b} ÷ {a} = {', '.join(filter(None, (format_ratio(ratio.value), interval)))}"

    def describe_factor(self, relation: str, share: float) -> str:
        """Describe the change factor 1 + ``share`` in brackets where it is not the ratio B ÷ A, else ''; of a limit
        the mean of B."""
        a, b = self.item.sides
        if isinstance(self.condition, AbsoluteLimit):
            return self.condition.describe_value(b, self.estimate, self.item.metric.unit)
        if not self.condition.is_inverted(self.item.metric):
            return ""
        return f" ({a} ÷ {b} {relation} {format_ratio(1 + share)})"

    def describe(self, code: str, words: str) -> str:
        """Return the message ``code``: the result in ``words``, the comparison and its condition."""
        factor = self.describe_factor("over", getattr(self.condition, "share", 0.0))
        return Message(
            code,
            f"{words}: {{comparison}}: {{condition}}{{factor}}",
            comparison=self.item.name,
            condition=str(self.condition),
            factor=f" ({self.effect}{factor.replace(' (', '; ', 1).removesuffix(')')})" if self.effect else factor,
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
            estimate=self.estimate,
            family=self.family,
        )


@dataclass(frozen=True)
class Gate:
    """The ``conditions``, each of which is a problem if it holds; with ``strict``, also if it is inconclusive."""

    conditions: tuple[Condition, ...]
    strict: bool = False

    def judge(
        self,
        items: Sequence[GateItem],
        sealed: bool = False,
        not_gated: Sequence[tuple[str, str]] = (),
        missing: Sequence[MissingPart] = (),
    ) -> GateVerdict:
        """Judge comparisons. ``not_gated`` has (comparison, reason) of those that are exempt, ``missing`` what the
        baseline alone has: there a change is inconclusive. Raises DataError if a condition applies to no comparison,
        unless the gate was ``sealed`` before the data existed: then it is inconclusive."""
        tests: list[Test] = []
        untold: list[tuple[str, str]] = []
        for condition in self.conditions:
            concerned = select_concerned(condition, items, self.conditions)
            error = _find_limit_error(condition, items, concerned)
            if sealed and (error or not concerned):
                untold.append((str(condition), Message("no-metric", "it applies to no deciding metric")))
                concerned = []
            elif error:
                raise error
            elif not select_concerned(condition, items):
                raise DataError(
                    "condition-not-applicable",
                    "'{condition}' applies to none of the {n_comparisons} comparisons",
                    "only rates and times are faster or slower: use more or less",
                    condition=condition,
                    n_comparisons=len(items),
                )
            tests += [(condition, item) for item in concerned]
            untold += [(str(condition), part.text) for part in missing if part.concerns(condition)]
        gated = {item.name for _, item in tests}
        is_special = all(condition.metric for condition in self.conditions)
        why = Message("no-better-direction", "without a limit" if is_special else "neither a rate nor a time")
        others = [(item.name, why) for item in items if item.name not in gated]
        return GateVerdict(self, tuple(_build_rows(tests)), tuple(untold), (*others, *not_gated))

    def inconclusive(self, name: str) -> GateVerdict:
        """Return the verdict without a comparison, because one side never finished: no gate passes."""
        return GateVerdict(self, (), tuple((str(condition), name) for condition in self.conditions), nothing=True)


Test = tuple[Condition, GateItem]


def _format_interval(low: float, high: float) -> str:
    return f"{format_ratio(low)} to {format_ratio(high)}"


def _find_limit_error(
    condition: Condition, items: Sequence[GateItem], concerned: Sequence[GateItem]
) -> DataError | None:
    """Return why an absolute limit applies to nothing, or has another unit than the values; None if it does neither."""
    if not condition.metric:
        return None
    if not concerned and not _names_any(condition, items):
        names = dict.fromkeys(" ".join(part for part in item.full_name[:2] if part) for item in items)
        return DataError(
            "condition-not-applicable",
            "'{condition}' applies to none of the {n_comparisons} comparisons",
            "compared: {names}; {spell.metric} or {spell.response} adds others",
            condition=condition,
            n_comparisons=len(items),
            names=", ".join(names),
        )
    if isinstance(condition, Threshold):
        return None
    other = next((item for item in concerned if condition.convert_bound(item.metric.unit) is None), None)
    if other is None:
        return None
    return DataError(
        "unit-mismatch",
        "'{condition}': {metric} is in {unit}",
        "give the limit with a unit of that kind: {example}",
        condition=condition,
        metric=other.name,
        unit=other.metric.unit or "no unit",
        example=_UNIT_EXAMPLES.get(other.metric.unit, f"5{other.metric.unit}"),
    )


def _names_any(condition: Condition, items: Sequence[GateItem]) -> bool:
    """Return whether a condition names the metric of any comparison, also of one that cannot be faster or slower."""
    return bool(isinstance(condition, Threshold) and condition.select_names([i.full_name for i in items], ()))


_UNIT_EXAMPLES = {"bytes/s": "2GiB/s", "s": "5ms", "bytes": "64KiB", "operations/s": "20k"}


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
    return False if _test(*test) is False else None


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


def _is_significant_among(many: int, condition: Condition, item: GateItem) -> bool:
    """Return whether the condition holds by an interval that shares its error among ``many`` tests."""
    return bool(_test(condition, item, 1 - (1 - item.level) / many))


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
        """The result, one line each: failures first."""
        return (*self.failures, *self.remarks)

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each condition that holds."""
        return tuple(row.describe("gate-failed", "failed") for row in self.rows if row.holds)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on what is inconclusive, what passes, and what is not gated."""
        sentences: list[str] = []
        words = "failed as inconclusive" if self.gate.strict or self.nothing else "inconclusive"
        sentences += [row.describe("gate-inconclusive", words) for row in self.rows if row.holds is None]
        template = f"{words}: {{comparison}}: {{condition}}{{factor}}"
        sentences += [
            Message("gate-inconclusive", template, comparison=name, condition=condition, factor="")
            for condition, name in self.none
        ]
        sentences += [
            self._describe_pass(condition, bool(self.failed or self.untold))
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

    def _select_passing(self, condition: Condition) -> list[GateRow]:
        return [row for row in self.rows if row.condition == condition and row.holds is False]

    def _describe_pass(self, condition: Condition, others: bool) -> str:
        """Describe the largest possible change, with its metric."""
        passing = self._select_passing(condition)
        row = max(passing, key=lambda row: row.at_most)
        which = f" ({row.item.name})" if len(passing) > 1 else ""
        factor = row.describe_factor("up to", row.at_most)
        sides = {row.item.sides for row in passing}
        if isinstance(condition, AbsoluteLimit):
            return self._describe_passed_limit(condition, row, len(passing), others)
        most = f"; at most {format_percent(row.at_most)} {condition.word}{factor}{which}" if row.at_most > 0 else ""
        is_of_two = len(sides) == 1 and not others
        metrics = (condition.metric or "any gated metric") if len(passing) > 1 else row.item.name
        where = (metrics,) if self.not_gated or condition.metric else ()
        return Message(
            "gate-passed",
            "{conclusion}{limit}" if others else "passed: {conclusion}{limit}",
            conclusion=condition.passed_by(*sides.pop(), *where) if is_of_two else condition.passed(others),
            limit=most,
            condition=condition,
            at_most=row.at_most,
        )

    def _describe_passed_limit(self, condition: AbsoluteLimit, row: GateRow, n_passing: int, others: bool) -> str:
        """Describe the mean of B that is nearest to a limit."""
        metrics = f"no {condition.metric}" if n_passing > 1 else row.item.name
        relation = "above" if condition.is_upper else "below"
        verb = "is" if n_passing > 1 else "is not"
        return Message(
            "gate-passed",
            "{conclusion}{limit}" if others else "passed: {conclusion}{limit}",
            conclusion=f"{metrics} {verb} {relation} {condition.bound_text}",
            limit=row.describe_factor("", 0.0)
            if n_passing == 1
            else f"; nearest: {row.item.name}{row.describe_factor('', 0.0)}",
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
            example=EXAMPLE,
        )
    return Gate(tuple(map(parse_condition, texts)), strict) if texts else None
