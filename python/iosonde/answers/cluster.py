"""The description of a cluster, from a file or as a mapping with its keys."""

from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

from iosonde.core import yaml_text
from iosonde.core.cluster_nodes import ClusterNodes
from iosonde.core.errors import InputError
from iosonde.explain.cluster_file import SECTIONS, ClusterFile, describe_system, parse_cluster
from iosonde.foreign.reach import check_reachable
from iosonde.model.bound.probed import Ends

_NAME = "the cluster"


def read_cluster(source: str | Mapping[str, Any]) -> ClusterFile:
    """Read a file, or take a mapping with its keys. Raises InputError if it is not such a file, SpecError with all its
    mistakes."""
    if isinstance(source, Mapping):
        return parse_cluster(yaml_text.Document(dict(source), _NAME))
    if not isinstance(source, str | PurePath):
        raise InputError(
            "wrong-argument-type",
            "the cluster is given as {type_name}",
            "give the path of its file, or a dict",
            type_name=type(source).__name__,
        )
    check_reachable(Path(source))
    first = "describe today and candidates: iosonde upgrade -h"
    return parse_cluster(yaml_text.load(Path(source), "cluster file", first))


def read_system(source: str | Mapping[str, Any]) -> tuple[dict[str, Ends], dict[str, Any], ClusterNodes]:
    """Read the cluster of today (``describe_system``). A mapping may be ``today`` itself. Raises InputError,
    SpecError."""
    if isinstance(source, Mapping) and not {*SECTIONS} & {*source}:
        source = {"today": source}
    return describe_system(read_cluster(source), _NAME if isinstance(source, Mapping) else source)
