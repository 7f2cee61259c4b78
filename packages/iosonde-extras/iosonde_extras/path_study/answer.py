"""Studies of paths: the time of each condition, the conditions of each pattern's operations, and losses. Other
diagnoses use ``studies(source)``, the models of a store's path studies. Each assigns any operation to a condition by
its size and time (``models[direction].assign``)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.commands.path_study import PathStudy
from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import level_to_count
from iosonde.core.units import format_size
from iosonde.data.source import Source
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import Spec

from . import figure, text
from . import models as path_models
from .drawn import DrawnPaths, drawn_paths
from .models import PathCell, PathModels
from .names import CACHED, FACTORS, OPERATION, UNCACHED, WORKLOAD
from .study_tables import Study, StudyTables

_RESIDENT = 0.99
_LIMITS = ("operations", "bytes", "time_limit")
# Text of `measure/rank/cache.py`.
COLD_VERIFIED = "cold-verified"


@dataclass(frozen=True)
class FittedPathStudy(PathStudy):
    """Studies of a store."""

    studies: tuple[StudyTables, ...]
    level: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde time-model STORE --json``."""
        return {"level": self.level, "studies": [self._study(tables) for tables in self.studies]}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per pattern."""
        return [
            {
                "study": tables.study.name,
                "pattern": row.name,
                **{f"share_{k}": v for k, v in row.shares.items()},
                "seconds": row.seconds,
                **row.best_s.flat("best_s"),
                **row.lost.flat("lost"),
            }
            for tables in self.studies
            for row in tables.rows
        ]

    def lines(self) -> Iterator[str]:
        """Return the tables as text."""
        return text.lines(self.studies, self.level)

    def short_lines(self) -> Iterator[str]:
        """Return the largest losses as text."""
        return text.in_short(self.studies)

    def figure(self) -> Figure:
        """Draw time against size, with the line of each condition."""
        return figure.figure(self._drawn)

    def panels(self) -> Spec:
        """Return the panels of the figure."""
        return figure.panels(self._drawn)

    @property
    def _drawn(self) -> list[DrawnPaths]:
        return [paths for tables in self.studies for paths in tables.drawn]

    def _study(self, tables: StudyTables) -> dict[str, Any]:
        lines = [
            {
                "direction": models.direction,
                "condition": line.name,
                "n": line.n,
                "spread": line.spread,
                "largest": line.largest,
                **line.fixed(self.level).flat("fixed_s"),
                **line.per_byte(self.level).flat("s_per_byte"),
            }
            for models in tables.study.models.values()
            for line in models.lines
        ]
        patterns = [
            {
                "pattern": row.name,
                "sizes": list(row.sizes),
                "n_operations": row.n_operations,
                "shares": row.shares,
                "seconds": row.seconds,
                "best_s": row.best_s.to_json(),
                "lost": row.lost.to_json(),
                "intended": list(row.intended),
            }
            for row in tables.rows
        ]
        confusions = [
            {"direction": c.direction, "right": c.right, "cells": c.cells, "shares": c.shares} for c in tables.confusion
        ]
        parts = [
            {"part": part.name, **part.fixed_s.flat("fixed_s"), **part.per_byte.flat("s_per_byte")}
            for part in tables.parts
        ]
        return {
            "study": tables.study.name,
            "notes": list(tables.study.notes),
            "conditions": lines,
            "patterns": patterns,
            "told_apart": confusions,
            "parts": parts,
        }


def path_study(source: Source, level: float) -> PathStudy:
    """Return the tables of every study in the store. Raises DataError if there is none."""
    all_studies = studies(source)
    if not all_studies:
        raise DataError(
            "no-path-study",
            "{name} holds no study of paths",
            "measure one: iosonde run {workload} --target DIR",
            name=source.name,
            workload=WORKLOAD,
        )
    return FittedPathStudy(tuple(_build_tables(study, level) for study in all_studies), level)


def build_path_study(source: Source, level: float, names: Sequence[str]) -> PathStudy | None:
    """Return the tables of a store's studies, if they have operations in ``names`` (none: all); None if no study has
    sizes enough for a line."""
    if names and OPERATION not in names:
        return None
    fitted = [study for study in studies(source) if study.models]
    return FittedPathStudy(tuple(_build_tables(study, level) for study in fitted), level) if fitted else None


def _build_tables(study: Study, level: float) -> StudyTables:
    reads = study.models.get("read")
    return StudyTables(
        study,
        tuple(path_models.rows(study.cells, study.models, level)),
        tuple(path_models.measure_confusion(study.cells, models) for models in study.models.values()),
        tuple(path_models.parts(reads, level)) if reads else (),
        tuple(drawn_paths(study.name, study.cells, models) for models in study.models.values()),
    )


def studies(source: Source) -> list[Study]:
    """Return the studies of a store; its operations are read, one run at a time."""
    groups: dict[str, list[tuple[StoredRun, StoredPhase]]] = {}
    for run in source.runs:
        for phase in run.phases if run.counts else ():
            if set(FACTORS) <= run.factors.keys() and not phase.is_command and run.n_operations:
                groups.setdefault(_setting(source, run), []).append((run, phase))
    return [_build_study(source, name, members) for name, members in groups.items()]


def _setting(source: Source, run: StoredRun) -> str:
    """Return the varying factors outside the study's own."""
    others = [name for name in source.varying_factors.names if name not in (*FACTORS, *_LIMITS)]
    return ", ".join(f"{name}={level}" for name in others if (level := run.level(name)) is not None)


