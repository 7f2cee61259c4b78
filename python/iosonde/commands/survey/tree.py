"""Options of commands that walk a tree of files, and the codecs that they try."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from iosonde.core.front_end import front_end
from iosonde.core.option_kinds import Duration, Integer
from iosonde.core.options import NameList, Names, Text, V
from iosonde.data.options import LevelOptions
from iosonde.foreign.child import LIMIT_S


class Codecs(Names[V]):
    """Names of codecs; ``none`` for no codec."""

    def parse(self, value: Any) -> NameList:
        """Return the names. Raises InputError for what is no text."""
        names = super().parse(value)
        return () if names == ("none",) else names


@dataclass
class TreeOptions(LevelOptions):
    """A tree of files, and how it is drawn from."""

    path: Text[str] = Text("PATH", "The directory.", is_argument=True, is_required=True)
    _: KW_ONLY
    seed: Integer[int] = Integer("S", "The same draws the same files.", 0, default_text="0")
    idle_timeout: Duration[float] = Duration(
        "TIME",
        "Give up a file or directory that is silent for this long.",
        LIMIT_S,
        default_text=f"{LIMIT_S:g}s",
    )


def report_hangs(hangs: Iterable[str]) -> None:
    """Say which files and directories did not answer."""
    for hang in hangs:
        front_end().remark(hang)
