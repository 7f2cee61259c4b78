"""The most that the hardware can deliver, what limits it, and what share of it each cell of DATA delivered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.core.column_units import unit_to_bytes_per_s
from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import format_assignments
from iosonde.core.message import Message
from iosonde.core.types import Estimate
from iosonde.core.units import format_size
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses
from iosonde.data.source import Source
from iosonde.explain.waterfall import Waterfall
from iosonde.model.bound import roofline, words
from iosonde.model.bound.bound import Ceiling, compute_ceiling
from iosonde.model.bound.shares import ABOVE, CURE, MeasuredShare, estimate_share_of_bound
from iosonde.stats.overview.roles import iterate_role_mismatches, list_clients_without_ranks

from . import bounded_cells, waterfall
from .bounded_cells import BoundCell, iterate_cells
from .inputs import BY_HAND, Inputs, read_column_value
from .lab_truth import THE_LAB, LabTruths
from .own_probe import OWN_PROBE, THE_FILE_SYSTEM, OwnLayout
from .shared_files import THE_FILES, SharedFiles

# Units of time in a second.
TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e3, "us": 1e6, "µs": 1e6, "ns": 1e9, "min": 1 / 60, "h": 1 / 3600}
_NESTED = ("by", "used", "limit", "inputs", "warnings")
_NODES = "the nodes of the trials"
_LINKS = ("network_clients", "network_servers", "fabric")


@dataclass(frozen=True)
class How:
    """Options for DATA: the response's ``unit`` if its name lacks it, another ``operation``, and ``data`` in bytes for
    a time. The memory of one client and one server tells what fits into it."""

    unit: str | None = None
    operation: str | None = None
    data: float | None = None
    client_memory: float | None = None
    server_memory: float | None = None


@dataclass(frozen=True)
class Bounds(Answer):
    """Bounds with or without DATA. ``alone`` is the ceiling without DATA, ``s`` its interval if inputs were measured.
    With DATA, ``shares`` has each cell against its own ceiling, ``falls`` where the time was lost. ``data``: bytes, for
    T = D/S."""

    level: float
    alone: Ceiling | None = None
    s: Estimate | None = None
    shares: tuple[MeasuredShare, ...] = ()
    falls: tuple[Waterfall, ...] = ()
    warnings: tuple[str, ...] = ()
    data: float | None = None

    @property
    def ceilings(self) -> list[Ceiling]:
        """Return the only ceiling, or those of the cells."""
        return [self.alone] if self.alone else [share.ceiling for share in self.shares]

    @cached_property
    def highest(self) -> Ceiling:
        """Return the highest ceiling."""
        return max(self.ceilings, key=lambda candidate: candidate.s)

    @property
    def limit(self) -> str:
        """Return the limiting terms, as in a sentence."""
        return words.join_term_names(self.highest.limit)

    @property
    def case(self) -> str:
        """Return the textbook's name of this case."""
        return words.name_cheng_case(self.highest.system)

    @property
    def assumptions(self) -> list[str]:
        """Return the assumptions of the bound."""
        return words.list_bound_assumptions(self.highest)

    @property
    def advice(self) -> list[str]:
        """Return remedies for each limiting term."""
        return words.list_limit_remedies(self.highest)

    @property
    def unknown(self) -> list[str]:
        """Return the unknown inputs, as sentences: the true bound can only be lower."""
        sentences = (words.list_unknown_inputs(ceiling) for ceiling in self.ceilings)
        return list(dict.fromkeys(chain.from_iterable(sentences)))

    @property
    def origins(self) -> list[str]:
        """Return the sources of the numbers, as sentences, if some come from a lab or the store's own probe."""
        sources = bounded_cells.group_options_by_source(self.shares)
        return (
            bounded_cells.describe_sources(sources)
            if any(source.startswith((THE_LAB, OWN_PROBE)) for source in sources)
            else []
        )

    @property
    def seconds(self) -> float | None:
        """T = D/S."""
        return None if self._common_ceiling is None or not self.data else self._common_ceiling.seconds(self.data)

    @property
    def fall_sentences(self) -> list[list[str]]:
        """Describe each waterfall, in sentences."""
        return [list(waterfall.describe_waterfall(fall)) for fall in self.falls]

    @property
    def sentence(self) -> str:
        """Return the share of the bound that was delivered, what limits it, and impossible shares."""
        return describe_shares(self.shares, self.level)

    def rooflines(self, against: str | None) -> list[roofline.CeilingLines]:
        """Its panels against ``clients``, ``servers`` or ``request``; None: that on which the cells differ. Raises
        InputError."""
        axis = against or roofline.choose_axis(self.shares)
        return (
            [roofline.build_specified_roofline(self.alone, axis)]
            if self.alone
            else roofline.build_rooflines(self.shares, axis)
        )

    def content(self) -> dict[str, Any]:
        """As ``iosonde bound --json``."""
        common_ceiling = self._common_ceiling
        return {
            "level": self.level,
            **(common_ceiling.to_json() if common_ceiling else {"s": None, "limit": []}),
            "s_low": self.s.low if self.s else None,
            "s_high": self.s.high if self.s else None,
            "t": self.seconds,
            "case": self.case,
            "assumptions": self.assumptions,
            "advice": self.advice,
            "rows": [share.to_json() for share in self.shares],
            "waterfalls": [fall.to_json() for fall in self.falls],
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per cell; without DATA one per term."""
        if self.alone:
            return [dict(term) for term in self.alone.to_json()["terms"]]
        rows = [{key: value for key, value in share.to_json().items() if key not in _NESTED} for share in self.shares]
        return [{**row, **build_level_columns(share.by, row)} for row, share in zip(rows, self.shares, strict=True)]

    @property
    def _common_ceiling(self) -> Ceiling | None:
        return self.highest if len({(ceiling.s, ceiling.limit) for ceiling in self.ceilings}) == 1 else None


def bound(
    source: Source | None, inputs: Inputs, query: ResponseQuery, how: How | None = None, with_losses: bool = False
) -> Bounds:
    """The ceiling of ``inputs``, or with DATA the share that each of its cells delivered. ``with_losses``: also where
    the time was lost, which takes the operations of a store. Raises InputError, DataError."""
    how = how or How()
    warnings = [*inputs.notes, *_list_memory_warnings(how, inputs)]
    if source is None:
        if with_losses:
            raise InputError(
                "not-a-store", "a waterfall needs the operations of a store", "give a store that 'iosonde run' made"
            )
        nominal, low, high = (compute_ceiling(system) for system in inputs.all)
        s = Estimate(nominal.s, low.s, high.s, query.level, 0) if low.s != high.s else None
        return Bounds(query.level, nominal, s, warnings=tuple(warnings), data=how.data)
    measured_shares, notes = compute_measured_shares(source, inputs, query, how)
    falls, more = waterfall.build_waterfalls(source, measured_shares, query.level) if with_losses else ([], [])
    warnings += [*notes, *more]
    return Bounds(query.level, None, None, tuple(measured_shares), tuple(falls), tuple(warnings), how.data)


def compute_measured_shares(
    source: Source, inputs: Inputs, query: ResponseQuery, how: How
) -> tuple[list[MeasuredShare], list[str]]:
    """Compare every measured cell with its bound, with warnings. Raises InputError if no response is a rate."""
    columns = list(inputs.columns.values())
    measured_shares: list[MeasuredShare] = []
    warnings: list[str] = []
    if source.knows_factors and "nodes" in source.table.columns and "clients" not in inputs.columns:
        if inputs.origins.get("clients") == BY_HAND:
            warnings.append(
                Message(
                    "fixed-clients",
                    "bounds are those of N = {n_clients:g} clients, as was given, whatever number of nodes a trial had",
                    n_clients=inputs.system.clients,
                )
            )
        else:
            inputs = replace(inputs, columns=inputs.columns | {"clients": "nodes"})
    if inputs.nodes.nodes:
        warnings += iterate_role_mismatches(inputs.nodes, source.runs)
        warnings += list_clients_without_ranks(inputs.nodes, source.runs)
    column_sources = {
        field: _NODES if (field, name) == ("clients", "nodes") else f"column {name}"
        for field, name in inputs.columns.items()
    }
    shared, labs, layout = SharedFiles(source), LabTruths.from_source(source), OwnLayout(source)
    for response in build_responses(source, query):
        scale, doubt = _determine_scale(response.unit, how)
        if scale is None:
            continue
        warnings += [*response.warnings, *([doubt] if doubt else [])]
        for cell in labs.apart(response, iterate_cells(response, columns)):
            lab_fields = labs.truth(cell.runs(response))
            truth = inputs.beneath(lab_fields)
            warnings += bounded_cells.describe_overridden_fields(lab_fields, truth)
            its_own = {} if lab_fields else layout.fields(cell.runs(response), inputs)
            own, placed = _build_cell_inputs(response, cell, inputs, its_own | truth, shared, how)
            share = _compute_share(response, cell, scale, own, query.level, how)
            own_sources = dict.fromkeys(placed, THE_FILES) | dict.fromkeys(its_own, THE_FILE_SYSTEM)
            sources = own_sources | dict.fromkeys(truth, THE_LAB) | column_sources | dict(inputs.origins)
            measured_shares.append(replace(share, sources=sources))
    if not measured_shares:
        raise InputError(
            "no-rate-column",
            "nothing in DATA is a rate of bytes",
            "name the column with {spell.response}, its unit with {spell.unit}",
        )
    return measured_shares, list(dict.fromkeys([*warnings, *layout.notes, *shared.notes, *labs.warnings]))


def _compute_share(
    response: Response, cell: BoundCell, scale: float, inputs: Inputs, level: float, how: How
) -> MeasuredShare:
    values = response.values[cell.rows]
    is_time = (how.unit or response.unit) in TIMES
    _check_rates(response, cell, values, is_time)
    rates = how.data * scale / values if is_time and how.data else values * scale
    nominal, worst, best = (compute_ceiling(system) for system in inputs.all)
    measured, share, verdict = estimate_share_of_bound(rates, nominal, level, worst.s, best.s)
    if response.within_run:
        measured, share = (_mark_as_within_run(estimate) for estimate in (measured, share))
    return MeasuredShare(
        cell.by,
        response.operation,
        _get_metric_name(response),
        nominal,
        measured,
        share,
        verdict,
        cell.runs(response),
        dict(inputs.columns),
        response.rows.level_units(cell.by),
    )


def _build_cell_inputs(
    response: Response, cell: BoundCell, inputs: Inputs, truth: Mapping[str, Any], shared: SharedFiles, how: How
) -> tuple[Inputs, list[str]]:
    """Return the systems of one cell, and the fields set by file placement. The cell's lab, columns and operations
    override ``inputs``."""
    fields: dict[str, Any] = dict(truth) | {
        name: read_column_value(response.rows, name, column, cell.rows) for name, column in inputs.columns.items()
    }
    fields["operation"] = how.operation or (
        "read" if "read" in f"{response.operation}{_get_metric_name(response)}" else "write"
    )
    placement_fields = shared.fields(response.operation, cell.runs(response), replace(inputs.system, **fields))
    return inputs.changed(fields | placement_fields), [name for name in placement_fields if name != "clients"]


def _get_metric_name(response: Response) -> str:
    """Return the metric of a store's operation, or the column."""
    return response.metric.name if response.operation else response.rows.column(response.title).name


def _mark_as_within_run(estimate: Estimate) -> Estimate:
    within_run = Message(
        "within-run",
        "within one run: {n_iterations} iterations of one execution do not show the variation between executions",
        n_iterations=estimate.n,
    )
    return replace(estimate, n=1, warnings=(within_run, *estimate.warnings))


def _check_rates(response: Response, cell: BoundCell, values: npt.NDArray[np.float64], is_time: bool) -> None:
    """Raise DataError at the first trial that is not a rate: below 0, or a time not above 0."""
    wrong = values <= 0 if is_time else values < 0
    if wrong.any():
        first = int(wrong.argmax())
        raise DataError(
            "out-of-range",
            "{at}, column '{name}': {number:g} is not a {quantity}",
            "leave such trials out, as {spell.where:'{name}>0'}",
            at=", ".join([response.operation, *format_assignments(cell.by, response.rows.level_units(cell.by))])
            if response.operation
            else response.rows.place(cell.rows[first]),
            name=_get_metric_name(response),
            number=values[first],
            quantity="time" if is_time else "rate",
        )


def _determine_scale(response_unit: str, how: How) -> tuple[float | None, str]:
    """Return (bytes/s of one unit, or units per second; None for neither) and what is in doubt."""
    unit = how.unit or response_unit
    if unit in TIMES and how.data:
        return TIMES[unit], ""
    readings = unit_to_bytes_per_s(unit)
    if len(readings) < 2 or how.unit:
        return next(iter(readings), None), ""
    return readings[0], Message(
        "ambiguous-unit",
        "{unit} is read as {bytes_per_s:g} bytes/s; with {other_bytes_per_s:g}, shares would be "
        "{ratio:.3f} times as large ({spell.unit})",
        unit=unit,
        bytes_per_s=readings[0],
        other_bytes_per_s=readings[1],
        ratio=readings[1] / readings[0],
    )


def _list_memory_warnings(how: How, inputs: Inputs) -> list[str]:
    """Warn if the data fits into a memory: reads and unsynced writes may never have met a disk."""
    template = (
        "{size} for each {machine} fit into its memory of {memory}: a cache may serve them; use more than twice the "
        "memory"
    )
    machines = (
        ("client", inputs.system.clients, how.client_memory),
        ("server", inputs.system.servers, how.server_memory),
    )
    return [
        Message("fits-in-memory", template, size=format_size(how.data / n), machine=machine, memory=format_size(memory))
        for machine, n, memory in machines
        if memory and how.data and how.data / n <= memory
    ]


def describe_shares(measured_shares: Sequence[MeasuredShare], level: float) -> str:
    """Return the share of the bound that was delivered, what limits it, and impossible shares."""
    above = [row for row in measured_shares if row.verdict]
    certain = [row for row in measured_shares if row.share.value is not None and not row.verdict]
    terms = tuple(dict.fromkeys(name for row in certain or above for name in row.ceiling.limit))
    limits = words.join_term_names(terms) if terms else ""
    sentences = [f"The bound is set by {limits}."] if above else []
    if certain:
        shares = [row.share.value or 0.0 for row in certain]
        low, high = (f"{100 * share:.0f}" for share in (min(shares), max(shares)))
        percentage = f"{low} to {high} %" if min(shares) != max(shares) else f"{low} %"
        partly = ", of what is known" if any(row.ceiling.missing for row in certain) else ""
        where = f" in {len(certain)} of {len(measured_shares)}" if above else ""
        placed = [" Above 100 % files were placed better than on the mean."] if max(shares) > 1 else []
        delivered = f"{percentage} of the bound was delivered{where}; it is set by {limits}{partly}."
        sentences = ["".join([f"{delivered} {100 * level:g} % intervals.", *placed])]
    links = [share for row in certain for name, share in row.used().items() if name in _LINKS]
    if links and max(links) <= 1:
        at_most = "at most " if len(certain) > 1 else ""
        sentences.append(f"The network was used to {at_most}{100 * max(links):.0f} %.")
    sure = sum(row.verdict == ABOVE for row in above)
    if count := sure or len(above):
        doubt = f", {len(above) - sure} more perhaps" if 0 < sure < len(above) else ""
        verb = f"{'is' if count == 1 else 'are'} {'' if sure else 'perhaps '}above the bound"
        sentences.append(f"{count} of {len(measured_shares)} {verb}{doubt}: {CURE}.")
    return " ".join(sentences)
