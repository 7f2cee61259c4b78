"""Growth of a rate with the number of nodes, its limit, and the gain of more nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer, build_level_columns
from iosonde.answers.besides import Besides, build_besides
from iosonde.answers.caveats import list_caveats, warn_logarithms, warn_single_trials
from iosonde.core.column_units import is_rate
from iosonde.core.errors import DataError, InputError
from iosonde.core.estimate_text import format_estimate_or_end
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.no_scaling import SCALING_COLUMNS, find_without_efficiency
from iosonde.core.table import Column, Table
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.model.scaling.analyse import Scaling, analyse_scaling
from iosonde.model.scaling.best import BestSetting, select_best_settings
from iosonde.model.scaling.comparison import LINEAR
from iosonde.model.scaling.demands import Demands, compute_service_demands
from iosonde.model.scaling.forecast import SCENARIO
from iosonde.model.scaling.series import Series, build_series
from iosonde.model.scaling.words import TITLES, list_conclusions
from iosonde.stats.assumptions import doubtful, holds, judge
from iosonde.stats.assumptions.required import REQUIRED

from .stations import compute_work_per_operation

_CURVE_POINTS = 120


@dataclass(frozen=True)
class LawCurve:
    """A possible law, from its first to its last size; measurements end at ``measured``, a scenario begins at
    ``scenario``."""

    name: str
    sizes: list[float]
    rates: list[float]
    measured: float
    scenario: float


@dataclass(frozen=True)
class ScaledSeries:
    """A series and its laws. ``demands``: what one operation demands of the stations, or why that is unknown; None if
    not requested. ``doubts``: codes of what is wrong with its trials."""

    series: Series
    scaling: Scaling
    demands: Demands | str | None = None
    doubts: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Return whether a limit is seen: a cliff, a fall, or the bend of all possible laws."""
        scaling, limit = self.scaling, self.scaling.limit
        state, direction = limit.state, None
        claim = ", ".join(TITLES[law.law.name] for law in scaling.regimes[-1].possible)
        if limit.fall and limit.fall.is_significant:
            direction = Direction.DOWN
        if scaling.changes and scaling.changes[-1].factor < 1:
            state, direction, claim = VerdictState.DIFFERENT, Direction.DOWN, "change of regime"
        if state is VerdictState.EQUAL:
            claim = TITLES[LINEAR]
        doubts = [
            *self.doubts,
            *(["few-trials"] if any(size.rate.n < 2 for size in scaling.sizes) else []),
            *(["lack-of-fit"] if scaling.regimes[-1].lacks_fit else []),
        ]
        claim_of_limit = UncheckedClaim(
            "limit",
            self.series.response,
            (format_setting(self.series.by, self.series.units) or self.series.on,),
            state,
            direction,
            claim,
            limit.efficiency,
        )
        return judge(claim_of_limit, (*map(doubtful, doubts), *holds(*REQUIRED["limit"])))

    @property
    def sentences(self) -> list[str]:
        """Return the conclusions: change of regime, law, what is inconclusive."""
        return list_conclusions(
            self.scaling, self.series.on, lambda rate: format_estimate_or_end(rate, self.series.unit)
        )

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        demands, reason = (self.demands.to_json(), "") if isinstance(self.demands, Demands) else (None, self.demands)
        demand_fields = {} if reason is None else {"demands": demands, "why_no_demands": reason}
        return {**self.series.to_json(), **self.scaling.to_json(), "sentences": self.sentences, **demand_fields}

    def curves(self) -> list[LawCurve]:
        """Return the possible laws of each regime; those of the last regime extend to the farthest prediction."""
        scaling = self.scaling
        far = max([size.size for size in scaling.sizes] + [prediction.size for prediction in scaling.predictions])
        ends = [*(regime.high for regime in scaling.regimes[:-1]), far]
        return [
            LawCurve(
                TITLES[law.law.name],
                sizes.tolist(),
                np.exp(law.fit.log_rates(sizes)).tolist(),
                regime.high,
                SCENARIO * regime.high,
            )
            for regime, end in zip(scaling.regimes, ends, strict=True)
            for sizes in [np.geomspace(regime.low, end, _CURVE_POINTS)]
            for law in regime.possible
            if law.fit is not None
        ]


