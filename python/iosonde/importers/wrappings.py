"""Documents around a tool's output: strings of JSON (ansible, container logs), HTML, Markdown. They become the lines
that the tool printed, each with the line of the document that it stands in."""

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple


class Unwrapped(NamedTuple):
    """Lines inside a document, ``places``: the document's line of each; None if they have the same numbers."""

    content: str
    places: list[int] | None = None


HTML = "HTML"
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"')
_BEFORE_VALUE = re.compile(r"\s*:")
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "line", "text", "@message", "content", "output")
_OBJECT_LINE = re.compile(r'^[ \t]*\{"[^\n]*\}[ \t]*$', re.MULTILINE)
_LIST_LINE = re.compile(r'^[ \t]*"(?:[^"\\\n]|\\.)*",?[ \t]*$', re.MULTILINE)
# A message in an entry that is no object on one line: logfmt's, or of an object over several lines.
_MESSAGE = re.compile(
    rf'(?:^|[\s,{{])(?:"(?:{"|".join(_MESSAGE_KEYS)})"\s*:\s*|(?:msg|message|log)=)({_STRING.pattern}|[^\s"]\S*)?',
    re.MULTILINE,
)
# Marks around an output: Jira's, BBCode's, XML's. Its first line may begin right behind them.
_BLOCK = re.compile(
    r"\{(code|noformat)(?::[^}\n]*)?\}(.*?)\{\1\}|\[code(?:=[^\]\n]*)?\](.*?)\[/code\]|<!\[CDATA\[(.*?)\]\]>", re.DOTALL
)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|font|h[1-6]|head|hr|html|i|li|link|meta|ol|p|pre"
    r"|samp|small|span|strong|style|sub|sup|system-err|system-out|table|tbody|td|testcase|testsuites?|th|thead|title|tr|tt|u|ul|var)(?:\s[^<>\n]*)?/?>"
    r"|<!--[^\n]*?-->|<\?xml[^<>\n]*\?>|<!doctype[^<>\n]*>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});")
_NEW_LINE = re.compile(r"<br(?:\s[^<>\n]*)?/?>(?!\s*\n)|</(?:p|div|tr|li|h[1-6])>(?!\s*\n)", re.IGNORECASE)
_TRAILING = re.compile(r"[ \t]$", re.MULTILINE)
_INDENTS = ("\t", "    ", "        ", "  ", " ")
_MOST, _NEARLY_ALL = 0.7, 0.9  # of the lines
_MIN_SHARE_OF_HTML = 0.3  # of the lines
_LONE_CHARACTERS = 60  # of a string that is an output by itself
_BREAK = "\ue000"  # a line end that the document's text has not


def find_wrappings(sample: str) -> Iterator[tuple[str, Callable[[str], Unwrapped]]]:
    """Yield the name of each document that a text may be, with its reader."""
    if len(_OBJECT_LINE.findall(sample)) >= 1 and any(f'"{key}"' in sample for key in _MESSAGE_KEYS):
        yield "objects of JSON", unwrap_json_lines
    if _MESSAGE.search(sample):
        yield "messages of a log", unwrap_messages
    if _BLOCK.search(sample):
        yield "blocks of code", unwrap_blocks
    if "\\n" in sample or len(_LIST_LINE.findall(sample)) >= 1 or '", "' in sample:
        yield "strings of JSON", unwrap_json_strings
    if _TAG.search(sample) or _ENTITY.search(sample):
        yield HTML, unwrap_html
    if sample.startswith("```") or "\n```" in sample or "\n~~~" in sample:
        yield "a fence of Markdown", unwrap_fences
    n_lines = sum(1 for line in sample.split("\n") if line.strip())
    if len(_TRAILING.findall(sample)) >= _MOST * n_lines > 0:
        yield "blanks at the ends of lines", strip_line_ends
    for indent in _INDENTS:
        if sample.count("\n" + indent) + sample.startswith(indent) >= _NEARLY_ALL * n_lines > 0:
            yield "an indented block", partial(strip_indent, indent=indent)


def strip_line_ends(text: str) -> Unwrapped:
    """Return the text without blanks at the ends of lines; a pattern would try each blank of a long row of them."""
    return Unwrapped("\n".join(line.rstrip(" \t") for line in text.split("\n")))


def strip_indent(text: str, indent: str) -> Unwrapped:
    """Return the text without the indentation that most lines have."""
    return Unwrapped(re.sub(f"^{indent}", "", text, flags=re.MULTILINE))


