"""A ranking from a published line: coefficients and the levels of each factor, without the data.

Over a balanced full factorial of the levels, a line's S1 and ST are equal, bᵢ²·V(xᵢ)/Σ bⱼ²·V(xⱼ), with population
variances. They are shares of what the *line* explains, not of what was measured.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.words import join_names

from .order import format_ranked_groups, format_s1_interval, group_tied_names
from .rank import SEED
from .ranking import FactorRank, Ranking, Slope
from .variances import Shares

_DRAWS = 4000
_NO_ERRORS = Message("no-standard-errors", "no interval: the coefficients come without standard errors")


def rank_line(
    response: str,
    coefficients: Mapping[str, float],
    errors: Mapping[str, float] | None,
    levels: Mapping[str, Sequence[float]],
    level: float,
    fixed: Sequence[str] = (),
    seed: int = SEED,
) -> Ranking:
    """Rank the features that have levels. ``errors`` are standard errors of the coefficients, taken as independent;
    None: unknown, without intervals. Raises InputError, DataError."""
    names = [name for name in coefficients if name in levels]
    _raise_if_unknown_features(coefficients, levels)
    _raise_if_invalid_features(names, fixed)
    b = np.array([coefficients[name] for name in names])
    spread = np.array([float(np.var(levels[name])) for name in names])
    if not np.any(b):
        raise DataError(
            "zero-coefficients", "{response}: all coefficients are 0", "look at the file", response=response
        )
    drawn = (
        None
        if errors is None
        else np.random.default_rng(seed).normal(b, np.array([errors[name] for name in names]), (_DRAWS, len(b)))
    )
    everything = list(range(len(names)))
    over_all = list(_compute_shares(b, drawn, spread, everything, level))
    fixed_indices = [names.index(name) for name in fixed]
    rest = [i for i in everything if i not in fixed_indices]
    within = dict(zip(rest, _compute_shares(b, drawn, spread, rest, level), strict=True)) if fixed_indices else {}
    total = float(b**2 @ spread)
    factors = []
    for i, name in enumerate(names):
        raw = _compute_interval(float(b[i]), None if drawn is None else drawn[:, i], level)
        scale = float(np.sqrt(spread[i] / total))
        ends = [None if end is None else end * scale for end in (raw.low, raw.high)]
        factors.append(
            FactorRank(
                name,
                "",
                over_all[i],
                None,
                None,
                Slope(raw, replace(raw, value=float(b[i]) * scale, low=ends[0], high=ends[1])),
                None,
                None,
                within.get(i),
                i in fixed_indices,
            )
        )
    order = _compute_order({names[i]: over_all[i] for i in everything}, drawn, spread, names, everything, level)
    inner = _compute_order({names[i]: share for i, share in within.items()}, drawn, spread, names, rest, level)
    fixed_sum = sum(over_all[i].s1.value or 0.0 for i in fixed_indices)
    sentence = _build_sentence(
        order,
        inner,
        {names[i]: s for i, s in enumerate(over_all)},
        {names[i]: s for i, s in within.items()},
        fixed,
        drawn is None,
    )
    return Ranking(
        response,
        "",
        level,
        0,
        int(np.prod([len(levels[name]) for name in names])),
        "published line over a full factorial of its levels",
        "as S1: a line has no interactions",
        "" if drawn is None else "coefficients drawn from their standard errors",
        tuple(sorted(factors, key=lambda f: -(f.over_all.s1.value or 0))),
        None,
        order,
        inner,
        (),
        tuple(fixed),
        Estimate(fixed_sum, None, None, level, 0) if fixed_indices else None,
        (),
        seed,
        sentence,
        tuple(
            _list_warnings(
                [name for name in coefficients if name not in names and coefficients[name] != 0], drawn is None
            )
        ),
    )


def _raise_if_unknown_features(coefficients: Mapping[str, float], levels: Mapping[str, Sequence[float]]) -> None:
    for name in levels:
        if name not in coefficients:
            raise InputError(
                "unknown-feature",
                "{spell.levels}: unknown feature '{name}'",
                "features: {features}",
                name=name,
                features=", ".join(coefficients),
            )
        if len(set(levels[name])) < 2:
            raise InputError(
                "single-level-factor",
                "{spell.levels}: {name} has one level",
                "leave it out: a factor that never varies has no share",
                name=name,
            )


def _raise_if_invalid_features(names: Sequence[str], fixed: Sequence[str]) -> None:
    """``names``: the features that have levels."""
    for name in fixed:
        if name not in names:
            raise InputError(
                "feature-without-levels",
                "{spell.fixed}: '{name}' has no levels",
                "features with levels: {features}",
                name=name,
                features=", ".join(names),
            )
    if not names:
        raise InputError("no-levels", "no feature has levels", "give each its levels, as {spell.levels:'Network=0,1'}")
    if set(names) <= set(fixed):
        raise InputError(
            "no-free-factor", "every factor is fixed", "leave one out of {spell.fixed}: nothing is left to choose"
        )


def _compute_shares(
    b: np.ndarray, drawn: np.ndarray | None, spread: np.ndarray, chosen: list[int], level: float
) -> Iterator[Shares]:
    total = float(b[chosen] ** 2 @ spread[chosen])
    for i in chosen:
        value = float(b[i] ** 2 * spread[i]) / total if total else 0.0
        s = _compute_interval(
            value,
            None if drawn is None else drawn[:, i] ** 2 * spread[i] / (drawn[:, chosen] ** 2 @ spread[chosen]),
            level,
        )
        yield Shares(s, None, s, None, value)


def _compute_interval(value: float, drawn: np.ndarray | None, level: float) -> Estimate:
    if drawn is None:
        return Estimate(value, None, None, level, 0, (_NO_ERRORS,))
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    return Estimate(value, min(float(low), value), max(float(high), value), level, 0)


def _compute_order(
    shares: Mapping[str, Shares],
    drawn: np.ndarray | None,
    spread: np.ndarray,
    names: list[str],
    chosen: list[int],
    level: float,
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of the order; without errors the published order."""
    ranked = sorted(shares, key=lambda name: -(shares[name].s1.value or 0))
    if drawn is None:
        return tuple((name,) for name in ranked)
    totals = drawn[:, chosen] ** 2 @ spread[chosen]
    return group_tied_names(
        ranked,
        {name: shares[name].s1.value or 0.0 for name in ranked},
        {name: drawn[:, names.index(name)] ** 2 * spread[names.index(name)] / totals for name in ranked},
        level,
    )


def _build_sentence(
    order: tuple[tuple[str, ...], ...],
    inner: tuple[tuple[str, ...], ...],
    shares: Mapping[str, Shares],
    within: Mapping[str, Shares],
    fixed: Sequence[str],
    unsure: bool,
) -> str:
    text = format_ranked_groups(order, _format_numbers(shares, unsure))
    if fixed:
        text += f". Within {join_names(fixed)}: {format_ranked_groups(inner, _format_numbers(within, unsure))}"
    return f"{text}. The order is inconclusive: no standard errors were published." if unsure else f"{text}."


def _format_numbers(shares: Mapping[str, Shares], unsure: bool) -> dict[str, str]:
    return {name: f"S1 {share.s1.value:.2f}" if unsure else format_s1_interval(share) for name, share in shares.items()}


def _list_warnings(other_features: Sequence[str], unsure: bool) -> list[str]:
    messages: list[str] = [
        Message(
            "published-line",
            "shares of what the line explains, every level equally often; its residual is not included",
        )
    ]
    if other_features:
        messages.append(
            Message("fixed-features", "fixed, as they have no levels: {features}", features=", ".join(other_features))
        )
    if unsure:
        messages.append(Message("no-standard-errors", "add a column std_error to the file to get intervals"))
    return messages
