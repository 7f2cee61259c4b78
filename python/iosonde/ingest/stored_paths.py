"""Factors from the paths of imported files, for all runs of a store: those that the user requests for stored runs, and
the parts of paths that tell files of one setting apart."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.schema import is_setting_name
from iosonde.core.stored import StoredRun
from iosonde.core.types import FactorValue
from iosonde.core.words import shorten_list
from iosonde.importers.reading import parse_factor_value
from iosonde.store import Store
from iosonde.store.added_factors import AddedDocument, AddedFactor

from .path_candidates import (
    NUMBERED,
    UNIQUE,
    PathRepetitions,
    PlacedRun,
    find_path_factors,
    read_level,
)
from .path_levels import strip_name
from .path_parts import read_parts

__all__ = ["RenamedLevel", "StoredPaths", "apply_paths", "change_factors", "factor_to_json"]
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class StoredPaths:
    """What the paths of a store's files say. ``candidates``: parts that are factors until the user decides.
    ``repetitions``: parts that count as repetitions. ``n_changed``: stored runs that received the requested factors
    ``changed``; ``confirmed``: factors that runs received and that are no candidates; ``dropped``: parts that the user
    does not want as factors; ``pending``: candidates that the next import stores, whose levels are still pooled;
    ``aliases``: name of a candidate → the setting with which it always changes."""

    candidates: tuple[AddedFactor, ...] = ()
    repetitions: tuple[PathRepetitions, ...] = ()
    n_changed: int = 0
    changed: tuple[str, ...] = ()
    confirmed: tuple[AddedFactor, ...] = ()
    dropped: tuple[str, ...] = ()
    pending: tuple[AddedFactor, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def factor_sentences(self) -> tuple[str, ...]:
        """Return a sentence on each candidate."""
        return tuple(
            self.describe_alias(factor)
            or _describe_difference(factor.part, factor.levels.values(), f"factor {factor.name}")
            for factor in self.candidates
        )

    def describe_alias(self, factor: AddedFactor) -> str:
        """Return a sentence on a factor that always changes with a setting, '' if it does not."""
        setting = self.aliases.get(factor.name)
        if not setting:
            return ""
        levels = shorten_list(dict.fromkeys(factor.levels.values()))
        return f"{factor.name} ({levels}) always changes with {setting}: their effects cannot be separated"

    @property
    def repetition_sentences(self) -> tuple[str, ...]:
        """Return a sentence on each part that tells repetitions apart."""
        rules = {UNIQUE: "one file each", NUMBERED: "numbers or dates"}
        return tuple(
            _describe_difference(entry.part, entry.levels, f"{rules[entry.rule]}, so repetitions")
            for entry in self.repetitions
        )

    def to_dict(self) -> dict[str, Any]:
        """Return these keys of ``iosonde import --json``."""
        return {
            "path_factors": [factor_to_json(factor) for factor in self.candidates],
            "path_repetitions": [
                {"part": entry.part, "levels": list(entry.levels), "rule": entry.rule} for entry in self.repetitions
            ],
            "factors_added": {"runs": self.n_changed, "names": list(self.changed)},
        }


def _describe_difference(part: str, levels: Iterable[FactorValue], what: str) -> str:
    return f"files of one setting differ in {part} ({shorten_list(levels)}): {what}"


def factor_to_json(factor: AddedFactor) -> dict[str, Any]:
    """Return an added factor as ``--json`` writes it."""
    levels = sorted(set(factor.levels.values()), key=lambda level: (isinstance(level, str), level))
    return {"name": factor.name, "part": factor.part or None, "levels": levels, "runs": len(factor.levels)}


def apply_paths(store: Store, requested: Mapping[str, Mapping[str, FactorValue]] | None = None) -> StoredPaths:
    """Give stored runs the ``requested`` factors (prefix of the ids of a file's runs → factors), and find the
    candidates anew. Runs themselves never change. Raises DataError, SystemFaultError."""
    levels: dict[str, dict[str, FactorValue]] = {}

    def add_levels(document: AddedDocument, runs: Sequence[StoredRun]) -> AddedDocument:
        levels.update(_select_changed_levels(document, runs, requested or {}))
        for name, run_levels in levels.items():
            document = document.with_levels(name, run_levels)
        return document

    paths = _edit_factors(store, add_levels)
    n_changed = len({run for run_levels in levels.values() for run in run_levels})
    return replace(paths, n_changed=n_changed, changed=tuple(levels))


@dataclass(frozen=True)
class RenamedLevel:
    """A level ``old`` of an added factor, as text, that becomes ``new``."""

    factor: str
    old: str
    new: str


def change_factors(
    store: Store, names: Mapping[str, str], dropped: Sequence[str], renamed: Sequence[RenamedLevel] = ()
) -> StoredPaths:
    """Confirm factors (part of paths, or factor that was added → name), drop others and rename levels, then find the
    candidates anew. A name that exists receives the levels that it lacks; a level that exists is merged with the
    renamed one. Without any the store stays as it is. Raises InputError for what is none of these, DataError,
    SystemFaultError."""
    if not names and not dropped and not renamed:
        runs = _list_imported_runs(store)
        document = store.added_factors.read()
        paths = _find_candidates(document, runs)
        stored = {factor.name for factor in document.factors}
        pending = tuple(factor for factor in paths.candidates if factor.name not in stored)
        return replace(_with_factors(paths, document), pending=pending)

    def edit(document: AddedDocument, runs: Sequence[StoredRun]) -> AddedDocument:
        for part, name in names.items():
            document = _confirm(document, runs, part, name)
        for name in dropped:
            document = _drop(document, runs, name)
        for level in renamed:
            document = _rename_level(document, runs, level)
        return document

    return _edit_factors(store, edit)


def _list_imported_runs(store: Store) -> list[StoredRun]:
    return [run for run in map(StoredRun, store.runs()) if run.imported and run.import_file]


def _edit_factors(store: Store, edit: Callable[[AddedDocument, Sequence[StoredRun]], AddedDocument]) -> StoredPaths:
    paths = StoredPaths()

    def edit_all(document: AddedDocument) -> AddedDocument:
        nonlocal paths
        # Listed under the lock: another import may just have stored runs and their candidates.
        runs = _list_imported_runs(store)
        document = _extend_confirmed(edit(document, runs), runs)
        paths = _find_candidates(document, runs)
        confirmed = (factor for factor in document.factors if not factor.is_candidate)
        return replace(document, factors=tuple(sorted((*confirmed, *paths.candidates), key=lambda entry: entry.name)))

    document = store.added_factors.change(edit_all)
    return _with_factors(paths, document)


def _with_factors(paths: StoredPaths, document: AddedDocument) -> StoredPaths:
    """Return the paths with the factors of a document, for those that were found in it."""
    candidates = tuple(factor for factor in document.factors if factor.is_candidate)
    confirmed = tuple(factor for factor in document.factors if not factor.is_candidate)
    return replace(paths, candidates=candidates, confirmed=confirmed, dropped=document.dropped)


def _confirm(document: AddedDocument, runs: Sequence[StoredRun], part: str, name: str) -> AddedDocument:
    """Return the document with an added factor, or a part of paths, as the factor ``name``."""
    if not is_setting_name(name):
        raise InputError(
            "invalid-name",
            "'{name}' is a fact of one execution: analyses would pool its levels",
            "choose another name, such as {name}_of_path",
            name=name,
        )
    if name == "tool":
        raise InputError(
            "invalid-name",
            "'tool' is the factor of the program that measured",
            "choose another name, such as system",
        )
    if not _NAME.fullmatch(name):
        raise InputError(
            "invalid-name", "'{name}' cannot be the name of a factor", "use letters, digits and _", name=name
        )
    old = document.find(part)
    levels = old.levels if old else _read_levels(part, runs)
    if not levels:
        raise _build_unknown_error(document, runs, part)
    existing = document.find(name) if name != part else None
    own = {run.id for run in runs if name != part and name in run.factors}
    missing = {run: level for run, level in levels.items() if run not in own}
    if not missing:
        raise InputError(
            "duplicate-name",
            "all runs of {part} have a factor '{name}' already",
            "choose another name",
            part=part,
            name=name,
        )
    others = tuple(factor for factor in document.factors if factor.name not in (part, name))
    source = old.part if old else part
    confirmed = existing or (replace(old, name=name) if old else AddedFactor(name, source))
    received = {run: confirmed.rename_level(level) for run, level in missing.items()}
    confirmed = replace(confirmed, is_candidate=False, levels=received | dict(confirmed.levels))
    dropped = tuple(entry for entry in document.dropped if entry not in (source, source.partition(".")[0]))
    return AddedDocument((*others, confirmed), dropped)


def _drop(document: AddedDocument, runs: Sequence[StoredRun], name: str) -> AddedDocument:
    """Return the document without an added factor, or with a part that is never a candidate."""
    factor = document.find(name)
    if factor is None and not _read_levels(name, runs):
        raise _build_unknown_error(document, runs, name)
    part = name
    if factor:
        directory_or_name = factor.part.partition(".")[0]
        part = directory_or_name if name == directory_or_name else factor.part
    dropped = tuple(sorted({*document.dropped, part} - {""}))
    return AddedDocument(tuple(other for other in document.factors if other is not factor), dropped)


def _rename_level(document: AddedDocument, runs: Sequence[StoredRun], renaming: RenamedLevel) -> AddedDocument:
    """Return the document with another level of an added factor, which is confirmed by that."""
    factor = document.find(renaming.factor)
    if factor is None:
        raise _build_unknown_error(document, runs, renaming.factor)
    levels = {str(level): level for level in factor.levels.values()}
    if renaming.old not in levels:
        raise InputError(
            "unknown-level",
            "'{level}' is no level of {factor}",
            "its levels: {levels}",
            level=renaming.old,
            factor=factor.name,
            levels=shorten_list(levels),
        )
    new = levels.get(renaming.new, parse_factor_value(renaming.new))
    return document.with_factor(factor.with_renamed_level(renaming.old, new))


def _read_levels(part: str, runs: Sequence[StoredRun]) -> dict[str, FactorValue]:
    levels = {run: read_level(part, *place) for run, place in _find_places(runs).items()}
    return {run: level for run, level in levels.items() if level is not None}


def _read_levels_like(factor: AddedFactor, runs: Sequence[StoredRun]) -> dict[str, FactorValue]:
    """Return the levels of a factor that follows a part of paths for more runs, in the form of those that it has."""
    levels = _read_levels(factor.part, runs)
    if any(isinstance(level, str) for level in factor.levels.values()):
        return levels
    return {run: parse_factor_value(strip_name(str(level))) for run, level in levels.items()}


def _build_unknown_error(document: AddedDocument, runs: Sequence[StoredRun], name: str) -> InputError:
    if any(name in run.factors for run in runs):
        return InputError(
            "factor-of-runs",
            "'{name}' is a factor of the stored runs themselves, which never change",
            "import the files into another store to leave it out",
            name=name,
        )
    parts = sorted({part for place in _find_places(runs).values() for part in read_parts(*place)})
    names = dict.fromkeys([*(factor.name for factor in document.factors), *parts])
    return InputError(
        "unknown-factor",
        "no added factor and no part of a path is called '{name}'",
        "known: {names}",
        name=name,
        names=", ".join(names) or "none: the store has no imported files",
    )


def _select_changed_levels(
    document: AddedDocument, runs: Sequence[StoredRun], requested: Mapping[str, Mapping[str, FactorValue]]
) -> dict[str, dict[str, FactorValue]]:
    """Return name → run → level of the requested factors that differ from those of the run."""
    levels: dict[str, dict[str, FactorValue]] = {}
    for run in runs:
        prefix = f"{run.id.rpartition('-')[0]}-"
        for name, level in requested.get(prefix, {}).items():
            added = document.find(name)
            if run.factors.get(name) != (added.rename_level(level) if added else level):
                levels.setdefault(name, {})[run.id] = level
    return levels


def _extend_confirmed(document: AddedDocument, runs: Sequence[StoredRun]) -> AddedDocument:
    """Return the document in which new runs have the confirmed factors that follow a part of the path, and no level of
    their own that was renamed."""
    for factor in document.factors:
        new = [run for run in runs if run.id not in factor.levels and not factor.is_candidate]
        own = {run.id: run.factors[factor.name] for run in new if factor.name in run.factors}
        levels = {run: level for run, level in own.items() if str(level) in factor.renamed}
        if factor.part:
            levels |= _read_levels_like(factor, [run for run in new if run.id not in own])
        if levels:
            document = document.with_levels(factor.name, levels)
    return document


def _find_candidates(document: AddedDocument, runs: Sequence[StoredRun]) -> StoredPaths:
    """Return the candidates and repetitions that the paths of the runs show now."""
    old = {factor.name for factor in document.factors if factor.is_candidate}
    confirmed = [factor for factor in document.factors if not factor.is_candidate]
    placed: list[PlacedRun] = []
    taken = {factor.name for factor in confirmed}
    places = _find_places(runs)
    for run in runs:
        # Runs that were added later keep no candidate of their own: names in run.json are the tool's or the user's.
        factors = {name: level for name, level in run.factors.items() if name not in old and name != "repetition"}
        factors |= {factor.name: factor.levels[run.id] for factor in confirmed if run.id in factor.levels}
        taken |= factors.keys()
        cell = (run.experiment, tuple(sorted(factors.items(), key=str)))
        placed.append(PlacedRun(run.id, str(factors.get("tool", run.source)), cell, *places[run.id], factors))
    # The part of a factor whose levels were merged still differs between its files.
    merged = [factor.part for factor in confirmed if factor.part and factor.renamed]
    candidates, repetitions = find_path_factors(placed, taken, (*document.dropped, *merged))
    return StoredPaths(
        tuple(AddedFactor(factor.name, factor.part, True, factor.levels) for factor in candidates),
        tuple(repetitions),
        aliases={factor.name: factor.alias for factor in candidates if factor.alias},
    )


def _find_places(runs: Sequence[StoredRun]) -> dict[str, tuple[str, str]]:
    """Return run → its file, and the path of the outermost imported directory that contains it, without the directories
    that contain all. The same file has the same place, however it was named."""
    recorded = {run.import_directory for run in runs}
    homes = {PurePath(text) for text in recorded if PurePath(text).is_absolute()}
    outermost = {home: [place for place in (home, *home.parents) if place in homes][-1] for home in homes}
    tops = set(outermost.values())
    common = PurePath(os.path.commonpath(tops)) if len(tops) > 1 else next((top.parent for top in tops), PurePath())
    places: dict[str, tuple[str, str]] = {}
    for run in runs:
        home = PurePath(run.import_directory)
        top = outermost.get(home)
        if top is None:
            places[run.id] = run.import_file, run.import_directory
        else:
            file = home.relative_to(top) / run.import_file
            places[run.id] = file.as_posix(), "" if top == common else top.relative_to(common).as_posix()
    return places
