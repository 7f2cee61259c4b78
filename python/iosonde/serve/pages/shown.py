"""What was asked, and what is shown: words of an address → checked values; a template with its content → HTML.

Whatever a store says is escaped: characters that steer are made visible, then HTML's own by the template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from iosonde.core.errors import InputError
from iosonde.core.level_text import level_texts
from iosonde.core.message import Message
from iosonde.core.units import format_seconds
from iosonde.core.where import Condition, parse_where
from iosonde.core.words import counted, plural
from iosonde.report.text import escape
from iosonde.serve.shelf import Shelf

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Address:
    """The path of an address and the words after it."""

    path: str
    words: Mapping[str, Sequence[str]]

    def one(self, name: str, default: str = "") -> str:
        """The last word of this name."""
        return self.words[name][-1].strip() if self.words.get(name) else default

    def many(self, name: str) -> list[str]:
        """All that say something."""
        return [word.strip() for word in self.words.get(name, ()) if word.strip()]

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to ``most``. Raises InputError."""
        text = self.one(name) or str(default)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= most):
            raise InputError(
                "out-of-range",
                "{parameter} is no number from 1 to {maximum}",
                "correct the address",
                parameter=name,
                maximum=most,
            )
        return int(text)

    @property
    def where(self) -> list[Condition]:
        """The conditions, in the words of --where. Raises InputError."""
        return parse_where(self.many("where"))

    def but(self, **words: Any) -> str:
        """The address with some words changed; an empty one is left out."""
        selected = {
            name: [word for word in values if word] for name, values in {**self.words, **_to_lists(words)}.items()
        }
        return link(self.path, **selected)


@dataclass(frozen=True)
class WebPage:
    """A page. ``policy``: one of its own; ``keep``: it may be kept by the browser."""

    body: bytes
    kind: str = HTML
    policy: str = ""
    keep: bool = False


def link(path: str, **words: Any) -> str:
    """An address of ours."""
    parameters = {name: word for name, word in words.items() if word not in (None, "", [])}
    return path + (f"?{urlencode(parameters, doseq=True, errors='replace')}" if parameters else "")


def rendered(template: str, shelf: Shelf, address: Address, title: str, **content: Any) -> WebPage:
    """The page of a template."""
    text: str = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            asked=address,
            stores=shelf.stores,
            several=len(shelf.stores) > 1,
            notices=notices(shelf),
            **content,
        )
    )
    return WebPage(text.encode("utf-8", "replace"))


def problem_page(shelf: Shelf, message: str, hint: str) -> WebPage:
    """What could not be shown, and what to do."""
    return rendered("problem.html", shelf, Address("", {}), "Cannot be shown", message=message, hint=hint)


def notices(shelf: Shelf) -> list[str]:
    """What is to be known on every page: an index that is not complete yet, stores that cannot be read."""
    messages = list[str]()
    for store in shelf.stores:
        state = shelf.states.get(store.number)
        if state is None or not state.looked:
            progress = ": {done} of {total} new runs are read" if state and state.total else ""
            messages.append(
                Message(
                    "incomplete-index",
                    "The index of {store} is being made" + progress + ". What is not in it yet is not shown.",
                    store=store.name,
                    done=state.done if state else 0,
                    total=state.total if state else 0,
                )
            )
        elif state.trouble:
            messages.append(
                Message(
                    "unreadable-store",
                    "{store} cannot be read now: {reason}. What is shown of it is older.",
                    store=store.name,
                    reason=state.trouble,
                )
            )
    return messages


def setting(factors: Mapping[str, Any]) -> str:
    """The levels of a run, in words; its repetition is none."""
    return ", ".join(level_texts({name: level for name, level in factors.items() if name != "repetition"}, {}))


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("iosonde.serve", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_format_value,
    )
    environment.globals |= {
        "link": link,
        "counted": counted,
        "plural": plural,
        "setting": setting,
        "format_seconds": format_seconds,
    }
    return environment


def _format_value(value: Any) -> Any:
    """What a template prints: control and direction-turning characters visible, None nothing."""
    if value is None:
        return ""
    return escape(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _to_lists(words: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]
        for name, value in words.items()
    }