def _build_study(source: Source, name: str, members: list[tuple[StoredRun, StoredPhase]]) -> Study:
    cells = []
    for run, phase in members:
        rows = source.operations(run.id)
        cells += [cell for cell in [_cell(run, phase, rows[rows["phase"] == phase.index])] if cell.seconds.size]
    models = path_models.fit(cells)
    return Study(name, tuple(cells), models, tuple(_notes(cells, models)))


def _cell(run: StoredRun, phase: StoredPhase, rows: npt.NDArray[Any]) -> PathCell:
    rows = rows[(rows["status"] == 0) & (rows["size"] > 0)]
    state, direction, memory, place = (str(run.factors[name]) for name in FACTORS[:4])
    size, seconds = level_to_count(run.factors["access_size"]), np.maximum(rows["duration_ns"], 1) / 1e9
    return PathCell(direction, state, memory, place, size, seconds, _find_first_touches(rows), _verified(state, phase))


def _find_first_touches(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which accesses are the first of their rank to the page that they begin in."""
    pages = rows["offset"] // path_models.PAGE + (rows["rank"].astype(np.uint64) << np.uint64(48))
    first = np.zeros(rows.size, bool)
    first[np.unique(pages, return_index=True)[1]] = True
    return first


def _verified(state: str, phase: StoredPhase) -> bool:
    """Return whether the cache state is verified, or needs no verification: no file, a new one, or a scripted
    machine."""
    cache = phase.cache
    if not cache:
        return True
    if state == UNCACHED:
        return str(cache["state"]) == COLD_VERIFIED
    return float(cache["resident_bytes"]) >= _RESIDENT * float(cache["bytes"])


def _notes(cells: list[PathCell], models: dict[str, PathModels]) -> Iterator[str]:
    for state, why in (
        (UNCACHED, "the files were not verifiably dropped from the cache"),
        (CACHED, "the cache did not hold the files"),
    ):
        mine = [cell for cell in cells if cell.state == state]
        wrong = [cell for cell in mine if not cell.verified]
        if wrong:
            template = (
                "{n_unverified} of {n_cells} cells are not certainly {state}, and no line is fitted to them: " + why
            )
            yield Message("unverified-state", template, n_unverified=len(wrong), n_cells=len(mine), state=state)
    for direction in models:
        fitted_states = {path_models.state_of(line.name) for line in models[direction].lines}
        states = {
            cell.state for cell in cells if cell.direction == direction and cell.reference is not None
        } - fitted_states
        for state in sorted(states):
            template = "{direction}s that are {state}: too few cells for a line; measure more, as {workload}:200"
            yield Message("too-few-cells", template, direction=direction, state=state, workload=WORKLOAD)
    usual = max((cell.seconds.size for cell in cells), default=0)
    fewer = {cell.access_size for cell in cells} - {cell.access_size for cell in cells if cell.seconds.size >= usual}
    if fewer:
        template = "accesses of {size} and more: fewer than {usual:,} operations a cell (bytes, time_limit)"
        yield Message("fewer-operations", template, size=format_size(min(fewer)), usual=usual)
