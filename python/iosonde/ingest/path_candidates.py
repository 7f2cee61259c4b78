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

from .path_aliases import find_aliased_setting, spells_value
from .path_levels import SETTING, is_amount, name_levels
from .path_parts import (
    ABOVE,
    NAME,
    ROOT,
    are_short_dates,
    is_collective_name,
    is_numbering,
    read_parts,
    split_words,
    strip_suffixes,
)

NUMBERED, UNIQUE = "numbered", "one file each"
_ABSENT = "."  # level of files that are in no such directory, or whose name has only words that others explain
_SILENT = ""  # of files whose name has no words, until levels are given
_PART = re.compile(r"(?P<part>[a-z]+\d*)(?:\.(?P<word>\d+)/(?P<words>\d+))?")
_VERSION = re.compile(r"\d+\.\d+0")
_MIN_FILES_PER_CELL = 2  # files of one pattern for each cell that show that a word repeats a setting


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
    """The levels of a part, or of a word in it, over the runs of a tool. ``prefix``: the word before, if it is the same
    in all (``nodes`` of ``nodes-2``)."""

    part: str
    levels: Mapping[str, str]
    alias: str = ""
    prefix: str = ""

    def stated_levels(self, runs: Iterable[PlacedRun]) -> set[str]:
        """Return the levels of these runs, without that of file names that say nothing."""
        return {self.levels[run.id] for run in runs} - {_SILENT}


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
            prefix = column.prefix if column.prefix == other.prefix else ""
            accepted[column.part] = _Column(column.part, {**other.levels, **column.levels}, alias, prefix)
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
    return _parse_level(setting[2] if (setting := SETTING.fullmatch(level)) else level)


def list_directory_levels(file: str, root: str) -> list[FactorValue]:
    """Return the levels of all whole directories in the path of one file, from the imported one on."""
    parts = [part for part in read_parts(file, root) if part != NAME and not part.startswith(ABOVE)]
    return [level for part in parts if (level := read_level(part, file, root)) is not None]


def _parse_level(text: str) -> FactorValue:
    """Return the level as a number if it is one; a version that ends in 0 is none: 5.10 is not 5.1."""
    return text if _VERSION.fullmatch(text) else parse_factor_value(text)


def _find_in_tool(runs: Sequence[PlacedRun], dropped: frozenset[str]) -> tuple[list[_Column], list[PathRepetitions]]:
    cells = [cell for cell in group_by_key((run.cell, run) for run in runs).values() if len(cell) > 1]
    factors: list[_Column] = []
    repetitions: list[PathRepetitions] = []
    reported: list[_Column] = []  # repetitions
    for part in _list_parts(runs):
        rules: set[str] = set()
        n_before = len(factors)
        for column in _split_part(part, runs):
            if not _varies(column, cells) or _is_determined(column, factors, cells):
                continue
            if rule := _find_repetition_rule(column, runs):
                rules.add(rule)
            elif not dropped & {column.part, part}:
                factors.append(column)
        texts = _Column(part, {run.id: run.parts.get(part, _ABSENT) for run in runs})
        if part.startswith(ABOVE) and _is_determined(texts, reported, cells):
            continue  # directories of other depths
        if len(factors) == n_before and part not in dropped and _varies(texts, cells):
            levels = {texts.levels[run.id] for cell in cells for run in cell}
            if rules or not _is_determined(texts, factors, cells):
                repetitions.append(PathRepetitions(part, tuple(levels), UNIQUE if UNIQUE in rules else NUMBERED))
                reported.append(texts)
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
    """Return a column for each word where all runs have as many words, else one for the whole part. File names without
    words have no part in that."""
    texts = {run.id: strip_suffixes(run.parts.get(part, _ABSENT)) for run in runs}
    if are_short_dates(texts.values()):
        return [_Column(part, texts)]
    words = {run.id: split_words(run.parts[part]) if part in run.parts else (_ABSENT,) for run in runs}
    if part == NAME:
        words = {run.id: () if is_collective_name(words[run.id], run.tool) else words[run.id] for run in runs}
    empty = {run: _SILENT if part == NAME and not entry else _ABSENT for run, entry in words.items()}
    lengths = {len(entry) for entry in words.values() if entry or part != NAME}
    if len(lengths) == 1 and not lengths & {0, 1}:
        return list(_split_columns(part, words, lengths.pop()))
    if part == NAME and len(lengths) > 1:
        words = _drop_repeated_settings(words, runs)
    else:
        words = _drop_numbering(words)
    return [_Column(part, {run: "-".join(entry) or empty[run] for run, entry in words.items()})]


