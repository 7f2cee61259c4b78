"""Published effects that a question of an experiment asks for, too: whether its answer agrees is computed.

A claim is a dict, as in the file of an experiment. ``resolve_claim`` replaces the numbers that it selects in a document
by their value, so that a store needs no document. ``judge_claim`` finds the same effect in the JSON of an answer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core import questions
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.importers.columns_map import parse_unit
from iosonde.importers.published_figures import (
    PrintedNumber,
    Publication,
    list_numbers,
    read_publication_file,
)
from iosonde.stats.estimate.distributions import t_critical

from .effects import find_effect, find_number, find_order, has_effect, read_level
from .judge import (
    PublishedOutcome,
    PublishedVerdict,
    judge_absence,
    judge_ranking,
    judge_recomputed,
    judge_share,
    judge_sign,
)

KEY = "claims"
# Selectors of a claim: the number, what it is divided by, what is subtracted, and the ends of its interval.
_NUMBERS, _OVER, _MINUS, _ENDS = "numbers", "over", "minus", ("low_numbers", "high_numbers")
# Level of the interval of a slope over printed numbers.
_LEVEL = 0.95
# A claim in words: a ratio above or below 1, a difference above or below 0, or neither.
_EXPECTED = {"above": math.inf, "below": -math.inf, "none": 0.0}
# Characters of a printed number, at most.
_MOST_PRINTED = 8
# A smaller effect than this share of the mean is none.
LEAST_SHARE = 0.05


@dataclass(frozen=True)
class JudgedClaim:
    """A published effect, the measured one in the same unit (None if the answer lacks it), and the verdict.
    ``orders``: of a ranking, the published and the measured values of each setting. ``note``: what differs here."""

    claim: str
    published: Estimate
    measured: Estimate | None
    unit: str
    verdict: PublishedVerdict
    orders: tuple[Mapping[str, float], ...] = ()
    note: str = ""

    @property
    def sides(self) -> tuple[str, str]:
        """Return what is published and what was measured, for people."""
        if self.orders:
            names = next(iter(self.orders))
            published, *measured = (_format_order(names, order) for order in self.orders)
            return f"{published} {self.unit}".rstrip(), measured[0] if measured else "nothing"
        ours = "nothing" if self.measured is None else f"{format_estimate(self.measured)} {self.unit}".rstrip()
        words = {math.inf: "more", -math.inf: "less", 0.0: "no effect"}
        value = self.published.value
        return words.get(value or 0.0) or f"{_format_published(self.published)} {self.unit}".rstrip(), ours

    @property
    def sentence(self) -> str:
        """Return both sides, the verdict and the note."""
        published, ours = self.sides
        note = f" ({self.note})" if self.note else ""
        return f"{self.claim}: published {published}, here {ours}: {self.verdict.outcome}{note}"

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "claim": self.claim,
            "unit": self.unit,
            "published": self.published.to_json(),
            "measured": None if self.measured is None else self.measured.to_json(),
            **({"orders": [dict(order) for order in self.orders]} if self.orders else {}),
            **({} if self.verdict.p is None else {"p": self.verdict.p}),
            **({"note": self.note} if self.note else {}),
            "outcome": str(self.verdict.outcome),
        }


def select_numbers(publication: Publication, conditions: Mapping[str, Any]) -> list[PrintedNumber]:
    """Return the numbers with these fields (operation, metric, statistic) and settings; None: without that setting.
    Raises InputError if there is none."""

    def fits(number: PrintedNumber) -> bool:
        fields = vars(number)
        return all(
            (fields[name] if name in fields else number.settings.get(name)) == read_level(level)
            for name, level in conditions.items()
        )

    numbers = [number for number in publication.figures if fits(number)]
    if not numbers:
        raise InputError(
            "no-such-number",
            "{document} has no number with {conditions}",
            "name its operation, metric, statistic and settings as in the file",
            document=publication.document,
            conditions=", ".join(f"{name}={level}" for name, level in conditions.items()),
        )
    return numbers


def select_claimed(publication: Publication, claim: Mapping[str, Any]) -> tuple[PrintedNumber, ...]:
    """Return all numbers that a claim selects in a document, those that it divides by and subtracts, too."""
    keys = (_NUMBERS, _OVER, _MINUS, *_ENDS)
    return tuple(number for key in keys if key in claim for number in select_numbers(publication, claim[key]))


def resolve_claim(claim: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a claim with the value that it selects in a document; ``folder`` is where its path begins. Raises
    InputError, SpecError."""
    if "document" not in claim:
        return dict(claim)
    path = folder / str(claim["document"])
    publication = _read_publication(path, path.stat().st_mtime_ns if path.is_file() else 0)
    if publication is None:
        raise InputError(
            "no-such-document",
            "{path} is no file of published numbers",
            "give its path, from the directory of the experiment file (docs/published.md)",
            path=path,
        )
    _check_words(publication, claim)
    selectors = ("document", _NUMBERS, _OVER, _MINUS, *_ENDS, "slope_on", "bound", "order")
    rest = {key: entry for key, entry in claim.items() if key not in selectors}
    rest["source"] = publication.document
    if "bound" in claim and _NUMBERS not in claim:
        return {**rest, "scale": _read_bound(claim["bound"]["measured"]), "unit": ""}
    if "find" in claim or _NUMBERS not in claim:
        return rest
    numbers = select_numbers(publication, claim[_NUMBERS])
    unit, scale = numbers[0].unit_name, numbers[0].unit.to_base(1.0)
    if "order" in claim:
        return {**rest, "order": _average_settings(numbers, claim["order"]), "unit": unit, "scale": scale}
    value = _average_base(numbers)
    if "bound" in claim:
        bounds = {side: _read_bound(claim["bound"][side]) for side in ("published", "measured")}
        return {**rest, "value": value / bounds["published"], "unit": "", "scale": bounds["measured"]}
    if "slope_on" in claim:
        return {**rest, **_fit_slope(numbers, claim["slope_on"]), "unit": unit, "scale": scale}
    if _MINUS in claim:
        value -= _average_base(select_numbers(publication, claim[_MINUS]))
    if _OVER in claim:
        value, unit, scale = value / _average_base(select_numbers(publication, claim[_OVER])), "", 1.0
    ends = {
        key.removesuffix("_" + _NUMBERS): select_numbers(publication, claim[key])[0].value
        for key in _ENDS
        if key in claim
    }
    return {**rest, "value": value / scale, **ends, "unit": unit, "scale": scale}


