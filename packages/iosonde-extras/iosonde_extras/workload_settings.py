"""Checks of the settings that the workloads of other tools share."""

from typing import Any, get_type_hints

from iosonde.measure.workloads.settings import SettingError, read_count


def read_settings(settings: Any) -> None:
    """Check the types of a Settings from an experiment file, and convert them: sizes as ``1MiB`` to bytes, lists to
    tuples.

    Raises SettingError.
    """
    for name, kind in get_type_hints(type(settings)).items():
        value = getattr(settings, name)
        if kind is int:
            object.__setattr__(settings, name, read_count(name, value, size=True, least=0))
        elif kind is bool and not isinstance(value, bool):
            raise SettingError(
                (name,), "not-a-boolean", "{name} is {setting!r}", "write true or false", name=name, setting=value
            )
        elif kind is str and not isinstance(value, str):
            raise SettingError(
                (name,), "not-a-string", "{name} is {setting!r}", "write a word", name=name, setting=value
            )
        elif kind == tuple[str, ...]:
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
