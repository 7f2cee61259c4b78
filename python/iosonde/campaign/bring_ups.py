"""Bring-ups: factors that are hard to change are set once for all trials of a whole plot; each trial records its
bring-up.

A whole plot is a drawn level in one repetition and block, within the levels of outer strata. Settings by command are
renewed for each plot, and after a failed trial, whose state is unknown. A command that needs values of the trial runs
in every trial, each of which is then its own bring-up. A new process begins new ones: a lab is brought up for the
process that measures in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.schema import BRING_UPS
from iosonde.core.types import FactorValue, Trial
from iosonde.measure import restore
from iosonde.measure.spec import EACH, Control, Spec

from .spec import lab


@dataclass(frozen=True)
class FactorStratum:
    """Factors of one stratum, set at the same time. ``sets``: commands set them; ``every_trial``: these must run in
    each trial; ``each``: on every node."""

    names: tuple[str, ...]
    sets: bool = False
    every_trial: bool = False
    each: bool = False


def list_strata(spec: Spec) -> list[FactorStratum]:
    """List the strata of a campaign, the outermost first: a lab with all its factors, then each factor that is hard to
    change. Those beyond the last column of BRING_UPS count as one."""
    hard: Sequence[str] = spec.design.get("hard_to_change") or ()
    hard = (hard,) if isinstance(hard, str) else hard
    lab_factors = tuple(name for name in hard if name in lab.collect_lab_factors(spec.lab))
    groups = [*([lab_factors] if lab_factors else []), *((name,) for name in hard if name not in lab_factors)]
    most = len(BRING_UPS) - 1
    if len(groups) > most + 1:
        groups = [*groups[:most], tuple(name for group in groups[most:] for name in group)]
    fixed_names = {*restore.collect_constant_values(spec), *spec.design.get("blocks", ())}
    strata = []
    for names in groups:
        fixed_names |= set(names)
        setting = [control for control in spec.controls if control.factor in names and control.set]
        strata.append(
            FactorStratum(
                names,
                bool(setting),
                any(restore.list_trial_names(control.set, fixed_names) for control in setting),
                any(control.on == EACH for control in setting),
            )
        )
    return strata


def set_once(spec: Spec) -> frozenset[str]:
    """Return the factors whose command runs once for all trials of a whole plot."""
    fixed_factors = {name for stratum in list_strata(spec) if not stratum.every_trial for name in stratum.names}
    return frozenset(control.factor for control in spec.controls if control.set and control.factor in fixed_factors)


class BringUps:
    """The bring-ups of one process, numbered after those of ``earlier`` runs (their factors)."""

    def __init__(self, spec: Spec, earlier: Iterable[Mapping[str, Any]] = ()) -> None:
        self._strata = list_strata(spec)
        self._controls = spec.controls
        rows = list(earlier)
        self._numbers = [
            max((int(row[column]) for row in rows if row.get(column) is not None), default=-1)
            for _, column in zip(self._strata, BRING_UPS, strict=False)
        ]
        self._last: Trial | None = None
        self._failed = False
        self._renewed: set[str] = set()
        self._nodes = [0] * len(self._strata)

    def begin(self, trial: Trial) -> None:
        """Begin a trial: renew the bring-ups that it needs."""
        self._renewed = set()
        for place, stratum in enumerate(self._strata):
            if self._renewed or self._is_new(place, stratum, trial):
                self._renewed |= set(stratum.names)
                self._numbers[place] += 1
                self._nodes[place] = trial.nodes
        self._last, self._failed = trial, False

    def ended(self, complete: bool) -> None:
        """End a trial; an incomplete one may have left anything behind."""
        self._failed = not complete

    @property
    def controls(self) -> tuple[Control, ...]:
        """Return the controls of this trial: a factor that is still set is only read."""
        fixed_factors = {name for stratum in self._strata for name in stratum.names} - self._renewed
        return tuple(
            replace(control, set="") if control.factor in fixed_factors else control for control in self._controls
        )

    @property
    def columns(self) -> dict[str, FactorValue]:
        """Return column → the number of this trial's bring-up."""
        return dict(zip(BRING_UPS, self._numbers, strict=False))

    def _is_new(self, place: int, stratum: FactorStratum, trial: Trial) -> bool:
        last = self._last
        if last is None or last.block != trial.block:
            return True
        if any(last.factors[name] != trial.factors[name] for name in stratum.names):
            return True
        # Nodes that were absent when it was set have another level.
        return stratum.sets and (
            self._failed or stratum.every_trial or (stratum.each and trial.nodes > self._nodes[place])
        )
