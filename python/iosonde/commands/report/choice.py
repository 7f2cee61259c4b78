"""Settings that one may choose, and the hardware, as the options of a page name them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.option_kinds import Setting
from iosonde.core.options import NameList, Option, V, format_written_level, is_level

if TYPE_CHECKING:
    from iosonde.commands.advise.for_page import Choosing


class Hardware(Option[V, Mapping[str, Any] | str | PurePath | None]):
    """Values of hardware by name, or the path of what measured them."""

    kind = "dict or path"

    def parse(self, value: Any) -> str:
        """Return ``servers=4,net=117MB/s``, or the path. Raises InputError for what is neither."""
        is_dict = isinstance(value, Mapping) and all(map(is_level, value.values()))
        if not is_dict and not isinstance(value, str | PurePath):
            raise self.type_error(value, "give a dict: {{'servers': 4}}, or a path")
        if is_dict:
            return ",".join(f"{name}={format_written_level(level)}" for name, level in value.items())
        return str(value)

    def write(self, value: str) -> str:
        """Return values as a dict, a path as a text."""
        return Setting("", "").write(value) if "=" in value else super().write(value)


def build_choice(
    choose: NameList | None, workload: NameList | None, current: Mapping[str, str] | None
) -> Choosing | None:
    """Return what may be chosen, None for nothing. Raises InputError where only its workload is named."""
    from iosonde.commands.advise.for_page import Choosing

    if choose is not None:
        return Choosing(choose, workload, current)
    if workload is not None or current is not None:
        raise InputError(
            "option-requires-option",
            "{spell.given} and {spell.current} are about {spell.choose}",
            "name what may be set with {spell.choose}",
        )
    return None