@cache
def _read_publication(path: Path, changed: int) -> Publication | None:
    """Read a document once for all its claims; ``changed`` is when the file was, in ns."""
    return read_publication_file(path)


def _check_words(publication: Publication, claim: Mapping[str, Any]) -> None:
    """Raise InputError if no statement of the document has the words of a claim."""
    if "words" in claim and find_statement(publication, claim) is None:
        raise InputError(
            "no-such-statement",
            "{document} has no statement with '{words}'",
            "copy the words of one of its statements",
            document=publication.document,
            words=claim["words"],
        )


def describe_derivation(publication: Publication, claim: Mapping[str, Any]) -> str:
    """Return how the compared value follows from the numbers that the document prints; empty where it prints it."""
    if _NUMBERS not in claim:
        return f"'{claim['words']}'" if "words" in claim else ""
    selected = select_numbers(publication, claim[_NUMBERS])
    numbers = _describe_numbers(selected)
    for key, sign in ((_OVER, "÷"), (_MINUS, "−")):
        if key in claim:
            return f"{numbers} {sign} {_describe_numbers(select_numbers(publication, claim[key]))}"
    if "slope_on" in claim:
        return f"a line through {numbers}"
    if "bound" in claim:
        return f"{numbers} ÷ {claim['bound']['published']}"
    if "order" in claim:
        return f"means over {numbers}"
    return f"'{_select_words(selected[0])}'" if "expected" in claim else ""


