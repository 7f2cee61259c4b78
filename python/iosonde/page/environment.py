"""Render the pages' templates, in an environment with every filter that any of them uses.

Jinja escapes what it is given, and ``_to_plain_value`` makes control characters visible first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from iosonde.core.cache_folder import create_private_cache_folder
from iosonde.core.headlines import write_metric_names
from iosonde.core.units import format_for_file, format_significant
from iosonde.core.version import __version__
from iosonde.layout.text import escape
from iosonde.page.tables import DataTable

from .carried import build_figure_values, build_page_policy, read_asset
from .library import load_vega_script

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment

_UNIT = r" (?:[KMGT]?i?B/s|[kM]?op/s|[mµn]?s\b)"
_UNBROKEN = re.compile(rf"(?:[\d.,]+ )?\(?[\d.,]+–[\d.,]+\)?(?:{_UNIT})?|[\d.,]+{_UNIT}")


def make_environment(names: Collection[str] = ()) -> Any:
    """Return the environment, which escapes everything.
    ``names`` are words that keep their first letter at the start of a sentence.
    """
    environment = make_plain_environment("iosonde.page")
    environment.filters |= {
        "csv_text": _format_csv,
        "figure_value": _format_cell,
        "chance": _format_p_value,
        "digits": format_for_file,
        "unbroken": _join_numbers,
        "sentence": _make_capitalizer(names),
    }
    environment.bytecode_cache = create_template_cache(environment)
    return environment


def make_plain_environment(package: str) -> Any:
    """Return an environment for the templates in ``assets`` of a package, without filters of its own."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_to_plain_value,
    )


def _to_plain_value(value: Any) -> Any:
    """Return a value as a template prints it: control and bidirectional characters visible, None empty."""
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _join_numbers(text: str) -> Any:
    """Return the text with every number, its interval (``0.72–1.77``) and unit on one line."""
    from markupsafe import Markup
    from markupsafe import escape as escape_html

    return Markup(_UNBROKEN.sub(r'<span class="unbroken">\g<0></span>', str(escape_html(_to_plain_value(text)))))


def _make_capitalizer(names: Collection[str]) -> Callable[[str], str]:
    """Return a filter that begins a sentence with a capital, unless its first word is one of the names."""

    def capitalize_sentence(text: str) -> str:
        text = write_metric_names(text)
        first = text.split(" ", 1)[0].rstrip(":,")
        return text[:1].upper() + text[1:] if first.isalpha() and first not in names else text

    return capitalize_sentence


def _format_csv(table: DataTable) -> Any:
    """Return the table as readable CSV with plain line ends; unprintable characters are visible, as in the tables."""
    from markupsafe import escape as escape_html

    rows = tuple(tuple(_to_plain_value(cell) for cell in row) for row in table.rows)
    csv_table = DataTable(table.caption, tuple(map(escape, table.columns)), rows)
    return escape_html(csv_table.to_csv().replace("\r\n", "\n"))


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format_cell(item)}".rstrip() for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_format_cell, value))
    return f"{value:.6g}" if isinstance(value, float) else write_metric_names(str(value))


def _format_p_value(p: float) -> str:
    """Format a p-value with two digits; below 0.0001 only the bound."""
    return "< 0.0001" if p < 1e-4 else format_significant(p, 2)


def create_template_cache(environment: Environment) -> BytecodeCache | None:
    """Return the cache of what Jinja compiles in this ``environment``.
    Compiling costs a tenth of a page. Compiled templates are executable code: None without a cache directory, or if
    somebody else could write to it.
    """
    from jinja2 import FileSystemBytecodeCache

    digest = _compute_environment_digest(environment)

    class ToleratingBytecodeCache(FileSystemBytecodeCache):
        """Cache that ignores a full disk, which costs only the time of compiling."""

        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(digest + source)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    folder = create_private_cache_folder()
    return None if folder is None else ToleratingBytecodeCache(str(folder), "page-%s.cache")


def _compute_environment_digest(environment: Environment) -> str:
    """Return what compiled code depends on besides the template.
    Jinja looks up filters and evaluates constants at compile time.
    """
    names = (sorted(registry) for registry in (environment.filters, environment.tests, environment.globals))
    switches = (environment.autoescape, environment.trim_blocks, environment.lstrip_blocks, environment.undefined)
    return repr((version("jinja2"), __version__, *names, *switches))


def render_page_with_figures(
    template: str, specs: Mapping[str, Any], say: Callable[[str], None], names: Collection[str] = (), **words: Any
) -> str:
    """Render a ``template`` with ``words`` and ``specs`` of figures by name as HTML; ``names`` as in
    ``make_environment``. ``say`` reports what made this slower than necessary.
    """
    from markupsafe import Markup

    drawing, script = load_vega_script(say), read_asset("page.js")
    text: str = (
        make_environment(names)
        .get_template(template)
        .render(
            **words,
            **build_figure_values(specs),
            policy=build_page_policy(drawing, script),
            style=Markup(read_asset("page.css")),
            library=Markup(drawing),
            script=Markup(script),
        )
    )
    return text
