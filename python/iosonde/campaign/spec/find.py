"""``find: best``: the settings of an experiment as a race, which ends when the best one is found within a margin."""

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.message import Message
from iosonde.core.problems import Problem
from iosonde.core.units import parse_share
from iosonde.core.yaml_text import Document, format_key
from iosonde.measure.spec import Find
from iosonde.selection.plan import MOST
from iosonde.selection.standing import FIRST_STAGE

BEST = "best"
WITHIN, SURE = "5%", "95%"
_NOT_WITH = ("until", "against")


def expand_find(document: Document) -> Document:
    """Return the document with all keys of the section, and the most blocks. Unchanged without ``find``. Call it only
    if ``list_find_problems`` finds none."""
    data = document.data
    if "find" not in data:
        return document
    section = _normalise_section(data)
    find = {
        "within": parse_share(str(section.get("within", WITHIN))),
        "sure": parse_share(str(section.get("sure", SURE))),
        "metric": section.get("metric", ""),
    }
    data = {**data, "repetitions": data.get("repetitions", MOST), "find": find}
    return Document(data, document.name, document.places, document.text)


def find_from_document(data: Mapping[str, Any]) -> Find | None:
    """Read the section of an expanded document."""
    return Find(**data["find"]) if "find" in data else None


def find_to_document(find: Find) -> dict[str, Any]:
    """Return the section of an expanded document."""
    return {"within": find.within, "sure": find.sure, "metric": find.metric}


def list_find_problems(document: Document) -> list[Problem]:
    """Return the mistakes in ``find``, in a document valid by the schema."""
    if "find" not in document.data:
        return []
    path = ("find",)
    return [Problem(document.place(path), format_key(path), what, hint) for what, hint in _check(document.data)]


def _normalise_section(data: Mapping[str, Any]) -> dict[str, Any]:
    return {} if data["find"] == BEST else dict(data["find"])


def _check(data: Mapping[str, Any]) -> Iterator[tuple[Message, str]]:
    section = _normalise_section(data)
    for key in _NOT_WITH:
        if key in data:
            yield (
                Message("conflicting-keys", "a race has its own end, which conflicts with {key}", key=key),
                f"leave {key} out",
            )
    if not parse_share(str(section.get("within", WITHIN))) > 0:
        yield Message("out-of-range", "within must be above 0"), "write within: 5%"
    try:
        check_level(parse_share(str(section.get("sure", SURE))))
    except InputError as error:
        yield error.message.prefixed("sure"), "write sure: 95%"
    if (most := data.get("repetitions", MOST)) < FIRST_STAGE:
        yield (
            Message("too-few-trials", "{n_blocks} repetitions are too few for a race", n_blocks=most),
            f"allow {FIRST_STAGE} or more; it ends as soon as the best setting is found",
        )
    design = data.get("design", "full")
    if isinstance(design, dict) and design.get("centre"):
        yield Message("conflicting-keys", "a race has no centre trials"), "leave design.centre out"
    if not section.get("metric") and any(isinstance(step, dict) and "workload" in step for step in data["steps"]):
        yield (
            Message("missing-metric", "a native workload has many metrics, and no deciding one is named"),
            "write metric: NAME, as write_large",
        )


def list_setting_problems(document: Document, n_settings: int) -> list[Problem]:
    """Return the mistake of a race without rivals."""
    if "find" not in document.data or n_settings > 1:
        return []
    what = Message("single-setting", "a single setting has no rival")
    return [Problem(document.place(("find",)), "find", what, "give a factor two levels or more: factors, or nodes")]
