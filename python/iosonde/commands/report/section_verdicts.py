"""The verdicts of a page as its first lines: the state of each question, the claim in words, its estimate and n.

A line quotes a ``Verdict``; nothing is computed here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from iosonde.commands.compare.against import PairVerdicts
from iosonde.core.estimate_text import format_percent_estimate, format_value
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.metrics import name_extremes
from iosonde.core.units import format_percent
from iosonde.core.verdict import DOUBTS, HARDLY_MATTERS, IN_INTERACTION, Verdict, VerdictState, name_standing
from iosonde.core.words import join_names

from .content import Page

MOST_LINES = 10  # that are not folded
_EFFECT, _BEST, _TOGETHER = "effect", "best", "goes-together"
_MOST_FACTORS = 4  # named
_MOST_ALIKE = 3  # lines that differ only in their response and share
_LARGE_SHARE = 0.5  # of the variation
_MOST_EQUAL = 0.1  # of the variation: a higher limit says nothing of a negligible effect
_ORDER = tuple(VerdictState)
_OPEN = (VerdictState.INCONCLUSIVE, VerdictState.EQUAL)  # of a factor that matters only with another


@dataclass(frozen=True)
class VerdictLine:
    """A claim: its ``state``, the ``response`` as its heading, the claim in words."""

    state: str
    response: str
    text: str


def build_verdict_lines(page: Page) -> list[VerdictLine]:
    """Return a line per pair of a sealed comparison, then per effect, those that differ first, each response's best
    setting with its first effect."""
    best = {
        verdict.response: verdict
        for verdict in page.verdicts
        if verdict.question == _BEST and verdict.state is VerdictState.DIFFERENT
    }
    every = [verdict for verdict in page.verdicts if verdict.question == _EFFECT]
    parts = {
        (block.response, block.subject): [part for part in every if _is_part(part, block)]
        for block in every
        if len(block.subject) > 1
    }
    different_blocks = {(block.response, block.subject) for block in every if block.state is VerdictState.DIFFERENT}
    implied = [
        part
        for key, some in parts.items()
        for part in some
        if part.state is not VerdictState.DIFFERENT or (key in different_blocks and _TOGETHER in part.doubts)
    ]
    effects = _join_untested([verdict for verdict in every if not any(verdict is part for part in implied)])
    places = {response: place for place, response in enumerate(page.responses)}
    effects.sort(
        key=lambda verdict: (
            _ORDER.index(verdict.state),
            places.get(verdict.response, len(places)),
            -((verdict.estimate and verdict.estimate.value) or 0.0),
        )
    )
    interactions = dict(page.interactions)
    return [
        *_build_pair_lines(page),
        *(
            _build_line(
                some,
                best.pop(some[0].response, None),
                page,
                parts.get((some[0].response, some[0].subject), ()),
                interactions.pop(some[0].response, ""),
            )
            for some in _group_alike(effects)
        ),
    ]


def _build_pair_lines(page: Page) -> list[VerdictLine]:
    """Quote the sealed comparison: the deciding metrics first."""
    answers = [question.answer for question in page.questions if isinstance(question.answer, PairVerdicts)][:1]
    return [VerdictLine(*quote) for pairs in answers for quote in pairs.quotes]


def _group_alike(effects: Sequence[Verdict]) -> list[list[Verdict]]:
    """Group the verdicts that say the same of many responses, the greatest first. An effect stays alone."""
    groups = group_by_key(
        ((verdict.state, name_standing(verdict), _find_reason(verdict) or verdict.subject, verdict.doubts), verdict)
        for verdict in effects
    )
    return [
        lines
        for (state, *_), some in groups.items()
        for lines in (
            [sorted(some, key=lambda verdict: (verdict.estimate and verdict.estimate.high) or 0.0, reverse=True)]
            if state is not VerdictState.DIFFERENT and len(some) > _MOST_ALIKE
            else [[verdict] for verdict in some]
        )
    ]


def _find_reason(verdict: Verdict) -> str:
    """Return why factors are not tested, where no estimate tells them apart; '' for others."""
    return verdict.why if verdict.state is VerdictState.NOT_TESTED and verdict.estimate is None else ""


def _is_part(verdict: Verdict, block: Verdict) -> bool:
    """Return whether it is the verdict on one of several factors, which matter together or cannot be separated."""
    return verdict.response == block.response and set(verdict.subject) < set(block.subject)


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


def _build_line(
    alike: Sequence[Verdict], best: Verdict | None, page: Page, parts: Sequence[Verdict], interaction: str
) -> VerdictLine:
    verdict = alike[0]
    title, unit = page.responses.get(verdict.response, (verdict.response.replace("_", " "), ""))
    title = f"{len(alike)} metrics" if len(alike) > 1 else title
    is_inseparable = any(_TOGETHER in part.doubts for part in parts)
    if verdict.state is VerdictState.DIFFERENT and any(part.state in _OPEN for part in parts) and not is_inseparable:
        texts = [_describe_interaction(verdict)]
    else:
        describe = _SPECIAL.get(name_standing(verdict), _WORDS[verdict.state])
        subject = tuple(dict.fromkeys(name for other in alike for name in other.subject))
        texts = [describe(verdict, _join_factors(subject))]
        texts += [_describe_inseparability(parts)] if is_inseparable else []
        texts += [
            f"{_join_factors(part.subject)} explains {format_percent_estimate(part.estimate)} beyond the others"
            for part in parts
            if verdict.state is part.state is VerdictState.DIFFERENT and part.estimate and _TOGETHER in part.doubts
        ]
    if best is not None and best.estimate is not None:
        texts.append(f"{name_extremes(verdict.response, unit)[0]} {format_value(best.estimate, unit)} at {best.claim}")
    texts += [interaction] if interaction else []
    reason = _find_reason(verdict)
    texts += [reason] if reason else [DOUBTS[code] for code in verdict.doubts if code in DOUBTS]
    standing = name_standing(verdict)
    label = standing if standing in _SPECIAL else str(verdict.state)
    return VerdictLine(label, title, "; ".join(texts))


def _describe_inseparability(parts: Sequence[Verdict]) -> str:
    """Return why factors cannot be separated: those that are nested do not always change together."""
    nested = [part.why for part in parts if isinstance(part.why, Message) and part.why.code == "nested"]
    return nested[0] if nested else "they change together and cannot be separated"


def _join_factors(factors: Sequence[str]) -> str:
    return join_names(list(factors)) if len(factors) <= _MOST_FACTORS else f"{len(factors)} factors"


def _describe_share(verdict: Verdict) -> str:
    if verdict.estimate is None or verdict.estimate.value is None:
        return ""
    size = verdict.claim if verdict.state is VerdictState.DIFFERENT else ""
    size = size or f"{format_percent_estimate(verdict.estimate)} of the variation"
    return f": {size}, n = {verdict.estimate.n}"


def _describe_limit(verdict: Verdict) -> str:
    """Return what an effect without significance is at most; '' for a limit that is no small share."""
    if verdict.estimate is None or verdict.estimate.high is None:
        return _describe_share(verdict)
    if verdict.state is VerdictState.EQUAL and verdict.estimate.high > _MOST_EQUAL:
        return f", n = {verdict.estimate.n}"
    return f": at most {format_percent(verdict.estimate.high)} of the variation, n = {verdict.estimate.n}"


def _describe_open_effect(verdict: Verdict, names: str) -> str:
    """Describe an effect without significance; a large share without an upper limit lacks trials, not an effect."""
    estimate = verdict.estimate
    if estimate is None or estimate.high is not None or (estimate.value or 0.0) < _LARGE_SHARE:
        return f"no significant effect of {names}{_describe_limit(verdict)}"
    share = format_percent_estimate(estimate)
    return f"{names}: {share} of the variation, but n = {estimate.n} does not suffice for a significant effect"


def _describe_minor_effect(verdict: Verdict, names: str) -> str:
    return f"{names}{_describe_limit(verdict)}"


def _describe_interaction(verdict: Verdict) -> str:
    first, *others = verdict.subject
    depends = (
        f"the effect of {first} depends on {others[0]}"
        if len(others) == 1
        else f"the effects of {_join_factors(verdict.subject)} depend on each other"
    )
    return f"{depends}{_describe_share(verdict).replace(': ', ': together ', 1)}"


def _describe_dependent_effect(verdict: Verdict, names: str) -> str:
    return f"{names}: not significant alone{_describe_limit(verdict).replace(': ', ', ', 1)}"


_SPECIAL = {HARDLY_MATTERS: _describe_minor_effect, IN_INTERACTION: _describe_dependent_effect}
_WORDS: dict[VerdictState, Callable[[Verdict, str], str]] = {
    VerdictState.DIFFERENT: lambda verdict, names: (
        f"{names} matter{'' if len(verdict.subject) > 1 else 's'}{_describe_share(verdict)}"
    ),
    VerdictState.EQUAL: lambda verdict, names: f"practically no effect of {names}{_describe_limit(verdict)}",
    VerdictState.INCONCLUSIVE: lambda verdict, names: _describe_open_effect(verdict, names),
    VerdictState.NOT_TESTED: lambda verdict, names: f"effect of {names}{_describe_share(verdict)}",
    VerdictState.NOT_SEPARABLE: lambda verdict, names: f"effect of {names}{_describe_share(verdict)}",
}
