"""Parts of the paths of files that differ between files of one tool and one setting: candidates for factors, or only
numbers of repetitions.

A part is a candidate if its levels come back in several files. Dates, numbers in turn, and parts that are different in
each file tell repetitions apart.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from iosonde.core.grouping import group_by_key
from iosonde.core.schema import is_setting_name
from iosonde.core.types import FactorValue
from iosonde.importers.reading import parse_factor_value

from .path_aliases import find_aliased_setting
from .path_parts import ABOVE, NAME, ROOT, are_short_dates, is_numbering, read_parts, split_words, strip_suffixes

NUMBERED, UNIQUE = "numbered", "one file each"
_ABSENT = "."  # level of files that are in no such directory
_PART = re.compile(r"(?P<part>[a-z]+\d*)(?:\.(?P<word>\d+)/(?P<words>\d+))?")
_SETTING = re.compile(r"([A-Za-z_]\w*)=(.+)")


@dataclass(frozen=True)
class PlacedRun:
    """A run, the file that it came from, the path of the imported directory ('' if unknown), and its cell: what a
    tool's output says of the tool and the setting; ``settings``: those of the cell by name."""

    id: str
    tool: str
    cell: Any
    file: str
    root: str = ""
    settings: Mapping[str, FactorValue] = field(default_factory=dict, compare=False)
    parts: Mapping[str, str] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Split the path."""
        object.__setattr__(self, "parts", read_parts(self.file, self.root))


@dataclass(frozen=True)
class PathFactor:
    """A part of paths that tells files of one setting apart: run → level. ``part``: ``dir1`` for a whole directory,
    ``dir1.2/3`` for the second of its three words. ``alias``: the setting with which a directory always changes, if
    it tells no files of one setting apart."""

    name: str
    part: str
    levels: Mapping[str, FactorValue]
    alias: str = ""


@dataclass(frozen=True)
class PathRepetitions:
    """A part of paths whose levels count as repetitions, by the rule ``NUMBERED`` or ``UNIQUE``."""

    part: str
    levels: tuple[str, ...]
    rule: str


@dataclass(frozen=True)
class _Column:
    """The levels of a part, or of a word in it, over the runs of a tool."""

    part: str
    levels: Mapping[str, str]
    alias: str = ""


_Cells = Sequence[Sequence[PlacedRun]]


def find_path_factors(
    runs: Sequence[PlacedRun], taken: Iterable[str] = (), dropped: Iterable[str] = ()
) -> tuple[list[PathFactor], list[PathRepetitions]]:
    """Return the parts of paths that are factors, and those that are repetitions, of files that share a cell; and as
    factors the directories that always change with a setting.

    ``taken``: names of other factors. ``dropped``: parts that are no factors, as the user decided."""
    accepted: dict[str, _Column] = {}
    repetitions: dict[str, PathRepetitions] = {}
    for tool_runs in group_by_key((run.tool, run) for run in runs).values():
        columns, entries = _find_in_tool(tool_runs, frozenset(dropped))
        for column in columns:
            other = accepted.get(column.part, column)
            alias = column.alias if column.alias == other.alias else ""
            accepted[column.part] = _Column(column.part, {**other.levels, **column.levels}, alias)
        for entry in entries:
            earlier = repetitions.get(entry.part, entry)
            rule = UNIQUE if UNIQUE in (entry.rule, earlier.rule) else NUMBERED
            levels = tuple(sorted({*earlier.levels, *entry.levels}))
            repetitions[entry.part] = PathRepetitions(entry.part, levels, rule)
    return _name_factors(list(accepted.values()), set(taken)), list(repetitions.values())


def read_level(part: str, file: str, root: str) -> FactorValue | None:
    """Return the level of a part, as PathFactor names it, in the path of one file; None if its path has no such
    part."""
    match = _PART.fullmatch(part)
    text = read_parts(file, root).get(match["part"]) if match else None
    if not match or text is None:
        return None
    words = split_words(text)
    is_word = match["word"] is not None and len(words) == int(match["words"])
    level = words[int(match["word"]) - 1] if is_word else "-".join(words) or text
    return parse_factor_value(setting[2] if (setting := _SETTING.fullmatch(level)) else level)


def list_directory_levels(file: str, root: str) -> list[FactorValue]:
    """Return the levels of all whole directories in the path of one file, from the imported one on."""
    parts = [part for part in read_parts(file, root) if part != NAME and not part.startswith(ABOVE)]
    return [level for part in parts if (level := read_level(part, file, root)) is not None]


def _find_in_tool(runs: Sequence[PlacedRun], dropped: frozenset[str]) -> tuple[list[_Column], list[PathRepetitions]]:
    cells = [cell for cell in group_by_key((run.cell, run) for run in runs).values() if len(cell) > 1]
    factors: list[_Column] = []
    repetitions: list[PathRepetitions] = []
    reported: list[_Column] = []  # repetitions
    for part in _list_parts(runs):
        rules: set[str] = set()
        n_before = len(factors)
        for column in _split_part(part, runs):
            if not _varies(column.levels, cells) or _is_determined(column, factors, cells):
                continue
            if rule := _find_repetition_rule(column, runs):
                rules.add(rule)
            elif not dropped & {column.part, part}:
                factors.append(column)
        texts = {run.id: run.parts.get(part, _ABSENT) for run in runs}
        if part.startswith(ABOVE) and _is_determined(_Column(part, texts), reported, cells):
            continue  # directories of other depths
        if len(factors) == n_before and part not in dropped and _varies(texts, cells):
            levels = {texts[run.id] for cell in cells for run in cell}
            if rules or not _is_determined(_Column(part, texts), factors, cells):
                repetitions.append(PathRepetitions(part, tuple(levels), UNIQUE if UNIQUE in rules else NUMBERED))
                reported.append(_Column(part, texts))
    return [*factors, *_find_aliased(runs, factors, dropped)], repetitions


def _find_aliased(runs: Sequence[PlacedRun], factors: Sequence[_Column], dropped: frozenset[str]) -> Iterator[_Column]:
    """Yield directories of all runs, and words of them, that always change with a setting."""
    settings = [run.settings for run in runs]
    columns = [*factors]
    for part in _list_parts(runs):
        if part == NAME or part in dropped or any(part not in run.parts for run in runs):
            continue
        for column in _split_part(part, runs):
            if column.part in dropped or _find_repetition_rule(column, runs):
                continue
            levels = [column.levels[run.id] for run in runs]
            alias = find_aliased_setting(levels, settings)
            if alias and not any(_is_determined(column, [other], [runs]) for other in columns):
                columns.append(replace(column, alias=alias))
                yield columns[-1]


def _list_parts(runs: Sequence[PlacedRun]) -> list[str]:
    """Return the parts in order: the imported directory, those that contain it from the nearest one, then those in it.
    The imported directory and those around it are parts only if it is known of all runs."""
    parts = {part for run in runs for part in run.parts}
    if any(ROOT not in run.parts for run in runs):
        parts = {part for part in parts if part != ROOT and not part.startswith(ABOVE)}
    return sorted(parts, key=lambda part: (part == NAME, part != ROOT, not part.startswith(ABOVE), len(part), part))


def _split_part(part: str, runs: Sequence[PlacedRun]) -> list[_Column]:
    """Return a column for each word where all runs have as many words, else one for the whole part."""
    texts = {run.id: strip_suffixes(run.parts.get(part, _ABSENT)) for run in runs}
    if are_short_dates(texts.values()):
        return [_Column(part, texts)]
    words = {run.id: split_words(run.parts[part]) if part in run.parts else (_ABSENT,) for run in runs}
    lengths = {len(entry) for entry in words.values()}
    if lengths in ({0}, {1}) or len(lengths) > 1:
        last = {entry[-1] if entry else "" for entry in words.values()}
        if all(word.isdigit() for word in last) and is_numbering(last):
            words = {run: entry[:-1] for run, entry in words.items()}
        return [_Column(part, {run: "-".join(entry) or _ABSENT for run, entry in words.items()})]
    (n_words,) = lengths
    return [
        _Column(f"{part}.{at + 1}/{n_words}", {run: entry[at] for run, entry in words.items()}) for at in range(n_words)
    ]


def _varies(levels: Mapping[str, str], cells: _Cells) -> bool:
    return any(len({levels[run.id] for run in cell}) > 1 for cell in cells)


def _is_determined(column: _Column, factors: Sequence[_Column], cells: _Cells) -> bool:
    """Return whether these factors already separate the levels of the column in every cell."""
    for cell in cells:
        settings = [tuple(factor.levels[run.id] for factor in factors) for run in cell]
        levels = group_by_key(zip(settings, (column.levels[run.id] for run in cell), strict=True))
        if any(len(set(several)) > 1 for several in levels.values()):
            return False
    return True


def _find_repetition_rule(column: _Column, runs: Sequence[PlacedRun]) -> str:
    """Return why the levels of a column are repetitions; '' if they are not."""
    levels = set(column.levels.values())
    if is_numbering(levels):
        return NUMBERED
    # A tool may write one measurement in several forms (.json, .csv).
    files = group_by_key((column.levels[run.id], (run.root, strip_suffixes(run.file))) for run in runs)
    n_recurring = sum(len(set(several)) > 1 for several in files.values())
    # Numbers meet by chance; words do not.
    least = len(levels) / 2 if all(level.isdigit() for level in levels) else 1
    return "" if n_recurring >= max(1, least) else UNIQUE


def _name_factors(accepted: Sequence[_Column], taken: set[str]) -> list[PathFactor]:
    """Name each factor after the setting that its levels name (``site=bonn``), else after its part."""
    factors = []
    n_columns = Counter(column.part.partition(".")[0] for column in accepted)
    for column in accepted:
        part, levels = column.part, column.levels
        base, _, word = part.partition(".")
        settings = {run: _SETTING.fullmatch(level) for run, level in levels.items()}
        names = {setting[1] if setting else "" for setting in settings.values()}
        name = names.pop() if len(names) == 1 else ""
        if not name or name in taken or not is_setting_name(name):
            name = base if n_columns[base] == 1 else f"{base}_{word.partition('/')[0] or 'all'}"
        while name in taken:
            name += "_"
        taken.add(name)
        texts = {run: setting[2] if (setting := settings[run]) else level for run, level in levels.items()}
        values = {run: parse_factor_value(text) for run, text in texts.items()}
        factors.append(PathFactor(name, part, values, column.alias))
    return factors
