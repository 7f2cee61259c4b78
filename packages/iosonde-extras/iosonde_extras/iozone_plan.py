"""A plan as equivalent commands of IOzone: ``iosonde plan … --as iozone``."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iosonde.campaign.plan import CampaignPlan
from iosonde.campaign.spec.check import evaluate_settings, find_placeholders
from iosonde.core.errors import InputError
from iosonde.core.types import FactorValue, Trial, level_to_count
from iosonde.measure import placeholders, workloads
from iosonde.measure.spec import NativeStep

from .as_iozone import AsIozone, as_iozone, translate_settings

_NODES = ("nodes", "ranks_per_node")


@dataclass(frozen=True)
class IozoneCell:
    """A native step at one setting: its command ``words``, or ``why`` there are none."""

    setting: dict[str, FactorValue]
    words: tuple[str, ...]
    why: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class IozonePlan:
    """Every setting once, in the order of the factors' levels; ``units`` of factors that have one."""

    cells: tuple[IozoneCell, ...]
    units: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The stable JSON form."""
        settings = [
            {"setting": cell.setting, "words": list(cell.words), "why": list(cell.why), "differs": list(cell.differs)}
            for cell in self.cells
        ]
        return {"version": 1, "tool": "iozone", "settings": settings}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per setting."""
        return [
            {**cell.setting, "command": " ".join(cell.words) or None, "why": "; ".join(cell.why) or None}
            for cell in self.cells
        ]


def iozone_plan(plan: CampaignPlan) -> IozonePlan:
    """Convert the native steps of a plan to IOzone's commands. Raises InputError without native steps."""
    cells = tuple(_iterate_cells(plan))
    if not cells:
        raise InputError(
            "option-not-applicable",
            "no step is a native workload: commands run unchanged",
            "leave {spell.as} out",
        )
    return IozonePlan(cells, {factor.name: factor.unit for factor in plan.campaign.spec.factors if factor.unit})


def _iterate_cells(plan: CampaignPlan) -> Iterator[IozoneCell]:
    spec = plan.campaign.spec
    for step in spec.native:
        used = [factor.name for factor in spec.factors if factor.name in {*_NODES, *find_placeholders(step.settings)}]
        levels = {factor.name: list(factor.levels) for factor in spec.factors}
        cells = {tuple(trial.factors[name] for name in used): trial for trial in plan.experiment.trials}
        order = sorted(cells, key=lambda cell: [levels[name].index(at) for name, at in zip(used, cell, strict=True)])
        for cell in order:
            yield _build_cell(step, cells[cell], dict(zip(used, cell, strict=True)))


def _build_cell(step: NativeStep, trial: Trial, setting: dict[str, FactorValue]) -> IozoneCell:
    nodes, per_node = (level_to_count(trial.factors[name]) for name in _NODES)
    ranks = nodes * per_node
    settings = evaluate_settings(step, {**placeholders.build_trial_values(trial, None), "RANKS": ranks})
    translation = _translate_step(step, settings, ranks)
    words = ("iozone", *_build_location(nodes, ranks), *translation.words) if translation.words else ()
    return IozoneCell(setting, words, translation.why, translation.differs)


def _translate_step(step: NativeStep, settings: Any, ranks: int) -> AsIozone:
    if step.workload == "iozone":
        return translate_settings(settings)
    producer = workloads.find_producer(step.workload)
    first = producer.plan(settings, 0, ranks, 0)
    return as_iozone(first, producer.plan(settings, 1, ranks, 0) if ranks > 1 else first)


def _build_location(nodes: int, ranks: int) -> tuple[str, ...]:
    """Return the options for the hosts: for several nodes a file of clients, with a line for each rank."""
    if nodes > 1:
        return ("-+m", "${IOZONE_CLIENTS}", "-t", str(ranks))
    return ("-t", str(ranks), "-F", *(f"${{TARGET}}/iozone-{rank}" for rank in range(ranks)))
