"""Groups of factors whose order is inconclusive, and the ranking in a sentence with its uncertainty."""

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.core.types import Estimate
from iosonde.core.words import join_names
from iosonde.stats.estimate.distributions import normal_quantile, t_critical
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects

from .variances import Array, Shares

WORTH_A_WORD = 0.05  # ST - S1


def group_tied_names(
    names: Sequence[str],
    values: Mapping[str, float],
    deviations: Mapping[str, Array | None],
    level: float,
    noise_df: int = 0,
) -> tuple[tuple[str, ...], ...]:
    """Group names (the largest first): a name opens a group if it is significantly below the first of the group before.

    Significantly: the difference exceeds its variation under resampling, at ``level`` over all such comparisons
    (Bonferroni). ``noise_df`` are the degrees of freedom of the resampled noise (Student's t); 0: many.
    """
    if not names:
        return ()
    each = 1 - (1 - level) / max(1, len(names) - 1)
    z = t_critical(each, noise_df) if noise_df else normal_quantile(0.5 + each / 2)
    groups: list[list[str]] = [[names[0]]]
    for name in names[1:]:
        head = groups[-1][0]
        a, b = deviations[head], deviations[name]
        if a is None or b is None:
            groups[-1].append(name)
            continue
        gap = values[head] - values[name]
        if gap > z * float(np.std(a - b)) and gap > 1e-9:
            groups.append([name])
        else:
            groups[-1].append(name)
    return tuple(tuple(group) for group in groups)


def insert_blocks(
    order: Sequence[Sequence[str]], blocks: Sequence[FactorEffect], effects: ResponseEffects
) -> tuple[tuple[str, ...], ...]:
    """Insert the factors of each block into the groups of ``order``: as a group of their own, or into the first group
    with an overlapping interval."""
    groups = [list(group) for group in order]
    for block in blocks:
        heads = [effects.effect_of(group[0]) for group in groups]
        shares = [0.0 if head is None else head.share for head in heads]
        place = next((i for i, share in enumerate(shares) if share < block.share), len(groups))
        neighbours = [i for i in (place - 1, place) if 0 <= i < len(groups) and _is_overlapping(block, heads[i])]
        if neighbours:
            groups[neighbours[0]] += block.factors
        else:
            groups.insert(place, list(block.factors))
    return tuple(tuple(group) for group in groups)


def _is_overlapping(effect: FactorEffect, other: FactorEffect | None) -> bool:
    if other is None:
        return True
    a, b = effect.explained, other.explained
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return True
    return a.low <= b.high and b.low <= a.high


def format_s1_interval(shares: Shares) -> str:
    """``S1 0.55, 0.49–0.60``, and ST if it is significantly larger; an unknown interval is ``~``."""
    s1 = shares.s1
    if s1.value is None or s1.low is None or s1.high is None:
        return f"S1 {s1.value:.2f}, ~"
    return f"S1 {s1.value:.2f}, {s1.low:.2f}–{s1.high:.2f}{format_total_share_if_larger(shares)}"


def format_total_share_if_larger(shares: Shares) -> str:
    """``; ST 0.74, 0.70–0.78`` if it is significantly larger than S1, else nothing."""
    s1, st = shares.s1, shares.st
    if s1.high is None or st.value is None or st.low is None or st.high is None or st.low <= s1.high + WORTH_A_WORD:
        return ""
    return f"; ST {st.value:.2f}, {st.low:.2f}–{st.high:.2f}"


def format_ranked_groups(groups: Sequence[Sequence[str]], numbers: Mapping[str, str]) -> str:
    """``network first (S1 0.55, 0.49–0.60); then replication and clients, whose order is inconclusive``.

    ``numbers``: text in parentheses by name."""
    clauses = []
    for place, group in enumerate(groups):
        items = [f"{name} ({numbers[name]})" for name in group]
        if len(group) > 1:
            apart = f"{join_names(items)}, whose order is inconclusive"
            clauses.append(f"then {apart}" if place else f"first {apart}")
        elif place:
            clauses.append(f"then {items[0]}")
        else:
            clauses.append(f"{group[0]} first {items[0][len(group[0]) + 1 :]}")
    return "; ".join(clauses)


def join_ranked_names(groups: Sequence[Sequence[str]]) -> str:
    """``stripe first, then cache and hints, whose order is inconclusive``."""
    clauses = [f"{join_names(group)}{', whose order is inconclusive' if len(group) > 1 else ''}" for group in groups]
    return ", then ".join([f"{clauses[0]}{' first' if len(groups[0]) == 1 else ''}", *clauses[1:]])


def format_share_with_range(share: Estimate) -> str:
    """``0.55 (0.49–0.60)``; an unknown interval is ``~``."""
    limits = "~" if share.low is None or share.high is None else f"{share.low:.2f}–{share.high:.2f}"
    return f"{share.value:.2f} ({limits})"
