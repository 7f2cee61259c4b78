"""Sides of a cell: the chosen levels, the base, and the trials of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.errors import DataError, InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_level
from iosonde.core.message import Message
from iosonde.core.stored import strip_factor_prefix
from iosonde.core.table import Cell, Column, Table, format_cell
from iosonde.core.units import parse_suffixed_size
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.source import Source
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Group
from iosonde.stats.estimate.ratio import Moments, pool_moments
from iosonde.stats.estimate.shared_bring_ups import Key, number_bring_ups, number_bring_ups_by_group
from iosonde.stats.overview.cells import compute_group_means

from .caveat import Caveat
from .parts import DATA, ROW, ComparedPart
from .sides import Sides

BASE_IS_A = Message("base-is-a", "it is given as A")
BASE_IS_FIRST = Message("base-is-first", "it is given first")


@dataclass(frozen=True)
class SideTrials:
    """Trials of one side. ``cells``: levels of the settings adjusted for. ``trials`` name the executions, ``bring_ups``
    those that hold the side for several of them (empty: none does). A published side has only ``published``.
    ``summaries``: of the trials of each value, if the values are means, which ``published`` then pools. ``lines``: the
    numbers that are held, a row for each value."""

    name: str
    values: Array
    cells: tuple[Key, ...] = ()
    trials: tuple[Cell, ...] = ()
    published: Group | None = None
    bring_ups: tuple[Key, ...] = ()
    summaries: tuple[Moments, ...] = ()
    lines: Array | None = None

    def group(self) -> Group:
        """Return the estimators' input. Raises DataError below two trials."""
        return self.published or estimates.build_group(self.name, self.values)

    def by_cell(self) -> dict[Key, Array]:
        """Map cells to their values."""
        places = group_by_key((cell, place) for place, cell in enumerate(self.cells))
        return {cell: self.values[at] for cell, at in places.items()}

    def pool_by_cell(self) -> dict[Key, Moments]:
        """Map cells to the moments of all trials behind their means."""
        cells = group_by_key(zip(self.cells, self.summaries, strict=True))
        return {cell: pool_moments(summaries) for cell, summaries in cells.items()}

    def publish(self) -> SideTrials:
        """Return a side of means as one of which only the summary is known; unchanged if its values are trials."""
        pooled = pool_moments(self.summaries) if self.summaries else None
        return (
            self
            if pooled is None or pooled.n < 2
            else replace(self, published=Group(self.name, pooled, is_pooled=True))
        )

    def take(self, places: Sequence[int]) -> SideTrials:
        """Select some of its trials."""
        return replace(
            self,
            values=self.values[list(places)],
            cells=tuple(self.cells[i] for i in places),
            trials=tuple(self.trials[i] for i in places),
            bring_ups=tuple(self.bring_ups[i] for i in places) if self.bring_ups else (),
            summaries=tuple(self.summaries[i] for i in places) if self.summaries else (),
            lines=None if self.lines is None else self.lines[list(places)],
        )


@dataclass(frozen=True)
class SidePair:
    """A and B in one cell; ``part.adjust`` names the columns of the samples' cells."""

    part: ComparedPart
    a: SideTrials
    b: SideTrials


@dataclass(frozen=True)
class ComparisonPlan:
    """The pairs to compare, why A is the base, what has one side only, and the caveats of all. ``repeats_trials``: a
    side whose level is unknown is compared in several settings."""

    pairs: tuple[SidePair, ...]
    base: str
    exclusions: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    repeats_trials: bool = False

    def select_countable(self, pairs: Sequence[SidePair]) -> Sequence[SidePair]:
        """Return the pairs if each of their trials is in one of them only, so that a mean may be of all."""
        return () if self.repeats_trials else pairs


@dataclass(frozen=True)
class ChosenLevels:
    """The chosen levels, base first, and why it is the base."""

    levels: tuple[Cell, ...]
    why: str


