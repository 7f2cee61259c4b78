"""Measured rates against the bound → what a page shows of it. Chooses and names; model and explain compute.

The page bounds its own cells: by what ``--bound`` says, or by the probe that a store knows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from iosonde.answers.bound.answer import Bounds, How, shares
from iosonde.answers.bound.inputs import Inputs, Said, own_probe
from iosonde.answers.bound.inputs import read as inputs_of
from iosonde.answers.bound.lab_truth import THE_LAB, LabTruths
from iosonde.answers.bound.waterfall import Losses
from iosonde.answers.bound.waterfall import said as said_of_fall
from iosonde.answers.bound.words import shown, sources
from iosonde.core.errors import DataError, InputError, IosondeError
from iosonde.core.level_text import levels_shown
from iosonde.core.message import Message
from iosonde.core.system_words import OPTIONS
from iosonde.core.units import parse_size
from iosonde.data.asked import Asked
from iosonde.data.source import Source
from iosonde.model.bound.roofline import rooflines
from iosonde.model.bound.shares import MeasuredShare
from iosonde.model.bound.system import System
from iosonde.model.bound.words import name as word

from .axis import is_part, metric_title, place, title
from .bound_option import GivenSystem, parse
from .content.bound import Bound, BoundShare, Roofline, WaterfallBars
from .content.tables import Section

_MOST_FIGURES = 12


@dataclass(frozen=True)
class Started:
    """The bound of a page whose operations are still to be read, by ``losses`` (a visitor). ``missing``: why there is
    none; empty beside no shares: nobody asked."""

    of_store: bool
    level: float
    shares: tuple[MeasuredShare, ...] = ()
    inputs: Mapping[str, Inputs] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    losses: Losses = field(default_factory=lambda: Losses(()))

    def section(self) -> Section[Bound]:
        """At most one item, when the operations have been shown to ``losses``."""
        return Section((_bound(self),)) if self.shares else Section(missing=self.missing)


def start(source: Source, asked: str | None, wanted: Asked) -> Started:
    """What was asked for raises IosondeError where it cannot be; what a store's own probe cannot bound is said."""
    of_store, level = source.store is not None, wanted.level
    probe, labs = own_probe(source.store), LabTruths.of(source)
    if asked is None and probe is None and not labs.by_run:
        return Started(of_store, level)
    given = parse(asked) if asked is not None else GivenSystem({}, {}, {})
    amount = given.others.get("data")
    size_asked = None if amount is None else float(parse_size(amount))
    how = How(given.others.get("unit"), given.words.get("operation"), size_asked)
    try:
        found, inputs, notes = _found(source, given, (probe, labs.names), wanted, how)
    except IosondeError as error:
        if asked is not None:
            raise
        known = "a lab" if labs.by_run else "a probe"
        template = "The store knows {source}, but no bound: {reason}."
        return Started(of_store, level, missing=(Message(error.code, template, source=known, reason=error.message),))
    return Started(of_store, level, tuple(found), inputs, tuple(notes), losses=Losses(found))


def _bound(started: Started) -> Bound:
    found, inputs = started.shares, started.inputs
    made = Bounds(started.level, shares=found)
    losses, why = _losses(started)
    names = tuple(dict.fromkeys(name for one in found for name in one.by))
    lines = rooflines(found, _against(inputs), _title)
    return Bound(
        sentence=made.sentence,
        inputs=_inputs(inputs, started.of_store, _of_labs(found)),
        assumptions=tuple(made.assumptions),
        notes=(*started.notes, *made.unknown, *why),
        by=names,
        shares=tuple(_share(one, names) for one in found),
        rooflines=tuple(Roofline(**vars(one)) for one in lines[:_MOST_FIGURES]),
        losses=losses,
    )


