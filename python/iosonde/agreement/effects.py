"""The effect that a claim is about, in the JSON of an answer: the same for a page, a document and a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iosonde.core import questions
from iosonde.core.types import Estimate
from iosonde.core.units import parse_suffixed_size


def find_effect(kind: str, claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the effect that the claim is about, in base units; None if the answer lacks it."""
    return _FIND[kind](claim, answer)


def has_effect(kind: str) -> bool:
    """Return whether answers of this kind have effects, which a claim may be about."""
    return kind in _FIND


def find_order(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> list[float] | None:
    """Return the column of the settings of the claim's order, in its unit; None if one lacks it."""
    values = {str(row["setting"]): row.get(claim["column"]) for row in answer.get("defaults", ())}
    order = [values.get(str(setting)) for setting in claim["order"]]
    return None if None in order else [float(value) / claim["scale"] for value in order if value is not None]


def find_number(path: str, at: Mapping[str, Any], answer: Mapping[str, Any]) -> float | None:
    """Return the number at a path such as ``terms.replica.low``; None if there is none. A part selects a key, a row by
    its name or place; ``at`` selects groups by their settings."""
    node: Any = answer
    for part in path.split("."):
        if isinstance(node, list):
            node = _select_row(node, part)
        elif isinstance(node, Mapping):
            node = node.get(part)
        if isinstance(node, list) and at and all("by" in row for row in node):
            node = next((row for row in node if _is_at(row["by"], at)), None)
    return float(node) if isinstance(node, (int, float)) else None


def read_level(level: Any) -> Any:
    """Return ``64KiB`` in bytes, as published and measured settings have it."""
    size = parse_suffixed_size(level) if isinstance(level, str) else None
    return level if size is None else size


def _select_row(rows: Sequence[Any], part: str) -> Any:
    if part.isdecimal():
        return rows[int(part)] if int(part) < len(rows) else None
    return next((row for row in rows if part in (row.get("name"), row.get("model"))), None)


def _is_at(cell: Mapping[str, Any], at: Mapping[str, Any]) -> bool:
    return all(str(cell.get(name)) == str(read_level(level)) for name, level in at.items())


def _find_ratio(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the ratio of the comparison of the claim's metric, at its setting."""
    rows = [
        row
        for row in answer.get("comparisons", ())
        if row.get("ratio") is not None
        and ({"response", "operation"}.isdisjoint(row["by"]) or _concerns(claim, row["by"]))
        and _is_at(row["by"], claim.get("at", {}))
        and ("of" not in claim or row["b"]["name"] == str(claim["of"]))
    ]
    return _read_estimate(rows[0]["ratio"]) if len(rows) == 1 else None


def _concerns(claim: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return claim.get("metric") in (None, cell.get("response"), cell.get("operation"))


def _read_estimate(entry: Mapping[str, Any]) -> Estimate:
    return Estimate(entry["value"], entry["low"], entry["high"], entry.get("level", 0.95), entry.get("n", 1))


def _find_mean(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the mean of the only group of the claim's metric at its setting."""
    rows = [
        row
        for row in answer.get("groups", ())
        if _is_at(row["by"], claim.get("at", {}))
        and claim.get("metric") in (None, row["operation"], str(row["metric"]).partition(" (")[0])
    ]
    if len(rows) != 1:
        return None
    (row,) = rows
    return Estimate(row["mean"], row["mean_low"], row["mean_high"], answer.get("level", 0.95), row["n"])


def _find_term(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the coefficient of the claim's term."""
    term = _find_row(answer.get("terms", ()), claim)
    if term is None:
        return None
    return Estimate(term["estimate"], term["low"], term["high"], answer["level"], answer["n"])


def _find_importance(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return the importance of the claim's term for its metric; with ``others_than`` that of the largest other. The
    interval takes the sum of all shares as known."""
    rankings = answer.get("rankings", (answer,))
    matching = [
        ranking
        for ranking in rankings
        if claim.get("metric") in (None, str(ranking.get("response")).partition(" (")[0].partition(" ")[0])
    ]
    if len(matching) != 1:
        return None
    factors = matching[0].get("factors", ())
    if "leads" in claim:
        return _find_lead(factors, claim, matching[0])
    factor = _find_largest(factors, claim["others_than"]) if "others_than" in claim else _find_row(factors, claim)
    if factor is None or factor.get("importance") is None:
        return None
    ratio = factor["importance"] / factor["s1"] if factor["s1"] else 1.0
    ends = [None if factor[key] is None else min(ratio * factor[key], 1.0) for key in ("s1_low", "s1_high")]
    return Estimate(factor["importance"], ends[0], ends[1], matching[0]["level"], matching[0]["n"])


def _find_lead(
    factors: Sequence[Mapping[str, Any]], claim: Mapping[str, Any], ranking: Mapping[str, Any]
) -> Estimate | None:
    """Return how much more of the variation the claim's term has than the largest other; None without intervals."""
    first, other = _find_row(factors, claim), _find_largest(factors, (claim["term"],))
    if first is None or other is None or None in (first["s1_low"], other["s1_low"]):
        return None
    low, high = first["s1_low"] - other["s1_high"], first["s1_high"] - other["s1_low"]
    return Estimate(first["s1"] - other["s1"], low, high, ranking["level"], ranking["n"])


def _find_gain(claim: Mapping[str, Any], answer: Mapping[str, Any]) -> Estimate | None:
    """Return what the advised settings gain over the best default, as a fraction."""
    gain = answer.get("gain")
    return None if gain is None else _read_estimate(gain)


def _find_largest(factors: Sequence[Mapping[str, Any]], excluded: Sequence[str]) -> Mapping[str, Any] | None:
    others = [row for row in factors if str(row["name"]).partition(" (")[0] not in excluded]
    return max(others, key=lambda row: row["importance"] or 0.0, default=None)


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
    questions.ADVISE: _find_gain,
    questions.SUMMARY: _find_mean,
    questions.COMPARE: _find_ratio,
    questions.REGRESS: _find_term,
    questions.RANK: _find_importance,
    questions.VALIDATE: _find_improvement,
}
