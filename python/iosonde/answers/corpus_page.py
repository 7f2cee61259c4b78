"""What the page of a corpus shows besides the answer: by which covariate which number is drawn, and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iosonde.core.words import counted
from iosonde.stats.overview.systems import CorpusPhase

from .corpus import Corpus
from .page.content.tables import DataTable, Value, ends

_MOST = 6  # covariates that are drawn


@dataclass(frozen=True)
class ByCovariate:
    """A number, and a covariate that explains some of it for certain."""

    phase: CorpusPhase
    name: str


@dataclass(frozen=True)
class CorpusPage:
    """The answer, what is drawn ``by`` a covariate, ``tables`` to read, and ``every`` number of every run as a file."""

    corpus: Corpus
    by: tuple[ByCovariate, ...]
    tables: tuple[DataTable, ...]
    every: DataTable

    @property
    def headline(self) -> str:
        """``io500: 394 runs of 180 systems, 2017 to 2025``."""
        made = self.corpus
        when = f", {made.years[0]} to {made.years[1]}" if made.years else ""
        return f"{made.name}: {counted(made.runs, 'run')} of {counted(made.systems, 'system')}{when}"

    def to_json(self) -> dict[str, Any]:
        """As ``iosonde corpus --json``."""
        return self.corpus.to_dict()


def corpus_page(made: Corpus) -> CorpusPage:
    """The page of a corpus."""
    tables = (_numbers(made), _explained(made), _standing_out(made))
    return CorpusPage(made, tuple(_by(made)), tuple(one for one in tables if one.rows), _every(made))


def _by(made: Corpus) -> Iterator[ByCovariate]:
    """Each covariate with the number that it explains most of; those that explain most first."""
    best = []
    for name in made.on:
        told = [(one.explained[name].share.low or 0.0, one) for one in made.phases]
        low, phase = max(told, key=lambda found: found[0], default=(0.0, None))
        if phase is not None and low > 0:
            best.append((low, ByCovariate(phase, name)))
    yield from (one for _, one in sorted(best, key=lambda found: -found[0])[:_MOST])


def _numbers(made: Corpus) -> DataTable:
    shares = tuple(made.phases[0].quantiles) if made.phases else ()
    names = [f"p{100 * p:g}{end}" for p in shares for end in ("", " low", " high")]
    rows = [
        (one.title, one.unit, one.systems, len(one.values), *(end for p in shares for end in ends(one.quantiles[p])),
         *ends(one.mean), None if one.placed is None else one.placed.value,
         *ends(None if one.placed is None else one.placed.share))
        for one in made.phases
    ]  # fmt: skip
    columns = ("number", "unit", "systems", "runs", *names, "geometric mean", "mean low", "mean high", "yours",
               "share below yours", "share low", "share high")  # fmt: skip
    return DataTable("Every number over systems", columns, tuple(rows))


def _explained(made: Corpus) -> DataTable:
    rows: list[tuple[Value, ...]] = [
        (one.title, name, found.levels, *ends(found.share), *ends(found.slope))
        for one in made.phases for name, found in one.explained.items()
    ]  # fmt: skip
    columns = ("number", "covariate", "levels", "share", "share low", "share high", "times per unit", "times low",
               "times high")  # fmt: skip
    return DataTable("What each covariate explains alone", columns, tuple(rows))


def _standing_out(made: Corpus) -> DataTable:
    rows = tuple((out.system, one.title, out.times) for one in made.phases for out in one.standing_out)
    return DataTable("Systems that stand out", ("system", "number", "times the median system"), tuple(sorted(rows)))


def _every(made: Corpus) -> DataTable:
    rows = tuple((system, one.title, one.unit, value) for one in made.phases
                 for system, value in zip(one.names, one.values, strict=True))  # fmt: skip
    return DataTable("Every run", ("system", "number", "unit", "value"), rows)
