"""Parts of DATA that are compared: the rows of each cell, its column, its adjustment, and its covariates.

Covariates are columns of a table that are neither set nor measured by the trial, as the load before it. Their values
hardly ever repeat, so they make no cells. If a covariate differs between the sides, it may explain the difference, and
a caveat is added."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.answers.besides import SINGLE_RANKS
from iosonde.answers.covariate_lines import (
    is_mostly_shared,
    list_crossed_blocks,
    list_lines,
    list_stated_covariates,
)
from iosonde.answers.row_summaries import RowSummaries, find_row_summaries, list_mean_remarks
from iosonde.core.arrays import Array
from iosonde.core.level_text import format_assignments
from iosonde.core.table import Column, Table
from iosonde.core.transforms import LOG_BASES
from iosonde.core.types import Metric
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.data.subsamples import average_groups
from iosonde.data.varying import (
    find_covariates,
    is_covariate,
    list_measured_columns,
    list_other_settings,
)
from iosonde.stats.assumptions import fails

from .caveat import Caveat
from .sides import Sides

ROW = " row"  # unlikely as a column name
RESPONSE_LABELS = ("operation", "metric", "unit", "response")  # what a cell has besides its setting
DATA = "DATA"  # the column that separates two DATA


@dataclass(frozen=True)
class ComparedPart:
    """Rows of one cell and the compared column. ``warnings`` and ``caveats`` concern the response, ``covariates`` are
    numbers that nobody set. ``base``: of its logarithms; None: plain values. ``metric`` defines which direction is
    better. ``adjust``: columns within whose combinations sides are compared. ``settings``: all columns known to be set
    that vary inside the cell, adjusted for or not. ``summaries``: what describes rows that are means; None: trials.
    ``lines``: numbers that are held as straight lines."""

    cell: dict[str, Any]
    rows: Table
    column: str
    metric: Metric = Metric("", "")
    base: float | None = None
    adjust: tuple[str, ...] = ()
    within_run: bool = False
    warnings: tuple[str, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    covariates: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    summaries: RowSummaries | None = None
    lines: tuple[str, ...] = ()

    @property
    def units(self) -> dict[str, str]:
        """Return the units of its columns' levels, if any."""
        return self.rows.level_units()

    @property
    def setting(self) -> dict[str, Any]:
        """Return its cell without what follows from the response."""
        return {name: level for name, level in self.cell.items() if name not in ("metric", "unit")}

    @property
    def label(self) -> str:
        """Return its cell in words."""
        return "/".join(format_assignments(self.setting, self.units))

    @property
    def unit(self) -> str:
        """Return the unit of the values; '' for logarithms."""
        return self.metric.unit if self.base is None else ""

    @property
    def values(self) -> Array:
        """Return the compared column, a number for each row."""
        return self.rows.numbers(self.column)

    def with_row_summaries(self, response: Response, excluded: Sequence[str], is_paired: bool) -> "ComparedPart":
        """Return the part with what describes its rows if they are means; pairs need single values."""
        summaries = None if is_paired else find_row_summaries(response, excluded)
        remarks = (Caveat(*remark) for remark in list_mean_remarks(response, summaries))
        return replace(self, summaries=summaries, caveats=(*self.caveats, *remarks))

    def split(self, by: Sequence[str], names: Sequence[str] = ()) -> Iterator["ComparedPart"]:
        """Yield a part for each combination of the columns ``by``, called ``names`` in its cell."""
        for key, at in self.rows.groups(by):
            cell = {**self.cell, **dict(zip(names or by, key, strict=True))}
            yield replace(self, cell=cell, rows=self.rows.take(np.sort(at)))

    def name_sides(self, group: str) -> npt.NDArray[Any]:
        """Return the side of each row: its level of the column ``group`` as text."""
        codes, levels = self.rows.column(group).codes()
        return np.array([str(level) for level in levels], dtype=object)[codes]


def list_table_parts(source: Source, query: ResponseQuery, sides: Sides) -> Iterator[ComparedPart]:
    """Yield each column within each combination of ``by``."""
    by = tuple(source.table.column(name).name for name in sides.by)
    own = () if sides.group is None else (source.table.column(sides.group).name,)
    adjusted = tuple(source.table.column(name).name for name in sides.adjust or ())
    compared_responses = [
        candidate
        for candidate in build_responses(source, replace(query, on=(*by, *own, *adjusted)))
        if candidate.title not in own
    ]
    for response in compared_responses:
        settings = select_set_columns(response, by, own[0]) if own else ()
        titles = [candidate.title for candidate in compared_responses]
        is_alone = bool(sides.pair or sides.published)
        adjust = adjusted if sides.adjust is not None else () if is_alone or not own else settings
        stated = () if sides.adjust is not None else list_stated_covariates(response.rows)
        candidates = [name for name in dict.fromkeys((*adjust, *stated)) if name not in (*by, *own, *titles)]
        lines = list_lines(response.rows, candidates, own[0]) if own and not is_alone else ()
        adjust, settings = (tuple(name for name in names if name not in lines) for names in (adjust, settings))
        fixed_columns = (*by, *own, *settings, *adjusted, *titles, *lines)
        covariates = find_covariates(response.rows, list_measured_columns(response), fixed_columns)
        response = replace(response, rows=add_row_numbers(response.rows))
        every = replace(build_part(response, {}, adjust), covariates=covariates, settings=settings, lines=lines)
        every = every.with_row_summaries(response, (*fixed_columns, *sides.pair), is_paired=bool(sides.pair))
        several = {"response": response.title} if len(compared_responses) > 1 else {}
        yield from (replace(part, cell={**part.cell, **several}) for part in every.split(by, sides.by))


