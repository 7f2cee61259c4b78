"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.commands.command import command
from iosonde.commands.opened import OpenOptions, open_source
from iosonde.commands.result import Result
from iosonde.commands.stored_run import StoredRunOptions
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Counts, Integer
from iosonde.core.options import Choice, Flag, Text
from iosonde.data.source import is_table

from .forms import TOOLS, FormOptions, RunOrRunsOptions, RunsOptions, choose_runs, choose_sound_runs, get_table_format
from .text_output import write_outputs

if TYPE_CHECKING:
    from .answer import ChosenRuns, Detail, Listing, Printed
    from .as_tool import AsTool
    from .profile import ShownProfile
    from .slowest import Slowest


@dataclass
class ShowOptions(FormOptions, RunsOptions):
    """Options of ``iosonde show``."""

    run: Text[str | None] = Text("RUN", "The run.", is_argument=True)


@command("show", ShowOptions, "show results --where 'nodes>=2' --export csv -o results.csv", in_python=False)
def show_store(options: ShowOptions) -> Result[Any] | None:
    """Experiments and runs of STORE; with RUN, everything about that run; of a table what its columns are.

    `where` compares a run's columns (run, experiment, source, started_at, seconds, complete, tags) and factors;
    with `export` also the columns of results (operation, metric, value, unit, rank, ...).
    """
    if options.printed or options.rank:
        _write_printed(options)
        return None
    if options.thesis_json:
        _write_totals(options)
        return None
    if options.profile or options.roles or (not (options.has_form or options.run) and is_table(options.store)):
        return _show_profile(
            OpenOptions(data=options.store, where=options.where, roles=options.roles, experiment=options.experiment)
        )
    chosen = choose_sound_runs(options)
    if options.export is not None:
        _write_table(chosen, options.export, options.output, options.operations, options.incomplete)
        return None
    if options.slowest is not None:
        return _list_slowest(chosen, options.slowest)
    if options.as_ is not None:
        return _recompute(chosen, options.as_)
    return _list_runs(chosen) if options.run is None else _show_details(chosen)


@command("", RunsOptions, "show results --where 'nodes>=2'")
def show(options: RunsOptions) -> Result[Listing]:
    """Show what a store holds: its experiments and runs.

    Returns
    -------
    Result[Listing]
        One row a run, with its factors.
    """
    return _list_runs(choose_sound_runs(options))


@command("", OpenOptions, "profile runs.csv")
def profile(options: OpenOptions) -> Result[ShownProfile]:
    """Show what the columns of DATA are: roles, units, which go together, and the trials of each cell.

    It is ``iosonde show DATA --profile``.

    Returns
    -------
    Result[ShownProfile]
        One row a column.
    """
    return _show_profile(options)


@command("", StoredRunOptions, "show_run results run-0001")
def show_run(options: StoredRunOptions) -> Result[Detail]:
    """Show everything about one run: its machines, phases, results, warnings. It is ``iosonde show STORE RUN``.

    Returns
    -------
    Result[Detail]
        One row a result; ``.answer.document`` is its run.json.
    """
    return _show_details(choose_sound_runs(options))


@dataclass
class ShowAsOptions(RunOrRunsOptions):
    """Options of ``iosonde.show_as``."""

    tool: Choice[str] = Choice(TOOLS, "The tool.", is_required=True)


@command("", ShowAsOptions, "show_as results ior")
def show_as(options: ShowAsOptions) -> Result[AsTool]:
    """Show the recorded operations of a store in another tool's numbers, by its own definitions.

    It is ``iosonde show STORE --as TOOL``.

    Returns
    -------
    Result[AsTool]
        One row a row of the tool.
    """
    return _recompute(choose_sound_runs(options), options.tool)


@dataclass
class SlowestOptions(RunOrRunsOptions):
    """Options of ``iosonde.slowest``."""

    count: Integer[int] = Integer("N", "How many.", 20)


