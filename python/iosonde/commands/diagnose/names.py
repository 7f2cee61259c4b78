"""User-defined names of the classes of a diagnosis, as "client-side cached", kept with the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from iosonde.core.errors import InputError
from iosonde.core.words import listed

from .answer import OperationCauses


def rename_classes(causes: OperationCauses, names: Mapping[str, str]) -> OperationCauses:
    """Apply these ``names``, by class label, as ``slow``, or by place from the fastest on, as ``class 2``. Raises
    InputError for an unknown class."""
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
            "{spell.name}: unknown class '{class_name}'",
            "there are {classes}",
            class_name=unknown[0],
            classes=listed(list(there)),
        )
    return replace(causes, groups=groups)
