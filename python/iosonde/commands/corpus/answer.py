"""A corpus: results of many systems, measured by many people. Show its spread, what explains it, what stands out, and
the place of one's own result. Runs of one system belong together: each system counts once, and every interval is over
systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.message import Message
from iosonde.core.stored import describe_included_incomplete
from iosonde.core.table import Table
from iosonde.core.verdict import Verdict
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.estimate.clusters import Explained
from iosonde.stats.overview.systems import LEAST, CorpusPhase, Systems, TwoScores

from .parts import Parts, PartsQuery, build_parts
from .ratios import COMMON
from .sentence import describe_corpus
from .systems import (
    add_year_column,
    choose_per_unit,
    choose_system_columns,
    find_year_range,
    list_covariates,
    split_off_own_runs,
)
from .verdicts import build_corpus_verdicts

_Kind = tuple[tuple[str, str], npt.NDArray[np.intp]]  # (operation, metric), its rows


@dataclass(frozen=True)
class HowCorpus:
    """Options of a corpus. ``clusters``: columns that define a system; by default institution and system. ``per``:
    rates are per one of these (``nodes``, ``ranks``); ``''``: as they are. ``mine``: one's own result, a store or a
    condition on this one, as ``submission=mine``; it is excluded from the corpus. ``every``: include rare metrics.
    ``about``: what else is asked (``parts.TOPICS``)."""

    clusters: tuple[str, ...] = ()
    per: str | None = None
    mine: str = ""
    every: bool = False
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Corpus(Answer):
    """Result of a corpus. ``phases`` are in the order of the tool. ``rare``: number of hidden metrics, which few
    systems have or which are a part of another. ``linked``: how much of the metadata rate the bandwidth explains,
    between systems, both by the ``scores``. ``units``: those of covariates' levels. ``parts``: answers on what else was
    asked."""

    name: str
    level: float
    clusters: tuple[str, ...]
    on: tuple[str, ...]
    runs: int
    systems: int
    years: tuple[int, int] | None
    phases: tuple[CorpusPhase, ...]
    rare: int = 0
    linked: Explained | None = None
    scores: tuple[TwoScores, ...] = ()
    warnings: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    parts: Parts = field(default_factory=Parts)

    def content(self) -> dict[str, Any]:
        """As ``iosonde corpus --json``."""
        return {
            "level": self.level,
            "clusters": list(self.clusters),
            "on": list(self.on),
            "runs": self.runs,
            "systems": self.systems,
            "years": self.years,
            "rare": self.rare,
            "phases": [phase.to_json() for phase in self.phases],
            "metadata_by_bandwidth": None if self.linked is None else self.linked.share.to_json(),
            **self.parts.to_json(),
            "sentence": self.sentence,
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per phase."""
        return [
            {
                "operation": phase.operation,
                "metric": phase.metric,
                "unit": phase.unit,
                "per": phase.per,
                "runs": len(phase.values),
                "systems": phase.systems,
                **phase.mean.flat("geometric_mean"),
                **{key: value for p, q in phase.quantiles.items() for key, value in q.flat(f"p{100 * p:g}").items()},
            }
            for phase in self.phases
        ]

    @property
    def single_system_effects(self) -> list[tuple[CorpusPhase, str, Explained]]:
        """Return (metric, covariate, what it explains) if a single system decides the line: the farthest system of each
        covariate, at the metric where it is farthest."""
        by_covariate = group_by_key(
            (name, (phase, name, e))
            for phase in self.phases
            for name, e in phase.explained.items()
            if e.without is not None and e.leverage
        )
        return [max(effects, key=lambda effect: effect[2].leverage or 0.0) for effects in by_covariate.values()]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts: whether each covariate explains a metric, on which side of the median one's own result
        lies, and, if asked, which phases go together."""
        return (*build_corpus_verdicts(self.phases), *self.parts.verdicts)

    @property
    def sentence(self) -> str:
        """Describe how far systems differ, what explains it, and where one's own result lies."""
        return describe_corpus(self.phases, self.on, self.years, self.parts.sentence)


