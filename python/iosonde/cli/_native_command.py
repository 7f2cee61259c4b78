"""``run 'ior …' --native``: another tool's command line as the document of an experiment."""

from __future__ import annotations

from typing import Any

import click

from iosonde.core.errors import InputError
from iosonde.core.yaml_text import Document
from iosonde.measure.foreign import translate


def native_document(asked: dict[str, Any]) -> Document:
    """The command as one native step, with the repetitions, target and ranks that it names itself; what it ignores and
    what differs is said on stderr. Raises InputError for what cannot be done."""
    from iosonde.report.text import escape

    if asked["what"] is None or asked["spec_file"] is not None or asked["on"] or asked["parse"]:
        raise InputError(
            "--native needs the command of another tool", "as: iosonde run 'ior -w -r -t 1m -b 1g' --native"
        )
    found = translate(asked["what"])
    for name, why in found.ignored:
        click.echo(f"note: {escape(name)} is ignored: {why}", err=True)
    for note in found.notes:
        click.echo(f"note: {escape(note)}", err=True)
    data: dict[str, Any] = {"steps": [{"workload": found.workload, **found.settings.to_json()}]}
    own = {"repetitions": found.repetitions, "target": found.target, "ranks_per_node": found.ranks}
    data |= {key: value for key, value in own.items() if value is not None and asked[key] is None}
    return Document(data, "", {(key,): "the command" for key in data})
