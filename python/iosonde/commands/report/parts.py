"""Sections that commands bring to the page by themselves: those whose ABOUT names one.

``for_page.py`` of such a folder has ``build_part(source, level)``, which returns what the page shows and has, or None;
its ``section.py`` has ``build_section(part)``.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.commands import get_package_name, load_abouts
from iosonde.core.headlines import drop_usual_clock
from iosonde.data.source import Source
from iosonde.page.tables import PageSection

from .content import PagePart


def build_parts(source: Source, level: float) -> dict[str, PagePart]:
    """Return the key of each section → what it shows, without those that have nothing to show."""
    parts = {key: _import_module(folder, "for_page").build_part(source, level) for key, folder in _list_page_folders()}
    return {key: part for key, part in parts.items() if part is not None}


def get_history(parts: Mapping[str, PagePart]) -> str:
    """Return the sentence of a history, which is the result of a page about many nights; '' without one."""
    return drop_usual_clock(str(getattr(parts.get("history"), "sentence", "")))


def build_sections(parts: Mapping[str, PagePart]) -> dict[str, PageSection]:
    """Return the key of each section → how it looks."""
    return {
        key: _import_module(folder, "section").build_section(parts[key])
        for key, folder in _list_page_folders()
        if key in parts
    }


def _list_page_folders() -> Iterator[tuple[str, str]]:
    return ((about.page, folder) for folder, about in load_abouts().items() if about.page)


def _import_module(folder: str, module: str) -> Any:
    return importlib.import_module(f"{get_package_name(folder)}.{module}")
