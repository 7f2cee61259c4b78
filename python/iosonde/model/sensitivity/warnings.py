"""A ranking in words: one sentence, and the warnings against reading it too simply."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from iosonde.core.estimate_text import format_explained_share, format_percent_estimate
from iosonde.core.message import Message, restore_message
from iosonde.core.types import Estimate
from iosonde.core.units import format_percent
from iosonde.core.words import join_names
from iosonde.stats.regression.effect_types import (
    FactorEffect,
    describe_blocks,
    describe_dependent_effects,
    describe_interaction,
    describe_minor_effects,
    describe_nesting,
    describe_too_different,
    describe_unclaimed_effects,
    list_larger_interaction,
)
from iosonde.stats.regression.interactions import describe_pairs
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION, SCATTERED

from .adjusted import Adjusted
from .aliases import MOST_FACTORS, format_aliases
from .blocks import Blocks
from .design import Design
from .order import (
    format_ranked_groups,
    format_share_with_range,
    format_total_share_if_larger,
    join_ranked_names,
)
from .ranking import BY_ADJUSTED, Ranking

_LINEAR = 0.1  # of V(Y) explained by the group means but not by a straight line
_NOISE_IN_ST = 0.03
_MOST_LINKS = 3
_INSEPARABLE = 0.999  # strength of a link
_INTERACTIONS = 0.02  # of V(Y)
_REFUSALS = ("aliased-fraction", "correlated-factors", "poor-surrogate")  # of ST
_FEW = 100  # below it, 95 % intervals of scattered settings cover 83 to 95 %


def describe_ranking(ranking: Ranking, taken: Collection[str] = ()) -> str:
    """Describe the ranking of the factors that are not ``taken``, with its uncertainty. Empty if nothing is left to
    report."""
    if not ranking.order:
        return _describe_no_effect(ranking)
    order, order_within = (
        _remove_names(ranking.order, {*taken, *ranking.effects.joint_factors}),
        _remove_names(ranking.order_within, taken),
    )
    order, dependent = _separate_dependent(ranking, order)
    parts = [format_ranked_groups(_merge_units(ranking, order), _format_numbers(ranking))] if order else []
    numbers = _format_numbers(ranking) if dependent else {}
    acting = {name for effect in ranking.effects.effects if effect.is_interacting for name in effect.factors}
    dependent += [name for name in ranking.silent if name in acting and name not in dependent]
    texts = [f"{name} ({numbers[name]})" if name in numbers else name for name in dependent]
    parts += [f"not significant alone, but in interaction: {join_names(texts)}"] if texts else []
    blocks = [effect for effect in ranking.effects.significant if not set(effect.factors) & set(taken)]
    parts += describe_interaction(ranking.effects)
    parts += describe_blocks(blocks)
    parts += [f"together {effect.name} explain {effect.text} of the variation" for effect in blocks if effect.is_joint]
    parts += describe_unclaimed_effects(ranking.effects)
    parts += [
        f"the effect of {factor.name} is confounded with {format_aliases(full_aliases)} unless "
        f"{'that interaction is' if len(full_aliases) == 1 else 'these interactions are'} absent"
        for factor in ranking.factors
        if factor.name not in (*ranking.silent, *taken)
        and (full_aliases := [alias for alias in factor.aliases if alias.is_full])
    ][:_MOST_LINKS]
    if ranking.fixed:
        within = {
            factor.name: _format_share_of_variation(
                factor.share_within, "the rest" if factor.name == order_within[0][0] else ""
            )
            for factor in ranking.factors
            if factor.share_within is not None and order_within
        }
        if order_within:
            parts.append(f"within {join_names(ranking.fixed)}: {format_ranked_groups(order_within, within)}")
        elif not ranking.order_within:
            parts.append(f"within {join_names(ranking.fixed)} no effect is significant")
    if ranking.blocks is not None:
        parts.append(format_block_shares(ranking.blocks))
    untested = [effect.name for effect in ranking.effects.effects if effect.p is None]
    if untested:
        parts.append(f"not distinguishable from differences between bring-ups: {join_names(untested)}")
    alone = tuple(effect for effect in ranking.effects.effects if not set(effect.factors) & set(dependent))
    parts += describe_minor_effects(replace(ranking.effects, effects=alone))
    minor = {name for effect in ranking.effects.minor for name in effect.factors} if ranking.effects.significant else ()
    if silent := [name for name in ranking.silent if name not in (*untested, *minor, *dependent)]:
        parts.append(f"not significant: {join_names(silent)}")
    return "".join(f"{part}. " for part in _capitalise_parts(parts, bool(order))).rstrip()


def _remove_names(order: Sequence[Sequence[str]], taken: Collection[str]) -> list[list[str]]:
    groups = [[name for name in group if name not in taken] for group in order]
    return [group for group in groups if group]


def _separate_dependent(ranking: Ranking, order: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """Return the order of the factors with a significant effect, and those that matter by an interaction alone; all
    keep their order if there is no other."""
    significant = {name for effect in ranking.effects.significant for name in effect.factors}
    dependent = [name for group in order for name in group if name not in significant]
    rest = _remove_names(order, dependent)
    return (rest, dependent) if rest else ([list(group) for group in order], [])


def _capitalise_parts(parts: Sequence[str], has_name: bool) -> Iterator[str]:
    """Capitalise each part, except a first one that begins with a factor's name (``has_name``)."""
    for place, part in enumerate(parts):
        yield part if has_name and not place else f"{part[:1].upper()}{part[1:]}"


