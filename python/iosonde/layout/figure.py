"""A figure as data: its specification, title, and description in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.core.option_kinds import parse_figure_format
from iosonde.core.whole_file import replace_file
from iosonde.layout.text import escape

from .figure_files import render_image
from .vocabulary import CONFIG, Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
MIME_TYPE = "application/vnd.vegalite.v6+json"


@dataclass(frozen=True, repr=False)
class Figure:
    """A figure. ``spec`` is Vega-Lite without title and theme, which depend on where it is shown.
    ``description`` states in a sentence what is drawn, for readers who cannot see it.
    """

    spec: Spec
    title: str
    description: str

    def __repr__(self) -> str:
        """Describe the figure in words, where it cannot be shown."""
        return f"Figure: {escape(self.description)}"

    def to_dict(self) -> Spec:
        """Return a complete Vega-Lite specification, with its title and the theme for light paper."""
        return {"$schema": SCHEMA, "config": CONFIG, **self.titled(), "description": escape(self.description)}

    def titled(self) -> Spec:
        """Return the specification with its title inside."""
        return {"title": build_heading(self.title), **self.spec} if self.title else self.spec

    def image(self, form: str) -> bytes:
        """Return the content of a file; ``form`` is ``png``, ``svg`` or ``pdf``."""
        return render_image(self.to_dict(), form)

    def save(self, path: str | Path) -> Path:
        """Write the figure as ``.png``, ``.svg`` or ``.pdf``, atomically. Raises InputError."""
        return replace_file(Path(path), self.image(parse_figure_format(path)))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Return what a notebook shows: the interactive figure, or the SVG as a fallback."""
        return {MIME_TYPE: self.to_dict(), "image/svg+xml": self.image("svg").decode()}


def build_heading(text: str | Sequence[str]) -> Spec:
    """Build a title of one or more lines, as plain text."""
    return {"text": [escape(line) for line in (text.split("\n") if isinstance(text, str) else list(text))]}


def combine_figures(figures: Sequence[Figure], columns: int, description: str = "") -> Figure:
    """Combine figures into one, row by row; a single one is returned as it is."""
    if len(figures) == 1:
        return figures[0]
    spec: dict[str, Any] = {
        "concat": [
            {key: value for key, value in figure.titled().items() if key != "params"}  # a zoom needs a unique name
            for figure in figures
        ],
        "columns": columns,
    }
    spec["resolve"] = {"scale": dict.fromkeys(("x", "y", "color", "shape", "strokeDash"), "independent")}
    return Figure(spec, "", description or " ".join(figure.description for figure in figures))
