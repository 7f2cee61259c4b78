"""Published effects that a question of an experiment asks for, too: whether its answer agrees is computed.

A claim is a dict, as in the file of an experiment. ``resolve_claim`` replaces the numbers that it selects in a document
by their value, so that a store needs no document. ``judge_claim`` finds the same effect in the JSON of an answer.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core import questions
from iosonde.core.errors import InputError
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant, parse_suffixed_size
from iosonde.importers.published_figures import PrintedNumber, Publication, read_publication_file

from .judge import PublishedOutcome, PublishedVerdict, judge_absence, judge_share, judge_sign

KEY = "claims"
# Selectors of a claim: the number, what it is divided by, what is subtracted, and the ends of its interval.
_NUMBERS, _OVER, _MINUS, _ENDS = "numbers", "over", "minus", ("low_numbers", "high_numbers")
# A claim in words: a ratio above or below 1, a difference above or below 0, or neither.
_EXPECTED = {"above": math.inf, "below": -math.inf, "none": 0.0}
# A smaller effect than this share of the mean is none.
LEAST_SHARE = 0.05


@dataclass(frozen=True)
class JudgedClaim:
    """A published effect, the measured one in the same unit (None if the answer lacks it), and the verdict."""

    claim: str
    published: Estimate
    measured: Estimate | None
    unit: str
    verdict: PublishedVerdict

    @property
    def sentence(self) -> str:
        """Return both numbers and the verdict."""
        ours = "nothing" if self.measured is None else _format(self.measured)
        value = self.published.value
        words = {math.inf: "more", -math.inf: "less", 0.0: "no effect"}
        published = words.get(value or 0.0) or f"{_format(self.published)} {self.unit}".rstrip()
        return f"{self.claim}: published {published}, here {ours}: {self.verdict.outcome}"

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {
            "claim": self.claim,
            "unit": self.unit,
            "published": self.published.to_json(),
            "measured": None if self.measured is None else self.measured.to_json(),
            "outcome": str(self.verdict.outcome),
        }


def select_numbers(publication: Publication, conditions: Mapping[str, Any]) -> list[PrintedNumber]:
    """Return the numbers with these fields (operation, metric, statistic) and settings; None: without that setting.
    Raises InputError if there is none."""

    def fits(number: PrintedNumber) -> bool:
        fields = vars(number)
        return all(
            (fields[name] if name in fields else number.settings.get(name)) == _read_level(level)
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


def _read_level(level: Any) -> Any:
    size = parse_suffixed_size(level) if isinstance(level, str) else None
    return level if size is None else size


def resolve_claim(claim: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a claim with the value that it selects in a document; ``folder`` is where its path begins. Raises
    InputError, SpecError."""
    if "document" not in claim:
        return dict(claim)
    path = folder / str(claim["document"])
    publication = read_publication_file(path)
    if publication is None:
        raise InputError(
            "no-such-document",
            "{path} is no file of published numbers",
            "give its path, from the directory of the experiment file (docs/published.md)",
            path=path,
        )
    numbers = select_numbers(publication, claim.get(_NUMBERS, {}))
    unit, scale = numbers[0].unit_name, numbers[0].unit.to_base(1.0)
    value = _average_base(numbers)
    if _MINUS in claim:
        value -= _average_base(select_numbers(publication, claim[_MINUS]))
    if _OVER in claim:
        value, unit, scale = value / _average_base(select_numbers(publication, claim[_OVER])), "", 1.0
    ends = {
        key.removesuffix("_" + _NUMBERS): select_numbers(publication, claim[key])[0].value
        for key in _ENDS
        if key in claim
    }
    selectors = ("document", _NUMBERS, _OVER, _MINUS, *_ENDS)
    rest = {key: entry for key, entry in claim.items() if key not in selectors}
    return {**rest, "value": value / scale, **ends, "unit": unit, "scale": scale, "source": publication.document}


def _average_base(numbers: Sequence[PrintedNumber]) -> float:
    return statistics.fmean(number.unit.to_base(number.value) for number in numbers)