def collect_trials(
    rows: Table,
    column: str,
    name: str,
    adjust: Sequence[str] = (),
    bring_ups: Sequence[Key] = (),
    part: ComparedPart | None = None,
) -> SideTrials:
    """Return the trials of these rows that have a value, and all numbers that are held. ``bring_ups``: one per row, see
    ``SideTrials``. ``part``: that of the rows, if these may be means, or numbers are held."""
    values, names = rows.numbers(column), () if part is None else part.lines
    lines = np.column_stack([rows.numbers(line) for line in names]) if names else None
    there = np.flatnonzero(~np.isnan(values) & (True if lines is None else ~np.isnan(lines).any(axis=1)))
    present = rows.take(there)
    trial_column = next(
        (present.columns[candidate] for candidate in (ROW, "run") if candidate in present.columns), None
    )
    trials = () if trial_column is None else tuple(trial_column.values.tolist())
    row_bring_ups = tuple(bring_ups[int(row)] for row in there) if bring_ups else ()
    cells = tuple(present.row_keys(adjust))
    summaries = () if part is None or part.summaries is None else part.summaries.moments(present, column)
    side = SideTrials(name, values[there], cells, trials, bring_ups=row_bring_ups, summaries=summaries)
    return side if lines is None else replace(side, lines=lines[there])


def build_published_side(published: Group) -> SideTrials:
    """Return a side of which only the summary is known."""
    return SideTrials(published.name, np.empty(0), published=published)


def choose_levels(source: Source, group: str, sides: Sides) -> ChosenLevels:
    """Return the chosen levels of the group: those given, in their order, else all, as the experiment declares."""
    column = source.table.column(group)
    name, available = column.name, [level for level in column.codes()[1] if level is not None]
    declared = [
        str(level)
        for experiment in source.experiments
        for factor in experiment.factors
        if factor.name == strip_factor_prefix(name)
        for level in factor.levels
    ]
    available.sort(key=lambda level: declared.index(str(level)) if str(level) in declared else len(declared))
    by_text, unit = index_levels(column, sides.levels), column.level_unit
    unknown = next((text for text in sides.levels if text not in by_text), None)
    levels_text = ", ".join(format_level(level, unit) for level in available[:20])
    if unknown is not None:
        raise InputError(
            "unknown-level",
            "column '{name}' has no value '{level}'",
            "its values: {levels}",
            name=name,
            level=unknown,
            levels=levels_text,
        )
    chosen = tuple(by_text[text] for text in sides.levels) or tuple(available)
    if len(chosen) + len(sides.published) < 2:
        raise InputError(
            "too-few-levels",
            "one value of '{name}' is not enough for a comparison",
            "its values: {levels}",
            name=name,
            levels=levels_text,
        )
    return ChosenLevels(chosen, _explain_base(sides, column.numeric, str(chosen[0]) in declared))


def index_levels(column: Column, texts: Sequence[str]) -> dict[str, Cell]:
    """Return the levels of a column by each text that names them; of sizes also as the ``texts`` write them."""
    available = [level for level in column.codes()[1] if level is not None]
    by_text: dict[str, Cell] = {}
    by_text |= {format_cell(level): level for level in available} | {str(level): level for level in available}
    by_text |= {f"{level:g}": level for level in available if not isinstance(level, str)}
    if column.level_unit == "bytes":
        labels = [(level, format_level(level, "bytes")) for level in available]
        by_text |= {text: level for level, label in labels for text in (label, label.replace(" ", ""))}
        # as people type a size: 64k, 1m
        by_text |= {text: level for text in texts for level in available if parse_suffixed_size(text) == level}
    return by_text


def _explain_base(sides: Sides, numeric: bool, declared: bool) -> str:
    if sides.a is not None:
        return BASE_IS_A
    if sides.levels:
        return BASE_IS_FIRST
    if declared:
        return Message("declared-first", "the experiment declares it first")
    if numeric:
        return Message("smallest-level", "it is the smallest")
    return Message("first-in-data", "it stands first in the data; name the base and B to choose")


