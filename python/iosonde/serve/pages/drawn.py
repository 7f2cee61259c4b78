"""Figures in a page of the dashboard: JSON specifications that the browser draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde.layout import vocabulary as layout_vocabulary
from iosonde.page import carried
from iosonde.page.parts import share


def scripts(specs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template values: ``theme``, ``parts`` that figures share, and each of ``figures`` by the id of its
    place."""
    parts, figures = share({name: layout_vocabulary.page_spec(spec) for name, spec in specs.items()})
    return {
        "theme": _embed_json(layout_vocabulary.page_config()),
        "parts": _embed_json(parts),
        "figures": {name: _embed_json(spec) for name, spec in figures.items()},
    }


def _embed_json(value: object) -> object:
    from markupsafe import Markup

    return Markup(carried.json_in_script(value))
