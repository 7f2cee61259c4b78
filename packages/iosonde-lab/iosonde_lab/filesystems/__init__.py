"""File systems that a lab can run: one module each, found by name."""

import importlib

from iosonde.core.errors import InputError
from iosonde_lab.lab import Lab

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
    """Return the recipe of a file system. Raises InputError."""
    if name not in MODULES:
        raise InputError(
            "unknown-file-system",
            "{file_system}: not a file system that a lab can run",
            "use one of {file_systems}",
            file_system=name,
            file_systems=", ".join(MODULES),
        )
    instance: Recipe = importlib.import_module(f"{__name__}.{MODULES[name]}").RECIPE
    return instance


def recipe_of(lab: Lab) -> Recipe:
    """Return the recipe of a lab's file system."""
    return recipe(lab.description.file_system)
