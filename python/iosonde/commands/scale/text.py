"""The scaling of a series as text: measurements, laws, predictions, conclusion."""

from collections.abc import Iterator, Sequence

from iosonde.core.estimate_text import format_estimate, format_estimate_or_end
from iosonde.core.level_text import format_setting
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_seconds, format_significant
from iosonde.core.words import join_names
from iosonde.layout.text import CANNOT_TELL, format_estimate_parts, paragraphs, table, warning_lines, wrapped
from iosonde.model.scaling.analyse import Scaling
from iosonde.model.scaling.best import BestSetting
from iosonde.model.scaling.comparison import Regime
from iosonde.model.scaling.series import Series
from iosonde.model.scaling.words import TITLES

from .answer import ScaledSeries, ScalingLaws

_PERCENTS = ("contention", "server_share")
_LABELS = {
    "rate_of_one": "rate of one",
    "ceiling": "ceiling",
    "contention": "contention",
    "coherency": "coherency",
    "peak": "peak",
    "knee": "knee",
    "server_share": "server share",
}
_LEGEND = {
    "ceiling": "ceiling: the highest rate",
    "contention": "contention: the share of the work that only one can do at a time",
    "coherency": "coherency: the cost of each pair that has to agree",
    "server_share": "server share: of one's time, that in the shared server",
}
_SINGULAR = {"processes": "process"}


def lines(scaling_laws: ScalingLaws) -> Iterator[str]:
    """Yield the lines of the text: warnings, then one series after the other."""
    yield from warning_lines(scaling_laws.warnings)
    for number, item in enumerate(scaling_laws.items):
        if number or scaling_laws.warnings:
            yield ""
        yield from _format_series(item)
        yield from _format_stations(item, scaling_laws.as_stations)
    for response in dict.fromkeys(best.response for best in scaling_laws.best):
        yield ""
        yield from _format_best_settings(
            [best for best in scaling_laws.best if best.response == response], scaling_laws.on
        )


def _format_best_settings(best_settings: Sequence[BestSetting], on: str) -> Iterator[str]:
    divisor, unit = choose_human_scale(
        max(setting.each.value or 0.0 for setting in best_settings), best_settings[0].unit
    )
    per = f"per {_SINGULAR.get(on, on.removesuffix('s'))}"
    yield from wrapped(f"{best_settings[0].response}: the series with the highest rate {per}, at each number of {on}")
    yield ""
    rows = []
    for setting in best_settings:
        value, interval = format_estimate_parts(setting.each, divisor)
        rows.append(
            [
                f"{setting.size:g}",
                value,
                interval,
                str(setting.n_settings),
                CANNOT_TELL if setting.alike is None else str(setting.alike),
                format_setting(setting.by, setting.units),
            ]
        )
    yield from table([on, f"{unit or 'rate'} {per}", "interval", "of", "ties", "series"], rows, "rrrrrl").splitlines()
    yield ""
    settings = dict.fromkeys(format_setting(setting.by, setting.units) for setting in best_settings)
    last = best_settings[-1]
    same = "the same series at all of them" if len(settings) == 1 else "not the same series at all of them"
    yield from wrapped(
        f"Highest at {last.size:g} {on}: {format_estimate(last.each, last.unit)} {per}, with "
        f"{format_setting(last.by, last.units)}; {same}. As the same trials selected it, the highest of several is "
        f"biased upwards by noise. It is the best only if {join_names(list(last.by))} can be chosen."
    )


def _format_series(scaled: ScaledSeries) -> Iterator[str]:
    series, scaling = scaled.series, scaled.scaling
    settings = format_setting(series.by, series.units)
    yield from wrapped(
        f"{series.response} on {series.on}{'; ' + settings if settings else ''}; {100 * scaling.level:g} % intervals"
    )
    yield ""
    scale = choose_human_scale(max(size.rate.value or 0.0 for size in scaling.sizes), series.unit)
    yield from _format_sizes(series, scaling, scale)
    for regime in scaling.regimes:
        yield ""
        yield from _format_laws(regime, series, len(scaling.regimes) > 1)
    yield from wrapped(_format_legend(scaling))
    if scaling.predictions:
        yield ""
        yield from _format_predictions(scaling, series)
    cut = dict.fromkeys(
        warning for size in scaling.sizes if size.rate.low is not None for warning in size.rate.warnings
    )
    notes = [*scaling.warnings, *_format_misfits(scaling, series.on), *_format_reasons(scaling), *cut]
    yield ""
    yield from warning_lines(notes)
    if notes:
        yield ""
    yield from paragraphs(scaled.sentences)


def _format_sizes(series: Series, scaling: Scaling, scale: tuple[float, str]) -> Iterator[str]:
    rows = []
    for size in scaling.sizes:
        value, interval = format_estimate_parts(size.rate, scale[0])
        each = format_significant((size.rate.value or 0.0) / size.size / scale[0])
        efficiency = size.efficiency
        efficiency_cells = ["", ""] if efficiency is None else list(format_estimate_parts(efficiency))
        rows.append([f"{size.size:g}", str(size.rate.n), value, interval, each, *efficiency_cells])
    trials = "trials" if series.on == "n" else "n"
    header = [series.on, trials, scale[1] or "rate", "interval", "each", "efficiency", "interval"]
    yield from table(header, rows, "rrrrrrr").splitlines()


