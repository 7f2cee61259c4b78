"""``iosonde upgrade``: what to buy, by gain, by money and by watt; and the change that would gain nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError, IosondeError

from .._data import check_level

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.explain.upgrade import Option
    from iosonde.model.bound.bound import Ceiling

    from .._upgrade_file import Asked


@click.command(epilog="Example: iosonde upgrade cluster.yaml --order money")
@click.argument("cluster", metavar="CLUSTER.yaml")
@click.option("--order", type=click.Choice(["gain", "money", "watt"]), default="gain", show_default=True,
              help="Best by the gain itself, for each unit of money, or for each further watt.")  # fmt: skip
@click.option("--model", metavar="FILE", help="A model of 'iosonde fit': what it predicts stands beside the bound.")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--plot", metavar="FILE", help="Draw the cluster of today and what limits it: .png, .svg or .pdf.")
@click.option("--json", "as_json", is_flag=True, help="Stable JSON on stdout.")
def command(cluster: str, order: str, model: str | None, level: float, plot: str | None, as_json: bool) -> None:
    """Rank candidate changes of a cluster by their predicted gain.

    CLUSTER.yaml describes the cluster today, limits (money, power, space), and candidates. It may also hold tables of
    CPUs, of measured configurations, and marks of file systems.
    """
    from iosonde.explain import upgrade, upgrade_tables
    from iosonde.report.figures.files import format_of

    from .._upgrade_file import read

    check_level(level)
    if plot:
        format_of(plot)
    asked = read(cluster)
    found: list[Option] = []
    steps: list[tuple[str, float, float]] = []
    if asked.cluster is not None and asked.candidates:
        predict, in_bytes = _predictor(model, asked, level) if model else (None, False)
        found = upgrade.options(asked.cluster, asked.candidates, asked.limits, level, predict, order, in_bytes)
        steps = upgrade.path(asked.cluster, found, asked.limits)
    elif model:
        raise InputError("--model has no candidates to be asked about", "give candidates with model: {factor: level}")
    cpus = upgrade_tables.cpus(asked.cpus, asked.min_cpu_points, asked.max_cpu_watts)
    measured = upgrade_tables.steps(asked.measured, level)
    scores = upgrade_tables.scorecard(asked.systems, asked.weights)
    if plot:
        from .._upgrade_plot import draw

        draw(plot, asked.cluster, level)
    if as_json:
        document = _document(asked, found, steps, cpus, measured, scores, level)
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .. import _upgrade_text as text

    sections = []
    if asked.cluster is not None:
        sections.append(text.cluster_lines(asked, _today(asked)))
    if found:
        sections.append(text.option_lines(found, steps, level))
    if cpus:
        sections.append(text.cpu_lines(cpus))
    if asked.measured:
        sections.append(text.measured_lines(asked.measured, measured, level))
    if scores:
        sections.append(text.score_lines(scores))
    for place, section in enumerate(sections):
        if place:
            click.echo("")
        for line in section:
            click.echo(line)


def _today(asked: Asked) -> Ceiling | None:
    """The bound today; None where too little is known for one (with candidates, the file's check refuses that)."""
    from iosonde.explain.upgrade import after
    from iosonde.model.bound.bound import NothingKnownError

    try:
        return None if asked.cluster is None else after(asked.cluster)
    except NothingKnownError:
        return None


def _predictor(path: str, asked: Asked, level: float) -> tuple[Callable[[Mapping[str, Any]], Estimate], bool]:
    """What a fitted model says of a setting, and whether that is in bytes/s. Raises InputError where nobody gives it
    a setting."""
    from iosonde.core.column_units import bytes_per_s
    from iosonde.core.types import Estimate
    from iosonde.model.fit.features import encode
    from iosonde.model.fit.fitted import ask

    from .._models import read_model, setting

    if asked.cluster is None or not asked.cluster.model:
        raise InputError("--model: today says no setting of the model", "give today: model: {factor: level, …}")
    model = read_model(path)
    if not any(one.model for one in asked.candidates):
        raise InputError("--model: no candidate says a setting of the model", "give a candidate model: {factor: level}")
    in_bytes = bool(bytes_per_s(model.unit))
    # A name that is wrong, a level never seen, or a factor that today does not say, is a mistake of the file.
    for change in asked.candidates:
        encode(model.features, setting(model.features, {**asked.cluster.model, **change.model}))

    def predict(at: Mapping[str, Any]) -> Estimate:
        try:
            return _as_rate(ask(model, setting(model.features, at), level).value, model.unit)
        except IosondeError as error:
            # Far outside of what was measured: one change that it cannot tell of is no reason to tell of none.
            return Estimate(None, None, None, level, 0, (error.message,))

    return predict, in_bytes


def _as_rate(predicted: Estimate, unit: str) -> Estimate:
    """In bytes/s where the unit says how; of a time its inverse: what gains is faster."""
    from dataclasses import replace

    from iosonde.core.column_units import bytes_per_s

    from .._bound_data import TIMES

    value, low, high = predicted.value, predicted.low, predicted.high
    if unit in TIMES:
        found = [None if x is None or x <= 0 else 1 / x for x in (value, high, low)]
    else:
        scale = (bytes_per_s(unit) or (1.0,))[0]
        found = [None if x is None else x * scale for x in (value, low, high)]
    return replace(predicted, value=found[0], low=found[1], high=found[2])


def _document(
    asked: Asked, found: list[Option], steps: list[tuple[str, float, float]], cpus: Any, measured: Any, scores: Any,
    level: float,
) -> dict[str, Any]:  # fmt: skip
    from iosonde.explain import upgrade, upgrade_tables

    from .._bound_data import to_json

    made = _today(asked)
    allowed = [one for one in cpus if not one.refused]
    timed = upgrade_tables.times(asked.measured, level)
    best = {name: upgrade_tables.best_from(measured, name) for name in timed}
    return {
        "schema": 1,
        "name": asked.name,
        "level": level,
        "today": None if asked.cluster is None else {
            **(to_json(made) if made else {"s": None}), **vars(upgrade.totals(asked.cluster)), **asked.derived()},
        "options": [_option(one) for one in found],
        "path": [{"name": name, "gain": gain, "cost": cost} for name, gain, cost in steps],
        "cpus": [{"name": one.name, "points": one.points, "watts": one.watts, "points_per_watt": one.points_per_watt,
                  "refused": one.refused or None} for one in cpus],
        "cpu": allowed[0].name if allowed else None,
        "measured": [{"name": name, **e.flat("seconds"), "best_change": best[name].changed[0] if best[name] else None}
                     for name, e in timed.items()],
        "steps": [{"from": one.before, "to": one.after, "changed": list(one.changed), **one.speedup.flat("speedup")}
                  for one in measured],
        "systems": [{"name": one.name, "marks": dict(one.marks), "total": one.total, "weakest": one.weakest}
                    for one in scores],
    }  # fmt: skip


def _option(one: Option) -> dict[str, Any]:
    return {
        "name": one.candidate.name, **one.gain.flat("gain"), "s": one.ceiling.s, "limit": list(one.ceiling.limit),
        "cost": one.cost, "added_watts": one.added_watts, **vars(one.totals), "per_money": one.per_money,
        "per_watt": one.per_watt, "refused": list(one.refused), "trap": one.trap,
        "first": None if one.first is None else {"name": one.first[0], "gain": one.first[1]},
        "model_gain": None if one.model_gain is None else one.model_gain.to_json(), "remarks": list(one.remarks),
    }  # fmt: skip
