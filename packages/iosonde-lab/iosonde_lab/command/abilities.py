"""Abilities of this machine that a lab needs, for ``iosonde doctor``."""

from iosonde.ranks.abilities.ability import Ability
from iosonde_lab import api as labs


def check_abilities() -> list[Ability]:
    """Check whether a lab can run here, and list the file systems that lack a package."""
    lab_listing = labs.listing()
    ready = [file_system.name for file_system in lab_listing.possible if not file_system.missing]
    needs, cure = lab_listing.why_not, "run it as root"
    if not needs and lab_listing.missing:
        needs, cure = "packages are missing", labs.installing(lab_listing.missing)
    lacking = {file_system.name: file_system.missing for file_system in lab_listing.possible if file_system.missing}
    here = Ability(
        "lab",
        not needs,
        needs or f"an emulated cluster can hold {', '.join(ready)}",
        "emulated clusters",
        cure if needs else "",
    )
    if not lacking:
        return [here]
    packages = [package for missing in lacking.values() for package in missing]
    return [
        here,
        Ability(
            "lab file systems",
            False,
            f"packages of {', '.join(lacking)} are missing",
            "emulated clusters",
            labs.installing(packages),
        ),
    ]