def judge_claim(claim: Mapping[str, Any], kind: str, answer: Mapping[str, Any] | None) -> JudgedClaim | None:
    """Judge a resolved claim by the JSON of the answer to its question; None for a kind of question without effects."""
    if kind not in _FIND:
        return None
    value = _EXPECTED.get(str(claim.get("expected")), claim.get("value"))
    is_ratio = kind == questions.COMPARE
    scale = 1.0 if is_ratio else float(claim.get("scale") or 1.0)
    level = 0.95 if answer is None else float(answer.get("level") or 0.95)
    published = Estimate(value, claim.get("low"), claim.get("high"), level, 1)
    effect = None if answer is None else _FIND[kind](claim, answer)
    unit = "" if is_ratio else str(claim.get("unit", ""))
    if effect is None:
        outcome = PublishedVerdict(PublishedOutcome.NOT_MEASURED)
        return JudgedClaim(str(claim["claim"]), published, None, unit, outcome)
    measured = _scale(effect, (-1.0 if claim.get("inverted") else 1.0) / scale)
    if kind == questions.RANK:
        verdict = judge_share(float(value or 0.0), measured)
    elif value == 0 and is_ratio:
        verdict = judge_absence(_center_ratio(measured), LEAST_SHARE)
    elif value == 0:
        mean = float((answer or {}).get("mean_y") or math.nan) / scale
        verdict = judge_absence(measured, LEAST_SHARE * abs(mean))
    else:
        verdict = judge_sign(published, measured, 1.0 if is_ratio else 0.0)
    return JudgedClaim(str(claim["claim"]), published, measured, unit, verdict)


def _scale(estimate: Estimate, factor: float) -> Estimate:
    ends = [None if end is None else end * factor for end in (estimate.value, estimate.low, estimate.high)]
    low, high = ends[1:] if factor > 0 else ends[:0:-1]
    return Estimate(ends[0], low, high, estimate.level, estimate.n)


def _center_ratio(estimate: Estimate) -> Estimate:
    ends = [None if end is None else end - 1 for end in (estimate.value, estimate.low, estimate.high)]
    return Estimate(ends[0], ends[1], ends[2], estimate.level, estimate.n)


def _find_ratio(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the ratio of the comparison of the claim's metric, at its setting."""
    at = {name: str(_read_level(level)) for name, level in claim.get("at", {}).items()}
    rows = [
        row
        for row in answer.get("comparisons", ())
        if row.get("ratio") is not None
        and ({"response", "operation"}.isdisjoint(row["by"]) or _concerns(claim, row["by"]))
        and all(str(row["by"].get(name)) == level for name, level in at.items())
    ]
    return _read_estimate(rows[0]["ratio"]) if len(rows) == 1 else None


def _concerns(claim: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return claim.get("metric") in (None, cell.get("response"), cell.get("operation"))


def _read_estimate(entry: Mapping[str, Any]) -> Estimate:
    return Estimate(entry["value"], entry["low"], entry["high"], entry.get("level", 0.95), entry.get("n", 1))


def _find_term(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the coefficient of the claim's term."""
    term = _find_row(answer.get("terms", ()), claim)
    if term is None:
        return None
    return Estimate(term["estimate"], term["low"], term["high"], answer["level"], answer["n"])


def _find_importance(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the importance of the claim's term for its metric. The interval takes the sum of all shares as known."""
    rankings = answer.get("rankings", (answer,))
    matching = [
        ranking
        for ranking in rankings
        if claim.get("metric") in (None, str(ranking.get("response")).partition(" (")[0].partition(" ")[0])
    ]
    factor = _find_row(matching[0].get("factors", ()), claim) if len(matching) == 1 else None
    if factor is None or factor.get("importance") is None:
        return None
    ratio = factor["importance"] / factor["s1"] if factor["s1"] else 1.0
    ends = [None if factor[key] is None else ratio * factor[key] for key in ("s1_low", "s1_high")]
    return Estimate(factor["importance"], ends[0], ends[1], matching[0]["level"], matching[0]["n"])


def _find_row(rows: Sequence[Mapping[str, Any]], claim: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((row for row in rows if claim.get("term") in (row["name"], row["name"].partition(" (")[0])), None)


def _find_improvement(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return how much larger the error of the model ``worse`` is than that of ``better``."""
    models = {model["model"]: model for model in answer.get("models", ())}
    worse, better = models.get(claim.get("worse")), models.get(claim.get("better"))
    if worse is None or better is None or None in (worse["mae_low"], better["mae_low"]):
        return None
    low, high = worse["mae_low"] - better["mae_high"], worse["mae_high"] - better["mae_low"]
    return Estimate(worse["mae"] - better["mae"], low, high, answer.get("level", 0.95), 1)


_FIND = {
    questions.COMPARE: _find_ratio,
    questions.REGRESS: _find_term,
    questions.RANK: _find_importance,
    questions.VALIDATE: _find_improvement,
}


def _format(estimate: Estimate) -> str:
    if estimate.value is None:
        return "~"
    ends = [end for end in (estimate.low, estimate.high) if end is not None]
    interval = f" ({' to '.join(format_significant(end) for end in ends)})" if len(ends) == 2 else ""
    return f"{format_significant(estimate.value)}{interval}"
