"""The file systems that a lab can hold: one file each, found by name."""

from __future__ import annotations

import importlib

from iosonde.core.errors import InputError
from iosonde.lab.lab import Lab

from .recipe import Recipe

# Name → module here, with `RECIPE` in it.
MODULES = {
    "local": "local",
    "glusterfs": "glusterfs",
    "moosefs": "moosefs",
    "nfs": "nfs",
    "hdfs": "hdfs",
    "ceph": "ceph",
    "openafs": "openafs",
    "orangefs": "orangefs",
    "sshfs": "sshfs",
    "xrootd": "xrootd",
}


def recipe(name: str) -> Recipe:
    """How to bring one up. Raises InputError."""
    if name not in MODULES:
        raise InputError(
            "unknown-file-system",
            "{file_system}: no file system that a lab can hold",
            "one of {file_systems}",
            file_system=name,
            file_systems=", ".join(MODULES),
        )
    instance: Recipe = importlib.import_module(f"{__name__}.{MODULES[name]}").RECIPE
    return instance


def recipe_of(lab: Lab) -> Recipe:
    """That of the file system which a lab holds."""
    return recipe(lab.description.file_system)
