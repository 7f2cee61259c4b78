"""What a page carries and allows: its style, its scripts, values as JSON in a script, and the policy of both.

What several figures share (marks, axes, tooltips) is stored once and replaced by ``{"$part": number}``. The page's
script restores it. Rows of data stay in place.
"""

import base64
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from iosonde.layout.vocabulary import page_config

from .library import load_vega_script


def format_json_for_script(value: Any) -> str:
    """Return JSON that cannot close the script element around it."""
    text = json.dumps(to_jsonable(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_jsonable(value: Any) -> Any:
    """Return a value that JSON can represent: NaN becomes None, other objects their text."""
    if isinstance(value, dict):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return to_jsonable(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def build_figure_values(specs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template values: ``theme``, ``parts`` that figures share, and each of ``figures`` by the id of its
    place."""
    parts, figures = share_parts(specs)
    return {
        "theme": _embed_json(page_config()),
        "parts": _embed_json(parts),
        "figures": {name: _embed_json(spec) for name, spec in figures.items()},
    }


def _embed_json(value: object) -> object:
    from markupsafe import Markup

    return Markup(format_json_for_script(value))


def build_policy() -> str:
    """Return the content security policy of a page."""
    return build_page_policy(load_vega_script(lambda sentence: None), read_asset("page.js"))


def build_page_policy(*scripts: str) -> str:
    """Return a policy under which only these scripts run, and nothing is loaded."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def read_asset(name: str) -> str:
    """Return the text of an asset of the page: its style or its script."""
    return resources.files("iosonde.page").joinpath("assets", name).read_text(encoding="utf-8")


REFERENCE = "$part"
_LEAST = 40  # characters: shorter parts are hardly longer than a reference
_DATA = {"values", "data", "layer"}  # an object with such a key holds rows


def share_parts(specs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return (shared parts, the specifications with references to them)."""
    counts: Counter[str] = Counter()
    parts: dict[str, Any] = {}

    def count_part(text: str, part: Any) -> Any:
        counts[text] += 1
        if counts[text] == 1:
            return None
        parts[text] = part
        return part  # do not descend: its content was counted at its first occurrence

    for spec in specs.values():
        _replace_parts(spec, count_part)
    numbers = {text: number for number, text in enumerate(parts)}

    def refer_part(text: str, _: Any) -> Any:
        return {REFERENCE: numbers[text]} if text in numbers else None

    return list(parts.values()), {place: _replace_parts(spec, refer_part) for place, spec in specs.items()}


def _replace_parts(value: Any, replace: Callable[[str, Any], Any], row: bool = False) -> Any:
    """Replace every long text, and every object without rows, by the result of ``replace``.
    If that is None, descend into the object.
    """
    if isinstance(value, (list, tuple)):
        return [_replace_parts(item, replace, row) for item in value]
    is_shareable = isinstance(value, str) or (isinstance(value, Mapping) and not row and not _DATA & value.keys())
    text = json.dumps(value) if is_shareable else ""
    shared_part = replace(text, value) if len(text) >= _LEAST else None
    if shared_part is not None or not isinstance(value, Mapping):
        return value if shared_part is None else shared_part
    return {key: _replace_parts(item, replace, row or key == "values") for key, item in value.items()}
