"""Labs, as commands need them. They are a package of their own, iosonde-lab, which is imported here alone, late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from iosonde.campaign.plan import LabCheck
    from iosonde.campaign.request import Request
    from iosonde.measure.servers_seen import ServerHands
    from iosonde.ranks.abilities.ability import Ability

COMMAND = "lab"
PACKAGE = "iosonde-lab"
_MODULE = "iosonde_lab"


def build_missing_package_error() -> InputError:
    """Build the error for whoever needs a lab without the package."""
    return InputError(
        "missing-package",
        "labs need the package {package}, which is not installed",
        "pip install {package}; in a checkout: make lab-deps",
        package=PACKAGE,
    )


@contextmanager
def needing_package() -> Iterator[None]:
    """Raise InputError where the package is imported and is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != _MODULE:
            raise
        raise build_missing_package_error() from error


@contextmanager
def needing_package_for_labs() -> Iterator[None]:
    """Raise InputError about the package where an experiment needs a lab, and without the package none can be had."""
    try:
        yield
    except InputError as error:
        if error.code == "lab-required":
            _check_package()
        raise


def place_in_lab(request: Request) -> Request:
    """Return the request as it is planned in the lab that its file asks for, unless a target is given."""
    from iosonde.campaign.in_lab import read_lab_file

    file = read_lab_file(request.file, request.what)
    if request.target or not file.asks:
        return request
    with needing_package():
        from iosonde_lab.command import requested_labs
    return requested_labs.place_in_lab(request, file)


def build_plan_check(request: Request) -> LabCheck:
    """Return what checks a lab of a plan: that it can be, on some machine. A plan without a lab needs no check."""
    if not request.in_lab:
        return lambda *_: None
    with needing_package():
        from iosonde_lab.command import requested_labs
    return requested_labs.build_plan_check(request)


def find_server_hands(target: Path, profile: bool) -> ServerHands | None:
    """Return access to the servers of a target on a lab's file system; None where this is no host of a lab."""
    from iosonde.ranks.machine import emulated

    if emulated.read_lab() is None:
        return None
    with needing_package():
        from iosonde_lab.command.server_hands import build_server_hands
    return build_server_hands(target, profile)


def check_abilities() -> list[Ability]:
    """Check whether a lab can run here, and which of its file systems lack a package."""
    from iosonde.ranks.abilities.ability import Ability

    try:
        with needing_package():
            from iosonde_lab.command.abilities import check_abilities
    except InputError as error:
        return [Ability(COMMAND, False, error.message, "emulated clusters", error.hint)]
    return check_abilities()


def _check_package() -> None:
    with needing_package():
        import iosonde_lab  # noqa: F401  # to see that it is there
