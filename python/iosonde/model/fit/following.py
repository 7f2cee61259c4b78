"""Factors that follow from another one, as a host from its disks: a model is better without them.

Least squares cannot separate them, and a setting of a model should be one that can be built: the disk of one host with
the name of another cannot. A number that follows from another number stays, unless both have the same levels: their
lines differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from iosonde.core.message import Message
from iosonde.core.words import join_names

from .features import Examples

_LEAST_SCATTERED, _TOGETHER = 5, 0.95  # levels; correlation of numbers that only name the same settings


def drop_following_factors(examples: Examples) -> Examples:
    """Return the examples without the factors that follow from others, and a warning that says so. Factors that terms
    of linear models name stay."""
    follows = {} if examples.terms else dict(_find_following_factors(examples))
    if not follows:
        return examples
    columns = [place for place, feature in enumerate(examples.features) if feature.name not in follows]
    reasons = [f"{name} follows from {other}" for name, other in follows.items()]
    warning = Message("follows", "left out of the models: {reasons}", reasons=join_names(reasons), factors=[*follows])
    return replace(
        examples,
        features=tuple(examples.features[place] for place in columns),
        x=examples.x[:, columns],
        warnings=(*examples.warnings, warning),
    )


def _find_following_factors(examples: Examples) -> Iterator[tuple[str, str]]:
    """Yield each factor that follows from another one, with that one; of factors with the same levels all but the
    first."""
    n_levels = [len(np.unique(column)) for column in examples.x.T]
    dropped: set[int] = set()
    for outer, inner in permutations(range(len(n_levels)), 2):
        if {outer, inner} & dropped or n_levels[outer] > n_levels[inner] or n_levels[inner] == len(examples):
            continue
        is_twin = n_levels[outer] == n_levels[inner]
        is_nested = len(np.unique(examples.x[:, [outer, inner]], axis=0)) == n_levels[inner]
        if is_nested and _is_inseparable(examples, (outer, inner), is_twin) and not (is_twin and outer < inner):
            dropped.add(outer)
            yield examples.features[outer].name, examples.features[inner].name


def _is_inseparable(examples: Examples, pair: Sequence[int], is_twin: bool) -> bool:
    """Return whether a linear model cannot separate the first of a pair, which follows from the other."""
    outer, inner = (examples.features[place] for place in pair)
    if not (outer.numeric and inner.numeric):
        return is_twin or not inner.numeric
    places = [np.unique(examples.x[:, place], return_inverse=True)[1].reshape(-1) for place in pair]
    correlation = float(np.asarray(np.corrcoef(places))[0, 1])
    is_scattered = places[0].max() + 1 >= _LEAST_SCATTERED and abs(correlation) < _TOGETHER
    return is_twin and not is_scattered
