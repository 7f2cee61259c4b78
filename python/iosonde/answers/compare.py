"""Is B different from A, by how much, and can these data tell at all?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.metrics import lowest
from iosonde.core.stored import plain
from iosonde.core.table import Cell, Table
from iosonde.data.asked import Asked
from iosonde.data.responses import Response, responses
from iosonde.data.source import Source
from iosonde.stats.estimate import compare as estimates
from iosonde.stats.estimate.compare import Comparison, Group
from iosonde.stats.estimate.compare_words import called, sentence

from .answer import Answer
from .caveats import of_ratios
from .columns import with_computed

WITHIN_RUN = "iterations within one run are compared: the noise of another execution is not seen"


@dataclass(frozen=True)
class ComparedCell:
    """One comparison, and the cell that it is of. ``within_run``: of iterations of single executions, and no trials.
    ``group`` is the column that tells A from B."""

    cell: dict[str, Any]
    comparison: Comparison
    group: str | None = None
    within_run: bool = False

    @property
    def sentence(self) -> str:
        """What the interval of the ratio says."""
        return sentence(self.comparison, self.group)

    @property
    def sides(self) -> tuple[str, str]:
        """A and B as people say them: ``before``, but ``nodes=1``."""
        return called(self.comparison.a.name, self.group), called(self.comparison.b.name, self.group)

    @property
    def warnings(self) -> list[str]:
        """What speaks against it."""
        return [*self.comparison.warnings, *([WITHIN_RUN] if self.within_run else [])]


@dataclass(frozen=True)
class Comparisons(Answer):
    """Each comparison; p is corrected over all of them (Holm). ``warnings`` are about all."""

    items: tuple[ComparedCell, ...]
    group: str | None
    level: float
    warnings: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde compare --json``: of a single comparison the keys stand at the top, too."""
        listed = [
            {"by": one.cell, **one.comparison.to_json(), "warnings": one.warnings, "sentence": one.sentence}
            for one in self.items
        ]
        only = listed[0] if len(listed) == 1 else {}
        warnings = [*self.warnings, *only.get("warnings", [])]
        return {"level": self.level, "group": self.group, **only, "warnings": warnings, "comparisons": listed}

    def records(self) -> list[dict[str, Any]]:
        """One row a comparison."""
        return [
            {**one.cell, "a": c.a.name, "b": c.b.name, "n_a": c.a.side.n, "n_b": c.b.side.n, "mean_a": c.mean_a.value,
             "mean_b": c.mean_b.value, **c.ratio.flat("ratio"), "p": c.p, "p_holm": c.p_holm, "verdict": c.verdict}
            for one in self.items
            for c in [one.comparison]
        ]  # fmt: skip


@dataclass(frozen=True)
class Sides:
    """What is compared: the ``levels`` of the column ``group``, the first of which is the base; or two columns.

    ``by``: within each combination of these; of a store by default its other factors. ``pair``: columns whose equal
    values pair a trial of A with one of B. ``a``, ``b``: published sides. ``margin``: what counts as equal.
    """

    levels: Sequence[str] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    margin: float = 0.02
    a: Group | None = None
    b: Group | None = None

    @property
    def published(self) -> list[Group]:
        """The sides that are published."""
        return [side for side in (self.a, self.b) if side is not None]

    def pairs(self, measured: Sequence[Group]) -> Iterator[tuple[Group, Group]]:
        """Every pair of sides, a published one in its place."""
        sides = [*self.published, *measured] if self.a is not None else [*measured, *self.published]
        return combinations(sides, 2)


def share_of(text: str) -> float:
    """``2%`` or ``0.02`` → 0.02. Raises InputError."""
    body, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(body) / (100 if percent else 1)
    except ValueError:
        raise InputError(f"'{text}' is not a share", "write it like 2% or 0.02") from None
    if not 0 <= share < 1:
        raise InputError(f"'{text}' is not between 0 and 1", "write it like 2% or 0.02")
    return share


@dataclass(frozen=True)
class _Part:
    """The rows of one cell and the column that is compared; ``warnings`` are about the response."""

    cell: dict[str, Any]
    rows: Table
    column: str
    within_run: bool = False
    warnings: tuple[str, ...] = ()


def compare(source: Source | None, asked: Asked, sides: Sides) -> Comparisons:
    """Every comparison that is asked for; of a store of each response at each setting. Without DATA both sides are
    published. Raises InputError, DataError."""
    if source is None:
        if len(sides.published) != 2:
            hint = "name DATA, or both sides with --a-summary and --b-summary"
            raise InputError("there is nothing to compare", hint)
        a, b = sides.published
        return _made([(_Part({}, Table({}), ""), a, b)], asked, sides)
    if sides.group is None and source.store is None:
        return _made(list(_of_columns(source, asked, sides)), asked, sides)
    parts = _of_store(source, asked, sides) if source.store is not None else _of_table(source, asked, sides)
    wanted = [] if sides.group is None else _levels(source, sides.group, sides)
    found = [(part, a, b) for part in parts for a, b in _sides(part, wanted, sides)]
    return _made(found, asked, sides, _confounded(source, sides.group))


