"""The verdicts of a page as its first lines: the state of each question, the claim in words, its estimate and n.

A line quotes a ``Verdict``; nothing is computed here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from iosonde.core.estimate_text import format_percent_estimate, format_value
from iosonde.core.grouping import group_by_key
from iosonde.core.verdict import DOUBTS, Verdict, VerdictState
from iosonde.core.words import join_names

from .content import Page

MOST_LINES = 10  # that are not folded
_EFFECT, _BEST = "effect", "best"
_MOST_FACTORS = 4  # named
_ORDER = tuple(VerdictState)


@dataclass(frozen=True)
class VerdictLine:
    """A claim: its ``state``, the ``response`` as its heading, the claim in words."""

    state: str
    response: str
    text: str


def build_verdict_lines(page: Page) -> list[VerdictLine]:
    """Return a line per effect, those that differ first, each response's best setting with its first effect."""
    best = {verdict.response: verdict for verdict in page.verdicts if _is_better(verdict)}
    effects = _join_untested([verdict for verdict in page.verdicts if verdict.question == _EFFECT])
    places = {response: place for place, response in enumerate(page.responses)}
    effects.sort(
        key=lambda verdict: (
            _ORDER.index(verdict.state),
            places.get(verdict.response, len(places)),
            -_get_share(verdict),
        )
    )
    return [_build_line(verdict, best.pop(verdict.response, None), page.responses) for verdict in effects]


def _join_untested(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts, those without an estimate in the same state on the same response as one."""
    groups = group_by_key(
        ((verdict.response, verdict.state, verdict.doubts, verdict.subject if verdict.estimate else ()), verdict)
        for verdict in verdicts
    )
    return [
        replace(some[0], subject=tuple(dict.fromkeys(name for verdict in some for name in verdict.subject)))
        for some in groups.values()
    ]


def _is_better(verdict: Verdict) -> bool:
    return verdict.question == _BEST and verdict.state is VerdictState.DIFFERENT


def _build_line(verdict: Verdict, best: Verdict | None, responses: Mapping[str, tuple[str, str]]) -> VerdictLine:
    title, unit = responses.get(verdict.response, (verdict.response.replace("_", " "), ""))
    parts = [_WORDS[verdict.state](verdict, _join_factors(verdict.subject))]
    if best is not None and best.estimate is not None:
        parts.append(f"best {format_value(best.estimate, unit)} at {best.claim}")
    parts += [DOUBTS[code] for code in verdict.doubts if code in DOUBTS]
    return VerdictLine(str(verdict.state), title, "; ".join(parts))


def _get_share(verdict: Verdict) -> float:
    return 0.0 if verdict.estimate is None else verdict.estimate.value or 0.0


def _join_factors(factors: Sequence[str]) -> str:
    return join_names(list(factors)) if len(factors) <= _MOST_FACTORS else f"{len(factors)} factors"


def _describe_share(verdict: Verdict) -> str:
    if verdict.estimate is None or verdict.estimate.value is None:
        return ""
    return f": {format_percent_estimate(verdict.estimate)} of the variation, n = {verdict.estimate.n}"


def _describe_difference(verdict: Verdict, names: str) -> str:
    return f"{names} matter{'' if len(verdict.subject) > 1 else 's'}{_describe_share(verdict)}"


_WORDS: dict[VerdictState, Callable[[Verdict, str], str]] = {
    VerdictState.DIFFERENT: _describe_difference,
    VerdictState.EQUAL: lambda verdict, names: f"negligible effect of {names}{_describe_share(verdict)}",
    VerdictState.INCONCLUSIVE: lambda verdict, names: f"no significant effect of {names}{_describe_share(verdict)}",
    VerdictState.NOT_TESTED: lambda verdict, names: f"effect of {names}{_describe_share(verdict)}",
    VerdictState.NOT_SEPARABLE: lambda verdict, names: f"effect of {names}{_describe_share(verdict)}",
}
