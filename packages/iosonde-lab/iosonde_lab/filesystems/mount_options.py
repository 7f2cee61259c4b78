"""Mount options changed while a lab is up: stored in its directory, where mounts read them."""

import json

from iosonde_lab.lab import Lab

_FILE = "mount-options.json"


def changed(lab: Lab) -> dict[str, str]:
    """Return the changed options with their current values."""
    try:
        values: dict[str, str] = json.loads((lab.directory / _FILE).read_text())
    except FileNotFoundError:
        return {}
    return values


def keep(lab: Lab, option: str, value: str) -> None:
    """Store an option for all future mounts."""
    temporary_file = lab.directory / f".{_FILE}"
    temporary_file.write_text(json.dumps(changed(lab) | {option: value}) + "\n")
    temporary_file.replace(lab.directory / _FILE)
