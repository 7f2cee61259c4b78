"""The finding of a diagnosis that an experiment would confirm, and that experiment as the text of a file."""

from pathlib import Path

from iosonde.core import yaml_text
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import strip_factor_prefix
from iosonde.core.whole_file import replace_file
from iosonde.data.source import Source
from iosonde.explain.causes.target import Suspect
from iosonde.explain.confirm import build_confirmation

from .answer import DiagnosedOperations, OperationCauses

_TABLE = "{name} is a table without the commands that measured it"
_CURE = "{spell.confirm} is for stores that iosonde run wrote"


def write_experiment(source: Source, causes: OperationCauses, path: Path) -> Path:
    """Write the experiment to a new file; an existing one may be somebody's work. Raises InputError if it exists,
    DataError as ``format_experiment``."""
    if path.is_file():
        raise InputError("file-exists", "{path} already exists", "name a new file", path=path)
    return replace_file(path, format_experiment(source, causes).encode())


def format_experiment(source: Source, causes: OperationCauses) -> str:
    """Return the experiment on the most costly class. Raises DataError if there is none, or no way to measure again."""
    if not source.runs:
        raise DataError("not-a-store", _TABLE, _CURE, name=source.name)
    group, suspect = _select_most_costly_class(source, causes)
    setting = dict(group.group.setting)
    names = {strip_factor_prefix(name): name for name in source.varying_factors.names}
    runs = [
        run
        for run in source.runs
        if all(run.level(names[name]) == level for name, level in setting.items() if name in names)
    ]
    experiment = source.require_campaign(_TABLE, _CURE, name=source.name).experiment(runs[-1].experiment)
    operation_group = group.group
    follow_up = build_confirmation(
        experiment.settings, setting, operation_group.operation, operation_group.kind, operation_group.size, suspect
    )
    head = [
        f"{suspect.code} of {source.name}: {suspect.cause}",
        "Expected if that is right:",
        *(f"  {line}" for line in follow_up.expected),
        "iosonde run FILE --store confirm; iosonde diagnose confirm",
    ]
    return yaml_text.format_yaml(follow_up.document, head)


def _select_most_costly_class(source: Source, causes: OperationCauses) -> tuple[DiagnosedOperations, Suspect]:
    candidates = [
        (operation_class.shares.cost_s.value or 0.0, place, group, operation_class.reasons[0].suspect)
        for place, group in enumerate(causes.groups)
        for operation_class in group.slow
        if operation_class.reasons
    ]
    if not candidates:
        raise DataError(
            "nothing-to-confirm",
            "{name}: no finding to confirm",
            "see what diagnose says of it",
            name=source.name,
        )
    _, _, group, suspect = max(candidates, key=lambda candidate: candidate[:2])
    return group, suspect
