"""``iosonde scale --plot``: from series and laws to the content of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.units import human_scale

from .output import write_figure

if TYPE_CHECKING:
    from iosonde.model.scaling.analyse import Scaling
    from iosonde.model.scaling.series import Series
    from iosonde.report.figures.scaling import Curve, ScalingPlot

_MOST = 12  # panels that can be read
_POINTS = 120


def draw(plot: str, made: Sequence[tuple[Series, Scaling]]) -> None:
    """Write the figure. Raises InputError for a name of no format."""
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.files import format_of
    from iosonde.report.figures.scaling import scaling_figure

    format_of(plot)
    if len(made) > _MOST:
        raise InputError(f"{len(made)} series are too many for one figure", "choose some with --where")
    write_figure(plot, together([scaling_figure(_content(series, scaling)) for series, scaling in made], columns=2))


def _content(series: Series, made: Scaling) -> ScalingPlot:
    from iosonde.report.figures.scaling import ScalingPlot

    divisor, unit = human_scale(max(size.rate.value or 0.0 for size in made.sizes), series.unit)
    far = max([size.size for size in made.sizes] + [prediction.size for prediction in made.predictions])
    settings = ", ".join(f"{name}={value}" for name, value in series.by.items())
    first = made.sizes[0]
    return ScalingPlot(
        title=f"{series.response}{', ' + settings if settings else ''}",
        on=series.on,
        unit=unit,
        trials=[(size, rate / divisor) for size in series.sizes for rate in series.trials[size]],
        curves=_curves(made, far, divisor),
        predictions=[(p.size, p.rate.low / divisor, p.rate.high / divisor) for p in made.predictions
                     if p.rate.low is not None and p.rate.high is not None],
        borders=[(change.last * change.first) ** 0.5 for change in made.changes],
        linear=(first.rate.value or 0.0) / first.size / divisor,
    )  # fmt: skip


def _curves(made: Scaling, far: float, divisor: float) -> list[Curve]:
    """The laws of each regime that are not ruled out; those of the last regime go on to the farthest prediction."""
    import numpy as np

    from iosonde.model.scaling.analyse import SCENARIO
    from iosonde.model.scaling.words import TITLES
    from iosonde.report.figures.scaling import Curve

    found = []
    for regime in made.regimes:
        sizes = np.geomspace(regime.low, far if regime is made.regimes[-1] else regime.high, _POINTS)
        for law in regime.possible:
            if law.fit is not None:
                rates = np.exp(law.fit.log_rates(sizes)) / divisor
                found.append(
                    Curve(TITLES[law.law.name], sizes.tolist(), rates.tolist(), regime.high, SCENARIO * regime.high)
                )
    return found
