"""A corpus in sentences: how far systems differ, what explains it, and where one's own result lies."""

from collections.abc import Sequence

from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.core.words import format_count
from iosonde.stats.overview.systems import CorpusPhase

from .verdicts import is_explanatory


def describe_corpus(
    phases: Sequence[CorpusPhase], on: Sequence[str], years: tuple[int, int] | None, of_parts: str
) -> str:
    """Describe how far systems differ, what explains it, and where one's own result lies."""
    sentences = _describe_own_places(phases, years)
    most = max(phases, key=_compute_spread, default=None)
    if most and _compute_spread(most) and not sentences:
        times = format_significant(_compute_spread(most))
        sentences.append(
            f"Systems differ most in {most.title}: the upper tenth begins at {times} times the end of the lowest."
        )
    effects = [(phase, name, e) for phase in phases for name, e in phase.explained.items() if is_explanatory(e)]
    if effects:
        strongest, name, e = max(effects, key=lambda effect: effect[2].share.low or 0.0)
        sentences.append(
            f"Most is explained of {strongest.title} by {name}: {_format_percent(e.share)} of the variance of its "
            "logarithm between systems."
        )
    elif on and phases:
        sentences.append("No covariate explains a significant share.")
    return " ".join([*sentences, *filter(None, [of_parts])])


def _compute_spread(phase: CorpusPhase) -> float:
    low, high = phase.quantiles[0.1].value, phase.quantiles[0.9].value
    return high / low if low and high else 0.0


def _format_percent(share: Estimate) -> str:
    if share.value is None:
        return "~"
    if share.low is None or share.high is None:
        return f"{100 * share.value:.0f} %"
    return f"{100 * share.value:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"


def _describe_own_places(phases: Sequence[CorpusPhase], years: tuple[int, int] | None) -> list[str]:
    """Describe where one's own result is lowest, and where highest."""
    own = ((phase, phase.placed.share) for phase in phases if phase.placed)
    placed = sorted(own, key=lambda item: item[1].value or 0.0)
    when = f" of {years[0]}–{years[1]}" if years else ""
    chosen = placed if len(placed) < 2 else [placed[-1], placed[0]]
    return [
        f"Your {phase.title} is above {_format_percent(share)} of {format_count(phase.systems, 'system')}{when}."
        for phase, share in chosen
    ]
