"""Small trees of XML with the line of each element. No entity is expanded, and nothing outside of the root is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from iosonde.core.message import Message

from .text import Note, Text


@dataclass
class Element:
    """An element: its name, line, own text and children."""

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def list_children(self, *path: str) -> list[Element]:
        """Return the elements at the end of a path of names."""
        elements = [self]
        for name in path:
            elements = [child for element in elements for child in element.children if child.name == name]
        return elements

    def find(self, *path: str) -> Element | None:
        """Return the first element at the end of a path of names."""
        return next(iter(self.list_children(*path)), None)

    def get_text(self, *path: str) -> str:
        """Return the text of the first element at the end of a path of names; '' if it is absent."""
        element = self.find(*path)
        return element.text if element else ""


def iter_documents(text: Text, root: str) -> Iterator[Element | Note]:
    """Yield the tree of every ``<root>`` in the text, or a note with the line where it is damaged or ends early."""
    content, at = text.content, 0
    while (begin := content.find(f"<{root}>", at)) >= 0:
        end = content.find(f"</{root}>", begin)
        following = content.find(f"<{root}>", begin + 1)
        at = min(place for place in (end, following, len(content)) if place >= 0)
        at += len(f"</{root}>") if at == end else 0
        yield _read_document(content[begin:at], content.count("\n", 0, begin))


def _read_document(content: str, offset: int) -> Element | Note:
    parser = expat.ParserCreate("utf-8")
    document = Element("", 0)
    path, pieces = [document], list[str]()

    def begin(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber + offset, attributes)
        path[-1].children.append(element)
        path.append(element)
        pieces.clear()

    def end(_name: str) -> None:
        path.pop().text = "".join(pieces).strip()
        pieces.clear()

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = pieces.append
    try:
        parser.Parse(content.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        message = Message(
            "damaged-lines",
            "the XML is damaged or ends early here ({reason})",
            reason=expat.ErrorString(error.code),
        )
        return Note(error.lineno + offset, message)
    return document.children[0]
