"""``run 'ior …' --native``: another tool's command line as the document of an experiment."""

from collections.abc import Callable
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.yaml_text import Document
from iosonde.measure.workloads.translation import translate

from .request import Request


def build_native_document(request: Request, say: Callable[[str], None]) -> Document:
    """Convert the command to one native step, with its own repetitions, target and ranks. ``say`` receives ignored
    options and differences. Raises InputError for an unsupported command."""
    if request.what is None or request.file is not None or request.on or request.parse:
        raise InputError(
            "missing-command",
            "{spell.native} needs the command line of another tool",
            "as: iosonde run 'ior -w -r -t 1m -b 1g' --native",
        )
    translation = translate(request.what)
    for name, why in translation.ignored:
        say(Message("ignored-tool-option", "note: {option} is ignored: {reason}", option=name, reason=why))
    for note in translation.notes:
        say(note.prefixed("note") if isinstance(note, Message) else f"note: {note}")
    data: dict[str, Any] = {"steps": [{"workload": translation.workload, **translation.settings.to_json()}]}
    own = {"repetitions": translation.repetitions, "target": translation.target, "ranks_per_node": translation.ranks}
    data |= {key: value for key, value in own.items() if value is not None and not getattr(request, key)}
    return Document(data, "", {(key,): "the command" for key in data})
