"""A page of figures: its template with the style, the scripts and the specifications of its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from iosonde.layout.vocabulary import page_config
from iosonde.page.carried import asset, json_in_script, page_policy

from .carried import share
from .environment import make_environment
from .library import library


def drawn_page(template: str, specs: Mapping[str, Any], say: Callable[[str], None], **words: Any) -> str:
    """Render a ``template`` with ``words`` and ``specs`` of figures by name as HTML.
    ``say`` reports what made this slower than necessary.
    """
    from markupsafe import Markup

    drawing, script = library(say), asset("page.js")
    parts, figures = share(specs)
    text: str = (
        make_environment()
        .get_template(template)
        .render(
            **words,
            policy=page_policy(drawing, script),
            style=Markup(asset("page.css")),
            library=Markup(drawing),
            script=Markup(script),
            theme=Markup(json_in_script(page_config())),
            parts=Markup(json_in_script(parts)),
            figures={name: Markup(json_in_script(spec)) for name, spec in figures.items()},
        )
    )
    return text