@command("", SlowestOptions, "slowest results --where nodes=4")
def slowest(options: SlowestOptions) -> Result[Slowest]:
    """List the recorded operations of a store that took longest, one by one. It is ``iosonde show STORE --slowest N``.

    Returns
    -------
    Result[Slowest]
        One row an operation: run, phase, kind, rank, host, file, offset and size (bytes), start in the phase and
        duration (s), status. ``.answer.notes`` say where a sample alone was recorded.
    """
    return _list_slowest(choose_sound_runs(options), options.count)


@dataclass
class PrintedOptions(StoredRunOptions):
    """Options of ``iosonde.printed``."""

    _: KW_ONLY
    ranks: Counts[tuple[int, ...]] = Counts("RANK,…", "Only these ranks.", (), least=0)


@command("", PrintedOptions, "printed results run-0001")
def printed(options: PrintedOptions) -> list[Printed]:
    """Read what the commands of a run printed, node by node, as the store kept it.

    It is ``iosonde show STORE RUN --printed``.

    Returns
    -------
    list of Printed
        Each has a ``.head``, which says of which step, rank and node it is, and its ``.text``.
    """
    from .answer import read_outputs as answer

    return answer(choose_runs(options), options.ranks)


@dataclass
class ExportTableOptions(RunOrRunsOptions):
    """Options of ``iosonde.export``."""

    output: Text[str] = Text("FILE", "A .csv, .json or .parquet; it appears whole or not at all.", is_required=True)
    _: KW_ONLY
    operations: Flag[bool] = FormOptions.operations
    incomplete: Flag[bool] = FormOptions.incomplete


@command("", ExportTableOptions, "export results runs.csv --where nodes=4")
def export(options: ExportTableOptions) -> Path:
    """Write a store's results, or every recorded operation, as a table for another program.

    It is ``iosonde show STORE --export``.

    Returns
    -------
    Path
        The file that was written.
    """
    form = get_table_format(options.output)
    _write_table(choose_sound_runs(options), form, options.output, options.operations, options.incomplete)
    return Path(options.output)


def _show_profile(options: OpenOptions) -> Result[ShownProfile]:
    from .profile import show_profile
    from .text_profile import lines

    return Result(show_profile(open_source(options)), lines)


def _list_runs(chosen: ChosenRuns) -> Result[Listing]:
    from .answer import list_experiments
    from .text import listing_lines

    return Result(list_experiments(chosen), listing_lines)


def _show_details(chosen: ChosenRuns) -> Result[Detail]:
    from .answer import collect_run_details
    from .text import detail_lines

    return Result(collect_run_details(chosen), detail_lines)


def _recompute(chosen: ChosenRuns, tool: str) -> Result[AsTool]:
    from .as_tool import recompute_as_tool
    from .text_as_tool import lines

    return Result(recompute_as_tool(chosen, tool), lines)


def _list_slowest(chosen: ChosenRuns, count: int) -> Result[Slowest]:
    from .slowest import find_slowest_operations
    from .text_slowest import lines

    return Result(find_slowest_operations(chosen, count), lines)


def _write_table(chosen: ChosenRuns, form: str, path: str | None, operations: bool, incomplete: bool) -> None:
    from .answer import export as answer

    with get_front_end().open_output(form, path) as file:
        answer(chosen, form, file, operations, incomplete)


def _write_printed(options: ShowOptions) -> None:
    from .answer import read_outputs as answer

    if options.run is None or not options.printed:
        raise InputError(
            "option-requires-option",
            "{spell.printed} needs a run, and {spell.rank} needs {spell.printed}",
            "'iosonde show {store}' lists the runs",
            store=options.store,
        )
    outputs = answer(choose_runs(options), options.rank)
    with get_front_end().open_output("text", options.output) as file:
        write_outputs(outputs, file)


def _write_totals(options: ShowOptions) -> None:
    from .as_tool import build_thesis_document

    document = build_thesis_document(choose_runs(options))
    with get_front_end().open_output("json", options.output) as file:
        file.write(f"{json.dumps(document, indent=2, allow_nan=False)}\n".encode())