def _select_words(number: PrintedNumber) -> str:
    """Return the words with the number, of several the first that have it."""
    return next((words for words in number.words if number.value in list_numbers(words)), number.words[0])


def _describe_numbers(numbers: Sequence[PrintedNumber]) -> str:
    """Name up to three numbers, of more the range."""
    unit = f" {numbers[0].unit_name}".rstrip()
    values = [f"{number.value:.10g}" for number in numbers]
    if len(values) <= 3:
        return f"{', '.join(values)}{unit}"
    ends = sorted(number.value for number in numbers)
    return f"{len(values)} numbers, {ends[0]:.10g} to {ends[-1]:.10g}{unit}"


def find_statement(publication: Publication, claim: Mapping[str, Any]) -> int | None:
    """Return the place of the statement with the words of a claim, None without words or such a statement."""
    places = [
        place
        for place, statement in enumerate(publication.statements)
        if "words" in claim and claim["words"] in " ".join(statement.words)
    ]
    return places[0] if places else None


def _read_bound(text: str) -> float:
    """Return ``100 Mbit/s`` in base units."""
    value, _, unit = str(text).partition(" ")
    return parse_unit(unit).to_base(float(value))


def _average_base(numbers: Sequence[PrintedNumber]) -> float:
    return statistics.fmean(number.unit.to_base(number.value) for number in numbers)


def _average_settings(numbers: Sequence[PrintedNumber], names: Sequence[str]) -> dict[str, float]:
    """Return the mean of the numbers of each combination of these settings, called ``2/naive``."""
    groups = group_by_key(("/".join(str(number.settings[name]) for name in names), number.value) for number in numbers)
    return {setting: statistics.fmean(values) for setting, values in groups.items()}


def _fit_slope(numbers: Sequence[PrintedNumber], name: str) -> dict[str, float]:
    """Return the slope of a least-squares line through the numbers over a setting, with its interval."""
    x = np.array([float(str(number.settings[name])) for number in numbers])
    y = np.array([number.value for number in numbers])
    centered = x - x.mean()
    slope = float(centered @ y / (centered @ centered))
    residuals = y - y.mean() - slope * centered
    df = len(x) - 2
    half = t_critical(_LEVEL, df) * math.sqrt(float(residuals @ residuals) / df / float(centered @ centered))
    return {"value": slope, "low": slope - half, "high": slope + half}


def judge_claim(claim: Mapping[str, Any], kind: str, answer: Mapping[str, Any] | None) -> JudgedClaim | None:
    """Judge a resolved claim by the JSON of the answer to its question; None for a kind of question without effects."""
    judged = _judge_by_kind(claim, kind, answer)
    if judged is None:
        return None
    is_open = "not_comparable" in claim and judged.verdict.outcome is not PublishedOutcome.NOT_MEASURED
    verdict = PublishedVerdict(PublishedOutcome.NOT_COMPARABLE) if is_open else judged.verdict
    return replace(judged, verdict=verdict, note=str(claim.get("not_comparable") or claim.get("note", "")))


def _judge_by_kind(claim: Mapping[str, Any], kind: str, answer: Mapping[str, Any] | None) -> JudgedClaim | None:
    if "order" in claim:
        return _judge_order(claim, answer)
    if not has_effect(kind) or "find" in claim:
        return None
    value = _EXPECTED.get(str(claim.get("expected")), claim.get("value"))
    is_ratio = kind == questions.COMPARE
    scale = 1.0 if is_ratio else float(claim.get("scale") or 1.0)
    level = 0.95 if answer is None else float(answer.get("level") or 0.95)
    published = Estimate(value, claim.get("low"), claim.get("high"), level, 1)
    effect = None if answer is None else find_effect(kind, claim, answer)
    unit = "" if is_ratio else str(claim.get("unit", ""))
    if effect is None:
        outcome = PublishedVerdict(PublishedOutcome.NOT_MEASURED)
        return JudgedClaim(str(claim["claim"]), published, None, unit, outcome)
    measured = _scale(effect, (-1.0 if claim.get("inverted") else 1.0) * float(claim.get("per", 1.0)) / scale)
    verdict = _judge_effect(kind, published, measured, (answer or {}).get("mean_y"), scale)
    return JudgedClaim(str(claim["claim"]), published, measured, unit, verdict)


