"""Page of a user's table of measurements: cells, regressions, findings."""

import hashlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from iosonde.answers.besides import build_background
from iosonde.answers.constraints import SettingConstraints
from iosonde.commands.rank.for_page import InfluenceOptions, build_table_influences
from iosonde.commands.regress.for_page import PageTerms, build_table_models
from iosonde.commands.summary.answer import add_pooled_warning, find_pooled_columns
from iosonde.core.column_roles import Roles
from iosonde.core.computed_columns import describe_computed_columns
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.estimate_text import format_estimate
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.core.types import Finding
from iosonde.core.units import format_size
from iosonde.core.version import __version__
from iosonde.core.words import format_count
from iosonde.data.repeats import describe_repeats
from iosonde.data.roles import guess_roles
from iosonde.data.source import Source
from iosonde.data.subsamples import average_trials
from iosonde.data.varying import list_other_settings
from iosonde.page.tables import FirstScreen, Reproduce, Section
from iosonde.stats.checks import examine, sort_by_severity
from iosonde.stats.checks.examine import Examination
from iosonde.stats.overview import overview
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.types import Overview, drop_constant_levels
from iosonde.stats.regression.formula import list_term_columns

from .content import Page, build_summaries, map_interactions, map_responses
from .findings import describe_assumptions, findings_from_warnings, format_finding_counts, select_top_findings
from .first_screen import describe_interval
from .query import ReportQuery

# factors named in a headline with the levels of its two ends
_MAX_FACTORS = 2
_MOST_CELLS = 400


def build_table_page(
    table: Table,
    options: ReportQuery,
    list_other_cells: Callable[[Sequence[str]], Sequence[TrialCell]] | None = None,
    source: Source | None = None,
) -> Page:
    """Build the page of the responses and cells of ``options``; roles that are not given are guessed as ``check`` does.
    ``list_other_cells`` returns those of the other responses of the family of tests, by default the headlines of the
    table. ``source``: DATA of the ``table``. Raises InputError, DataError."""
    path, responses, by, on, level = options.data, options.response, options.by, options.on, options.level
    grouped = by if by is not None else list_term_columns(on, table) if on else None
    roles = guess_roles(table, responses, grouped)
    roles = roles.without_constants() if grouped is None else roles
    _refuse_predicted_responses(roles, list_term_columns(on, table))
    trials = average_trials(table, roles.responses, grouped or ())
    rows = replace(trials.rows, warnings=(*table.warnings, *([trials.note] if trials.note else [])))
    cells = list(roles.settings) if grouped is not None else _coarsen_settings(table, roles.settings)
    besides = list_other_settings(rows, roles.responses, cells) if grouped is not None else ()
    headlines = [] if list_other_cells else _list_headlines(table, roles.responses, roles.settings)

    def build_overview(by: Sequence[str]) -> Overview:
        background = build_background(rows, besides, by, trials.are_parts, roles.responses, level)
        background = replace(background, headline_cells=list_other_cells(by) if list_other_cells else ())
        return overview.build_overview_from_table(rows, roles.responses, by, level, headlines, background)

    survey = build_overview(cells)
    if len(cells) < len(roles.settings):  # the effects are those of all settings, as in a summary
        survey = overview.insert_stories(survey, build_overview(roles.settings).stories)
    inside = find_pooled_columns(survey, rows, besides)
    survey = add_pooled_warning(survey, inside)
    explained = build_table_models(survey, rows, roles.responses, roles.settings, PageTerms(on, besides), level)
    checked = examine.examine_table(table, level, roles.responses, roles.settings, (*roles.numbering, *roles.remarks))
    hidden = [finding for finding in survey.findings if finding.code == "S110"]
    every = [*checked.findings, *hidden, *select_top_findings(explained), *findings_from_warnings(survey.warnings)]
    findings = tuple(sort_by_severity(list({(finding.code, finding.sentence): finding for finding in every}.values())))
    return Page(
        title=f"iosonde report: {path}",
        target=path,
        measured="",
        level=level,
        answers=_build_first_screen(table, path, survey, roles, cells, findings, _list_unseen(checked)),
        findings=findings,
        bars=Section(),
        latencies=Section(),
        timelines=Section(),
        trials=None,
        facts=Section(),
        reproduce=_describe_reproduction(table, path, options.again),
        summary=build_summaries(survey),
        models=explained,
        influences=build_table_influences(
            rows,
            roles.responses,
            roles.settings,
            InfluenceOptions(
                level,
                SettingConstraints(options.constraints),
                survey.effects,
                source,
                replace(options.cells, on=tuple(grouped or ())),
            ),
        ),
        verdicts=survey.verdicts,
        interactions=map_interactions(survey),
        responses=map_responses(survey),
    )


