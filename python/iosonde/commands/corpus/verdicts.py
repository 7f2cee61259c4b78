"""Verdicts of a corpus: the effects of its covariates, and the side on which one's own result lies."""

from collections.abc import Sequence

from iosonde.core.message import Message
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.stats.assumptions import AssumptionCheck, doubtful, fails, holds, judge, judge_all, not_applicable
from iosonde.stats.estimate.clusters import Explained
from iosonde.stats.overview.systems import CorpusPhase

_MIDDLE = 0.5  # of the corpus
_CLUSTERED = (
    *holds("subsamples", "few-trials", "varies-besides", "goes-together"),
    *not_applicable("order", "drift", "dependent", "missing-values", "coarse-clock", "bring-ups", "impossible"),
)
"""Each system counts once, whatever it submitted; published results have no order, clock or bring-up."""


def build_corpus_verdicts(phases: Sequence[CorpusPhase]) -> tuple[Verdict, ...]:
    """Return one verdict per metric and covariate, and one per metric with one's own result."""
    family = sum(len(phase.explained) for phase in phases)
    effects = [_judge_effect(phase, name, e, family) for phase in phases for name, e in phase.explained.items()]
    return (*effects, *judge_all((claim for phase in phases for claim in _claim_difference(phase)), _CLUSTERED))


def is_explanatory(explained: Explained) -> bool:
    """Return whether a covariate explains something, and not by a single system alone."""
    return (explained.share.low or 0) > 0 and explained.without is None


def _judge_effect(phase: CorpusPhase, name: str, explained: Explained, family: int) -> Verdict:
    tested = VerdictState.DIFFERENT if is_explanatory(explained) else VerdictState.INCONCLUSIVE
    state = VerdictState.NOT_TESTED if explained.share.low is None else tested
    direction = None
    if state is VerdictState.DIFFERENT and explained.slope is not None and explained.slope.value is not None:
        direction = Direction.UP if explained.slope.value > 1 else Direction.DOWN
    claim = UncheckedClaim("effect", _format_name(phase), (name,), state, direction, "", explained.share)
    family_checks = [doubtful("not-corrected")] if family > 1 else holds("not-corrected")
    others = [doubtful("varies-besides")] if len(phase.explained) > 1 else []
    return judge(claim, (*family_checks, *_check_leverage(explained), *others, *_CLUSTERED))


def _check_leverage(explained: Explained) -> tuple[AssumptionCheck, ...]:
    if explained.without is None:
        return holds("leverage")
    why = Message("deciding-system", "a single system decides it")
    return (fails("leverage", VerdictState.INCONCLUSIVE, why),)


def _claim_difference(phase: CorpusPhase) -> list[UncheckedClaim]:
    """Claim whether more or fewer than half of the systems lie below one's own result."""
    if phase.placed is None:
        return []
    share = phase.placed.share
    if share.low is None or share.high is None:
        return [
            UncheckedClaim(
                "difference", _format_name(phase), ("corpus", "mine"), VerdictState.NOT_TESTED, estimate=share
            )
        ]
    up, down = share.low > _MIDDLE, share.high < _MIDDLE
    state = VerdictState.DIFFERENT if up or down else VerdictState.INCONCLUSIVE
    direction = Direction.UP if up else Direction.DOWN if down else None
    return [UncheckedClaim("difference", _format_name(phase), ("corpus", "mine"), state, direction, estimate=share)]


def _format_name(phase: CorpusPhase) -> str:
    return f"{phase.operation} {phase.metric}"