def _format_laws(regime: Regime, series: Series, several: bool) -> Iterator[str]:
    if several:
        yield f"from {regime.low:g} to {regime.high:g} {series.on}"
    rows = []
    for law in regime.laws:
        if law.fit is None:
            rows.append([TITLES[law.law.name], CANNOT_TELL, f"not identifiable: {law.why}"])
            continue
        delta = CANNOT_TELL if law.delta is None else f"{law.delta:.1f}"
        parameter_texts = [
            f"{_LABELS[name]} {_format_parameter(name, value, series.unit)}" for name, value in law.parameters.items()
        ]
        rows.append([TITLES[law.law.name], delta, parameter_texts[0]])
        rows += [["", "", text] for text in parameter_texts[1:]]
    yield from table(["law", "ΔAICc", "parameters"], rows, "lrL").splitlines()


def _format_legend(scaling: Scaling) -> str:
    laws = [law for regime in scaling.regimes for law in regime.laws if law.fit]
    legend = [text for name, text in _LEGEND.items() if any(name in law.parameters for law in laws)]
    compared = ["ΔAICc: distance behind the best law"] if any(law.delta is not None for law in laws) else []
    return f"{'; '.join([*compared, *legend])}."


def _format_parameter(name: str, estimate: Estimate, unit: str) -> str:
    if name in ("rate_of_one", "ceiling"):
        return format_estimate_or_end(estimate, unit)
    if name in _PERCENTS:
        value, low, high = (None if x is None else 100 * x for x in (estimate.value, estimate.low, estimate.high))
        return format_estimate_or_end(Estimate(value, low, high, estimate.level, estimate.n), "%")
    return format_estimate_or_end(estimate, "")


def _format_predictions(scaling: Scaling, series: Series) -> Iterator[str]:
    rows = []
    for prediction in scaling.predictions:
        others = list(prediction.by_law.values())
        rate_text = format_estimate_or_end(prediction.rate, series.unit)
        if prediction.rate.low is None and prediction.rate.high is None and others:
            rate_text = _format_span(others, series.unit)
        law_titles = ", ".join(TITLES[law] for law in prediction.by_law)
        rows.append(
            [f"{prediction.size:,.0f}", rate_text, "" if prediction.kind == "inside" else prediction.kind, law_titles]
        )
    yield from table([series.on, "predicted", "", "laws not ruled out"], rows, "rlLl").splitlines()


def _format_reasons(scaling: Scaling) -> Iterator[str]:
    without = [prediction.rate for prediction in scaling.predictions if prediction.rate.low is None]
    yield from dict.fromkeys(why for rate in without if rate.high is None for why in rate.warnings)


def _format_span(values: list[float], unit: str) -> str:
    divisor, name = choose_human_scale(max(values), unit)
    ends = dict.fromkeys(format_significant(value / divisor) for value in (min(values), max(values)))
    return f"{' to '.join(ends)} {name}".rstrip()


def _format_misfits(scaling: Scaling, on: str) -> Iterator[str]:
    yield from (
        f"from {regime.low:g} to {regime.high:g} {on} every law misses the means by more than the noise "
        "of trials: the intervals of the laws are over sizes, not over trials"
        for regime in scaling.regimes
        if regime.lacks_fit
    )


def _format_stations(scaled: ScaledSeries, size: str | None) -> Iterator[str]:
    demands = scaled.demands
    if demands is None:
        return
    yield ""
    if isinstance(demands, str):
        yield from wrapped(f"No stations: {demands}.")
        return
    assert demands.server.value is not None
    what, on = "an operation" if size == "1" else f"an operation of {size}", scaled.series.on
    client = f"client={_format_option(demands.client_s)}:delay"
    server = f"server={_format_option(demands.server.value)}"
    yield f"{spell.station:{client}} {spell.station:{server}}"
    yield from wrapped(
        f"As stations: {what} needs {_format_estimate(demands.server)} of the server, "
        f"and takes {_format_estimate(demands.alone)} when {on} is 1. It is assumed that everything shared is one "
        f"server, and that a client is one of {on} with all its ranks."
    )


def _format_option(seconds: float) -> str:
    divisor, unit = choose_human_scale(seconds, "s")
    return f"{format_significant(seconds / divisor, 4)}{unit.replace('µ', 'u')}"


def _format_estimate(seconds: Estimate) -> str:
    assert seconds.value is not None
    if seconds.low is None or seconds.high is None:
        return format_seconds(seconds.value)
    divisor, unit = choose_human_scale(seconds.value, "s")
    value, between = format_estimate_parts(seconds, divisor)
    return f"{value} ({between}) {unit}"
