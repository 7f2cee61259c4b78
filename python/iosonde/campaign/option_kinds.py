"""Kinds of options that only measurements have: levels of factors, targets, hosts, a stopping rule."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.option_kinds import Paths, Setting
from iosonde.core.options import NameList, Names, Option, Text, V, format_written_level, is_level, list_to_members


class HostNames(Option[V, str | PurePath | Sequence[str] | None]):
    """Hosts: a file with one host per line, or names; one text, with commas between names."""

    kind = "path, or str or sequence of str"

    def parse(self, value: Any) -> str:
        """Return the path, or the names with commas. Raises InputError for what is neither."""
        if isinstance(value, str | PurePath):
            return str(value)
        if not isinstance(value, Sequence) or not all(isinstance(host, str) for host in value):
            raise self.type_error(value, "give the path of a file, or a list of host names")
        return ",".join(value)


class LevelsByFactor(Names[V]):
    """Levels of factors: ``n=1,2`` on a terminal, a dict in Python; held as texts."""

    kind = "dict of levels, or str or sequence of str"

    def parse(self, value: Any) -> NameList:
        """Return a text for each factor. Raises InputError."""
        if isinstance(value, Mapping):
            return tuple(f"{format_written_level(name)}={self._join_levels(levels)}" for name, levels in value.items())
        return super().parse(value)

    def _join_levels(self, value: Any) -> str:
        levels = (value,) if is_level(value) else list_to_members(value)
        if levels is None or not all(map(is_level, levels)):
            raise self.type_error(value, "give a level, or a list of levels, for each factor")
        return ",".join(map(format_written_level, levels))

    def write(self, value: str) -> str:
        """``n=1,2`` as ``{'n': [1, 2]}``."""
        return Setting("", "").write(value) if "=" in value else super().write(value)


class Targets(Paths[V]):
    """Directories: paths, or names with their paths; held as ``NAME=DIR`` or ``DIR``."""

    kind = "path, sequence of paths, or dict of paths"

    def parse(self, value: Any) -> NameList:
        """Return a text for each directory. Raises InputError."""
        if isinstance(value, Mapping):
            super().parse(list(value.values()))
            return tuple(f"{name}={path}" for name, path in value.items())
        return super().parse(value)

    def write(self, value: str) -> str:
        """``nfs=/mnt/n`` as ``{'nfs': '/mnt/n'}``."""
        return Setting("", "").write(value) if "=" in value else super().write(value)


class Precision(Text[V]):
    """A stopping rule such as ``ci<5%``."""

    def parse(self, value: Any) -> str:
        """Return the rule as it was written. Raises InputError for what is no rule."""
        from .spec.schema import parse_until

        rule = super().parse(value)
        try:
            parse_until(rule)
        except InputError as error:
            template = "{option} is not possible: {reason}"
            raise self.error(error.code, template, error.hint, rule, reason=error.message) from error
        return rule
