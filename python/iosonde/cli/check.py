"""``iosonde check``: can these data be trusted, before anything is concluded from them?"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import click

from iosonde.core.errors import InputError

from ._data import Source, check_level, open_data, options, split_names

if TYPE_CHECKING:
    from iosonde.stats.checks import Subject
    from iosonde.stats.noise import Noise


@click.command(epilog="Example: iosonde check runs.csv --response bandwidth --by fs,size")
@click.argument("data")
@click.option("--response", metavar="Y,…", help="The measured column(s); without it the one with the most values.")
@click.option("--by", metavar="X,…", help="The settings; without it every column whose values come again.")
@click.option("--limit", type=float, metavar="VALUE", help="What the response cannot pass, in its own unit.")
@click.option("--noise", is_flag=True, help="Also the noise passport: what comparisons of such trials can see.")
@options
def command(
    data: str, response: str | None, by: str | None, limit: float | None, noise: bool, where: tuple[str, ...],
    level: float, as_json: bool,
) -> None:  # fmt: skip
    """Look for copies, leakage, drift, autocorrelation, outliers, modes, missing cells, coarse clocks, mixed units …

    Exit code 1 if an error is found (copied cells, impossible values), 0 otherwise. 'iosonde explain CODE' prints the
    page of a finding.
    """
    from iosonde.core.types import Severity
    from iosonde.stats import checks

    check_level(level)
    source = open_data(data, where)
    subject, taken = subject_of(source, response, by, level, limit)
    findings = checks.run(subject)
    passport = _passport(source, subject, level) if noise else []
    if as_json:
        click.echo(json.dumps({"schema": 1, **taken, "findings": [f.to_json() for f in findings],
                               "noise": [entry.to_json() for entry in passport]}, indent=1,
                              ensure_ascii=False, allow_nan=False, default=float))  # fmt: skip
    else:
        _print(subject, taken, findings)
        if noise:
            _print_passport(passport)
    if any(finding.severity is Severity.ERROR for finding in findings):
        click.get_current_context().exit(1)


def subject_of(
    source: Source, response: str | None, by: str | None, level: float, limit: float | None
) -> tuple[Subject, dict[str, list[str]]]:
    """What is to be checked, and which columns were taken for the response and the settings."""
    from iosonde.stats import checks, overview, roles
    from iosonde.stats.cells import cells_of, hidden_factors

    if source.store is not None and response is None:
        subject = overview.subject_of_store(source.table, level, source.runs())
        return subject, {"response": ["value"], "by": list(subject.cells[0].by) if subject.cells else []}
    table = source.table
    if len(table) == 0:
        raise InputError(f"{table.source} holds no rows", "give a table with measurements")
    responses = [table.column(name).name for name in split_names(response)] or [roles.likely_response(table)]
    chosen = [table.column(name).name for name in split_names(by)] or roles.likely_settings(table, responses)
    cells = [cell for cell in cells_of(table, responses, chosen) if cell.values.size]
    subject = checks.Subject(cells, level, (), table, hidden_factors(table, cells), limit)
    return subject, {"response": responses, "by": chosen}


def _print(subject: Subject, taken: dict[str, list[str]], findings: list) -> None:  # type: ignore[type-arg]
    from iosonde.report.text import escape

    n = sum(cell.values.size for cell in subject.cells)
    settings = f" by {', '.join(taken['by'])}" if taken["by"] else ""
    head = f"{', '.join(taken['response'])}{settings}: {n} values in {len(subject.cells)} cells"
    for line in textwrap.wrap(escape(head), 79, subsequent_indent="  "):
        click.echo(line)
    click.echo()
    for finding in findings:
        for line in textwrap.wrap(
            escape(f"{finding.code} {finding.severity}: {finding.sentence}"), 79, subsequent_indent="     "
        ):
            click.echo(line)
        for line in textwrap.wrap(escape(finding.action), 74):
            click.echo(f"     → {line}" if line == textwrap.wrap(escape(finding.action), 74)[0] else f"       {line}")
    if findings:
        click.echo()
        word = "finding" if len(findings) == 1 else "findings"
        click.echo(
            f"{len(findings)} {word}; iosonde explain {findings[0].code} says how it is known and when it is wrong."
        )
    else:
        click.echo("Nothing found that speaks against these data.")


def _passport(source: Source, subject: Subject, level: float) -> list[Noise]:
    from iosonde.stats import noise

    ranks = noise.between_ranks(source.table) if source.store is not None else None
    return noise.passport(subject.cells, level, ranks)


def _print_passport(passport: list[Noise]) -> None:
    from iosonde.report.text import table
    from iosonde.stats.noise import POWER, SIZES
    from iosonde.stats.words import percent

    def share(value: float | None) -> str:
        return "~" if value is None else percent(value) if value else "0 %"

    click.echo()
    if not passport:
        click.echo("No noise passport: no cell has two trials with values above 0.")
        return
    level = passport[0].level
    click.echo(f"noise passport: spread between trials and ranks; false alarms at level {level:g}")
    click.echo(f"of random and neighbouring halves; difference seen by n trials ({100 * POWER:.0f} % power)")
    rows = [[entry.operation or entry.metric, share(entry.between_trials), share(entry.between_ranks),
             share(entry.false_alarms_random), share(entry.false_alarms_neighbours),
             *(share(entry.detectable.get(n)) for n in SIZES)] for entry in passport]  # fmt: skip
    headers = ["", "trials", "ranks", "random", "neighb.", *(f"n={n}" for n in SIZES)]
    for line in table(headers, rows, "l" + "r" * (len(headers) - 1), 79).splitlines():
        click.echo(line)