def _judge_effect(
    kind: str, published: Estimate, measured: Estimate, mean: float | None, scale: float
) -> PublishedVerdict:
    value = float(published.value or 0.0)
    if kind == questions.RANK and value == 0:
        return judge_absence(measured, LEAST_SHARE)
    if math.isinf(value):
        return judge_sign(published, measured, 1.0 if kind == questions.COMPARE else 0.0)
    if kind in (questions.RANK, questions.SUMMARY):
        return judge_share(value, measured)
    if value == 0 and kind == questions.COMPARE:
        return judge_absence(_center_ratio(measured), LEAST_SHARE)
    if value == 0:
        return judge_absence(measured, LEAST_SHARE * abs(math.nan if mean is None else mean) / scale)
    return judge_sign(published, measured, 1.0 if kind == questions.COMPARE else 0.0)


def _judge_order(claim: Mapping[str, Any], answer: Mapping[str, Any] | None) -> JudgedClaim:
    """Judge the order of the same settings."""
    order: Mapping[str, float] = claim["order"]
    unit = str(claim.get("unit", ""))
    values = None if answer is None else find_order(claim, answer)
    nothing = Estimate(None, None, None, _LEVEL, 0)
    if values is None:
        outcome = PublishedVerdict(PublishedOutcome.NOT_MEASURED)
        return JudgedClaim(str(claim["claim"]), nothing, None, unit, outcome, (order,))
    measured = dict(zip(order, values, strict=True))
    verdict = judge_ranking(list(order.values()), values)
    return JudgedClaim(str(claim["claim"]), nothing, nothing, unit, verdict, (order, measured))


def recompute_numbers(
    claim: Mapping[str, Any], publication: Publication, answer: Mapping[str, Any]
) -> Iterator[tuple[PrintedNumber, JudgedClaim]]:
    """Judge the numbers of a document by what its own numbers give: ``find`` has the place of each statistic in the
    answer."""
    for statistic, path in claim["find"].items():
        value = find_number(path, claim.get("at", {}), answer)
        for number in select_numbers(publication, {**claim[_NUMBERS], "statistic": statistic}):
            if value is not None:
                yield number, judge_stated(number, value / number.unit.to_base(1.0), statistic.replace("_", " "))


def judge_stated(number: PrintedNumber, computed: float, name: str) -> JudgedClaim:
    """Judge a printed number by what follows for it from its document."""
    published, measured = (Estimate(value, None, None, _LEVEL, 1) for value in (number.value, computed))
    return JudgedClaim(name, published, measured, number.unit_name, judge_recomputed(number, computed))


def _scale(estimate: Estimate, factor: float) -> Estimate:
    ends = [None if end is None else end * factor for end in (estimate.value, estimate.low, estimate.high)]
    low, high = ends[1:] if factor > 0 else ends[:0:-1]
    return Estimate(ends[0], low, high, estimate.level, estimate.n)


def _center_ratio(estimate: Estimate) -> Estimate:
    ends = [None if end is None else end - 1 for end in (estimate.value, estimate.low, estimate.high)]
    return Estimate(ends[0], ends[1], ends[2], estimate.level, estimate.n)


def format_estimate(estimate: Estimate) -> str:
    """Format an estimate with its interval."""
    if estimate.value is None:
        return "~"
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    interval = f" ({' to '.join(format_significant(end) for end in ends)})" if len(ends) == 2 else ""
    return f"{format_significant(estimate.value)}{interval}"


def _format_published(published: Estimate) -> str:
    """Format a published value as it is printed; one that was computed from others has more digits than are meant."""
    exact = f"{published.value:.10g}"
    is_printed = published.low is None and len(exact) <= _MOST_PRINTED
    return exact if is_printed else format_estimate(published)


def _format_order(names: Mapping[str, float], order: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {format_significant(order[name])}" for name in names)