def pair_levels(part: ComparedPart, levels: Sequence[Cell], sides: Sides) -> Iterator[SidePair]:
    """Yield the pairs of one cell; if there are several cells, levels without a value are dropped."""
    published = [build_published_side(group) for group in sides.published]
    if sides.group is None:
        measured = [collect_trials(part.rows, part.column, part.column)]
        yield from (SidePair(part, a, b) for a, b in sides.pairs(measured, published))
        return
    name = part.rows.column(sides.group).name
    of_rows, measured_rows = part.name_sides(name), ~np.isnan(part.values)
    by_name = {str(level): np.flatnonzero((of_rows == str(level)) & measured_rows) for level in levels}
    gone = [level for level, rows in by_name.items() if not rows.size]
    if gone and not part.cell:
        raise DataError(
            "no-values",
            "{source}: no value of {column} where {name} is {levels}",
            "look at the data",
            source=part.rows.source,
            column=part.column,
            name=name,
            levels=", ".join(gone),
        )
    bring_ups = number_bring_ups_by_group(part.rows, name, (EXPERIMENT, DATA))
    measured = [
        collect_trials(
            part.rows.take(rows),
            part.column,
            level,
            part.adjust,
            [bring_ups[row] for row in rows] if bring_ups else (),
            part,
        )
        for level, rows in by_name.items()
        if rows.size
    ]
    for a, b in sides.pairs(measured, published):
        yield SidePair(part, *(_match_trials(part, name, (a, b), sides.pair, bring_ups) if sides.pair else (a, b)))


def _match_trials(
    part: ComparedPart, group: str, both: Sequence[SideTrials], pair: Sequence[str], bring_ups: Sequence[Key]
) -> list[SideTrials]:
    """Match the trials of A and B by partner, in the same order; average pairs of the same two bring-ups, since these
    share the bring-ups' difference. Raises DataError if a key is not unique."""
    if any(side.published for side in both):
        raise InputError("conflicting-options", "a published side cannot be paired", "leave {spell.pair} out")
    grouped = [_group_trials_by_key(part, group, side.name, pair) for side in both]
    for side, trials in zip(both, grouped, strict=True):
        twice = next(((key, at) for key, at in trials.items() if at.size > 1), None)
        if twice is not None:
            raise DataError(
                "ambiguous-pair",
                "{column}={level} has {n_trials} trials with {key}: which one is the partner?",
                "add a column to {spell.pair}",
                column=group,
                level=side.name,
                n_trials=twice[1].size,
                key=", ".join(f"{k}={format_cell(v)}" for k, v in zip(pair, twice[0], strict=True)),
            )
    rows = [(int(at[0]), int(grouped[1][key][0])) for key, at in grouped[0].items() if key in grouped[1]]
    values = [part.values[[of_pair[side] for of_pair in rows]] for side in (0, 1)]
    if bring_ups:
        of = number_bring_ups([(*bring_ups[a], *bring_ups[b]) for a, b in rows])
        values = [compute_group_means(x, of) for x in values]
    return [SideTrials(side.name, x) for side, x in zip(both, values, strict=True)]


def _group_trials_by_key(part: ComparedPart, group: str, side: str, pair: Sequence[str]) -> dict[Key, Indices]:
    """Return pairing key → the rows of a side that have a value."""
    mine = np.flatnonzero((part.name_sides(group) == side) & ~np.isnan(part.values))
    return {key: mine[at] for key, at in part.rows.take(mine).groups(pair)}


def map_values_by_key(part: ComparedPart, group: str, side: str, pair: Sequence[str]) -> dict[Key, float]:
    """Return the values of a side by pairing key, including those without a partner."""
    return {key: float(part.values[at[0]]) for key, at in _group_trials_by_key(part, group, side, pair).items()}
