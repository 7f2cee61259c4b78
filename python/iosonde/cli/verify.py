"""``iosonde verify``: every stored number computed again, from the operations up."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from iosonde.core.errors import InputError

from ._data import check_level, open_data, options

_SHOWN = 10


@click.command(epilog="Example: iosonde verify results")
@click.argument("store")
@click.option("--experiment", metavar="ID", help="Only this experiment.")
@options
def command(store: str, experiment: str | None, where: tuple[str, ...], level: float, as_json: bool) -> None:
    """Compute every rate of STORE again from its operations, and the summary from those rates.

    Exit code 1 if a number differs, nothing can be computed again, a file is damaged, or a sealed decision was
    changed.
    """
    from iosonde import _native
    from iosonde.stats.overview import verify

    from .summary import pilot_of

    check_level(level)
    source = open_data(store, where, experiment)
    if source.store is None:
        raise InputError(f"{store} is not a store", "only a store keeps the operations behind its numbers")
    opened = source.store
    runs = ((run, opened.operations(run["id"])) for run in source.runs())
    experiments = [item for item in opened.experiments() if experiment in (None, item.id)]
    made = verify.of_store(source.table, runs, list(_native.KINDS), experiments, level, pilot_of(source))
    damaged = [problem for problem in opened.problems() if problem.severity != "info"]
    if as_json:
        document = made.to_json() | {"problems": [problem.to_json() for problem in damaged]}
        click.echo(json.dumps({"schema": 1, **document}, indent=1, ensure_ascii=False, allow_nan=False))
    else:
        for line in _lines(made, len(damaged)):
            click.echo(line)
    if damaged or not made.good:
        raise click.exceptions.Exit(1)


def _lines(made: Any, n_damaged: int) -> Iterator[str]:
    from iosonde.core.units import significant
    from iosonde.report.text import escape

    yield from _wrapped(f"{made.n_runs} runs: {made.n_results} results computed again from their operations, "
                        f"{made.n_summary} numbers of the summary from those")  # fmt: skip
    for item in made.different[:_SHOWN]:
        pair = ["nothing" if v is None else significant(v, 6) for v in (item.stored, item.recomputed)]
        yield from _wrapped(escape(f"differs: {item.what}: stored {pair[0]}, computed {pair[1]}"))
    if len(made.different) > _SHOWN:
        yield f"and {len(made.different) - _SHOWN} more differ"
    for why, n in made.untold.items():
        yield from _wrapped(f"cannot tell: {n} {why}")
    for name, why in made.decisions.items():
        yield from _wrapped(escape(f"decision of {name}: {why or 'sealed before the first trial, and unchanged'}"))
    yield ""
    if made.good and not n_damaged:
        yield "Every number that can be computed again is what was stored."
        return
    if not made.different and not any(made.decisions.values()) and not n_damaged:
        yield "Nothing could be computed again, so nothing is verified."
        return
    parts = [f"{len(made.different)} numbers differ"] if made.different else []
    parts += [f"{sum(map(bool, made.decisions.values()))} broken seals"] if any(made.decisions.values()) else []
    parts += [f"{n_damaged} damaged files (iosonde store check)"] if n_damaged else []
    yield from _wrapped(f"Do not trust this store as it is: {', '.join(parts)}.")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 79, subsequent_indent="  ", break_on_hyphens=False)
