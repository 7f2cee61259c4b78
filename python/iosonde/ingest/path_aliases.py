"""Directories that go entirely with a setting that the files state: the files alone cannot tell whose effect it is."""

import re
from collections.abc import Mapping, Sequence

from iosonde.core.types import FactorValue
from iosonde.core.units import parse_suffixed_size

from .path_parts import split_words

_TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?(?:[kmgt]i?b?(?![a-z]))?")
_MIN_PREFIX = 3  # letters by which 'rand' is short for 'randread'

Settings = Mapping[str, FactorValue]


def find_aliased_setting(levels: Sequence[str], settings: Sequence[Settings]) -> str:
    """Return the setting whose levels correspond one to one to the ``levels`` of a part of the path, given per run.

    '' if there is none, or if the part only spells a setting (``bs4k``, ``rand``)."""
    names = [name for name in settings[0] if all(name in run for run in settings)]
    varying = [name for name in names if len({str(run[name]) for run in settings}) > 1]
    if any(_spells(level, name, run[name]) for level, run in zip(levels, settings, strict=True) for name in varying):
        return ""
    return next((name for name in varying if _are_bijective(levels, [str(run[name]) for run in settings])), "")


def _are_bijective(levels: Sequence[str], others: Sequence[str]) -> bool:
    return len(set(levels)) == len(set(others)) == len(set(zip(levels, others, strict=True)))


def _spells(level: str, name: str, value: FactorValue) -> bool:
    """Return whether the level of a part has a word of the setting's name, or its value."""
    tokens = _TOKEN.findall(level.lower())
    return bool(set(tokens) & set(_TOKEN.findall(name.lower()))) or spells_value(level, value)


def spells_value(level: str, value: FactorValue) -> bool:
    """Return whether the level of a part has the value of a setting as a number or size, or as the beginning of a
    word."""
    tokens = _TOKEN.findall(level.lower())
    if isinstance(value, str):
        words = [word for text in split_words(value.lower()) for word in _TOKEN.findall(text)]
        return any(_is_short_for(token, word) or _is_short_for(word, token) for token in tokens for word in words)
    return any(value in (parse_suffixed_size(token), _read_number(token)) for token in tokens)


def _is_short_for(token: str, word: str) -> bool:
    return token == word or (len(token) >= _MIN_PREFIX and word.startswith(token))


def _read_number(token: str) -> float | None:
    return None if token[-1].isalpha() else float(token)