def _describe_no_effect(ranking: Ranking) -> str:
    effects = ranking.effects
    if too_different := describe_too_different([effects]):
        return too_different[0]
    if unclaimed := describe_unclaimed_effects(effects):
        why = "; ".join(unclaimed)
        return f"{why}; no other effect is significant." if effects.negligible else f"No effect is significant: {why}."
    if effects.untested:
        return f"The effect of {' or '.join(effects.factors)} on {ranking.response} is not tested: {effects.untested}."
    if any(effect.p is None for effect in effects.effects):
        return f"No factor's effect on {ranking.response} is distinguishable from differences between bring-ups."
    against = "" if effects.repeated or not ranking.by_levels else " against the residual of the main effects"
    text = f"No factor's effect on {ranking.response} is significant{against} at level {ranking.level:g}"
    if interaction := "; ".join(describe_interaction(effects)):
        return f"{text} alone: {interaction}."
    return f"{text}: repeat the settings, or vary the factors further."


def _merge_units(ranking: Ranking, order: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the groups, the largest share first, with one name for factors that change together."""
    effects = ranking.effects

    def get_share(name: str) -> float:
        effect = effects.effect_of(name)
        return 0.0 if effect is None else effect.share

    return [
        list(
            dict.fromkeys(
                effect.name if (effect := effects.effect_of(name)) else name
                for name in sorted(group, key=get_share, reverse=True)
            )
        )
        for group in order
    ]


def _format_numbers(ranking: Ranking) -> dict[str, str]:
    """Map each unit to its share, as in every other command, and to a larger total share."""
    st = {factor.name: format_total_share_if_larger(factor.over_all) for factor in ranking.factors}
    first = ranking.effects.effect_of(ranking.order[0][0])
    return {
        effect.name: (
            _format_ratio(ranking, effect)
            or _format_share_of_variation(effect.explained, "the variation" if effect is first else "")
            + ("" if effect.hidden_share is None else f", of logarithms {format_percent_estimate(effect.hidden_share)}")
        )
        + st.get(effect.name, "")
        for effect in ranking.effects.effects
    }


def _format_ratio(ranking: Ranking, effect: FactorEffect) -> str:
    """Return the ratio of two levels, from which to which: ``×1.15, 1.11–1.19, xfs → ext4``; '' of any other effect."""
    text = effect.ratio_text.replace(" (", ", ").removesuffix(")")
    levels = [factor.effects for factor in ranking.factors if factor.name == effect.name and factor.effects]
    if not text or not levels or len(levels[0].levels) != 2:
        return text
    low, high = levels[0].extremes
    return f"{text}, {low.name} → {high.name}"


def _format_share_of_variation(share: Estimate, total: str) -> str:
    """``55 % of the variation, 49–60 %``; without naming the ``total`` if it is empty."""
    value, interval = format_explained_share(share)
    text = f"{value} of {total}" if total else value
    return f"{text}, {interval}" if interval else text


def format_block_shares(blocks: Blocks) -> str:
    """``in the order given, hardware 0.91 (0.89–0.92) of the variance; then settings 0.06 (0.05–0.07) more``."""
    clauses = []
    for place, block in enumerate(blocks.blocks):
        share = block.added.share
        if block.added.p is not None and block.added.p > 1 - share.level:
            clauses.append(f"{'then ' if place else ''}{block.name}, not significant")
        elif place:
            first = f": {join_ranked_names(block.order)}" if block.order and len(block.factors) > 1 else ""
            clauses.append(
                f"then {block.name} {format_share_with_range(share)} more, "
                f"{format_share_with_range(block.rest_share)} of what was left{first}"
            )
        else:
            clauses.append(f"{block.name} {format_share_with_range(share)} of the variance")
    return f"in the order given, {'; '.join(clauses)}"


def collect_warnings(
    ranking: Ranking, design: Design, data_warnings: Sequence[str], r2: float | None, beyond: Adjusted | None = None
) -> tuple[str, ...]:
    """Collect the warnings for a reader of the numbers."""
    return (
        *data_warnings,
        *_warn_noise(ranking, design),
        *_warn_fraction(ranking, design),
        *_warn_settings(ranking, design),
        *_warn_links(ranking, design),
        *_warn_interactions(ranking, beyond),
        *_warn_refusals(ranking),
        *_warn_factors(ranking),
        *_warn_line(ranking, r2),
    )


def _warn_noise(ranking: Ranking, design: Design) -> Iterator[str]:
    has_noise = any(effect.explained.low is not None for effect in ranking.effects.effects)
    if not design.df_repeats and (ranking.interactions or ranking.effects.interaction > 0):
        yield Message(
            "no-repeats",
            "no setting was repeated: ST includes the noise, and interactions of more factors than those named are"
            " taken for noise; repeat the settings to separate them",
        )
    elif not ranking.intervals and not (has_noise and not design.df_repeats):
        yield Message(
            "no-replication",
            ("too little data" if ranking.noise_from else "no data")
            + " to estimate the noise, hence no intervals: repeat every setting, 3 times or more",
        )
        if ranking.noise_from:
            yield Message(
                "lack-of-fit-noise", "p is against the residual of the main effects, which includes interactions"
            )
    elif not design.df_repeats:
        is_residual = design.kind in (FRACTION, SCATTERED) or not ranking.intervals
        residual = "noise is the residual of the main effects, and " if is_residual else ""
        st = "ST includes the noise, and " if design.kind == FACTORIAL and ranking.intervals else ""
        yield Message(
            "no-repeats",
            f"no setting was repeated: {residual}{st}interactions are confounded with noise; repeat the settings to "
            "separate them",
        )
    elif design.ss_within.sum() <= 1e-20 * design.total * design.n:
        yield Message(
            "identical-repeats",
            "the repeats of every setting are exactly equal: duplicates, or no noise at all; see iosonde check",
        )


def _warn_fraction(ranking: Ranking, design: Design) -> Iterator[str]:
    aliased_factors = [factor for factor in ranking.factors if any(alias.is_full for alias in factor.aliases)]
    for factor in aliased_factors[:_MOST_LINKS]:
        aliases = [alias for alias in factor.aliases if alias.is_full]
        yield Message(
            "aliased-factors",
            "{factor} is aliased with {interactions}: its effect is known only if "
            + ("that interaction is" if len(aliases) == 1 else "these interactions are")
            + " absent",
            factor=factor.name,
            interactions=format_aliases(aliases),
        )
    if len(aliased_factors) > _MOST_LINKS:
        yield Message(
            "aliased-factors",
            "{n_more} more factors are aliased with interactions of two others",
            n_more=len(aliased_factors) - _MOST_LINKS,
        )
    if design.kind != FRACTION:
        return
    partly = [factor.name for factor in ranking.factors if factor.aliases and factor not in aliased_factors]
    if partly:
        yield Message(
            "partly-aliased",
            "partly aliased with interactions of two others: {factors}; the JSON lists them",
            factors=", ".join(partly),
        )
    if not aliased_factors and not partly and len(ranking.factors) <= MOST_FACTORS:
        yield Message(
            "balanced-fraction",
            "a balanced fraction of the combinations: main effects are aliased only with interactions"
            " of three factors or more, and ST is refused",
        )
    else:
        yield Message(
            "balanced-fraction",
            "a balanced fraction of the combinations: a factor's share may include interactions of the "
            "others (aliases), and ST is refused",
        )


def _warn_settings(ranking: Ranking, design: Design) -> Iterator[str]:
    is_nested_grid = not design.binned and any(link.nested for link in design.links)  # scattered by its names alone
    if design.kind == SCATTERED and design.n_cells < _FEW and not is_nested_grid:
        yield Message(
            "few-settings",
            "{n_settings} scattered settings are few: intervals may be too short; measure {n_needed} or more",
            n_settings=design.n_cells,
            n_needed=_FEW,
        )
    if design.binned:
        yield Message("binned-factors", "in bins of equally many rows: {factors}", factors=", ".join(design.binned))


def _warn_links(ranking: Ranking, design: Design) -> Iterator[str]:
    nested = [link for link in ranking.links if link.nested]
    linked = [link for link in ranking.links if link.strength > _INSEPARABLE and not link.nested]
    yield from (describe_nesting(*link.nested) for link in nested[:_MOST_LINKS] if link.nested)
    if groups := group_linked_names([(link.first, link.second) for link in linked]):
        yield Message(
            "inseparable-factors",
            "{groups} always change together: their effects cannot be separated",
            groups="; ".join(map(join_names, groups)),
        )
    others = [link for link in ranking.links if link not in (*linked, *nested)]
    if others:
        pairs = [f"{link.first} and {link.second}" for link in others[:_MOST_LINKS]]
        more = f" and {len(others) - _MOST_LINKS} more pairs" if len(others) > _MOST_LINKS else ""
        yield Message(
            "correlated-factors",
            "{pairs} were not varied independently (strength "
            + ("up to " if len(others) > 1 else "")
            + "{strength:.2f}): S1 of one includes effects of the other; the Shapley effects divide them",
            pairs="; ".join(pairs) + more,
            strength=max(link.strength for link in others),
        )
    if ranking.by == BY_ADJUSTED:
        unbalanced = "" if ranking.links else "the settings are not balanced (strength up to {imbalance:.2f}): "
        yield Message(
            "adjusted-shares",
            unbalanced + "ranked by the adjusted share, the part that a factor explains beyond all others",
            imbalance=design.imbalance,
        )
    estimator = ranking.shapley_estimator
    if isinstance(estimator, Message) and estimator.code == "additive-model":
        yield Message(
            "additive-shapley",
            "Shapley effects by an {estimator}: they exclude interactions",
            estimator=estimator,
        )
    if ranking.by != BY_ADJUSTED and ranking.links:
        yield Message("too-few-settings", "too few settings for adjusted shares: ranked by S1")


def group_linked_names(pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Group names that are linked, directly or by others."""
    groups: list[list[str]] = []
    for pair in pairs:
        joined = [group for group in groups if set(group) & set(pair)]
        groups = [group for group in groups if group not in joined]
        groups.append(list(dict.fromkeys([*(name for group in joined for name in group), *pair])))
    return groups


def _warn_interactions(ranking: Ranking, beyond: Adjusted | None) -> Iterator[str]:
    """Warn if interactions are significant: a main effect's share may contain them."""
    part = None if beyond is None else beyond.interactions
    if part is None or part.p is None or part.p > 1 - ranking.level or (part.share.value or 0.0) <= _INTERACTIONS:
        return
    yield Message(
        "interactions",
        "interactions are {share} of the variance: a factor's share may include some of them",
        share=format_share_with_range(part.share),
    )


def _warn_refusals(ranking: Ranking) -> Iterator[str]:
    reasons = [
        w for f in ranking.factors for w in (*f.over_all.st.warnings, *(f.shapley.warnings if f.shapley else ()))
    ]
    for reason in dict.fromkeys(reason for reason in reasons if isinstance(reason, Message)):
        if reason.code in _REFUSALS:
            yield restore_message(reason.code, f"ST {reason}", reason.values)
        elif reason.code == "too-few-settings":
            yield reason


def _warn_factors(ranking: Ranking) -> Iterator[str]:
    if ranking.interactions:
        template = "{interactions}; look at it within the levels of the other"
        yield Message("interactions", template, interactions=describe_pairs(ranking.interactions))
    pairs = {name for interaction in ranking.interactions for unit in interaction.units for name in unit}
    larger = list_larger_interaction(ranking.effects)
    if larger:
        share = format_percent(ranking.effects.interaction)
        text = f"{describe_dependent_effects(larger)}; interactions are {share} of the variation"
        yield Message("interactions", "{interactions}", interactions=text)
    pairs |= set(larger)
    strong = [factor.name for factor in ranking.factors if factor.interacts and factor.name not in pairs]
    if strong:
        yield Message(
            "interactions",
            "{factors}: ST is well above S1: the effect depends on the other factors; look at it within their levels",
            factors=join_names(strong),
        )
    raised = [
        f"{factor.name} {max(0.0, factor.over_all.st_corrected):.2f}"
        for factor in ranking.factors
        if factor.over_all.st_corrected is not None
        and (factor.over_all.st.value or 0.0) - max(0.0, factor.over_all.st_corrected) > _NOISE_IN_ST
    ]
    if raised:
        yield Message("noise-corrected", "ST corrected for noise: {shares}", shares=", ".join(raised))
    for factor in ranking.factors:
        if factor.effects and factor.effects.turns:
            yield Message(
                "not-monotone",
                "{factor}: the response is not monotone: {turns}",
                factor=factor.name,
                turns=factor.effects.turns,
            )


def _warn_line(ranking: Ranking, r2: float | None) -> Iterator[str]:
    """Warn if a straight line explains much less than the group means: coefficients then mislead."""
    if r2 is None:
        return
    means = min(1.0, sum(max(f.over_all.s1_corrected or 0.0, 0.0) for f in ranking.factors))
    if means - r2 > _LINEAR and not ranking.links:
        yield Message(
            "poor-line",
            "a straight line explains {line:.0f} %, the factors' levels {levels:.0f} %: do not rank "
            "by coefficients here",
            line=100 * r2,
            levels=100 * means,
        )
