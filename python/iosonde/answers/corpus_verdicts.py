"""The verdicts of a corpus: what its covariates explain, and on which side of the others one's own result lies."""

from __future__ import annotations

from collections.abc import Sequence

from iosonde.core.verdict import Direction, Verdict, VerdictState
from iosonde.stats.estimate.clusters import Explained
from iosonde.stats.overview.systems import CorpusPhase

_MIDDLE = 0.5  # of the corpus


def corpus_verdicts(phases: Sequence[CorpusPhase]) -> tuple[Verdict, ...]:
    """One for each number and covariate, and one for each number in which one's own result is placed."""
    family = sum(len(one.explained) for one in phases)
    effects = [_effect(one, name, e, family) for one in phases for name, e in one.explained.items()]
    return (*effects, *(verdict for one in phases for verdict in _difference(one)))


def is_seen(one: Explained) -> bool:
    """Whether a covariate explains anything, and not by one system alone."""
    return (one.share.low or 0) > 0 and one.without is None


def _effect(phase: CorpusPhase, name: str, one: Explained, family: int) -> Verdict:
    state = VerdictState.DIFFERENT if is_seen(one) else VerdictState.INCONCLUSIVE
    state = VerdictState.NOT_TESTED if one.share.low is None else state
    direction = None
    if state is VerdictState.DIFFERENT and one.slope is not None and one.slope.value is not None:
        direction = Direction.UP if one.slope.value > 1 else Direction.DOWN
    doubts = [*(["not-corrected"] if family > 1 else []), *(["leverage"] if one.without is not None else [])]
    return Verdict("effect", phase.title, (name,), state, direction, "", one.share, None, 1, tuple(doubts))


def _difference(phase: CorpusPhase) -> list[Verdict]:
    """Whether more or fewer than half of the systems lie below one's own result."""
    if phase.placed is None:
        return []
    share = phase.placed.share
    if share.low is None or share.high is None:
        return [Verdict("difference", phase.title, ("corpus", "mine"), VerdictState.NOT_TESTED, estimate=share)]
    up, down = share.low > _MIDDLE, share.high < _MIDDLE
    state = VerdictState.DIFFERENT if up or down else VerdictState.INCONCLUSIVE
    direction = Direction.UP if up else Direction.DOWN if down else None
    return [Verdict("difference", phase.title, ("corpus", "mine"), state, direction, estimate=share)]
