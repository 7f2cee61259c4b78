"""Input and output of pages: parameters of an address → checked values; a template with its content → HTML.

Text from a store is escaped: control characters are made visible, then HTML's own by the template.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from iosonde.core.errors import InputError
from iosonde.core.level_text import format_assignments
from iosonde.core.message import Message
from iosonde.core.units import format_seconds
from iosonde.core.where import Condition, parse_where
from iosonde.core.words import format_count, pluralize
from iosonde.layout.vocabulary import adapt_to_page
from iosonde.page.carried import build_figure_values
from iosonde.page.environment import make_plain_environment
from iosonde.serve.shelf import Shelf

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Address:
    """The path of an address and its parameters."""

    path: str
    words: Mapping[str, Sequence[str]]

    def parameter(self, name: str, default: str = "") -> str:
        """Return the last value of this parameter."""
        return self.words[name][-1].strip() if self.words.get(name) else default

    def parameters(self, name: str) -> list[str]:
        """Return all nonempty values of this parameter."""
        return [word.strip() for word in self.words.get(name, ()) if word.strip()]

    def number(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to ``most``. Raises InputError."""
        text = self.parameter(name) or str(default)
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= most):
            raise InputError(
                "out-of-range",
                "{parameter} is not a number from 1 to {maximum}",
                "correct the address",
                parameter=name,
                maximum=most,
            )
        return int(text)

    @property
    def where(self) -> list[Condition]:
        """Conditions, in the syntax of --where. Raises InputError."""
        return parse_where(self.parameters("where"))

    def but(self, **words: Any) -> str:
        """Return the address with some parameters changed; empty ones are left out."""
        selected = {
            name: [word for word in values if word] for name, values in {**self.words, **_to_lists(words)}.items()
        }
        return build_link(self.path, **selected)


@dataclass(frozen=True)
class WebPage:
    """A page. ``policy`` replaces the default; ``keep`` lets the browser cache it."""

    body: bytes
    kind: str = HTML
    policy: str = ""
    keep: bool = False


def build_link(path: str, **words: Any) -> str:
    """Return an address of this server."""
    parameters = {name: word for name, word in words.items() if word not in (None, "", [])}
    return path + (f"?{urlencode(parameters, doseq=True, errors='replace')}" if parameters else "")


def render_page(template: str, shelf: Shelf, address: Address, title: str, **content: Any) -> WebPage:
    """Render a template."""
    text: str = (
        _environment()
        .get_template(template)
        .render(
            title=title,
            address=address,
            stores=shelf.stores,
            several=len(shelf.stores) > 1,
            notices=list_notices(shelf),
            **content,
        )
    )
    return WebPage(text.encode("utf-8", "replace"))


def render_problem_page(shelf: Shelf, message: str, hint: str) -> WebPage:
    """Render an error with its hint."""
    return render_page("problem.html", shelf, Address("", {}), "Cannot be shown", message=message, hint=hint)


def list_notices(shelf: Shelf) -> list[str]:
    """Return the notices for every page: an incomplete index, unreadable stores."""
    messages = list[str]()
    for store in shelf.stores:
        state = shelf.states.get(store.number)
        if state is None or not state.looked:
            progress = ": {done} of {total} new runs read" if state and state.total else ""
            messages.append(
                Message(
                    "incomplete-index",
                    "The index of {store} is being made" + progress + ". Runs not yet in it are not shown.",
                    store=store.name,
                    done=state.done if state else 0,
                    total=state.total if state else 0,
                )
            )
        elif state.trouble:
            messages.append(
                Message(
                    "unreadable-store",
                    "{store} is unreadable at present: {reason}. An older state is shown.",
                    store=store.name,
                    reason=state.trouble,
                )
            )
    return messages


def describe_setting(factors: Mapping[str, Any]) -> str:
    """Describe the levels of a run, without its repetition."""
    return ", ".join(format_assignments({name: level for name, level in factors.items() if name != "repetition"}, {}))


@cache
def _environment() -> Any:
    environment = make_plain_environment("iosonde.serve")
    environment.globals |= {
        "link": build_link,
        "counted": format_count,
        "plural": pluralize,
        "setting": describe_setting,
        "format_seconds": format_seconds,
    }
    return environment


def _to_lists(words: Mapping[str, Any]) -> dict[str, list[str]]:
    return {
        name: list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]
        for name, value in words.items()
    }


def build_figure_scripts(specs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template values of figures by name, at full width."""
    return build_figure_values({name: adapt_to_page(spec) for name, spec in specs.items()})
