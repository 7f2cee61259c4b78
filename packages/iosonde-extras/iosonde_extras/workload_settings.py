"""Checks of the settings that the workloads of other tools share."""

from dataclasses import fields
from typing import Any

from iosonde.measure.workloads.settings import SettingError, read_count


def read_settings(settings: Any) -> None:
    """Check the types of a Settings from an experiment file, and convert them: sizes as ``1MiB`` to bytes, lists to
    tuples.

    Raises SettingError.
    """
    for field in fields(settings):
        name, value = field.name, getattr(settings, field.name)
        if field.type == "int":
            object.__setattr__(settings, name, read_count(name, value, size=True, least=0))
        elif field.type == "bool" and not isinstance(value, bool):
            raise SettingError(
                (name,), "not-a-boolean", "{name} is {setting!r}", "write true or false", name=name, setting=value
            )
        elif field.type == "str" and not isinstance(value, str):
            raise SettingError(
                (name,), "not-a-string", "{name} is {setting!r}", "write a word", name=name, setting=value
            )
        elif field.type == "tuple[str, ...]":
            if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
                raise SettingError(
                    (name,), "not-a-list", "{name} is {setting!r}", "write a list of words", name=name, setting=value
                )
            object.__setattr__(settings, name, tuple(value))
    if settings.cache not in ("cold", "warm"):
        raise SettingError(
            ("cache",),
            "unknown-cache-regime",
            "cache regime '{cache}' is unknown",
            "use cold or warm",
            cache=settings.cache,
        )


def check_words(name: str, words: tuple[str, ...], choices: tuple[str, ...]) -> None:
    """Raise SettingError for a word that is not in ``choices``."""
    for word in words:
        if word not in choices:
            raise SettingError(
                (name,),
                "unknown-option-value",
                "{name}: '{choice}' is unknown",
                "use one of: {choices}",
                name=name,
                choice=word,
                choices=", ".join(choices),
            )