def unwrap_fences(text: str) -> Unwrapped:
    """Return what is between the fences of a Markdown document."""
    lines, places, inside = list[str](), list[int](), False
    for at, line in enumerate(text.split("\n"), 1):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        inside ^= is_fence
        if inside and not is_fence:
            lines.append(line)
            places.append(at)
    return _build(lines, places)


def has_html_in_most(lines: Sequence[str]) -> bool:
    """Return whether a large part of the lines has a tag or an entity; a few may be the tool's own."""
    having = sum(bool(_TAG.search(line) or _ENTITY.search(line)) for line in lines)
    return having >= _MIN_SHARE_OF_HTML * sum(bool(line.strip()) for line in lines)


def unwrap_json_lines(text: str) -> Unwrapped:
    """Return the message of each line that is an object; docker and journald write these."""
    lines, places = list[str](), list[int]()
    for at, line in enumerate(text.split("\n"), 1):
        for part in _read_message(line).removesuffix("\n").split("\n"):
            lines.append(part)
            places.append(at)
    return _build(lines, places)


def _read_message(line: str) -> str:
    if not line.lstrip().startswith("{"):
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(value, dict):
        return line
    return next((value[key] for key in _MESSAGE_KEYS if isinstance(value.get(key), str)), line)


def unwrap_messages(text: str) -> Unwrapped:
    """Return the messages of a log's entries."""
    lines, places, line, at = list[str](), list[int](), 1, 0
    for match in _MESSAGE.finditer(text):
        line += text.count("\n", at, match.end())
        at = match.end()
        message = match.group(1) or ""
        parts = (_decode(message) if message[:1] == '"' else message).removesuffix("\n").split("\n")
        lines += parts
        places += [line] * len(parts)
    return _build(lines, places)


def unwrap_blocks(text: str) -> Unwrapped:
    """Return what is between the marks of blocks."""
    lines, places = list[str](), list[int]()
    for match in _BLOCK.finditer(text):
        group = next(group for group in (2, 3, 4) if match.group(group) is not None)
        first = text.count("\n", 0, match.start(group)) + 1
        block = match.group(group).removesuffix("\n").split("\n")
        is_on_next_line = not block[0].strip()
        lines += block[is_on_next_line:]
        places += range(first + is_on_next_line, first + len(block))
    return _build(lines, places)


def unwrap_json_strings(text: str) -> Unwrapped:
    """Return the lines of strings that hold several, and of lists of strings; the same text only once."""
    lines, places = list[str](), list[int]()
    earlier = set[str]()
    for block, block_places in _iterate_blocks(text):
        content = "\n".join(block).rstrip()
        if content in earlier or (len(block) < 2 and len(content) < _LONE_CHARACTERS):
            continue
        earlier.add(content)
        lines += block
        places += block_places
    return _build(lines, places)


def _iterate_blocks(text: str) -> Iterator[tuple[list[str], list[int]]]:
    """Yield each list of strings, and each string with line ends, with the lines of the text."""
    block, places, end, line, at = list[str](), list[int](), 0, 1, 0
    for match in _STRING.finditer(text):
        value = _decode(match.group())
        line += text.count("\n", at, match.start())
        at = match.start()
        between = text[end : match.start()].strip() if block else ""
        end = match.end()
        if _BEFORE_VALUE.match(text, end):
            continue
        if "\n" in value.removesuffix("\n"):
            parts = value.removesuffix("\n").replace("\r\n", "\n").split("\n")
            yield parts, [line] * len(parts)
            block, places = [], []
            continue
        if between != "," and block:
            yield block, places
            block, places = [], []
        block.append(value.removesuffix("\n"))  # a notebook has the ends of lines
        places.append(line)
    yield block, places


def _decode(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]


def unwrap_html(text: str) -> Unwrapped:
    """Return the text without tags and entities."""
    text = _NEW_LINE.sub(_BREAK, text)
    text = html.unescape(_TAG.sub("", re.sub(r"</t[dh]>", " ", text))).replace("\xa0", " ")
    if _BREAK not in text:
        return Unwrapped(text if text.endswith("\n") else f"{text}\n")
    lines, places = list[str](), list[int]()
    for at, line in enumerate(text.split("\n"), 1):
        parts = line.split(_BREAK)
        lines += parts
        places += [at] * len(parts)
    return _build(lines, places)


def _build(lines: list[str], places: list[int]) -> Unwrapped:
    return Unwrapped("".join(f"{line}\n" for line in lines), places)