def _refuse_predicted_responses(roles: Roles, predictors: Sequence[str]) -> None:
    if both := [name for name in roles.responses if name in predictors]:
        raise InputError(
            "conflicting-roles",
            "'{column}' is both the response and a predictor",
            "leave it out of {spell.on}",
            column=both[0],
        )


def _list_unseen(checked: Examination) -> list[str]:
    """Return the checks that were impossible and that the user can make possible: hardware is of a store."""
    return [text for text in checked.unseen if not (isinstance(text, Message) and text.code == "missing-bound")]


def _list_headlines(table: Table, responses: Sequence[str], cells: Sequence[str]) -> Sequence[str]:
    """Return the responses of the table by default: the family of tests, as in every command."""
    try:
        return [name for name in guess_roles(table).responses if name not in cells]
    except IosondeError:
        return responses


def _coarsen_settings(table: Table, settings: Sequence[str]) -> list[str]:
    """Return the settings by which a page has cells: those of a summary, but without the finest numbers if these make
    more cells than anybody reads."""
    remaining = list(settings)
    while remaining and len(table.groups(remaining)) > _MOST_CELLS:
        numeric = [name for name in remaining if table.column(name).numeric]
        if not numeric:
            return remaining
        remaining.remove(max(numeric, key=lambda name: len(table.column(name).codes()[1])))
    return remaining


def _build_first_screen(
    table: Table,
    path: str,
    survey: Overview,
    roles: Roles,
    cells: Sequence[str],
    findings: Sequence[Finding],
    unseen: Sequence[str],
) -> FirstScreen:
    excluded = [*roles.numbering, *(name for name in roles.remarks if name not in roles.computed)]
    # Rows that differ in such a column are not repetitions: their spread is not only noise.
    over = [name for name in roles.settings if name not in cells]
    parts = [
        f"{format_count(len(table), 'trial' if table.row_statistics else 'row')} of {path}",
        *describe_repeats(table),
        f"measured: {', '.join(roles.responses)}",
        f"grouped by: {', '.join(cells) or 'nothing'}",
        *([f"each cell is over all levels of {', '.join(over)}"] if over else []),
        *([f"left out: {', '.join(excluded)}"] if excluded else []),
    ]
    assumptions = describe_assumptions([*survey.warnings, *describe_computed_columns(roles.computed)])
    averages = f"; averages over all levels of {', '.join(over)}" if over else ""
    return FirstScreen(
        headline="; ".join(
            _format_mean_range(survey, response, "" if place else f" of {Path(path).name}")
            for place, response in enumerate(roles.responses[:3])
        )
        + averages,
        what=("; ".join(parts) + ".", *assumptions),
        fast="",
        sure=(
            describe_interval(survey),
            *([f"Not seen: {'; '.join(unseen)}."] if unseen else []),
        ),
        wrong=format_finding_counts(findings, True),
        sentence=survey.sentence,
        closing=survey.closing,
    )


def _format_mean_range(cell_overview: Overview, response: str, of: str) -> str:
    rows = [row for row in cell_overview.rows if row.metric == response and row.mean.value is not None]
    if not rows:
        return f"{response}{of}: no value"
    least, most = (pick(rows, key=lambda row: row.mean.value or 0.0) for pick in (min, max))
    if least is most:
        return f"{response}{of}: {format_estimate(least.mean, least.unit)}"
    ends = drop_constant_levels((least, most), rows)
    if len(ends[0].by) > _MAX_FACTORS:
        texts = [format_estimate(row.mean, row.unit) for row in ends]
        return f"{response}{of}: {' to '.join(texts)} over {len(rows)} settings"
    texts = [f"{format_estimate(row.mean, row.unit)} at {format_setting(row.by, cell_overview.units)}" for row in ends]
    return f"{response}{of}: {' to '.join(texts)}"


def _describe_reproduction(table: Table, path: str, command: Sequence[str]) -> Reproduce:
    facts = [("data", path), ("rows", f"{len(table):,}")]
    if Path(path).is_file():
        content = Path(path).read_bytes()
        facts += [("size", format_size(len(content))), ("SHA-256", hashlib.sha256(content).hexdigest())]
    return Reproduce((("Make this page", shlex.join(command)),) if command else (), (*facts, ("iosonde", __version__)))
