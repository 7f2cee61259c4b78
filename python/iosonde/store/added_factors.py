"""Factors that stored runs received later: ``factors.json``, separate from the runs, which never change.

They come from the places of imported files: a part of the path that differs between files of one setting, or a pattern
of the user. A reader of the store sees them among the factors of each run; an added factor replaces one of the same
name.
"""

import contextlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.types import FactorValue

from .files import Disk
from .side_document import SideDocument

FILE = "factors.json"
_LEVEL = (str, int, float)  # a truth value is an int


@dataclass(frozen=True)
class AddedFactor:
    """A factor of stored runs: ``levels`` maps the id of a run to its level.

    ``part``: the part of the place of a file that it follows, such as ``dir1``; '' if a pattern or manifest gave it.
    ``is_candidate``: an import proposed it, and nobody confirmed it; the next import may find others instead.
    ``renamed``: text of a level → the level that runs have instead of it, also those of later imports."""

    name: str
    part: str = ""
    is_candidate: bool = False
    levels: Mapping[str, FactorValue] = field(default_factory=dict)
    renamed: Mapping[str, FactorValue] = field(default_factory=dict)

    def rename_level(self, level: FactorValue) -> FactorValue:
        """Return the level that runs have instead of this one, or this one."""
        return self.renamed.get(str(level), level)

    def with_renamed_level(self, old: str, new: FactorValue) -> "AddedFactor":
        """Return the factor, confirmed, with ``new`` instead of the level whose text is ``old``."""

        def change(level: FactorValue) -> FactorValue:
            return new if str(level) == old else level

        renamed = {text: change(level) for text, level in self.renamed.items()} | {old: new}
        levels = {run: change(level) for run, level in self.levels.items()}
        return replace(self, is_candidate=False, levels=levels, renamed=renamed)


@dataclass(frozen=True)
class AddedDocument:
    """Content of ``factors.json``. ``dropped``: the parts of places that the user does not want as factors."""

    factors: tuple[AddedFactor, ...] = ()
    dropped: tuple[str, ...] = ()

    def find(self, name: str) -> AddedFactor | None:
        """Return the factor of this name, None if it was not added."""
        return next((factor for factor in self.factors if factor.name == name), None)

    def with_levels(self, name: str, levels: Mapping[str, FactorValue]) -> "AddedDocument":
        """Return the document with these levels of a confirmed factor; they replace earlier ones of the same runs."""
        old = self.find(name) or AddedFactor(name)
        renamed = {run: old.rename_level(level) for run, level in levels.items()}
        return self.with_factor(replace(old, is_candidate=False, levels={**old.levels, **renamed}))

    def with_factor(self, factor: AddedFactor) -> "AddedDocument":
        """Return the document with this factor instead of that of the same name."""
        return replace(self, factors=(*(other for other in self.factors if other.name != factor.name), factor))

    def merged(self, other: "AddedDocument", run_ids: set[str]) -> "AddedDocument":
        """Return both, as far as they are about these runs. Levels of this document take precedence."""
        factors = {factor.name: factor for factor in self.factors}
        for factor in other.factors:
            levels = {run: level for run, level in factor.levels.items() if run in run_ids}
            own = factors.get(factor.name)
            if own is not None:
                candidate = own.is_candidate and factor.is_candidate
                others = {text: own.rename_level(level) for text, level in factor.renamed.items()}
                renamed = others | dict(own.renamed)
                levels = {run: own.rename_level(level) for run, level in levels.items()} | dict(own.levels)
                factors[factor.name] = replace(own, is_candidate=candidate, levels=levels, renamed=renamed)
            elif levels:
                factors[factor.name] = replace(factor, levels=levels)
        return AddedDocument(tuple(factors.values()), tuple(sorted({*self.dropped, *other.dropped})))


class AddedFactors(SideDocument[AddedDocument]):
    """The added factors of a store."""

    FILE = FILE
    LOST = "the factors that runs received later are unknown"

    def __init__(self, store: Path, disk: Disk) -> None:
        super().__init__(store, disk)
        self._cached_state: object = ()
        self._levels: dict[str, dict[str, FactorValue]] = {}

    def build_empty(self) -> AddedDocument:
        """Return no factors."""
        return AddedDocument()

    def decode_content(self, content: dict[str, Any]) -> AddedDocument:
        """Return the factors of a decoded file."""
        return _document_from_plain(content)

    def encode_content(self, content: AddedDocument) -> dict[str, Any]:
        """Return the factors as plain data."""
        return _document_to_plain(content)

    def apply(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a run.json with the added factors of its run."""
        levels = self._read_levels().get(document["id"])
        return {**document, "factors": {**document["factors"], **levels}} if levels else document

    def mark_run(self, run_id: str) -> str:
        """Return a mark that differs with the added factors of a run; '' if it has none."""
        levels = self._read_levels().get(run_id)
        return f"+{zlib.crc32(repr(sorted(levels.items())).encode('utf-8', 'surrogatepass')):x}" if levels else ""

    def _read_levels(self) -> dict[str, dict[str, FactorValue]]:
        """Return run → its added factors; none if the file is damaged, which ``Store.problems`` reports."""
        state = self.state
        if state != self._cached_state:
            levels: dict[str, dict[str, FactorValue]] = {}
            with contextlib.suppress(DataError):
                for factor in self.read().factors:
                    for run, level in factor.levels.items():
                        levels.setdefault(run, {})[factor.name] = level
            self._cached_state, self._levels = state, levels
        return self._levels


def _document_to_plain(document: AddedDocument) -> dict[str, Any]:
    factors = {
        factor.name: {
            "part": factor.part,
            "is_candidate": factor.is_candidate,
            "levels": dict(factor.levels),
            **({"renamed": dict(factor.renamed)} if factor.renamed else {}),
        }
        for factor in document.factors
    }
    return {"added": factors, "dropped": list(document.dropped)}


def _document_from_plain(content: dict[str, Any]) -> AddedDocument:
    """Raises AttributeError, KeyError, TypeError if the content is none of ``_document_to_plain``."""
    factors = tuple(
        AddedFactor(
            name, item["part"], item["is_candidate"], dict(item["levels"].items()), dict(item.get("renamed") or {})
        )
        for name, item in content["added"].items()
    )
    dropped = tuple(content["dropped"])
    texts = (*dropped, *(factor.part for factor in factors))
    levels = [level for factor in factors for level in (*factor.levels.values(), *factor.renamed.values())]
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(level, _LEVEL) for level in levels):
        raise TypeError("a part is no text, or a level neither text nor a number")
    return AddedDocument(factors, dropped)
