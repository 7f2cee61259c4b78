"""A table of somebody's measurements → the Page that ``report`` lays out: cells, regressions, findings."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.core.types import Finding
from iosonde.core.units import format_size
from iosonde.report.content import Answers, Page, Reproduce, Section, counted
from iosonde.report.model_content import Summary, SummaryRow
from iosonde.report.text import estimate_text

from . import _page_factors as factors
from . import _page_models as models
from . import _page_words as words

if TYPE_CHECKING:
    from iosonde.core.table import Table
    from iosonde.data.roles import Roles
    from iosonde.stats.overview.types import Overview, Row

# So many factors are named in a headline with the levels of its two ends.
_NAMED = 2


def page_of_table(
    table: Table, path: str, responses: Sequence[str], by: Sequence[str] | None, on: Sequence[str], level: float,
    command: Sequence[str],
) -> Page:  # fmt: skip
    """Everything that the page shows; what is not named is guessed as ``check`` does. Raises InputError, DataError."""
    from iosonde.data import roles
    from iosonde.stats.checks import examine
    from iosonde.stats.overview import overview

    grouped = by if by is not None else columns_of(on, table) if on else None
    seen = roles.guess(table, responses, grouped)
    explained = models.models_of_table(table, seen.responses, seen.settings, on, level)
    cells = list(seen.settings) if grouped is not None else _coarse(table, seen.settings)
    made = overview.of_table(table, seen.responses, cells, level)
    checked = examine.of_table(table, level, seen.responses, seen.settings, (*seen.numbering, *seen.remarks))
    hidden = [finding for finding in made.findings if finding.code == "S110"]
    findings = _worst_first([*checked.findings, *hidden, *models.at_the_top(explained), *words.said(made.warnings)])
    return Page(
        title=f"iosonde report: {path}",
        target=path,
        measured="",
        level=level,
        answers=_answers(table, path, made, seen, cells, findings, checked.unseen),
        findings=findings,
        bars=Section(),
        latencies=Section(),
        timelines=Section(),
        trials=None,
        facts=Section(),
        reproduce=_reproduce(table, path, command),
        summary=summaries_of(made),
        models=explained,
        influences=factors.factors_of_table(table, seen.responses, seen.settings, level),
    )


def summaries_of(made: Overview, titles: dict[tuple[str, str], str] | None = None) -> tuple[Summary, ...]:
    """Every cell by response; ``titles`` names (operation, metric), by default the metric."""
    from iosonde.core.table import show

    found: dict[tuple[str, str], list[Row]] = {}
    for row in made.rows:
        found.setdefault((row.operation, row.metric), []).append(row)
    order = list(titles or found)
    return tuple(
        Summary(
            (titles or {}).get(key, key[1]),
            found[key][0].unit,
            made.by,
            tuple(
                SummaryRow(tuple(show(row.by.get(name)) for name in made.by), row.mean, row.median, row.sd, row.cv,
                           row.harmonic_mean)
                for row in found[key]
            ),
        )
        for key in order
        if key in found
    )  # fmt: skip


def columns_of(on: Sequence[str], table: Table) -> list[str]:
    """The columns that terms such as ``log2(size)`` and ``fs:size`` are made of."""
    from iosonde.stats.regression.formula import parse_terms

    return list(dict.fromkeys(factor.column for term in parse_terms(on, table) for factor in term.factors))


def _coarse(table: Table, settings: Sequence[str]) -> list[str]:
    """The settings whose cells hold trials enough: where nearly every row is a cell, the finest number goes."""
    kept = list(settings)
    while kept and 2 * len(table.groups(kept)) > len(table):
        numeric = [name for name in kept if table.column(name).numeric]
        if not numeric:
            return kept
        kept.remove(max(numeric, key=lambda name: len(table.column(name).codes()[1])))
    return kept


def _answers(
    table: Table, path: str, made: Overview, seen: Roles, cells: Sequence[str], findings: Sequence[Finding],
    unseen: Sequence[str],
) -> Answers:  # fmt: skip
    left_out = [*seen.numbering, *seen.remarks]
    # Rows that differ in such a column are no repetitions of each other: their spread is not only noise.
    over = [name for name in seen.settings if name not in cells]
    parts = [
        f"{counted(len(table), 'row')} of {path}",
        f"measured: {', '.join(seen.responses)}",
        f"grouped by: {', '.join(cells) or 'nothing'}",
        *([f"each cell is over all levels of {', '.join(over)}"] if over else []),
        *([f"left out: {', '.join(left_out)}"] if left_out else []),
    ]
    return Answers(
        headline="; ".join(
            _headline(made, response, "" if place else f" of {Path(path).name}")
            for place, response in enumerate(seen.responses[:3])
        ),
        what=("; ".join(parts) + ".",),
        fast="",
        sure=tuple(sentence for sentence in (made.sentence, _not_seen(unseen)) if sentence),
        wrong=words.wrong(findings, True),
    )


def _headline(made: Overview, response: str, of: str) -> str:
    rows = [row for row in made.rows if row.metric == response and row.mean.value is not None]
    if not rows:
        return f"{response}{of}: no value"
    least, most = (pick(rows, key=lambda row: row.mean.value or 0.0) for pick in (min, max))
    if least is most:
        return f"{response}{of}: {estimate_text(least.mean, least.unit)}"
    if len(least.by) > _NAMED:
        ends = " to ".join(estimate_text(row.mean, row.unit) for row in (least, most))
        return f"{response}{of}: {ends} over {len(rows)} settings"
    return f"{response}{of}: {_at(least)} to {_at(most)}"


def _at(row: Row) -> str:
    where = ", ".join(f"{name}={value}" for name, value in row.by.items())
    return f"{estimate_text(row.mean, row.unit)} at {where}"


def _not_seen(unseen: Sequence[str]) -> str:
    return f"Not seen: {'; '.join(unseen)}." if unseen else ""


def _worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    from iosonde.stats.checks import worst_first

    return tuple(worst_first(list({(one.code, one.sentence): one for one in findings}.values())))


def _reproduce(table: Table, path: str, command: Sequence[str]) -> Reproduce:
    import iosonde

    facts = [("data", path), ("rows", f"{len(table):,}")]
    if Path(path).is_file():
        content = Path(path).read_bytes()
        facts += [("size", format_size(len(content))), ("SHA-256", hashlib.sha256(content).hexdigest())]
    return Reproduce((("Make this page", shlex.join(command)),), (*facts, ("iosonde", iosonde.__version__)))