def _made(
    found: Sequence[tuple[_Part, Group, Group]], asked: Asked, sides: Sides, warnings: tuple[str, ...] = ()
) -> Comparisons:
    made = [
        _cut(part, estimates.compare(a, b, asked.level, sides.margin, pairs=bool(sides.pair))) for part, a, b in found
    ]
    items = []
    for (part, _, _), one in zip(found, estimates.with_holm(made), strict=True):
        # The spread of iterations says nothing of how many trials would tell.
        one = replace(one, n_needed=None) if part.within_run else one
        items.append(ComparedCell(part.cell, one, sides.group, part.within_run))
    said = dict.fromkeys(text for part, _, _ in found for text in part.warnings)
    return Comparisons(tuple(items), sides.group, asked.level, (*said, *warnings))


def _cut(part: _Part, one: Comparison) -> Comparison:
    """The comparison with intervals of means that end where a mean can be; those that were published stay."""
    means = []
    for side, estimate in ((one.a, one.mean_a), (one.b, one.mean_b)):
        if side.values is None:
            means.append(estimate)
            continue
        unit = part.rows.column(part.column or side.name).unit
        means.append(estimate.within(low=lowest(unit, bool(np.all(side.values > 0)))))
    return replace(one, mean_a=means[0], mean_b=means[1])


# The cells of DATA


def _of_table(source: Source, asked: Asked, sides: Sides) -> Iterator[_Part]:
    assert sides.group is not None
    if not asked.response:
        raise InputError("--response is missing", f"name the column to compare: {', '.join(source.table.names)}")
    table, names = with_computed(source, source.table, asked, (*sides.by, sides.group))
    said = _of_ratios(source, asked, (*sides.by, sides.group))
    for key, rows in table.groups(sides.by):
        for name in names:
            several = {"response": name} if len(names) > 1 else {}
            cell = {**dict(zip(sides.by, key, strict=True)), **several}
            yield _Part(cell, table.take(rows), name, warnings=said)


def _of_ratios(source: Source, asked: Asked, by: Sequence[str]) -> tuple[str, ...]:
    """What is to be said of columns whose ratios mean nothing."""
    named = tuple(by) or source.table.names[:1]  # any: so that no factor is guessed
    return tuple(text for one in responses(source, replace(asked, on=tuple(named))) for text in of_ratios(one))


def _of_store(source: Source, asked: Asked, sides: Sides) -> Iterator[_Part]:
    """Each response at each setting of the other factors."""
    known = source.known
    if sides.group is None and not sides.published:
        raise InputError("--group is missing", f"name the column that tells A from B: {', '.join(known.names)}")
    own = [] if sides.group is None else [source.table.column(sides.group).name]
    twins = [known.confounded.get(name) for name in own]
    settings = sides.by or tuple(name for name in known.names if name not in (*own, *twins))
    found = responses(source, replace(asked, on=(*sides.by, *own)))
    for response in found:
        said = (*response.warnings, *of_ratios(response))
        for key, rows in response.rows.groups(settings):
            cell = {**_kind(response, len(found) > 1), **dict(zip(settings, key, strict=True))}
            part = response.rows.take(np.sort(rows))
            yield _of_runs(_Part(cell, part, response.title, response.within_run, said), own)


def _kind(response: Response, several: bool) -> dict[str, Any]:
    """What tells a response from others in the cells."""
    named = {"response": response.title} if response.measured or (several and not response.operation) else {}
    if not response.operation:
        return named
    return {"operation": response.operation, "metric": response.metric.name, "unit": response.unit, **named}


def _of_runs(part: _Part, group: Sequence[str]) -> _Part:
    """Iterations of single runs as they are; where a side has several runs, their means: the two never mix."""
    if not part.within_run:
        return part
    sides = [part.rows.take(rows).groups(["run"]) for _, rows in part.rows.groups(group)]
    if all(len(runs) == 1 for runs in sides):
        return part
    runs = [rows for _, rows in part.rows.groups(["run"])]
    values = part.rows.numbers(part.column).copy()
    for rows in runs:
        values[rows[0]] = np.mean(values[rows])
    column = replace(part.rows.column(part.column), values=values)
    table = replace(part.rows, columns={**part.rows.columns, column.name: column})
    return replace(part, rows=table.take(np.sort([rows[0] for rows in runs])), within_run=False)


