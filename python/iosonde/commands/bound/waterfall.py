"""Where the time between bound and result was lost, for each cell with recorded operations."""

from collections.abc import Iterator, Sequence

from iosonde.answers.operations import Operations, visit_runs
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.explain import waterfall
from iosonde.explain.waterfall import CURES, TITLES, Waterfall
from iosonde.model.bound.shares import MeasuredShare

_UNEVEN = 0.02
_MUCH = 0.05
_TRAFFIC = "the bound's assumption that traffic with the metadata server is small does not hold here."


class Losses:
    """A visitor: the trials of each measured cell of ``shares`` whose operations were recorded."""

    def __init__(self, shares: Sequence[MeasuredShare]) -> None:
        self._shares = shares
        self._places: dict[str, list[int]] = {}
        for place, share in enumerate(shares):
            for run in share.runs:
                self._places.setdefault(run, []).append(place)
        self._trials: dict[int, list[waterfall.TrialLosses]] = {}
        self._notes: dict[str, None] = {}

    def wants(self, run: StoredRun) -> bool:
        """Return whether a share was computed from this run."""
        return run.id in self._places

    def take(self, run: StoredRun, operations: Operations) -> None:
        """Add one trial to each cell of the run."""
        phases = {phase.operation: phase for phase in run.phases}
        for place in self._places[run.id]:
            share = self._shares[place]
            phase = phases.get(share.operation)
            if phase is None:
                continue
            why = waterfall.explain_missing_waterfall(phase, len(operations) > 0)
            if why:
                self._notes[
                    Message(
                        "no-waterfall", "{operation} has no waterfall: {reason}", operation=share.operation, reason=why
                    )
                ] = None
                continue
            own = operations[operations["phase"] == phase.index]
            self._trials.setdefault(place, []).append(
                waterfall.compute_trial_losses(
                    phase, own, _native.KINDS, share.ceiling.seconds(waterfall.sum_data_bytes(phase))
                )
            )

    def waterfalls(self, level: float) -> tuple[list[Waterfall], list[str]]:
        """Return the waterfall of each cell, and why others have none. Raises InputError if none has one."""
        falls = [
            waterfall.average_waterfalls(share.operation, share.by, share.ceiling, self._trials[place], level)
            for place, share in enumerate(self._shares)
            if place in self._trials
        ]
        if not falls:
            reasons = "; ".join(self._notes) or "operations of rates of bytes are needed"
            raise InputError("no-waterfall", "no cell has a waterfall", "{reasons}", reasons=reasons)
        return falls, list(self._notes)


def build_waterfalls(
    source: Source, shares: Sequence[MeasuredShare], level: float
) -> tuple[list[Waterfall], list[str]]:
    """Return the waterfall of each measured cell with recorded operations, and why others have none. Raises
    InputError."""
    source.require_campaign("a waterfall needs the operations of a store", "give a store that 'iosonde run' made")
    losses = Losses(shares)
    visit_runs(source, [losses])
    return losses.waterfalls(level)


def describe_waterfall(fall: Waterfall) -> Iterator[str]:
    """Describe a waterfall, in sentences."""
    total = fall.delivered.value or 0.0
    if fall.largest:
        yield f"Most is surely lost to {TITLES[fall.largest]}; what helps: {CURES[fall.largest]}."
    if fall.doubtful:
        yield f"~ {TITLES[fall.doubtful]} may have cost more, but the interval holds 0: repeat the trials"
    calls = (fall.parts["calls"].value or 0.0) / total if total else 0.0
    if calls > _MUCH:
        yield f"Open and other calls take {100 * calls:.0f} % of the time: {_TRAFFIC}"
    if fall.work_excess > _UNEVEN:
        more = f"{100 * fall.work_excess:.0f} %"
        yield f"The work is uneven: the busiest rank has {more} more bytes than the mean one."
    if (fall.parts["slow_operations"].value or 0.0) < 0:
        yield "Operations were faster than the bound allows: a cache served them, or an input is wrong."
