"""A fraction 2^(k-p) of the combinations of two-level factors: its cells, and its aliased effects.

The keys that select it, of which one is given:

``p``            the fraction 1/2^p of minimum aberration
``resolution``   the smallest such fraction of at least this resolution (3, 4, 5 …)
``generators``   as ``D=ABC`` (letters A, B, C … in the order of the factors, without I), or with the names of the
                 factors: ``cache = stripe * replica``; a minus before the product turns its sign
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import Factor

from .kinds import cross_with_factors
from .plan import Cell, Plan, read_integer
from .words import (
    Generator,
    Words,
    build_factor_columns,
    compute_defining_words,
    compute_resolution,
    find_generators,
    has_generators,
    list_aliases,
)

KEYS = ("p", "resolution", "generators")
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # I is the identity
MOST_GENERATORS = 12


@dataclass(frozen=True)
class Fraction:
    """``cells``, the ``generators`` in words, the ``resolution``, and ``aliases``: groups of effects, in the names of
    the factors, that share a column. The sign of each later effect is relative to the first."""

    cells: list[Cell]
    generators: tuple[str, ...]
    resolution: int
    aliases: tuple[tuple[str, ...], ...]


def build_fraction(plan: Plan, design: Mapping[str, Any]) -> Fraction:
    """Return the fraction over ``plan.over``, crossed with the other factors. Raises InputError with the key that is
    wrong."""
    factors = plan.over
    for factor in factors:
        if len(factor.levels) != 2:
            raise InputError(
                "not-two-levels",
                "factors.{factor}: a fraction 2^(k-p) needs two levels, it has {n_levels}",
                "name the factors with two levels in design.factors; the others are crossed with the fraction",
                factor=factor.name,
                n_levels=len(factor.levels),
            )
    if len(factors) < 3:
        raise InputError(
            "no-such-fraction",
            "design.kind: {n_factors} factors of two levels have no fraction",
            "use a full design",
            n_factors=len(factors),
        )
    generators = _choose_generators(factors, design)
    words = compute_defining_words(generators)
    if compute_resolution(words) < 3:
        _refuse_words(words, factors)
    parts: list[Cell] = [
        {f.name: f.levels[(sign + 1) // 2] for f, sign in zip(factors, row, strict=True)}
        for row in build_factor_columns(len(factors), generators)
    ]
    groups = list_aliases(len(factors), words)
    return Fraction(
        cross_with_factors(parts, plan.crossed, plan.factors),
        tuple(f"{factors[g.target].name} = {_format_effect(g.sources, g.sign, factors, ' * ')}" for g in generators),
        compute_resolution(words),
        tuple(tuple(_format_effect(effect, sign, factors) for effect, sign in group) for group in groups),
    )


def _refuse_words(words: Words, factors: Sequence[Factor]) -> None:
    word = min(words, key=int.bit_count)
    raise InputError(
        "aliased-generators",
        "design.generators: they give {factors} the same column",
        "give each a product of its own",
        factors=" and ".join(factor.name for i, factor in enumerate(factors) if word >> i & 1),
    )


def _format_effect(mask: int, sign: int, factors: Sequence[Factor], times: str = ":") -> str:
    return ("-" if sign < 0 else "") + times.join(f.name for i, f in enumerate(factors) if mask >> i & 1)


def _choose_generators(factors: Sequence[Factor], design: Mapping[str, Any]) -> tuple[Generator, ...]:
    chosen_keys = [key for key in KEYS if key in design]
    if len(chosen_keys) != 1:
        raise InputError(
            "ambiguous-fraction",
            "design.{key}: contradictory keys: {chosen_keys}"
            if chosen_keys
            else "design.{key}: it does not say which fraction",
            "give one of: {keys}",
            key=chosen_keys[-1] if chosen_keys else "p",
            chosen_keys=" and ".join(chosen_keys),
            keys=", ".join(KEYS),
        )
    k = len(factors)
    if chosen_keys[0] == "generators":
        return _read_generators(design["generators"], factors)
    if chosen_keys[0] == "p":
        p = read_integer(design, "p", 1)
        if not has_generators(k, p):
            raise _create_fraction_error("design.p: no fraction 2^({n_factors}-{p}) is known here", k, p=p)
        return find_generators(k, p)
    minimum = read_integer(design, "resolution", 3)
    for p in reversed(_list_possible_p(k)):
        generators = find_generators(k, p)
        if compute_resolution(compute_defining_words(generators)) >= minimum:
            return generators
    raise _create_fraction_error(
        "design.resolution: no fraction of 2^{n_factors} has resolution {resolution}", k, resolution=minimum
    )


def _list_possible_p(k: int) -> list[int]:
    return [p for p in range(1, k) if has_generators(k, p)]


def _create_fraction_error(message: str, n_factors: int, /, **values: object) -> InputError:
    possible = ", ".join(str(p) for p in _list_possible_p(n_factors))
    return InputError(
        "no-such-fraction",
        message,
        "with {n_factors} factors p may be {possible_p}; else give the generators"
        if possible
        else "give the generators",
        n_factors=n_factors,
        possible_p=possible,
        **values,
    )


def _read_generators(spec: object, factors: Sequence[Factor]) -> tuple[Generator, ...]:
    texts = (spec,) if isinstance(spec, str) else spec
    if not isinstance(texts, (list, tuple)) or not 1 <= len(texts) <= MOST_GENERATORS:
        raise InputError(
            "invalid-generator",
            "design.generators: {generators!r} is not a list of generators",
            "write it like [D=ABC, E=BCD]",
            generators=spec,
        )
    generators: list[Generator] = []
    for place, text in enumerate(texts):
        where = f"design.generators[{place}]"
        lhs, equals, right = str(text).partition("=")
        targets = _parse_factors(lhs, factors, where)
        stripped = right.strip()
        sources = _parse_factors(stripped.lstrip("+-"), factors, where)
        if not equals or len(targets) != 1 or len(set(sources)) != len(sources) or len(sources) < 2:
            raise InputError(
                "invalid-generator",
                "{key}: '{generator}' is not a generator",
                "write it like D=ABC or cache = stripe * replica",
                key=where,
                generator=text,
            )
        mask = sum(1 << source for source in sources)
        generators.append(Generator(targets[0], mask, -1 if stripped.startswith("-") else 1))
    targets_of = [generator.target for generator in generators]
    for place, generator in enumerate(generators):
        name = factors[generator.target].name
        if targets_of.count(generator.target) > 1:
            raise InputError(
                "duplicate-generator",
                "design.generators[{index}]: {factor} has two generators",
                "give each factor one generator",
                index=place,
                factor=name,
            )
        if used := [factors[t].name for t in targets_of if generator.sources >> t & 1]:
            raise InputError(
                "chained-generator",
                "design.generators[{index}]: {factor} has a generator itself",
                "build each from the factors that have no generator",
                index=place,
                factor=used[0],
            )
    return tuple(generators)


def _parse_factors(text: str, factors: Sequence[Factor], where: str) -> list[int]:
    """Return the factors that a product names: by their names with ``*`` or ``:`` between, else letter by letter."""
    names = [factor.name for factor in factors]
    indices: list[int] = []
    for word in filter(None, re.split(r"[\s*:·]+", text)):
        if word in names:
            indices.append(names.index(word))
        elif all(letter in names for letter in word):
            indices += [names.index(letter) for letter in word]
        elif all(letter in LETTERS[: len(factors)] for letter in word):
            indices += [LETTERS.index(letter) for letter in word]
        else:
            raise InputError(
                "unknown-factor",
                "{key}: unknown factor '{factor}'",
                "use {letters}, or names: {factors}",
                key=where,
                factor=word,
                letters=f"{LETTERS[0]} to {LETTERS[len(factors) - 1]}",
                factors=", ".join(names),
            )
    return indices
