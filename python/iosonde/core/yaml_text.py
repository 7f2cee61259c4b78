"""Parse a user's file into plain data with the line of every value: YAML 1.2's core types, or JSON.

Text that YAML versions read differently is an error: ``0755``, ``1_000``, ``12:30``, ``0x1F``. Keys are always text
(``on:`` is not a boolean); ``yes``, ``no``, ``on`` and ``off`` are text. A duplicate key is an error. Aliases are
copies, and their number is limited.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.json_integers import parse_json_integer
from iosonde.core.message import Message
from iosonde.core.problems import Problem, SpecError

if TYPE_CHECKING:
    import yaml

MAX_BYTES = 2**20
MAX_VALUES = 50_000  # counted with every alias expanded
MAX_DEPTH = 40

KIND = "experiment file"
FIRST = "give it steps: see docs/experiment.md"

Key = tuple[str | int, ...]

_TOO_DEEP = Message("nested-too-deep", "it is nested too deeply")
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+)")
_NULL = ("", "~", "null", "Null", "NULL")
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TRAPS = {
    re.compile(r"[-+]?0[0-9_]+"): "some readers take a number with leading zeros as octal, others as decimal",
    re.compile(r"[-+]?0[xXoObB][0-9a-fA-F_]+"): "not every reader takes this as a number",
    re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?"): "not every reader takes this as a number",
    re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?"): "some readers take this as a base-60 number",
    re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"): "this is not a finite number",
}


@dataclass
class Document:
    """Plain data (dict, list, str, int, float, bool, None) with the place of each value.

    ``name`` is that of the file, or empty without one. ``places`` maps the path of a value to a line of the file (int)
    or to the option that set it (str).
    """

    data: dict[str, Any]
    name: str = ""
    places: dict[Key, int | str] = field(default_factory=dict)
    text: str = ""

    def place(self, path: Key) -> int | str | None:
        """Return the place of the value, or of the nearest enclosing one."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return None


def load(path: Path, kind: str = KIND, first: str = FIRST) -> Document:
    """Read a file. Raises InputError if it is not text, SpecError if it is neither YAML nor JSON.

    ``kind`` is the expected kind of file, ``first`` the hint for an empty one.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "{path}: {reason}",
            "give the path of {kind}",
            path=path,
            reason=error.strerror,
            kind=_add_article(kind),
        ) from error
    if len(content) > MAX_BYTES:
        raise InputError(
            "file-too-large",
            "{path} has more than 1 MiB, which is too long for {kind}",
            "is it the right file?",
            path=path,
            kind=kind,
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "not-utf8", "{path}:{line}: this is not UTF-8 text", "is it the right file?", path=path, line=line
        ) from error
    if "\0" in text:
        raise InputError(
            "binary-file", "{path} is binary", "{kind} is YAML or JSON text", path=path, kind=_add_article(kind)
        )
    return parse(text, str(path), as_json=path.suffix == ".json", first=first)


def parse(text: str, name: str, as_json: bool = False, first: str = FIRST) -> Document:
    """Parse ``text`` into a document. Raises SpecError with every problem."""
    reader = _Reader(name)
    node = _compose_nodes(_normalize_json(text, name) if as_json else text, name)
    if node is None:
        raise SpecError(name, [Problem(1, "", Message("empty-file", "the file is empty"), first)])
    data = reader.value(node, ())
    if not isinstance(data, dict) and not reader.problems:
        reader.problems.append(
            Problem(
                1,
                "",
                Message("not-a-mapping", "the file holds {value} and not keys with values", value=describe_value(data)),
                first,
            )
        )
    if reader.problems:
        raise SpecError(name, reader.problems)
    return Document(data, name, reader.places, text)


def _add_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def format_yaml(data: Any, comments: Sequence[str] = ()) -> str:
    """Write ``data`` as the text of a file, after comments."""
    import yaml

    head = "".join(f"# {line}\n" for line in comments)
    return head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def parse_scalar(text: str, key: str) -> Any:
    """Parse one plain word, as in a file. Raises SpecError, naming ``key``, for an ambiguous one."""
    problems: list[Problem] = []
    value = _parse_plain(text, lambda what, hint: problems.append(Problem(key, "", what, hint)))
    if problems:
        raise SpecError("", problems)
    return value


def describe_value(value: Any) -> str:
    """Describe a value, such as ``the text 'x'``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "keys with values"
    if isinstance(value, list):
        return "a list"
    return f"the text {_shorten_text(value)}" if isinstance(value, str) else f"the number {value}"