@dataclass(frozen=True)
class ScalingLaws(Answer):
    """Each series of rates over ``on``. ``as_stations``: size of the operation whose demands were requested. ``best``:
    the best setting of one node, at each number of nodes, if there are several settings."""

    items: tuple[ScaledSeries, ...]
    on: str
    level: float
    warnings: tuple[str, ...] = ()
    as_stations: str | None = None
    best: tuple[BestSetting, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return one verdict per series: whether a limit is seen."""
        return tuple(item.verdict for item in self.items)

    def content(self) -> dict[str, Any]:
        """As ``iosonde scale --json``."""
        return {
            "level": self.level,
            "on": self.on,
            "series": [item.to_json() for item in self.items],
            "best": [setting.to_json() for setting in self.best],
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per number of nodes of each series."""
        pairs = [
            (item.series, {key: value for key, value in size.to_json().items() if key != "warnings"})
            for item in self.items
            for size in item.scaling.sizes
        ]
        names = {"response", "unit"}.union(*(row for _, row in pairs))
        return [
            {"response": of.response, "unit": of.unit, **build_level_columns(of.by, names), **row} for of, row in pairs
        ]


@dataclass(frozen=True)
class LawOptions:
    """How laws are fitted: with predictions ``at`` further sizes, and intervals from ``bootstrap`` samples drawn with
    ``seed`` (0: from profile likelihood)."""

    at: Sequence[float] = ()
    bootstrap: int = 0
    seed: int = 1


def scale(
    source: Source,
    query: ResponseQuery,
    on: str = "",
    by: tuple[str, ...] = (),
    is_duration: bool = False,
    laws: LawOptions | None = None,
    as_stations: str | None = None,
) -> ScalingLaws:
    """Fit laws of scaling to every series of DATA; of a store to every rate. ``on``: the column of sizes; '' for the
    first usual one that varies. ``by``: each combination is a series of its own; of a store by default its other
    factors. ``is_duration``: the response is the time of a fixed amount of work. ``as_stations``: the size of the
    operation whose demands are requested. Raises InputError, DataError."""
    laws = laws or LawOptions()
    on, notes = (on, []) if on else _choose_size_column(source, query)
    series, warnings, doubts = _collect_series(source, query, on, by, is_duration)
    selected, exclusions = _select_series_with_two_sizes(series, on)
    items = []
    for each in selected:
        work = None if as_stations is None else compute_work_per_operation(each, as_stations)
        scaling = analyse_scaling(each.trials, query.level, list(laws.at), laws.bootstrap, laws.seed)
        demands = None if work is None else compute_service_demands(scaling.regimes[-1], work)
        items.append(ScaledSeries(each, scaling, demands, doubts[each.response]))
    warnings = [*dict.fromkeys([*warnings, *notes]), *exclusions]
    best = tuple(select_best_settings(series, query.level))
    return ScalingLaws(tuple(items), on, query.level, tuple(warnings), as_stations, best)


def _choose_size_column(source: Source, query: ResponseQuery) -> tuple[str, list[str]]:
    """Return the first usual column of sizes that varies and counts something, else the only factor that does, with a
    note. Raises InputError for none or several."""
    columns = source.trial_rows.columns
    usual = [name for name in SCALING_COLUMNS if name in columns] or SCALING_COLUMNS[:1] * source.knows_factors
    if usual:
        return next((name for name in usual if name in columns and _is_varying_count(columns[name])), usual[0]), []
    response = build_responses(source, replace(query, on=()))[0]
    names = [name for name in response.names if _is_varying_count(response.rows.column(name))]
    if len(names) == 1:
        return names[0], [
            Message("assumed-size", "data: {column} counts what grows ({spell.on} names another)", column=names[0])
        ]
    raise InputError(
        "missing-option",
        "{spell.on} is missing: the column that counts nodes, clients, ranks or threads",
        "choose among: {columns}" if names else "no factor of DATA counts anything",
        columns=", ".join(names),
    )


def _is_varying_count(column: Column) -> bool:
    levels = [level for level in column.codes()[1] if level is not None]
    return len(levels) > 1 and all(isinstance(level, int) and level > 0 for level in levels)


def _collect_series(
    source: Source, query: ResponseQuery, on: str, by: tuple[str, ...], is_duration: bool
) -> tuple[list[Series], list[str], dict[str, tuple[str, ...]]]:
    """Return the series of DATA, warnings, and the codes of doubts by the response of a series."""
    every = build_responses(source, replace(query, on=() if source.knows_factors else (on, *by)))
    # An operation, or DATA as a whole, has metrics of other kinds, too.
    chosen = every if len(every) == 1 else [candidate for candidate in every if is_rate(candidate.unit) or is_duration]
    if not chosen:
        raise DataError("no-rate", "no rate is left", "the conditions leave no metric that is work per time")
    settings = (*by, *source.apart((on, *by))[1 + len(by) :]) if by else ()
    if source.knows_factors and not settings:
        settings = tuple(name for name in source.varying_factors.names if name not in (on, "ranks"))
    counts_ranks = on in ("nodes", "ranks")
    apart, why = find_without_efficiency(source.runs, source.experiments) if counts_ranks else (set[str](), ())
    comparable = [candidate for candidate in chosen if candidate.operation not in apart]
    if not comparable:
        raise DataError(
            "no-comparable-operation",
            "{reasons}",
            "choose another operation, or measure where the caches are verified to be cold",
            reasons="; ".join(why),
        )
    series, warnings, doubts = (
        list[Series](),
        [*why] if len(comparable) < len(chosen) else [],
        dict[str, tuple[str, ...]](),
    )
    for response in comparable:
        if warn_logarithms(response):
            raise InputError(
                "not-a-rate",
                "'{title}' is a logarithm, not a rate",
                "{spell.response:'{column}'}",
                title=response.title,
                column=response.measured,
            )
        part, more = build_series(response.rows, response.title, on, settings, is_duration)
        series += part
        # Ranks grow with nodes anyway.
        confounded = tuple(pair for pair in response.confounded if on in pair and "ranks" not in pair)
        twins = list_caveats(replace(response, confounded=confounded))
        strata, factors = warn_single_trials(response, [on]), (on, *settings)
        besides = _build_besides(response.rows, list_other_varying(source, response, factors), factors)
        warnings += [*twins, *strata, *besides.varying_warnings("by"), *more]
        flags = {
            "within-run": response.within_run,
            "bring-ups": strata,
            "varies-besides": besides.names,
            "goes-together": confounded,
        }
        doubts |= {item.response: tuple(code for code, is_doubt in flags.items() if is_doubt) for item in part}
    return series, list(dict.fromkeys(warnings)), doubts


def _build_besides(rows: Table, names: Sequence[str], factors: Sequence[str]) -> Besides:
    """Separate the columns ``names`` that vary besides the sizes, or change between some of them, from those that
    always change with one of the ``factors``."""
    besides = build_besides(rows, names, factors)
    twins = {name for name, _ in besides.twins}
    return replace(besides, names=tuple(name for name in names if name not in twins))


def _select_series_with_two_sizes(candidates: Sequence[Series], on: str) -> tuple[list[Series], list[str]]:
    """Return the series with two sizes, and name the others. Raises DataError if none has two."""
    selected = [series for series in candidates if len(series.trials) > 1]
    if not selected:
        raise DataError(
            "nothing-varies",
            "every series has one value of {factor} ({level}): nothing scales",
            "measure at 5 or more, as 1,2,4,8,16",
            factor=on,
            level=", ".join(f"{size:g}" for size in sorted({size for series in candidates for size in series.trials})),
        )
    gone = len(candidates) - len(selected)
    singular, many = "has one value of {factor} and is", "have one value of {factor} and are"
    template = "{n_series} series " + (singular if gone == 1 else many) + " left out"
    return selected, [Message("single-size-excluded", template, n_series=gone, factor=on)] if gone else []