def list_store_parts(source: Source, query: ResponseQuery, sides: Sides) -> Iterator[ComparedPart]:
    """Yield each response at each setting of the factors not adjusted for; with ``by``, at each of these, adjusted for
    the others."""
    factors = source.varying_factors
    own = [] if sides.group is None else [source.table.column(sides.group).name]
    twins = [factors.confounded.get(name) for name in own]
    nested = list_factors_following_group(source, sides.group)
    others = tuple(name for name in factors.names if name not in (*own, *twins, *nested))
    settings = tuple(name for name in others if name not in (sides.adjust or ()))
    if sides.by:
        settings = tuple(name for name in source.apart((*sides.by, *own)) if name not in own)
    adjust = () if sides.pair or sides.published else tuple(name for name in others if name not in settings)
    adjust = adjust if sides.adjust is None else sides.adjust
    compared_responses = build_responses(source, replace(query, on=(*sides.by, *own)))
    for response in compared_responses:
        labels = get_response_labels(response, len(compared_responses) > 1)
        every = replace(build_part(response, labels, adjust), settings=others)
        yield from (average_runs(part, own) for part in every.split(settings))


def add_row_numbers(rows: Table) -> Table:
    """Add the column ROW: each row of a user's table is a trial."""
    return replace(rows, columns={**rows.columns, ROW: Column(ROW, np.arange(len(rows), dtype=float))})


def list_factors_following_group(source: Source, group: str | None) -> tuple[str, ...]:
    """Return a store's other factors with one level per level of the group: their cells never have both sides. Rows
    that lack a factor, as those of another tool, do not count for it."""
    if group is None:
        return ()
    own, names = source.table.column(group).name, source.varying_factors.names
    rows = source.run_rows.take(~source.run_rows.column(own).missing)
    return tuple(name for name in names if name != own and _follows_group(rows, own, name, names))


def _follows_group(rows: Table, group: str, name: str, names: Sequence[str]) -> bool:
    """Return whether a factor has one level per level of the group where it is stated, which other factors decide."""
    missing = rows.column(name).missing
    others = rows.number_groups([other for other in names if other not in (group, name)]) if missing.any() else ()
    stated = rows.take(~missing)
    is_explained = not set(np.array(others)[missing]) & set(np.array(others)[~missing]) if len(others) else True
    levels = len(rows.groups([group]))
    return is_explained and len(stated.groups([group])) == len(stated.groups([group, name])) == levels


def build_part(response: Response, cell: dict[str, Any], adjust: tuple[str, ...] = ()) -> ComparedPart:
    """Build the part of all rows of a response."""
    base = LOG_BASES.get(response.transform)
    return ComparedPart(
        cell,
        response.rows,
        response.title,
        response.metric if base is None else replace(response.metric, unit=response.measured_unit),
        base,
        adjust,
        response.within_run,
        response.warnings,
        caveats=list_trial_caveats(response),
    )


def list_trial_caveats(response: Response) -> tuple[Caveat, ...]:
    """Return the caveats of rows that are parts of one trial; ranks of unknown trials support no claim."""
    if not response.trial_note:
        return ()
    if not response.are_parts:
        return (Caveat(response.trial_note),)
    return (Caveat(response.trial_note, fails("subsamples", VerdictState.INCONCLUSIVE, SINGLE_RANKS)),)


def get_response_labels(response: Response, several: bool) -> dict[str, Any]:
    """Return the columns that distinguish a response in the cells."""
    label = {"response": response.title} if response.measured or (several and not response.operation) else {}
    if not response.operation:
        return label
    return {"operation": response.operation, "metric": response.metric.name, "unit": response.unit, **label}


def select_set_columns(response: Response, by: Sequence[str], sides: str) -> tuple[str, ...]:
    """Return the columns of a table that look set and vary, besides ``by`` and the column of the ``sides``."""
    measured = list_measured_columns(response)
    settings = list_other_settings(response.rows, measured, (*by, sides))
    blocks = [
        name
        for name in list_crossed_blocks(response.rows, measured, sides, (*by, *settings))
        if name not in (*by, *settings)
    ]
    return (*(name for name in settings if can_hold_fixed(response.rows, name, sides)), *blocks)


def average_runs(part: ComparedPart, group: Sequence[str]) -> ComparedPart:
    """Keep iterations of single runs; average them if a side has several runs. The two never mix."""
    if not part.within_run:
        return part
    sides = [part.rows.take(rows).groups(["run"]) for _, rows in part.rows.groups(group)]
    if all(len(runs) == 1 for runs in sides):
        return part
    runs = [at for _, at in part.rows.groups([*group, "run"])]
    return replace(part, rows=average_groups(part.rows, [part.column], runs), within_run=False)


def can_hold_fixed(rows: Table, name: str, sides: str) -> bool:
    """Return whether a column can be held fixed. A number that hardly repeats qualifies if most of its values occur on
    several sides."""
    return not is_covariate(rows.column(name)) or is_mostly_shared(rows, name, sides)
