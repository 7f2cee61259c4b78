"""What a ranking says in words: one sentence, and what speaks against reading it too simply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .blocks import Blocks
from .design import FACTORIAL, FRACTION, SCATTERED, Design
from .order import joined, ranged, ranked_names, ranked_text
from .ranking import Ranking

_LINEAR = 0.1  # of V(Y) that a straight line misses of the group means
_NOISE_IN_ST = 0.03
_MOST_LINKS = 3
_FEW = 100  # below it, 95 % intervals of scattered settings cover 83 to 95 %


def sentence(ranking: Ranking) -> str:
    """The ranking, never without its uncertainty."""
    shares = {factor.name: factor.over_all for factor in ranking.factors}
    if not ranking.order:
        said = f"No factor's effect on {ranking.response} can be told from chance at level {ranking.level:g}"
        return f"{said}: repeat the settings, or vary the factors further."
    parts = [ranked_text(ranking.order, shares)]
    if ranking.fixed:
        within = {factor.name: factor.within for factor in ranking.factors if factor.within}
        if ranking.order_within:
            parts.append(f"within {joined(ranking.fixed)}: {ranked_text(ranking.order_within, within)}")
        else:
            parts.append(f"within {joined(ranking.fixed)} no effect can be told from chance")
    if ranking.blocks is not None:
        parts.append(blocks_text(ranking.blocks))
    if ranking.silent:
        parts.append(f"of {joined(ranking.silent)} no effect can be told from chance")
    return ". ".join(part[0].upper() * (i > 0) + part[i > 0 :] for i, part in enumerate(parts)) + "."


def blocks_text(blocks: Blocks) -> str:
    """``in the order given, hardware 0.91 (0.89–0.92) of the variance; then settings 0.06 (0.05–0.07) more``."""
    said = []
    for place, block in enumerate(blocks.blocks):
        share = block.added.share
        if block.added.p is not None and block.added.p > 1 - share.level:
            said.append(f"{'then nothing' if place else 'nothing'} of {block.name} that can be told from chance")
        elif place:
            first = f": {ranked_names(block.order)}" if block.order and len(block.factors) > 1 else ""
            said.append(f"then {block.name} {ranged(share)} more, {ranged(block.of_rest)} of what was left{first}")
        else:
            said.append(f"{block.name} {ranged(share)} of the variance")
    return f"in the order given, {'; '.join(said)}"


def warnings(ranking: Ranking, design: Design, of_data: Sequence[str], r2: float | None) -> tuple[str, ...]:
    """Everything that a reader of the numbers has to know."""
    return (*of_data, *_of_design(ranking, design), *_of_factors(ranking), *_of_line(ranking, r2))


def _of_design(ranking: Ranking, design: Design) -> Iterator[str]:
    if not ranking.intervals:
        yield "nothing tells noise from effects, so there are no intervals: repeat every setting, 3 times or more"
    elif not design.df_repeats:
        st = "ST holds the noise, and " if design.kind == FACTORIAL else ""
        yield (f"no setting was repeated: {st}interactions cannot be told from noise; repeat the settings to tell "
               "them apart")  # fmt: skip
    elif design.ss_within.sum() <= 1e-20 * design.total * design.n:
        yield "the repeats of every setting are exactly equal: copies, or no noise at all; see iosonde check"
    if design.kind == FRACTION:
        yield ("a balanced fraction of the combinations: each factor's share may hold interactions of the others "
               "(aliases), and ST is refused")  # fmt: skip
    if design.kind == SCATTERED and design.n_cells < _FEW:
        yield (f"{design.n_cells} scattered settings are few: intervals may be too short; {_FEW} or more are wanted")
    if design.binned:
        yield f"in bins of equally many rows: {', '.join(design.binned)}"
    for link in ranking.links[:_MOST_LINKS]:
        if link.strength > 0.999:
            yield f"{link.first} and {link.second} always change together: their effects cannot be told apart"
        else:
            yield (f"{link.first} and {link.second} were not varied independently (strength {link.strength:.2f}): S1 "
                   "of one holds effects of the other; the Shapley effects share them out")  # fmt: skip
    if len(ranking.links) > _MOST_LINKS:
        yield f"{len(ranking.links) - _MOST_LINKS} more pairs of factors were not varied independently"
    reasons = [
        w for f in ranking.factors for w in (*f.over_all.st.warnings, *(f.shapley.warnings if f.shapley else ()))
    ]
    for reason in dict.fromkeys(reasons):
        if reason.startswith("refused"):
            yield f"ST {reason}"
        elif reason.startswith("Shapley"):
            yield reason


def _of_factors(ranking: Ranking) -> Iterator[str]:
    strong = [factor.name for factor in ranking.factors if factor.interacts]
    if strong:
        yield (f"{joined(strong)}: ST is well above S1: what it does depends on the other factors; look at it within "
               "their levels")  # fmt: skip
    raised = [
        f"{factor.name} {max(0.0, factor.over_all.st_corrected):.2f}"
        for factor in ranking.factors
        if factor.over_all.st_corrected is not None
        and (factor.over_all.st.value or 0.0) - max(0.0, factor.over_all.st_corrected) > _NOISE_IN_ST
    ]
    if raised:
        yield f"without what noise adds to it ST is {', '.join(raised)}"
    for factor in ranking.factors:
        if factor.effects and factor.effects.turns:
            yield f"{factor.name}: the response is not monotone: {factor.effects.turns}"


def _of_line(ranking: Ranking, r2: float | None) -> Iterator[str]:
    """Where the straight line misses what the group means see, coefficients mislead."""
    if r2 is None:
        return
    means = sum(max(f.over_all.s1_corrected or 0.0, 0.0) for f in ranking.factors)
    missed = float(np.clip(means, 0, 1)) - r2
    if missed > _LINEAR and not ranking.links:
        yield (f"a straight line explains {100 * r2:.0f} %, the factors' levels {100 * means:.0f} %: do not rank by "
               "coefficients here")  # fmt: skip
