"""Figures in a page of the dashboard: their specifications as JSON that the browser draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iosonde import report


def scripts(specs: Mapping[str, Any]) -> dict[str, Any]:
    """What templates print: ``theme``, ``parts`` that figures share, and each of ``figures`` by the id of its place."""
    whole = {name: report.figures.vocabulary.page_spec(spec) for name, spec in specs.items()}
    parts, figures = report.page.parts.share(whole)
    return {"theme": _script(report.figures.vocabulary.page_config()), "parts": _script(parts),
            "figures": {name: _script(spec) for name, spec in figures.items()}}  # fmt: skip


def _script(value: object) -> object:
    from markupsafe import Markup

    return Markup(report.page.page.json_in_script(value))