def _shorten_text(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")


def _normalize_json(text: str, name: str) -> str:
    """Return JSON that YAML reads in the same way: without tabs between the values."""
    try:
        json.loads(text, parse_constant=_refuse_constant, parse_int=parse_json_integer)
    except json.JSONDecodeError as error:
        problem = Problem(
            error.lineno,
            "",
            Message(
                "invalid-json", "this is not JSON: {reason} (column {column})", reason=error.msg, column=error.colno
            ),
            "check for a missing or extra comma, bracket or quote at or before this place",
        )
        empty = Problem(1, "", Message("empty-file", "the file is empty"))
        raise SpecError(name, [problem if text.strip() else empty]) from error
    except ValueError as error:
        raise SpecError(
            name,
            [Problem(None, "", Message("invalid-json", "this is not JSON: {reason}", reason=error), "write a number")],
        ) from error
    except RecursionError as error:
        raise SpecError(name, [Problem(None, "", _TOO_DEEP)]) from error
    return re.sub(r'"(?:[^"\\]|\\.)*"|\t', lambda match: " " if match[0] == "\t" else match[0], text)


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a value")


def _compose_nodes(text: str, name: str) -> yaml.Node | None:
    """Return the tree of nodes, or None for an empty file. No tag is resolved: a plain scalar stays text."""
    import yaml
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.resolver import BaseResolver
    from yaml.scanner import Scanner

    class Loader(Reader, Scanner, Parser, Composer, BaseResolver):
        def __init__(self, stream: str) -> None:
            Reader.__init__(self, stream)
            for base in (Scanner, Parser, Composer, BaseResolver):
                base.__init__(self)

    try:
        return Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise SpecError(
            name, [_describe_syntax_error(error, line, (text.split("\n")[mark.line :] or [""])[0] if mark else "")]
        ) from error
    except yaml.YAMLError as error:
        place = getattr(error, "position", None)
        line = None if place is None else text.count("\n", 0, place) + 1
        raise SpecError(
            name,
            [
                Problem(
                    line,
                    "",
                    Message("not-text", "this is not text: {reason}", reason=str(error).splitlines()[0]),
                    "delete that character, or rewrite the file",
                )
            ],
        ) from error
    except RecursionError as error:
        raise SpecError(name, [Problem(None, "", _TOO_DEEP)]) from error


def _describe_syntax_error(error: yaml.MarkedYAMLError, line: int | None, written: str) -> Problem:
    reason = str(error.problem)
    if "${" in written and "flow" in str(error.context):
        what = Message("invalid-yaml", "this is not YAML: {reason}", reason=reason)
        return Problem(line, "", what, "quote ${NAME} inside { } and [ ]")
    if "'\\t'" in reason:
        return Problem(line, "", Message("tab", "there is a tab where YAML needs spaces"), "indent with spaces")
    if "single document" in str(error.context):
        return Problem(
            line,
            "",
            Message("several-documents", "a second document begins here (---)"),
            "keep one document per file",
        )
    context = f" ({error.context})" if error.context else ""
    what = Message("invalid-yaml", "this is not YAML: {reason}{context}", reason=reason, context=context)
    return Problem(line, "", what, "check the indentation, the colons and the quotes")


class _Reader:
    """Convert nodes to plain data, with the place and all mistakes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.places: dict[Key, int | str] = {}
        self.values = 0

    def value(self, node: yaml.Node, path: Key) -> Any:
        import yaml

        line = node.start_mark.line + 1
        self.places.setdefault(path, line)
        self.values += 1
        if self.values > MAX_VALUES or len(path) > MAX_DEPTH:
            too_many = Message("too-many-values", "it has too many values")
            what = too_many if self.values > MAX_VALUES else _TOO_DEEP
            raise SpecError(self.name, [Problem(line, "", what, "aliases (*name) count with their full content")])
        if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.rsplit(":", 1)[1] not in ("str", "seq", "map"):
            what = Message("unsupported-tag", "the tag {tag} is not supported", tag=_shorten_text(node.tag))
            self._add_problem(line, path, what, "remove it")
            return None
        if isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path)
        if isinstance(node, yaml.ScalarNode):
            return self._read_scalar(node, path, line)
        return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]

    def _read_mapping(self, node: yaml.MappingNode, path: Key) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, item in node.value:
            line, place = key.start_mark.line + 1, (*path, key.value)
            if key.id != "scalar":
                what = Message("invalid-key", "this key is not text")
                self._add_problem(line, path, what, "use { } or [ ] around values only, or quote ${NAME}")
            elif key.value in mapping:
                what = Message(
                    "duplicate-key", "duplicate key, first in line {first_line}", first_line=self.places[place]
                )
                self._add_problem(line, place, what, "keep one of them")
            else:
                self.places[place] = line
                mapping[key.value] = self.value(item, place)
        return mapping

    def _read_scalar(self, node: yaml.ScalarNode, path: Key, line: int) -> Any:
        text: str = node.value
        if node.style is not None:  # JSON writes characters beyond 16 bits as surrogate pairs
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _parse_plain(text, lambda what, hint: self._add_problem(line, path, what, hint))

    def _add_problem(self, line: int, path: Key, what: Message, hint: str) -> None:
        self.problems.append(Problem(line, format_key(path), what, hint))


def _parse_plain(text: str, wrong: Callable[[Message, str], None]) -> Any:
    """Parse a plain scalar; report ambiguous ones to ``wrong``."""
    if text in _NULL:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    for trap, why in _TRAPS.items():
        if trap.fullmatch(text):
            wrong(
                Message("ambiguous-number", "{number}: {reason}", number=text, reason=why),
                f"write a plain number, or '{text}' in quotes for a text",
            )
            return None
    if _INT.fullmatch(text) and len(text) < 100:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) and math.isfinite(float(text)) else text


def format_key(path: Key) -> str:
    """Format the path of a key, such as ``steps[1].command``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
