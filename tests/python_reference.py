"""``python tests/python_reference.py`` writes docs/python-reference.md: every function, from its own docstring."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import iosonde

PAGE = Path(__file__).parents[1] / "docs" / "python-reference.md"
COMMANDS = PAGE.parent / "commands"
HEAD = """# The functions of iosonde

Written from their docstrings by `make golden`; how they are used is in [python.md](python.md). Everything is in the
package: `iosonde.rank(…)`. A keyword that is an option of the command is on the command's page, and in
`help(iosonde.rank)`; only the others are listed here.
"""
COMMAND_OF = {
    "survey_tree": "survey", "survey_simulate": "survey", "survey_plan": "survey", "noise": "check", "queue": "scale",
    "held_out": "validate", "describe": "predict", "import_files": "import", "write_report": "report",
    "show_run": "show", "show_as": "show", "slowest": "show", "printed": "show", "export": "show",
    "check_store": "store", "tag_run": "store", "note_run": "store", "prune_store": "store", "merge_stores": "store",
    "redact_store": "store", "explain_finding": "explain",
}  # fmt: skip
MOST_SHOWN = 30  # keywords in a call
_SECTIONS = ("Parameters", "Returns", "Raises", "See Also", "Examples")


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(line for module in modules() for line in _module(module))])


def modules() -> Iterator[str]:
    """Those of ``iosonde.api`` that have public functions, in the package's order."""
    return (name for name in iosonde._HOMES if name.startswith("api."))


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(f"iosonde.{name}")
    first = (module.__doc__ or "").splitlines()[0]
    yield f"## {re.split(r'(?<=[?])|[:.]', first)[0]}\n"
    for function in iosonde._HOMES[name]:
        yield from _function(function)


def _function(name: str) -> Iterator[str]:
    function = getattr(iosonde, name)
    summary, *sections = re.split(r"^(\w[\w ]+)\n-+\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    yield f"### {name}\n"
    yield f"```python\n{_call(name, inspect.signature(function))}\n```\n"
    page = COMMANDS / f"{COMMAND_OF.get(name, name.replace('_', '-'))}.md"
    has_page = page.exists() and name != "run"  # whose page leaves its options to --help
    options = _options(page.read_text(encoding="utf-8")) if has_page else set()
    yield _inline(summary.strip().split("\n\n")[0] if has_page else summary.strip()) + "\n"
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        assert title in _SECTIONS, f"{name}: {title}"
        if title == "Parameters":
            body = "\n".join(item for item in _split(body) if _name(item) not in options)
            if options:
                yield f"Options: [{page.stem}](commands/{page.name}).\n"
        if not body:
            continue
        yield f"**{title}**\n"
        yield f"```python\n{body.strip()}\n```\n" if title == "Examples" else "\n".join(_items(body)) + "\n"


def _options(page: str) -> set[str]:
    """The names that the page of a command explains, as keywords."""
    return {"data", "store", "**options"} | {
        option.replace("-", "_") for option in re.findall(r"--([a-z][a-z-]*)", page)
    }


def _split(body: str) -> list[str]:
    """The items of a section."""
    return re.split(r"\n(?=\S)", body.strip())


def _name(item: str) -> str:
    """The keyword that an item is about."""
    return item.partition("\n")[0].partition(" : ")[0].strip()


def _call(name: str, signature: inspect.Signature) -> str:
    """The call with every word and its default, without types: those are in words below."""
    words = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    if len(words) > MOST_SHOWN:
        words = [one for one in words if one.kind is not one.KEYWORD_ONLY]
        words.append(inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD))
    text = str(signature.replace(parameters=words, return_annotation=inspect.Signature.empty))
    return textwrap.fill(f"{name}{text}", 110, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _items(body: str) -> Iterator[str]:
    """``name : type`` with what is said of it, indented below, as a list."""
    for one in _split(body):
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
