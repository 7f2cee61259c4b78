"""Causes that cannot be separated from the sides of a store: confounded factors, and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iosonde.answers.caveats import confounded as together
from iosonde.core.level_text import format_level
from iosonde.core.stored import plain
from iosonde.core.table import Cell
from iosonde.core.verdict import VerdictState
from iosonde.data.choice import texts
from iosonde.data.experiments import EXPERIMENT
from iosonde.data.source import Source

from .caveat import Caveat
from .order import measured_in_turn
from .parts import with_group
from .samples import SidePair


def confounded(source: Source, group: str | None, levels: Sequence[Cell]) -> tuple[Caveat, ...]:
    """Return the factors that always change with the group, and time if its levels were measured in turn."""
    if not source.knows_factors or group is None:
        return ()
    own = source.table.column(group).name
    twins = [(name, twin) for name, twin in source.varying_factors.confounded.items() if own in (name, twin)]
    confounded_names = {name for pair in twins for name in pair}
    twins += [(name, own) for name in with_group(source, own) if name not in confounded_names]
    return (*(_build_twin_caveat(name, twin, own) for name, twin in twins), *_in_turn(source, own, levels))


def differing(pair: SidePair, group: str | None, caveats: Sequence[Caveat]) -> Iterator[Caveat]:
    """Return the caveats of a pair of sides; a twin counts only if it differs between these two."""
    rows = pair.part.rows
    for caveat in caveats:
        if caveat.instead is not VerdictState.NOT_SEPARABLE or group is None or caveat.why not in rows.columns:
            yield caveat
            continue
        levels = {str(key[0]): key[1] for key, _ in rows.groups([rows.column(group).name, caveat.why])}
        if levels.get(pair.a.name) != levels.get(pair.b.name):
            yield caveat


def _build_twin_caveat(name: str, twin: str, own: str) -> Caveat:
    """Build the caveat of a twin; none for an experiment, which is not a cause, and for ranks, which grow with
    nodes."""
    follows = own == EXPERIMENT or "ranks" in (name, twin)
    other = name if twin == own else twin
    return Caveat(together(name, twin), "goes-together", None if follows else VerdictState.NOT_SEPARABLE, other)


def _in_turn(source: Source, own: str, chosen_levels: Sequence[Cell]) -> Iterator[Caveat]:
    """Yield levels that were measured wholly before another."""
    table = source.run_rows
    starts = {}
    unit = table.column(own).level_unit
    codes, levels = table.column(own).codes()
    for level in chosen_levels:
        times = texts(table.take(codes == levels.index(level)), "started_at")
        if len(times) and all(times):
            starts[level] = (min(times), max(times))
    if len(starts) < 2 or len(starts) < len(chosen_levels):
        return
    ordered = sorted(starts, key=lambda level: starts[level])
    pairs = list(zip(ordered, ordered[1:], strict=False))
    if all(starts[earlier][1] < starts[other][0] for earlier, other in pairs):
        order_text = ", then ".join(format_level(level, unit) for level in ordered)
        yield Caveat(measured_in_turn(f"{plain(own)} was measured one after the other ({order_text})"), "order")
