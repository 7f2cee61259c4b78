"""Measured rates against the bound on a page. It selects and names; ``model`` and ``explain`` compute. The page bounds
its own cells: by ``--bound``, or by the probe of a store."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from iosonde.commands.report.axis import format_metric_title, get_operation_sort_key, is_part_of_another, title
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.level_text import format_levels
from iosonde.core.message import Message, spell
from iosonde.core.pairs import parse_pairs
from iosonde.core.system_words import OPTIONS
from iosonde.core.units import parse_size
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.model.bound.roofline import build_rooflines, choose_axis
from iosonde.model.bound.shares import MeasuredShare
from iosonde.model.bound.system import System
from iosonde.model.bound.words import format_term_name as word
from iosonde.page.tables import Section

from .answer import Bounds, How, compute_measured_shares
from .bounded_cells import format_value, group_options_by_source
from .content import Bound, BoundShare, Roofline, WaterfallBars
from .inputs import Inputs, SystemDescription, find_own_probe, parse_system_words
from .inputs import read_inputs as inputs_of
from .lab_truth import THE_LAB, LabTruths
from .waterfall import Losses
from .waterfall import describe_waterfall as describe_fall

_FIELDS = {flag.removeprefix("--"): name for flag, (name, *_) in OPTIONS.items()}
_WORDS = ("operation", "redundancy", "erasure", "placement")
_OTHERS = ("probe", "cluster", "data", "unit")
_MOST_FIGURES = 12
# The part of a note that names options: in parentheses, or after a colon.
_OF_OPTIONS = re.compile(r" \([^()]*--[a-z][^()]*\)|: [^:;()]*--[a-z][^;()]*")


@dataclass(frozen=True)
class SystemOption:
    """Content of ``--bound``: fields of the system as text, words, and probe, cluster, data and unit."""

    fields: Mapping[str, str]
    words: Mapping[str, Any]
    others: Mapping[str, str]


def parse_system_option(text: str) -> SystemOption:
    """Parse ``servers=4,disks=8,net=117MB/s,probe=FILE``; a text without ``=`` is a probe. Raises InputError."""
    if "=" not in text:
        return SystemOption({}, {}, {"probe": text})
    pairs, keys = (
        parse_pairs(text, f"{spell.bound}", "write it as servers=4,net=117MB/s"),
        (*_FIELDS, *_WORDS, *_OTHERS),
    )
    for name in pairs:
        if name not in keys:
            near = get_close_matches(name, keys, 1)
            raise InputError(
                "unknown-key",
                "{spell.bound}: unknown key '{key}'",
                "did you mean {suggestion}?" if near else "the names are the options of iosonde bound",
                key=name,
                suggestion="".join(near),
            )
    words = parse_system_words(*(pairs.get(name) for name in _WORDS))
    fields = {_FIELDS[name]: value for name, value in pairs.items() if name in _FIELDS}
    return SystemOption(fields, words, {name: pairs[name] for name in _OTHERS if name in pairs})


@dataclass(frozen=True)
class Started:
    """A page's bound, before the operations are read by ``losses`` (a visitor). ``missing``: why there is none; empty
    without shares if nobody requested it."""

    knows_nodes: bool
    level: float
    shares: tuple[MeasuredShare, ...] = ()
    inputs: Mapping[str, Inputs] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    losses: Losses = field(default_factory=lambda: Losses(()))

    def section(self) -> Section[Bound]:
        """Return at most one item, after the operations were passed to ``losses``."""
        return Section((_build_bound(self),)) if self.shares else Section(missing=self.missing)


def start_bound(source: Source, system_text: str | None, query: ResponseQuery) -> Started:
    """Start the bound. Raises IosondeError if a requested one is impossible; for a store's own probe a note explains
    that."""
    knows_nodes, level = source.knows_factors, query.level
    probe, labs = find_own_probe(source), LabTruths.from_source(source)
    if system_text is None and probe is None and not labs.by_run:
        return Started(knows_nodes, level)
    system = parse_system_option(system_text) if system_text is not None else SystemOption({}, {}, {})
    amount = system.others.get("data")
    data_size = None if amount is None else float(parse_size(amount))
    how = How(system.others.get("unit"), system.words.get("operation"), data_size)
    try:
        measured_shares, inputs, notes = _collect_bounds(source, system, (probe, labs.names), query, how)
    except IosondeError as error:
        if system_text is not None:
            raise
        origin = "a lab" if labs.by_run else "a probe"
        template = "The store knows {source}, but no bound: {reason}."
        return Started(
            knows_nodes, level, missing=(Message(error.code, template, source=origin, reason=error.message),)
        )
    return Started(knows_nodes, level, tuple(measured_shares), inputs, tuple(notes), losses=Losses(measured_shares))


def _build_bound(started: Started) -> Bound:
    measured_shares, inputs = started.shares, started.inputs
    bounds = Bounds(started.level, shares=measured_shares)
    losses, why = _build_waterfalls(started)
    names = tuple(dict.fromkeys(name for share in measured_shares for name in share.by))
    lines = build_rooflines(measured_shares, choose_axis(measured_shares), _format_title)
    return Bound(
        sentence=bounds.sentence,
        inputs=_list_inputs(inputs, started.knows_nodes, _describe_lab_inputs(measured_shares)),
        assumptions=tuple(map(_drop_options, bounds.assumptions)),
        notes=tuple(map(_drop_options, (*started.notes, *bounds.unknown, *why))),
        by=names,
        shares=tuple(_build_bound_share(share, names) for share in measured_shares),
        rooflines=tuple(Roofline(**vars(line)) for line in lines[:_MOST_FIGURES]),
        losses=losses,
    )


def _drop_options(text: str) -> str:
    """Return a note without what it says of options: whoever reads a page gives none."""
    shorter = _OF_OPTIONS.sub("", text)
    return text.with_text(shorter) if isinstance(text, Message) else shorter


def _collect_bounds(
    source: Source,
    system_option: SystemOption,
    store_inputs: tuple[str | None, Collection[str]],
    query: ResponseQuery,
    how: How,
) -> tuple[list[MeasuredShare], dict[str, Inputs], list[str]]:
    measured_shares: list[MeasuredShare] = []
    notes: dict[str, None] = {}
    inputs: dict[str, Inputs] = {}
    for operation in ("write", "read"):
        # A probe has separate CPU times for reading and writing, so each has its own inputs.
        read = _read_inputs(source, system_option, operation, store_inputs, query.level)
        every, doubts = compute_measured_shares(source, read, query, how)
        mine = [share for share in every if share.ceiling.system.operation == operation]
        if mine:
            measured_shares += mine
            inputs[operation] = read
            notes |= dict.fromkeys((*read.notes, *doubts))
    if source.knows_factors:
        measured_shares = [share for share in measured_shares if not is_part_of_another(share.operation)]
    if not measured_shares:
        raise DataError("no-rate-column", "nothing in DATA is a rate of bytes", "name the column with {spell.response}")
    return sorted(measured_shares, key=lambda share: get_operation_sort_key(share.operation)), inputs, list(notes)


def _read_inputs(
    source: Source,
    system_option: SystemOption,
    operation: str,
    store_inputs: tuple[str | None, Collection[str]],
    level: float,
) -> Inputs:
    """Read the inputs of one operation. ``store_inputs``: the store's own probe, and the fields set by its labs, which
    come first."""
    words, (probe, lab_fields) = {"operation": operation, **system_option.words}, store_inputs
    if "probe" in system_option.others:
        probe, lab_fields = system_option.others["probe"], ()
    probes = () if probe is None else (probe,)
    return inputs_of(
        SystemDescription(system_option.fields, words, probes, system_option.others.get("cluster"), lab_fields),
        source.table,
        level,
    )


def _format_title(share: MeasuredShare) -> str:
    return format_metric_title(share.operation, share.metric) if share.operation else share.metric


def _build_bound_share(share: MeasuredShare, names: Sequence[str]) -> BoundShare:
    levels = tuple(format_levels(names, share.by, share.units))
    limit = tuple(word(term) for term in share.ceiling.limit)
    return BoundShare(_format_title(share), levels, share.measured, share.ceiling.s, limit, share.share, share.verdict)


def _describe_lab_inputs(shares: Sequence[MeasuredShare]) -> dict[str, str]:
    return {
        name: f"{' or '.join(values)}, from {THE_LAB}"
        for name, values in group_options_by_source(shares).get(THE_LAB, [])
    }


def _list_inputs(
    inputs: Mapping[str, Inputs], knows_nodes: bool, lab_texts: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """List the inputs of the bound by option name; reading and writing apart if they differ."""
    option_texts: dict[str, dict[str, str]] = {name: dict.fromkeys(inputs, text) for name, text in lab_texts.items()}
    for operation, operation_inputs in inputs.items():
        for flag, (name, *_) in OPTIONS.items():
            text = _format_input(operation_inputs, name)
            if text:
                option_texts.setdefault(flag.removeprefix("--"), {})[operation] = text
    for name in ("clients", "servers"):
        if name not in option_texts:
            option_texts[name] = dict.fromkeys(
                inputs, "the nodes of each cell" if knows_nodes and name == "clients" else "1, not given"
            )
    return tuple(
        (name if len({*texts.values()}) == 1 and len(texts) == len(inputs) else f"{name}, {operation}", text)
        for name, texts in option_texts.items()
        for operation, text in (texts.items() if len({*texts.values()}) > 1 else [*texts.items()][:1])
    )


def _format_input(inputs: Inputs, name: str) -> str:
    """Format a value of the system with its interval, or its column; empty for a default."""
    if name in inputs.columns:
        return f"column {inputs.columns[name]}"
    value, *ends = (getattr(system, name) for system in (inputs.system, inputs.worst, inputs.best))
    if value == getattr(System(), name):
        return ""
    if ends[0] == ends[1]:
        return format_value(name, value)
    return f"{format_value(name, value)} ({' to '.join(format_value(name, end) for end in sorted(ends))})"


def _build_waterfalls(started: Started) -> tuple[tuple[WaterfallBars, ...], list[str]]:
    try:
        falls, why = started.losses.waterfalls(started.level)
    except InputError:
        return (), []
    if len(falls) > _MOST_FIGURES:
        template = "the losses of {most} of {n_cells} cells are drawn: choose with {spell.where}"
        why = [*why, Message("truncated", template, most=_MOST_FIGURES, n_cells=len(falls))]
    items = tuple(
        WaterfallBars.of(fall, title(fall.operation), list(describe_fall(fall))) for fall in falls[:_MOST_FIGURES]
    )
    return items, why