def _found(
    source: Source, given: GivenSystem, known: tuple[str | None, Collection[str]], asked: Asked, how: How
) -> tuple[list[MeasuredShare], dict[str, Inputs], list[str]]:
    """The cells in the order of the page, the inputs by operation, and what is in doubt."""
    found: list[MeasuredShare] = []
    notes: dict[str, None] = {}
    inputs: dict[str, Inputs] = {}
    for operation in ("write", "read"):
        # A probe knows the CPU time of reading and of writing: each has inputs of its own.
        read = _read(source, given, operation, known, asked.level)
        every, said = shares(source, read, asked, how)
        mine = [one for one in every if one.ceiling.system.operation == operation]
        if mine:
            found += mine
            inputs[operation] = read
            notes |= dict.fromkeys((*read.notes, *said))
    if source.store is not None:
        found = [one for one in found if not is_part(one.operation)]
    if not found:
        raise DataError("no-rate-column", "nothing in DATA is a rate of bytes", "name the column with {spell.response}")
    return sorted(found, key=lambda one: place(one.operation)), inputs, list(notes)


def _read(
    source: Source, given: GivenSystem, operation: str, known: tuple[str | None, Collection[str]], level: float
) -> Inputs:
    """``known`` to the store: its own probe, and the fields that its labs tell, which come before that."""
    words, (probe, of_labs) = {"operation": operation, **given.words}, known
    if "probe" in given.others:
        probe, of_labs = given.others["probe"], ()
    probes = () if probe is None else (probe,)
    return inputs_of(Said(given.fields, words, probes, given.others.get("cluster"), of_labs), source.table, level)


def _against(inputs: Mapping[str, Inputs]) -> str:
    """The axis of the rooflines: what is a column, else the clients."""
    columns = next(iter(inputs.values())).columns
    return "request" if "request_size" in columns else "servers" if "servers" in columns else "clients"


def _title(one: MeasuredShare) -> str:
    return metric_title(one.operation, one.metric) if one.operation else one.metric


def _share(one: MeasuredShare, names: Sequence[str]) -> BoundShare:
    levels = tuple(levels_shown(names, one.by, one.units))
    limit = tuple(word(term) for term in one.ceiling.limit)
    return BoundShare(_title(one), levels, one.measured, one.ceiling.s, limit, one.share, one.verdict)


def _of_labs(shares: Sequence[MeasuredShare]) -> dict[str, str]:
    """Name of an option → what the lab says of it, in all cells."""
    told = sources(shares).get(THE_LAB, [])
    return {name: f"{' or '.join(values)}, from {THE_LAB}" for name, values in told}


def _inputs(inputs: Mapping[str, Inputs], of_store: bool, of_labs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What the bound was computed from, by the names of the options; reading and writing apart where they differ."""
    found: dict[str, dict[str, str]] = {name: dict.fromkeys(inputs, text) for name, text in of_labs.items()}
    for operation, one in inputs.items():
        for flag, (name, *_) in OPTIONS.items():
            text = _shown(one, name)
            if text:
                found.setdefault(flag.removeprefix("--"), {})[operation] = text
    for name in ("clients", "servers"):
        if name not in found:
            found[name] = dict.fromkeys(
                inputs, "the nodes of each cell" if of_store and name == "clients" else "1, not given"
            )
    return tuple(
        (name if len({*texts.values()}) == 1 and len(texts) == len(inputs) else f"{name}, {operation}", text)
        for name, texts in found.items()
        for operation, text in (texts.items() if len({*texts.values()}) > 1 else [*texts.items()][:1])
    )


def _shown(inputs: Inputs, name: str) -> str:
    """A value of the system with its interval; the column that gives it; empty where nothing was said of it."""
    if name in inputs.columns:
        return f"column {inputs.columns[name]}"
    value, *ends = (getattr(one, name) for one in (inputs.system, inputs.worst, inputs.best))
    if value == getattr(System(), name):
        return ""
    if ends[0] == ends[1]:
        return shown(name, value)
    return f"{shown(name, value)} ({' to '.join(shown(name, end) for end in sorted(ends))})"


def _losses(started: Started) -> tuple[tuple[WaterfallBars, ...], list[str]]:
    """A waterfall for each cell whose operations were recorded, and why others have none."""
    try:
        falls, why = started.losses.waterfalls(started.level)
    except InputError:
        return (), []
    if len(falls) > _MOST_FIGURES:
        template = "the losses of {most} of {n_cells} cells are drawn: choose with {spell.where}"
        why = [*why, Message("truncated", template, most=_MOST_FIGURES, n_cells=len(falls))]
    items = tuple(WaterfallBars.of(one, title(one.operation), list(said_of_fall(one))) for one in falls[:_MOST_FIGURES])
    return items, why
