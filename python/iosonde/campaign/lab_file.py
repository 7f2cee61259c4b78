"""The lab section of an experiment file, read before the file is checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from iosonde.core import yaml_text
from iosonde.foreign.reach import check_reachable

from .document import is_file
from .spec import lab


@dataclass(frozen=True)
class LabFile:
    """``name``: that of its labs, one after another: the file's own key, else the file's name. ``options`` names those
    of the file systems; ``asks``: whether it has a section lab."""

    name: str
    asks: bool = False
    file_systems: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


def lab_file(spec_file: str | None, what: str | None) -> LabFile:
    """Read it from the file that the options name, if it exists."""
    source = spec_file or what
    file = Path(source) if source and (spec_file or is_file(source)) else None
    if file is not None:
        check_reachable(file)
    if file is None or not file.is_file():
        return LabFile("lab")
    data = yaml_text.load(file).data
    section = lab.read_lab_section(data)
    stem = re.sub(r"[^a-z0-9-]+", "-", file.stem.lower()).strip("-")[:31]
    return LabFile(
        str(section.get("name") or stem or "lab"),
        lab.KEY in data,
        tuple(lab.file_systems(data)),
        tuple(section.get(lab.SET) or ()),
    )
