"""Page of a corpus: which metric is drawn by which covariate, and its tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iosonde.core.words import format_count
from iosonde.page.tables import DataTable, Value, iterate_ends
from iosonde.stats.overview.systems import CorpusPhase

from .answer import Corpus

_MOST = 6  # covariates that are drawn


@dataclass(frozen=True)
class ByCovariate:
    """A metric, and a covariate that certainly explains some of it."""

    phase: CorpusPhase
    name: str


@dataclass(frozen=True)
class CorpusPage:
    """The answer, the figures ``by`` covariate, the ``tables``, and ``every`` number of every run as a file."""

    corpus: Corpus
    by: tuple[ByCovariate, ...]
    tables: tuple[DataTable, ...]
    every: DataTable

    @property
    def headline(self) -> str:
        """``io500: 394 runs of 180 systems, 2017 to 2025``."""
        corpus = self.corpus
        when = f", {corpus.years[0]} to {corpus.years[1]}" if corpus.years else ""
        return f"{corpus.name}: {format_count(corpus.runs, 'run')} of {format_count(corpus.systems, 'system')}{when}"

    def to_json(self) -> dict[str, Any]:
        """As ``iosonde corpus --json``."""
        return self.corpus.to_dict()


def build_corpus_page(corpus: Corpus) -> CorpusPage:
    """Build the page of a corpus."""
    tables = (
        _tabulate_numbers(corpus),
        _tabulate_explained(corpus),
        _tabulate_outliers(corpus),
        _tabulate_pairs(corpus),
        _tabulate_ratios(corpus),
    )
    return CorpusPage(
        corpus,
        tuple(_select_covariates(corpus)),
        tuple(table for table in tables if table.rows),
        _tabulate_runs(corpus),
    )


def _select_covariates(corpus: Corpus) -> Iterator[ByCovariate]:
    """Yield each covariate with the metric that it explains most; the most explanatory first."""
    best = []
    for name in corpus.on:
        shares = [(candidate.explained[name].share.low or 0.0, candidate) for candidate in corpus.phases]
        low, phase = max(shares, key=lambda entry: entry[0], default=(0.0, None))
        if phase is not None and low > 0:
            best.append((low, ByCovariate(phase, name)))
    yield from (covariate for _, covariate in sorted(best, key=lambda entry: -entry[0])[:_MOST])


def _tabulate_numbers(corpus: Corpus) -> DataTable:
    shares = tuple(corpus.phases[0].quantiles) if corpus.phases else ()
    rows = [
        (
            phase.title,
            phase.unit,
            phase.systems,
            len(phase.values),
            *(end for p in shares for end in iterate_ends(phase.quantiles[p])),
            *iterate_ends(phase.mean),
            None if phase.placed is None else phase.placed.value,
            *iterate_ends(None if phase.placed is None else phase.placed.share),
        )
        for phase in corpus.phases
    ]
    columns = (
        "number",
        "unit",
        "systems",
        "runs",
        *[f"p{100 * p:g}{end}" for p in shares for end in ("", " low", " high")],
        "geometric mean",
        "mean low",
        "mean high",
        "yours",
        "share below yours",
        "share low",
        "share high",
    )
    return DataTable("Every number over systems", columns, tuple(rows))


def _tabulate_explained(corpus: Corpus) -> DataTable:
    rows: list[tuple[Value, ...]] = [
        (phase.title, name, explained.levels, *iterate_ends(explained.share), *iterate_ends(explained.slope))
        for phase in corpus.phases
        for name, explained in phase.explained.items()
    ]
    columns = (
        "number",
        "covariate",
        "levels",
        "share",
        "share low",
        "share high",
        "times per unit",
        "times low",
        "times high",
    )
    return DataTable("Share explained by each covariate alone", columns, tuple(rows))


def _tabulate_outliers(corpus: Corpus) -> DataTable:
    rows = tuple((out.system, phase.title, out.times) for phase in corpus.phases for out in phase.standing_out)
    return DataTable("Systems that stand out", ("system", "number", "times the median system"), tuple(sorted(rows)))


def _tabulate_pairs(corpus: Corpus) -> DataTable:
    pairs = () if corpus.parts.dependence is None else corpus.parts.dependence.pairs
    rows = tuple(
        (
            *pair.names,
            str(pair.state),
            pair.total.rho.n,
            *(
                number
                for link in (pair.total, pair.per_unit, pair.equal_size)
                for number in (*iterate_ends(None if link is None else link.rho), None if link is None else link.q)
            ),
        )
        for pair in pairs
    )
    forms = ("whole", "per unit", "equal size")
    columns = [f"{form}{end}" for form in forms for end in ("", " low", " high", " q")]
    return DataTable("Rank correlations of phases", ("phase", "with", "state", "systems", *columns), rows)


def _tabulate_ratios(corpus: Corpus) -> DataTable:
    rows = tuple(
        (
            ratio.operation,
            ratio.what,
            ratio.level,
            ratio.median.n,
            ratio.runs,
            *iterate_ends(ratio.median),
            *iterate_ends(ratio.high),
            ratio.largest,
            ratio.largest_system,
        )
        for ratios in corpus.parts.ratios.values()
        for ratio in ratios
    )
    ends = [f"{name}{end}" for name in ("median", "p90") for end in ("", " low", " high")]
    columns = ("number", "ratio", corpus.parts.by or "level", "systems", "runs", *ends, "largest", "system")
    return DataTable("Ratios over systems", columns, rows)


def _tabulate_runs(corpus: Corpus) -> DataTable:
    rows = tuple(
        (system, phase.title, phase.unit, value)
        for phase in corpus.phases
        for system, value in zip(phase.names, phase.values, strict=True)
    )
    return DataTable("Every run", ("system", "number", "unit", "value"), rows)