def corpus(source: Source, query: ResponseQuery, how: HowCorpus | None = None) -> Corpus:
    """Analyse the corpus in a store or a table of results. Raises InputError, DataError."""
    how = how or HowCorpus()
    source.require_campaign(
        "a corpus is a store", "iosonde import -r DIR --store STORE --factors-from PATTERN makes one"
    )
    rest, mine = split_off_own_runs(source, how.mine)
    trials = rest.trials(query.choice)
    rest.require_trials(trials.rows)
    rows = add_year_column(trials.rows, rest)
    clusters = choose_system_columns(rows, how.clusters)
    on = tuple(rows.column(name).name for name in query.on) or list_covariates(rest, rows, clusters)
    work = Systems(rows, clusters, on, choose_per_unit(rows, how.per), query.level)
    own = None if mine is None else mine.trials(query.choice).rows
    kinds = _group_rows_by_metric(rows, query.response)
    shows_all = how.every or query.response
    selected = kinds if shows_all else _select_kinds(kinds, [work.systems(at) for _, at in kinds])
    return Corpus(
        source.name,
        query.level,
        clusters,
        on,
        len(set(rows.columns["run"].values)),
        work.systems(np.arange(len(rows))),
        find_year_range(rows),
        tuple(phase for kind, at in selected if (phase := work.phase(kind, at, own)) is not None),
        len(kinds) - len(selected),
        *work.linked(),
        (*trials.warnings, *_list_warnings(rest, rows, work)),
        rest.units(),
        build_parts(rest, mine, work, PartsQuery(how.about, clusters, query.on, selected, bool(shows_all))),
    )


def _select_kinds(every: Sequence[_Kind], systems: Sequence[int]) -> list[_Kind]:
    """Select the metrics of many systems that a tool's list has, without rates of phases with a bandwidth, and parts of
    a phase (``mdtest_easy_write_tree_creation``)."""
    least = min(max(LEAST, COMMON * max(systems)), max(systems))
    kinds = [kind for kind, n in zip(every, systems, strict=True) if n >= least]
    operations = {kind[0] for kind, _ in kinds}
    fast = {kind[0] for kind, _ in kinds if kind[1] == "bandwidth_last_done"}
    return [
        (kind, at)
        for kind, at in kinds
        if not (kind[0] in fast and kind[1] == "rate_last_done")
        and not any(kind[0].startswith(f"{other}_") for other in operations)
    ]


def _group_rows_by_metric(rows: Table, operations: Sequence[str]) -> list[_Kind]:
    """Map (operation, metric) to its rows, in the order in which the tools print them. Raises InputError."""
    kinds = [((str(key[0]), str(key[1])), np.sort(at)) for key, at in rows.groups(["operation", "metric"])]
    for text in operations:
        if not any(text in (kind[0], " ".join(kind)) for kind, _ in kinds):
            raise InputError(
                "unknown-operation",
                "the corpus has no '{operation}'",
                "there are: {operations}",
                operation=text,
                operations=", ".join(dict.fromkeys(kind[0] for kind, _ in kinds))[:400],
            )
    names = set(operations)
    chosen = (entry for entry in kinds if not names or names & {entry[0][0], " ".join(entry[0])})
    return sorted(chosen, key=lambda entry: int(entry[1][0]))


def _list_warnings(source: Source, rows: Table, work: Systems) -> Iterator[str]:
    run_ids, first = np.unique(rows.columns["run"].values.astype(str), return_index=True)
    ids = set(run_ids.tolist())
    if text := describe_included_incomplete([run for run in source.runs if run.id in ids]):
        yield text
    if work.per and (lacking := int(np.sum(~np.isfinite(work.size[first])))):
        template = "{runs} of {n_runs} lack {per} and are not in rates per {unit}: {spell.per:none} includes them"
        values = {"runs": format_count(lacking, "run"), "n_runs": len(first), "per": work.per}
        yield Message("missing-size", template, unit=work.per.removesuffix("s"), **values)
