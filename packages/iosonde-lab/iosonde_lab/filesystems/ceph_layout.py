"""Striping of new CephFS files: the layout of the mount's root, stored in its extended attributes.
A file is striped over ``stripe_count`` objects, ``stripe_unit`` bytes to each in turn, until they have ``object_size``.
"""

from collections.abc import Mapping

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import read_answer

NAMES = ("stripe_count", "stripe_unit", "object_size")
_USUAL = {"stripe_count": 1, "stripe_unit": 4 * 2**20, "object_size": 4 * 2**20}
_LEAST = 64 * 2**10
_ATTRIBUTE = "ceph.dir.layout"


def check(options: Mapping[str, str]) -> None:
    """Check the layout of a new file system. Raises InputError for what Ceph would refuse."""
    _check_fit({**_USUAL, **_values(options)}, options)


def read(lab: Lab, client: LabHost) -> dict[str, str]:
    """Return the layout of the root, sizes in bytes."""
    root = str(lab.mount_point)
    return {name: client.run("getfattr", "--only-values", "-n", f"{_ATTRIBUTE}.{name}", root).strip() for name in NAMES}


def change(lab: Lab, client: LabHost, options: Mapping[str, str]) -> None:
    """Change the layout of the root, which new files inherit. Raises InputError for inconsistent sizes."""
    now = {name: read_answer(f"getfattr {name}", value, int) for name, value in read(lab, client).items()}
    layout = now | _values(options)
    _check_fit(layout, options)
    # Ceph sets one attribute after the other: an object must never become smaller than a stripe unit.
    order = NAMES if layout["object_size"] < now["object_size"] else NAMES[::-1]
    for name in order:
        if layout[name] != now[name]:
            client.run("setfattr", "-n", f"{_ATTRIBUTE}.{name}", "-v", str(layout[name]), str(lab.mount_point))


def _check_fit(layout: Mapping[str, int], options: Mapping[str, str]) -> None:
    if set(NAMES) & set(options) and layout["object_size"] % layout["stripe_unit"]:
        raise InputError(
            "not-a-multiple",
            "object_size {object_size} is not a multiple of stripe_unit {stripe_unit}",
            "use for example {spell.set:stripe_unit=1MiB} {spell.set:object_size=4MiB}",
            object_size=layout["object_size"],
            stripe_unit=layout["stripe_unit"],
        )


def _values(options: Mapping[str, str]) -> dict[str, int]:
    return {name: _value(name, options[name]) for name in NAMES if name in options}


def _value(name: str, text: str) -> int:
    if name == "stripe_count":
        if not (text.isascii() and text.isdigit() and int(text)):
            raise InputError(
                "invalid-number",
                "{spell.set:{option}={setting}}: not a number of objects",
                "use for example {spell.set:{option}=2}",
                option=name,
                setting=text,
            )
        return int(text)
    size = parse_size(text)
    if size < _LEAST or size % _LEAST:
        raise InputError(
            "not-a-multiple",
            "{spell.set:{option}={size}}: not a multiple of 64 KiB",
            "use for example {spell.set:{option}=1MiB}",
            option=name,
            size=text,
        )
    return size