def _split_columns(part: str, words: Mapping[str, tuple[str, ...]], n_words: int) -> Iterator[_Column]:
    prefix = ""
    for at in range(n_words):
        levels = {run: entry[at] if entry else _SILENT for run, entry in words.items()}
        yield _Column(f"{part}.{at + 1}/{n_words}", levels, prefix=prefix)
        prefix = next(iter(levels.values())) if len(set(levels.values())) == 1 else ""


def _drop_numbering(words: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Drop the last words if they only number something."""
    last = {entry[-1] if entry else "" for entry in words.values()}
    is_number = all(word.isdigit() for word in last) and is_numbering(last)
    return {run: entry[:-1] if is_number else entry for run, entry in words.items()}


def _drop_repeated_settings(
    words: Mapping[str, tuple[str, ...]], runs: Sequence[PlacedRun]
) -> dict[str, tuple[str, ...]]:
    """Drop, of file names of several patterns, the words that follow from the settings in the files and those that
    number repetitions: pattern by pattern, so that an odd name does not change how the others are read."""
    remaining: dict[str, tuple[str, ...]] = {}
    for several in group_by_key((len(words[run.id]), run) for run in runs).values():
        pattern = _drop_numbering({run.id: words[run.id] for run in several})
        columns = zip(*(pattern[run.id] for run in several), strict=True)
        repeated = {at for at, column in enumerate(columns) if _repeats_setting(column, several)}
        for run in several:
            remaining[run.id] = tuple(word for at, word in enumerate(pattern[run.id]) if at not in repeated)
    return remaining


def _repeats_setting(words: Sequence[str], runs: Sequence[PlacedRun]) -> bool:
    """Return whether a word of the file names of runs is that of a setting in the files, in all of them."""
    if len(set(words)) == 1:
        return False
    n_cells = len({run.cell for run in runs})
    follows = len({(run.cell, word) for run, word in zip(runs, words, strict=True)}) == n_cells
    if follows and len({run.file for run in runs}) >= _MIN_FILES_PER_CELL * n_cells:
        return True
    names = set.intersection(*(set(run.settings) for run in runs))
    return follows and any(
        all(spells_value(word, run.settings[name]) for word, run in zip(words, runs, strict=True)) for name in names
    )


def _varies(column: _Column, cells: _Cells) -> bool:
    return any(len(column.stated_levels(cell)) > 1 for cell in cells)


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
    levels = column.stated_levels(runs)
    if is_numbering(levels) and not is_amount(column.prefix):
        return NUMBERED
    # A tool may write one measurement in several forms (.json, .csv).
    files = group_by_key((column.levels[run.id], (run.root, strip_suffixes(run.file))) for run in runs)
    n_recurring = sum(len(set(several)) > 1 for several in files.values())
    # Numbers meet by chance; words do not.
    least = len(levels) / 2 if all(level.isdigit() for level in levels) else 1
    return "" if n_recurring >= max(1, least) else UNIQUE


def _name_factors(accepted: Sequence[_Column], taken: set[str]) -> list[PathFactor]:
    """Name each factor after the setting that its levels name (``site=bonn``, ``stripe4``), else after its part."""
    factors = []
    n_columns = Counter(column.part.partition(".")[0] for column in accepted)
    for column in accepted:
        base, _, word = column.part.partition(".")
        name, texts = name_levels({run: level or _ABSENT for run, level in column.levels.items()}, column.prefix)
        if not name or name in taken or not is_setting_name(name):
            name = base if n_columns[base] == 1 else f"{base}_{word.partition('/')[0] or 'all'}"
        while name in taken:
            name += "_"
        taken.add(name)
        values = {run: _parse_level(text) for run, text in texts.items()}
        factors.append(PathFactor(name, column.part, values, column.alias))
    return factors
