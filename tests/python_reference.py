"""``python tests/python_reference.py`` writes docs/python-reference.md: every function, from its own docstring."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import iosonde
from iosonde.commands import GROUPS, abouts

PAGE = Path(__file__).parents[1] / "docs" / "python-reference.md"
HEAD = """# The functions of iosonde

Written from their docstrings by `make golden`; how they are used is in [python.md](python.md). Everything is in the
package: `iosonde.rank(…)`. `help(iosonde.rank)` says the same.
"""
_SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Examples")


def page() -> str:
    """The whole page."""
    sections = [*map(_group, GROUPS), *map(_module, (name for name in iosonde._HOMES if name.startswith("api.")))]
    return "\n".join([HEAD, *(line for section in sections for line in section)])


def _group(group: str) -> Iterator[str]:
    """The functions of the folders that are listed under this title."""
    yield f"## {group}\n"
    for name in folder_functions(group):
        yield from _function(name)


def folder_functions(*groups: str) -> list[str]:
    """The functions of the folders of ``commands``, of all groups or of these."""
    return [name for about in abouts().values() if about.group in (groups or GROUPS) for name in about.functions]


def _module(name: str) -> Iterator[str]:
    """The functions of a module that are not in a folder."""
    functions = [function for function in iosonde._HOMES[name] if function not in folder_functions()]
    if functions:
        title = (importlib.import_module(f"iosonde.{name}").__doc__ or "").splitlines()[0]
        yield f"## {re.split(r'(?<=[?])|[:.]', title)[0]}\n"
    for function in functions:
        yield from _function(function)


def _function(name: str) -> Iterator[str]:
    function = getattr(iosonde, name)
    summary, *sections = re.split(r"^(\w[\w ]+)\n-+\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    yield f"### {name}\n"
    yield f"```python\n{_call(name, inspect.signature(function))}\n```\n"
    yield _inline(summary.strip()) + "\n"
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        assert title in _SECTIONS, f"{name}: {title}"
        yield f"**{title}**\n"
        yield f"```python\n{body.strip()}\n```\n" if title == "Examples" else "\n".join(_items(body)) + "\n"


def _call(name: str, signature: inspect.Signature) -> str:
    """The call with every word and its default, without types: those are in words below."""
    words = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    text = str(signature.replace(parameters=words, return_annotation=inspect.Signature.empty))
    return textwrap.fill(f"{name}{text}", 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _items(body: str) -> Iterator[str]:
    """``name : type`` with what is said of it, indented below, as a list."""
    for one in re.split(r"\n(?=\S)", body.strip()):
        head, _, text = one.partition("\n")
        name, colon, kind = head.partition(" : ")
        shown = f"**{name.replace('*', chr(92) + '*')}**" + (f" ({_inline(kind)})" if colon else "")
        said = _inline(textwrap.dedent(text)).replace("\n", " ")
        yield textwrap.fill(f"- {shown}{': ' if said else ''}{said}", 120, subsequent_indent="  ",
                            break_long_words=False, break_on_hyphens=False)  # fmt: skip


def _inline(text: str) -> str:
    """Names and code as Markdown has them."""
    return re.sub(r":\w+:`(\w+)`", r"`\1`", text).replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