def _confounded(source: Source, group: str | None) -> tuple[str, ...]:
    """What always changes with the group, so that nothing tells whose the difference is."""
    if source.store is None or group is None:
        return ()
    own = source.table.column(group).name
    twins = [(name, twin) for name, twin in source.known.confounded.items() if own in (name, twin)]
    return tuple(f"{name} always changes with {twin}: nothing here tells them apart" for name, twin in twins)


# The sides of a cell


def _of_columns(source: Source, asked: Asked, sides: Sides) -> Iterator[tuple[_Part, Group, Group]]:
    """Two columns of a wide table as A and B; with --response and a published side, that column."""
    wanted = tuple(sides.levels) or asked.response
    if len(wanted) + len(sides.published) < 2:
        raise InputError("--group is missing", "name the column that tells A from B, or two columns as A and B")
    asked = replace(asked, response=wanted)
    table, names = with_computed(source, source.table, asked, sides.by)
    said = _of_ratios(source, asked, sides.by)
    for key, rows in table.groups(sides.by):
        part = _Part(dict(zip(sides.by, key, strict=True)), table.take(rows), "", warnings=said)
        for a, b in sides.pairs([_side(part.rows, name, table.column(name).name) for name in names]):
            yield part, a, b


def _sides(part: _Part, wanted: Sequence[Cell], sides: Sides) -> Iterator[tuple[Group, Group]]:
    """The pairs of one cell; a level without a value is left out where there are several cells."""
    if sides.group is None:
        yield from sides.pairs([_side(part.rows, part.column, part.column)])
        return
    name = part.rows.column(sides.group).name
    parts = [part.rows.take(_rows_of(part, name, level)) for level in wanted]
    gone = [str(level) for level, rows in zip(wanted, parts, strict=True) if not len(rows)]
    if gone and not part.cell:
        raise DataError(
            f"{part.rows.source}: no value of {part.column} where {name} is {', '.join(gone)}", "look at the data"
        )
    by_name = {str(level): rows for level, rows in zip(wanted, parts, strict=True) if len(rows)}
    for a, b in sides.pairs([_side(rows, part.column, level) for level, rows in by_name.items()]):
        yield _matched(by_name, a, b, name, part.column, sides.pair) if sides.pair else (a, b)


def _side(rows: Table, column: str, name: str) -> Group:
    values = rows.numbers(column)
    return estimates.group(name, values[~np.isnan(values)])


def _rows_of(part: _Part, name: str, level: Cell) -> Any:
    """Rows of one level that have a response."""
    codes, levels = part.rows.column(name).codes()
    place = levels.index(level) if level in levels else -1
    return (codes == place) & ~np.isnan(part.rows.numbers(part.column))


def _levels(source: Source, group: str, sides: Sides) -> list[Cell]:
    """The levels of the group that are meant: those given, in their order, else all, as the experiment declares."""
    column = source.table.column(group)
    name, known = column.name, [level for level in column.codes()[1] if level is not None]
    declared = [str(level) for one in source.experiments for factor in one.factors
                if factor.name == plain(name) for level in factor.levels]  # fmt: skip
    known.sort(key=lambda level: declared.index(str(level)) if str(level) in declared else len(declared))
    by_text = {str(level): level for level in known}
    by_text |= {f"{level:g}": level for level in known if not isinstance(level, str)}
    unknown = next((text for text in sides.levels if text not in by_text), None)
    shown = ", ".join(map(str, known[:20]))
    if unknown is not None:
        raise InputError(f"column '{name}' has no value '{unknown}'", f"its values: {shown}")
    chosen: list[Cell] = [*(by_text[text] for text in sides.levels)] or [*known]
    if len(chosen) + len(sides.published) < 2:
        raise InputError(f"one value of '{name}' cannot be compared with anything", f"its values: {shown}")
    return chosen


def _matched(
    by_name: dict[str, Table], a: Group, b: Group, name: str, column: str, pair: Sequence[str]
) -> tuple[Group, Group]:
    """The trials of A and B that have a partner, in the same order. Raises DataError where a key is not unique."""
    keyed: list[dict[tuple[Cell, ...], float]] = []
    for one in (a, b):
        if one.values is None:
            raise InputError("a published side cannot be paired", "leave --pair out")
        rows, values = by_name[one.name], by_name[one.name].numbers(column)
        groups = rows.groups(pair)
        twice = next(((key, at) for key, at in groups if at.size > 1), None)
        if twice is not None:
            shown = ", ".join(f"{k}={v}" for k, v in zip(pair, twice[0], strict=True))
            raise DataError(f"{name}={one.name} has {twice[1].size} trials with {shown}: which one is the partner?",
                            "add a column to --pair")  # fmt: skip
        keyed.append({key: float(values[at[0]]) for key, at in groups})
    common = [key for key in keyed[0] if key in keyed[1]]
    matched_a, matched_b = (estimates.group(one.name, [side[key] for key in common])
                            for one, side in zip((a, b), keyed, strict=True))  # fmt: skip
    return matched_a, matched_b
