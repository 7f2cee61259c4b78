"""Options of clients' mounts that were changed while a lab is up: kept in its directory, where mounts read them."""

from __future__ import annotations

import json

from iosonde.lab.lab import Lab

_FILE = "mount-options.json"


def changed(lab: Lab) -> dict[str, str]:
    """Those that were changed, with their values now."""
    try:
        values: dict[str, str] = json.loads((lab.directory / _FILE).read_text())
    except FileNotFoundError:
        return {}
    return values


def keep(lab: Lab, option: str, value: str) -> None:
    """Have all mounts from now on made with it."""
    temporary_file = lab.directory / f".{_FILE}"
    temporary_file.write_text(json.dumps(changed(lab) | {option: value}) + "\n")
    temporary_file.replace(lab.directory / _FILE)
