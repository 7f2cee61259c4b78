"""Names that people give to the classes of a diagnosis, as "client-side cached": kept with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from iosonde.core.errors import InputError
from iosonde.core.words import listed

from .answer import OperationCauses


def rename_classes(causes: OperationCauses, names: Mapping[str, str]) -> OperationCauses:
    """With these ``names``: of a class by its label, as ``slow``, or by its place from the fastest on, as ``class 2``.
    Raises InputError for a class that there is not."""
    groups = tuple(
        replace(
            group,
            classes=tuple(
                replace(operation_class, name=names.get(f"class {at}", names.get(operation_class.label)))
                for at, operation_class in enumerate(group.classes, 1)
            ),
        )
        for group in causes.groups
    )
    there = dict.fromkeys(
        key
        for group in causes.groups
        for at, operation_class in enumerate(group.classes, 1)
        for key in (f"class {at}", operation_class.label)
    )
    if unknown := [key for key in names if key not in there]:
        raise InputError(
            "unknown-class",
            "{spell.name}: there is no class '{class_name}'",
            "there are {classes}",
            class_name=unknown[0],
            classes=listed(list(there)),
        )
    return replace(causes, groups=groups)
